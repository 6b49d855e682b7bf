//! Lines from a terminal: rustyline with our rules for several lines, our history file and our way of
//! leaving. Lives on the reading thread; between two reads the terminal is in its usual mode.
//!
//! What was typed before it was asked for waits in the terminal, and behind an Enter of the same read in the
//! editor's buffer: the next read finds it there and shows it as if typed now. Only a question must not be
//! answered by it; whole lines typed before one are put aside by [`super::ahead`].

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::termios::{QueueSelector, tcflush};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, EventHandler,
    KeyCode, KeyEvent, Modifiers,
};

use super::ahead::{Ahead, Typed};
use super::continuation::{Continuation, assemble};
use super::helper::{Complete, Helper, OnEnter, OnInterrupt, OnSuspend, Shared};
use super::history::{self, HistoryFile};
use super::{InputError, Line, Origin, Purpose, Reply, Request, Source};
use crate::term::Paint;
use crate::text::secrets::Known;

/// What a terminal's line editor is made of.
#[derive(Debug)]
pub struct TerminalInput {
    /// Keys that were pressed before the editor opened.
    pub typed: Vec<u8>,
    /// Where inputs are remembered; `None` remembers them in this process only.
    pub history: Option<HistoryFile>,
    pub completer: Box<dyn Complete>,
    pub paint: Paint,
}

/// The open terminal, or why it did not open.
pub(super) struct TerminalSource {
    editors: Result<Editors, Option<ReadlineError>>,
    shared: Arc<Shared>,
    ahead: Ahead,
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
            history,
            completer,
            paint,
        } = input;
        let shared = Arc::new(Shared::default());
        let mut ahead = Ahead::of(&typed);
        let mut warnings = Vec::new();
        let editors = Editors::open(completer, paint, &shared).map(|mut editors| {
            if let Some(file) = &history {
                let (inputs, warning) = file.load();
                warnings.extend(warning);
                for input in inputs {
                    editors.remember(&input);
                }
            }
            editors
        });
        Self {
            editors: editors.map_err(Some),
            shared,
            begun: ahead.take_begun(),
            ahead,
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
            for input in file.load().0 {
                editors.remember(&input);
            }
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
        if let Some(line) = self.typed_ahead(is_verbatim) {
            return Ok((line, Origin::Ahead));
        }
        self.follow_file();
        let begun = self.continuation.take();
        let begun = begun.or_else(|| self.begun.take());
        let initial = begun.as_deref().unwrap_or(&request.initial);
        self.shared
            .is_verbatim
            .store(is_verbatim, Ordering::Relaxed);
        let line = match self.edit(&request.prompt, initial)? {
            Line::Text(text) if !is_verbatim => {
                self.remember(&text);
                Line::Text(assemble(text))
            }
            line => line,
        };
        if let Some(begun) = self.shared.suspended().take() {
            return Ok((Line::Text(begun), Origin::Suspended));
        }
        Ok((line, Origin::Prompt))
    }

    /// The next input among the lines that were put aside.
    fn typed_ahead(&mut self, is_verbatim: bool) -> Option<Line> {
        while let Some(typed) = self.ahead.next() {
            match typed {
                Typed::End => return Some(Line::Eof),
                Typed::Line(line) if is_verbatim || line.contains('\n') => {
                    return Some(Line::Text(line));
                }
                Typed::Line(line) => {
                    if let Some(input) = self.continuation.push(&line) {
                        self.remember(&input);
                        return Some(Line::Text(input));
                    }
                }
            }
        }
        None
    }

    fn edit(&mut self, prompt: &str, initial: &str) -> Result<Line, InputError> {
        self.shared.was_empty.store(false, Ordering::Relaxed);
        let editors = self.editors.as_mut().map_err(failure)?;
        let styled = (prompt, painted(prompt, editors.paint));
        let read = editors.input.readline_with_initial(&styled, (initial, ""));
        let was_empty = self.shared.was_empty.load(Ordering::Relaxed);
        outcome(read, was_empty, &mut self.warnings)
    }

    /// Asks afresh: whole lines typed before the question stay for later, a begun one is dropped.
    fn answer(&mut self, prompt: &str, initial: &str) -> Result<Line, InputError> {
        let stdin = io::stdin();
        let put_aside = self.ahead.fill(&stdin);
        if put_aside.is_err() || tcflush(&stdin, QueueSelector::IFlush).is_err() {
            return Ok(Line::Eof);
        }
        let editors = self.editors.as_mut().map_err(failure)?;
        let read = editors.answer.readline_with_initial(prompt, (initial, ""));
        outcome(read, true, &mut self.warnings)
    }

    fn remember(&mut self, input: &str) {
        if !history::is_worth_keeping(input) {
            return;
        }
        let masked = self.known.take_in(input);
        let is_new = self
            .editors
            .as_mut()
            .is_ok_and(|editors| editors.remember(input));
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
        shared: &Arc<Shared>,
    ) -> Result<Self, ReadlineError> {
        let config = config(paint)?;
        let history = || MemHistory::with_config(&config);
        let mut input = rustyline::Editor::with_history(config.clone(), history())?;
        input.set_helper(Some(Helper {
            completer,
            shared: Arc::clone(shared),
        }));
        let control = |letter| KeyEvent(KeyCode::Char(letter), Modifiers::CTRL);
        let handler = || Arc::clone(shared);
        input.bind_sequence(control('C'), conditional(OnInterrupt(handler())));
        input.bind_sequence(control('Z'), conditional(OnSuspend(handler())));
        for enter in [KeyEvent(KeyCode::Enter, Modifiers::NONE), control('J')] {
            input.bind_sequence(enter, conditional(OnEnter(handler())));
        }
        input.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        let mut answer = rustyline::Editor::with_history(config.clone(), history())?;
        answer.bind_sequence(control('Z'), Cmd::Noop);
        Ok(Self {
            input,
            answer,
            paint,
        })
    }

    /// Adds to the history; tells whether it was not the last entry already.
    fn remember(&mut self, input: &str) -> bool {
        self.input.add_history_entry(input).unwrap_or(false)
    }
}

fn config(paint: Paint) -> Result<Config, ReadlineError> {
    // With stdout in a pipe, prompts go to the terminal itself and stay out of the pipe.
    let behavior = if io::stdout().is_terminal() {
        Behavior::Stdio
    } else {
        Behavior::PreferTerm
    };
    let color = match paint {
        Paint::Full => ColorMode::Enabled,
        Paint::Colorless | Paint::Bare => ColorMode::Disabled,
    };
    Ok(Config::builder()
        .max_history_size(history::MOST)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .bell_style(rustyline::config::BellStyle::None)
        .color_mode(color)
        .behavior(behavior)
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
    was_empty: bool,
    warnings: &mut Vec<String>,
) -> Result<Line, InputError> {
    match read {
        Ok(text) => Ok(Line::Text(text)),
        Err(ReadlineError::Interrupted) if was_empty => Ok(Line::Interrupted),
        Err(ReadlineError::Interrupted) => Ok(Line::Cleared),
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            warnings.push(
                "the terminal sent bytes that are not UTF-8; the line was discarded".to_owned(),
            );
            Ok(Line::Cleared)
        }
        // A terminal that was closed is the end of its input.
        Err(ReadlineError::Eof | ReadlineError::Errno(_)) => Ok(Line::Eof),
        Err(ReadlineError::Io(error)) if error.raw_os_error().is_some() => Ok(Line::Eof),
        Err(ReadlineError::Io(error)) => Err(InputError::Io(error)),
        Err(error) => Err(InputError::Io(io::Error::other(error))),
    }
}
