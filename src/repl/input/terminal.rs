//! Lines from a terminal: rustyline with our rules for several lines, our history file and our way of
//! leaving. Lives on the reading thread; between two reads the terminal is in its usual mode.
//!
//! What was typed before it was asked for waits in the terminal, and behind an Enter of the same read in the
//! editor's buffer: the next read finds it there and shows it as if typed now. Only a question must not be
//! answered by it; whole lines typed before one are put aside by [`super::ahead`].

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, EditMode, Event,
    EventHandler, KeyCode, KeyEvent, Modifiers,
};

use super::ahead::{Ahead, Typed, skip_paste};
use super::continuation::{Continuation, assemble};
use super::handlers::{OnAny, OnEdge, OnEnter, OnLeave, OnMarker, OnOther, OnPaste, OnVi};
use super::helper::{Complete, Helper};
use super::history::{self, HistoryFile};
use super::paste::Came;
use super::shared::{Leave, Shared, lock};
use super::{InputError, Line, Origin, Purpose, Reply, Request, Source};
use crate::term::{EditKeys, Paint, Stops, at_cursor};
use crate::text::secrets::Known;

/// What a terminal's line editor is made of.
#[derive(Debug)]
pub struct TerminalInput {
    /// Keys that were pressed before the editor opened.
    pub typed: Vec<u8>,
    /// The terminal may still answer what it was asked.
    pub is_answer_due: bool,
    /// The terminal breaks lines anew when its width changes.
    pub reflows: bool,
    /// Keys that were taken off the terminal while the process was stopped.
    pub stops: Stops,
    /// Where inputs are remembered; `None` remembers them in this process only.
    pub history: Option<HistoryFile>,
    pub completer: Box<dyn Complete>,
    pub paint: Paint,
    pub keys: EditKeys,
}

/// The open terminal, or why it did not open.
pub(super) struct TerminalSource {
    editors: Result<Editors, Option<ReadlineError>>,
    shared: Arc<Shared>,
    ahead: Ahead,
    stops: Stops,
    /// The first line, as far as it was typed before the editor opened.
    begun: Option<String>,
    continuation: Continuation,
    history: Option<HistoryFile>,
    /// Bytes of that file when it was looked at last.
    size: u64,
    /// The secrets that were typed, which the file does not get.
    known: Known,
    warnings: Vec<String>,
}

struct Editors {
    input: rustyline::Editor<Helper, MemHistory>,
    /// Has no history, no completion, and no leftovers that could answer a question.
    answer: rustyline::Editor<(), MemHistory>,
    paint: Paint,
}

impl TerminalSource {
    pub(super) fn open(input: TerminalInput) -> Self {
        let TerminalInput {
            typed,
            is_answer_due,
            reflows,
            stops,
            history,
            completer,
            paint,
            keys,
        } = input;
        let shared = Arc::new(Shared::new(is_answer_due, reflows));
        let mut ahead = Ahead::of(&typed);
        let mut warnings = Vec::new();
        let editors = Editors::open(completer, paint, keys, &shared).map(|mut editors| {
            if let Some(file) = &history {
                let (inputs, warning) = file.load();
                warnings.extend(warning);
                editors.recall(inputs, &shared);
            }
            editors
        });
        Self {
            editors: editors.map_err(Some),
            shared,
            begun: ahead.take_begun(),
            ahead,
            stops,
            continuation: Continuation::default(),
            size: history.as_ref().map_or(0, HistoryFile::size),
            history,
            known: Known::default(),
            warnings,
        }
    }

    /// What was taken out of the file leaves this process, too.
    fn follow_file(&mut self) {
        let (Some(file), Ok(editors)) = (&self.history, &mut self.editors) else {
            return;
        };
        let size = file.size();
        if size < self.size && editors.input.clear_history().is_ok() {
            editors.recall(file.load().0, &self.shared);
        }
        self.size = size;
    }

    fn line(&mut self, request: &Request) -> Result<(Line, Origin), InputError> {
        let is_verbatim = match request.purpose {
            Purpose::Answer => {
                return self
                    .answer(&request.prompt, &request.initial)
                    .map(|line| (line, Origin::Prompt));
            }
            Purpose::Verbatim => true,
            Purpose::Input => false,
        };
        self.ahead.take_in(&self.stops.take());
        let before = if request.is_held {
            self.ahead.take_text()
        } else if let Some(line) = self.typed_ahead(is_verbatim) {
            return Ok((line, Origin::Ahead));
        } else {
            None
        };
        self.follow_file();
        // What was begun before goes before what the request brings, but for keys that came while a line was put aside.
        let begun = [self.continuation.take(), self.begun.take(), before];
        let begun = begun.into_iter().flatten().collect::<Vec<_>>();
        let initial = [begun.join("\n"), request.initial.clone()];
        let initial = initial.into_iter().filter(|text| !text.is_empty());
        let initial = initial.collect::<Vec<_>>().join("\n");
        let initial = initial + &self.ahead.take_begun().unwrap_or_default();
        let initial = self.shared.folded().fold(initial, Came::Edited);
        self.shared
            .is_verbatim
            .store(is_verbatim, Ordering::Relaxed);
        lock(&self.shared.vi).begin();
        let mut line = self.edit(&request.prompt, (&initial, ""))?;
        let mut left = self.shared.left().take();
        while let Some((Leave::Change { cursor, rows }, changed)) = &left {
            // In the place of the line before.
            at_cursor(&format!("\x1b[{rows}A\r\x1b[J"));
            line = self.edit(&request.prompt, changed.split_at(*cursor))?;
            left = self.shared.left().take();
        }
        if let Some((leave, begun)) = left {
            return Ok(match leave {
                Leave::Suspend => (Line::Text(begun), Origin::Suspended),
                Leave::Editor => {
                    let rows = self.shared.rows(&begun);
                    (
                        Line::Text(self.unfolded(&begun)),
                        Origin::ForEditor { rows },
                    )
                }
                // Gone on with above.
                Leave::Change { .. } => (Line::Text(begun), Origin::Prompt),
                Leave::Interrupt if begun.is_empty() => (Line::Interrupted, Origin::Prompt),
                Leave::Interrupt => (Line::Cleared, Origin::Prompt),
            });
        }
        let Line::Text(line) = line else {
            return Ok((line, Origin::Prompt));
        };
        let text = self.unfolded(&line);
        if is_verbatim {
            return Ok((Line::Text(text), Origin::Prompt));
        }
        self.remember(&text, &line);
        Ok((Line::Text(assemble(text)), Origin::Prompt))
    }

    /// A line with the texts that were folded in it.
    fn unfolded(&mut self, line: &str) -> String {
        let folded = self.shared.folded();
        if folded.is_damaged(line) {
            let warning = "the placeholder of a pasted text was edited, so that text is not sent";
            self.warnings.push(warning.to_owned());
        }
        folded.unfold(line).into_owned()
    }

    /// The next input among the lines that were put aside.
    fn typed_ahead(&mut self, is_verbatim: bool) -> Option<Line> {
        while let Some(typed) = self.ahead.next() {
            match typed {
                Typed::End => return Some(Line::Eof),
                Typed::Line(line) if is_verbatim => return Some(Line::Text(line)),
                // A paste is never a command.
                Typed::Line(line) if line.contains('\n') => {
                    let is_like_command = line.starts_with(['/', '!']);
                    let blank = if is_like_command { " " } else { "" };
                    return Some(Line::Text(format!("{blank}{line}")));
                }
                Typed::Line(line) => {
                    if let Some(input) = self.continuation.push(&line) {
                        self.remember(&input, &input);
                        return Some(Line::Text(input));
                    }
                }
            }
        }
        None
    }

    /// Edits a line; `initial`: what stands before and behind the cursor.
    fn edit(&mut self, prompt: &str, initial: (&str, &str)) -> Result<Line, InputError> {
        let editors = self.editors.as_mut().map_err(failure)?;
        let styled = (prompt, painted(prompt, editors.paint));
        self.shared.begin(prompt);
        let read = editors.input.readline_with_initial(&styled, initial);
        // The editor lets go of what it had read of a paste, mostly with the mark of its end.
        if self.shared.stop_paste() {
            skip_paste(io::stdin()).ok();
        }
        outcome(read, &mut self.warnings)
    }

    /// Asks afresh: what was typed before the question stays for later.
    fn answer(&mut self, prompt: &str, initial: &str) -> Result<Line, InputError> {
        let stdin = io::stdin();
        self.ahead.take_in(&self.stops.take());
        if self.ahead.fill(&stdin).is_err() {
            return Ok(Line::Eof);
        }
        let editors = self.editors.as_mut().map_err(failure)?;
        let read = editors.answer.readline_with_initial(prompt, (initial, ""));
        outcome(read, &mut self.warnings)
    }

    /// Remembers an input that was handed in as `line`.
    fn remember(&mut self, input: &str, line: &str) {
        if !history::is_worth_keeping(input) {
            return;
        }
        let masked = self.known.take_in(input);
        let is_new = self
            .editors
            .as_mut()
            .is_ok_and(|editors| editors.remember(line));
        if let Some(file) = self.history.as_ref().filter(|_| is_new)
            && let Some(warning) = file.append(&masked)
        {
            // Said once; without the file the history lasts as long as the process.
            self.warnings.push(warning);
            self.history = None;
        }
    }
}

impl Source for TerminalSource {
    fn read(&mut self, request: &Request) -> Reply {
        let (line, origin) = match self.line(request) {
            Ok((line, origin)) => (Ok(line), origin),
            Err(error) => (Err(error), Origin::Prompt),
        };
        Reply {
            line,
            origin,
            warnings: std::mem::take(&mut self.warnings),
        }
    }
}

impl Editors {
    fn open(
        completer: Box<dyn Complete>,
        paint: Paint,
        keys: EditKeys,
        shared: &Arc<Shared>,
    ) -> Result<Self, ReadlineError> {
        let config = config(keys)?;
        let history = || MemHistory::with_config(&config);
        let mut input = rustyline::Editor::with_history(config.clone(), history())?;
        input.set_helper(Some(Helper {
            completer,
            shared: Arc::clone(shared),
        }));
        let control = |letter| KeyEvent(KeyCode::Char(letter), Modifiers::CTRL);
        let handler = || Arc::clone(shared);
        let leave = |why| conditional(OnLeave(handler(), why));
        input.bind_sequence(control('C'), leave(Leave::Interrupt));
        input.bind_sequence(control('Z'), leave(Leave::Suspend));
        let editor = Event::KeySeq(vec![control('X'), control('E')]);
        input.bind_sequence(editor, leave(Leave::Editor));
        let key = |code| KeyEvent(code, Modifiers::NONE);
        input.bind_sequence(
            key(KeyCode::BracketedPasteStart),
            conditional(OnPaste(handler())),
        );
        input.bind_sequence(Event::Any, conditional(OnVi(handler())));
        let alt_backspace = KeyEvent(KeyCode::Backspace, Modifiers::ALT);
        for (key, does) in [
            (key(KeyCode::Backspace), OnMarker::RemoveBefore),
            (control('H'), OnMarker::RemoveBefore),
            (control('W'), OnMarker::RemoveBefore),
            (alt_backspace, OnMarker::RemoveBefore),
            (key(KeyCode::Delete), OnMarker::RemoveBehind),
            (control('D'), OnMarker::RemoveBehind),
            (key(KeyCode::Left), OnMarker::GoBefore),
            (control('B'), OnMarker::GoBefore),
            (key(KeyCode::Right), OnMarker::GoBehind),
            (control('F'), OnMarker::GoBehind),
        ] {
            input.bind_sequence(key, conditional(OnEdge(handler(), does)));
        }
        for enter in [KeyEvent(KeyCode::Enter, Modifiers::NONE), control('J')] {
            input.bind_sequence(enter, conditional(OnEnter(handler())));
        }
        let other = |does| conditional(OnOther(handler(), does));
        input.bind_sequence(
            KeyEvent(KeyCode::Enter, Modifiers::ALT),
            other(Cmd::Newline),
        );
        // The keys of vi know it only outside of its insert mode.
        input.bind_sequence(control('L'), other(Cmd::ClearScreen));
        let mut answer = rustyline::Editor::with_history(config.clone(), history())?;
        answer.bind_sequence(control('Z'), Cmd::Noop);
        answer.bind_sequence(Event::Any, conditional(OnAny(handler())));
        Ok(Self {
            input,
            answer,
            paint,
        })
    }

    /// Adds inputs of earlier runs to the history, long ones folded.
    fn recall(&mut self, inputs: Vec<String>, shared: &Shared) {
        for input in inputs {
            let line = shared.folded().fold(input, Came::Pasted);
            self.remember(&line);
        }
    }

    /// Adds to the history; tells whether it was not the last entry already.
    fn remember(&mut self, input: &str) -> bool {
        self.input.add_history_entry(input).unwrap_or(false)
    }
}

fn config(keys: EditKeys) -> Result<Config, ReadlineError> {
    // With stdout in a pipe, prompts go to the terminal itself and stay out of the pipe.
    let behavior = if io::stdout().is_terminal() {
        Behavior::Stdio
    } else {
        Behavior::PreferTerm
    };
    // In ms. With the keys of vi a line is sent by Esc, then Enter; Alt-Enter comes as both at once. With those of Emacs
    // Esc, then a key, is Alt and that key; an Esc by itself is not to swallow what is typed later.
    let after_escape = match keys {
        EditKeys::Emacs => 500,
        EditKeys::Vi => 50,
    };
    Ok(Config::builder()
        .max_history_size(history::MAX)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .bell_style(rustyline::config::BellStyle::None)
        // What is dim is no colour, and what numbers a marker is never to be seen.
        .color_mode(ColorMode::Enabled)
        .behavior(behavior)
        .edit_mode(match keys {
            EditKeys::Emacs => EditMode::Emacs,
            EditKeys::Vi => EditMode::Vi,
        })
        .keyseq_timeout(Some(after_escape))
        .build())
}

fn conditional(handler: impl ConditionalEventHandler + 'static) -> EventHandler {
    EventHandler::Conditional(Box::new(handler))
}

fn painted(prompt: &str, paint: Paint) -> String {
    match paint {
        Paint::Full => format!("\x1b[1;36m{prompt}\x1b[0m"),
        Paint::Colorless | Paint::Bare => prompt.to_owned(),
    }
}

/// The error that kept the editor from opening: told once, then the input counts as gone.
fn failure(error: &mut Option<ReadlineError>) -> InputError {
    error.take().map_or(InputError::Gone, |error| {
        InputError::Io(io::Error::other(error))
    })
}

fn outcome(
    read: Result<String, ReadlineError>,
    warnings: &mut Vec<String>,
) -> Result<Line, InputError> {
    match read {
        Ok(text) => Ok(Line::Text(text)),
        Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            warnings.push("the input is not UTF-8 text, so it was left out".to_owned());
            Ok(Line::Cleared)
        }
        // A terminal that was closed is the end of its input.
        Err(ReadlineError::Eof | ReadlineError::Errno(_)) => Ok(Line::Eof),
        Err(ReadlineError::Io(error)) if error.raw_os_error().is_some() => Ok(Line::Eof),
        Err(ReadlineError::Io(error)) => Err(InputError::Io(error)),
        Err(error) => Err(InputError::Io(io::Error::other(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_by_itself_is_over_after_a_while_with_either_keys() {
        for keys in [EditKeys::Emacs, EditKeys::Vi] {
            let config = config(keys).unwrap();
            assert!(config.keyseq_timeout().is_some(), "{keys:?}");
        }
    }
}
