//! What rustyline asks while a line is edited: whether it is complete, what it can go on with, what some
//! of its keys do.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::termios::tcgetwinsize;
use rustyline::completion::Pair;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::SearchDirection;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    CharSearch, Cmd, CompletionType, ConditionalEventHandler, Context, Event, EventContext,
    InputMode, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};

use unicode_segmentation::UnicodeSegmentation;

use super::continuation::{Enter, enter};
use super::operator::{self, Operator};
use super::paste::{Came, Folded, highlighted};
use crate::term::{fit_to, harmless, thousands, width};

/// Stands in front of a description and nowhere else, so that it can be found and shown dim.
const DESCRIPTION: char = '\u{a0}';

/// Knows what a begun line can go on with. Asked at every key for the hint, so it must be quick.
pub trait Complete: Send + fmt::Debug {
    fn complete(&self, line: &str, cursor: usize) -> Completions;
}

/// What can stand in a line from byte `start` to the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    pub start: usize,
    pub candidates: Vec<Candidate>,
}

/// One of them, with what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub replacement: String,
    pub description: String,
}

/// What the editor's parts tell each other; all on one thread, atomic because its handlers must be `Sync`.
#[derive(Default)]
pub(super) struct Shared {
    /// Lines are taken as they come.
    pub(super) is_verbatim: AtomicBool,
    /// What stood on the line when a key ended its editing, to be gone on with.
    left: Mutex<Option<(Leave, String)>>,
    /// What is being pasted, as far as it has come.
    pasting: Mutex<Option<String>>,
    folded: Mutex<Folded>,
    /// Columns of the prompt.
    pub(super) prompt: AtomicUsize,
    /// The next completion puts a line break in the place of the backslash before the cursor.
    breaks_line: AtomicBool,
    late: Mutex<Late>,
    /// The terminal has not said yet what it can do.
    is_answer_due: AtomicBool,
    /// An operator of vi that waits for its motion.
    operator: Mutex<Option<Operator>>,
}

/// What has come of an answer of the terminal for which nobody waits any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Late {
    #[default]
    Nothing,
    /// So many keys of its background's colour: `Alt-]`, `11;rgb:…`, `Alt-\` or Ctrl-G.
    Color(usize),
    /// Of what it can do: a sequence that is no key, `62;22c`.
    Attributes,
}

/// Why the editing of a line ended before it was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-X Ctrl-E.
    Editor,
    /// Ctrl-C.
    Interrupt,
}

impl Shared {
    pub(super) fn new(is_answer_due: bool) -> Self {
        Self {
            is_answer_due: is_answer_due.into(),
            ..Self::default()
        }
    }

    /// Returns how many rows of the screen a line takes with its prompt, counted as the editor does.
    pub(super) fn rows(&self, line: &str) -> usize {
        const TAB: usize = 8;
        let (columns, _) = size();
        let (mut row, mut column) = (0, self.prompt.load(Ordering::Relaxed));
        for grapheme in line.graphemes(true) {
            let cells = match grapheme {
                "\n" => {
                    (row, column) = (row + 1, 0);
                    continue;
                }
                "\t" => TAB - column % TAB,
                other => width(other),
            };
            column += cells;
            if column > columns {
                (row, column) = (row + 1, cells);
            }
        }
        row + 1 + usize::from(column == columns)
    }

    pub(super) fn left(&self) -> MutexGuard<'_, Option<(Leave, String)>> {
        lock(&self.left)
    }

    pub(super) fn folded(&self) -> MutexGuard<'_, Folded> {
        lock(&self.folded)
    }

    fn pasting(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.pasting)
    }

    /// Gives up a paste that is under way; tells whether one was.
    pub(super) fn stop_paste(&self) -> bool {
        self.pasting().take().is_some()
    }

    /// Lets a key pass that belongs to a late answer of the terminal; `None` where it is a key.
    fn pass_answer(&self, event: &Event) -> Option<Cmd> {
        /// No answer is longer.
        const MAX: usize = 64;
        let &[KeyEvent(code, modifiers)] = event_keys(event) else {
            return None;
        };
        let mut late = lock(&self.late);
        let is_due = self.is_answer_due.load(Ordering::Relaxed);
        let next = match (*late, code, modifiers) {
            (Late::Nothing, KeyCode::Char(']'), Modifiers::ALT) => Late::Color(0),
            (Late::Nothing, KeyCode::UnknownEscSeq, _) if is_due => Late::Attributes,
            // The keys of vi take digits for a count.
            (Late::Color(0), KeyCode::Char('1' | ';'), Modifiers::NONE) => Late::Color(1),
            (Late::Color(1), KeyCode::Char('1' | ';' | 'r'), Modifiers::NONE) => Late::Color(2),
            (Late::Color(2..), KeyCode::Char('G'), Modifiers::CTRL)
            | (Late::Color(2..), KeyCode::Char('\\'), Modifiers::ALT) => Late::Nothing,
            (Late::Color(keys @ 2..MAX), KeyCode::Char(key), Modifiers::NONE)
                if key.is_ascii_alphanumeric() || ";:/".contains(key) =>
            {
                Late::Color(keys + 1)
            }
            (Late::Attributes, KeyCode::Char('0'..='9' | ';'), Modifiers::NONE) => Late::Attributes,
            (Late::Attributes, KeyCode::Char('c'), Modifiers::NONE) => {
                self.is_answer_due.store(false, Ordering::Relaxed);
                Late::Nothing
            }
            (Late::Nothing | Late::Color(_) | Late::Attributes, ..) => {
                *late = Late::Nothing;
                return None;
            }
        };
        *late = next;
        Some(Cmd::Noop)
    }

    /// Takes a key that belongs to a paste; `None` where nothing is being pasted.
    fn paste(&self, event: &Event) -> Option<Cmd> {
        let mut pasting = self.pasting();
        let text = pasting.as_mut()?;
        for KeyEvent(code, modifiers) in event_keys(event) {
            match (code, *modifiers) {
                (KeyCode::BracketedPasteEnd, _) => {
                    let text = pasting.take()?;
                    let text = text.replace("\r\n", "\n").replace('\r', "\n");
                    let text = self.folded().fold(text, Came::Pasted);
                    return Some(Cmd::Insert(1, text));
                }
                (KeyCode::Char(letter), Modifiers::NONE) => text.push(*letter),
                (KeyCode::Enter, _) => text.push('\r'),
                (KeyCode::Char('J'), Modifiers::CTRL) => text.push('\n'),
                (KeyCode::Tab, _) => text.push('\t'),
                // Other control characters have no place in a line.
                _ => {}
            }
        }
        Some(Cmd::Noop)
    }
}

fn event_keys(event: &Event) -> &[KeyEvent] {
    match event {
        Event::KeySeq(keys) => keys,
        Event::Any | Event::Mouse() => &[],
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to collect a paste. The editor's own way would show all of it.
pub(super) struct OnPaste(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnPaste {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.pasting().get_or_insert_default();
        Some(Cmd::Noop)
    }
}

/// Collects a paste or an answer of the terminal, key by key; otherwise sees to operators of vi.
pub(super) struct OnAny(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnAny {
    fn handle(
        &self,
        event: &Event,
        n: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let taken = self.0.paste(event).or_else(|| self.0.pass_answer(event));
        taken.or_else(|| {
            let &[key] = event_keys(event) else {
                return None;
            };
            let mut operator = lock(&self.0.operator);
            if context.input_mode() != InputMode::Command {
                // It was begun on a line before.
                *operator = None;
                return None;
            }
            let behind = context.line().get(context.pos()..)?;
            operator::step(&mut operator, key, n, behind)
        })
    }
}

/// What a key does to a marker beside the cursor, which it takes as one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnMarker {
    RemoveBefore,
    RemoveBehind,
    GoBefore,
    GoBehind,
}

/// Handles a marker of a folded text as one character.
pub(super) struct OnEdge(pub(super) Arc<Shared>, pub(super) OnMarker);

impl ConditionalEventHandler for OnEdge {
    fn handle(
        &self,
        event: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        if let Some(pasted) = self.0.paste(event) {
            return Some(pasted);
        }
        if context.input_mode() == InputMode::Command {
            return None;
        }
        let (before, behind) = context.line().split_at_checked(context.pos())?;
        let folded = self.0.folded();
        let start = Movement::ViCharSearch(1, CharSearch::Backward('['));
        match self.1 {
            OnMarker::RemoveBefore => folded.before(before).map(|_| Cmd::Kill(start)),
            OnMarker::GoBefore => folded.before(before).map(|_| Cmd::Move(start)),
            OnMarker::RemoveBehind => folded
                .behind(behind)
                .map(|_| Cmd::Kill(Movement::ViCharSearch(1, CharSearch::Forward(']')))),
            // The editor has no way to the other side of a marker in the middle of a line but step by step.
            OnMarker::GoBehind => folded
                .behind(behind)
                .filter(|marker| marker.len() == behind.len())
                .map(|_| Cmd::Move(Movement::EndOfLine)),
        }
    }
}

/// Ends the editing otherwise than by Enter. To the editor the line is handed in: that takes the suggestion off the
/// screen and keeps what was typed behind the key.
pub(super) struct OnLeave(pub(super) Arc<Shared>, pub(super) Leave);

impl ConditionalEventHandler for OnLeave {
    fn handle(
        &self,
        event: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        // The end of a paste may never come.
        let is_given_up = self.1 == Leave::Interrupt && self.0.stop_paste();
        if !is_given_up && let Some(pasted) = self.0.paste(event) {
            return Some(pasted);
        }
        *self.0.left() = Some((self.1, context.line().to_owned()));
        Some(Cmd::AcceptLine)
    }
}

/// Puts a line break in the place of a backslash at the end of what is typed.
///
/// It goes by way of a completion: of all the editor's commands only that one replaces what is before the
/// cursor and leaves the cursor behind it. A backslash inside a paste stays what it is.
pub(super) struct OnEnter(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnEnter {
    fn handle(
        &self,
        event: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        if let Some(pasted) = self.0.paste(event) {
            return Some(pasted);
        }
        let is_at_end = context.pos() == context.line().len();
        let is_verbatim = self.0.is_verbatim.load(Ordering::Relaxed);
        if is_verbatim || !is_at_end || enter(context.line()) != Enter::BreakInPlace {
            return None;
        }
        self.0.breaks_line.store(true, Ordering::Relaxed);
        Some(Cmd::Complete)
    }
}

/// What rustyline asks while a line is edited.
pub(super) struct Helper {
    pub(super) completer: Box<dyn Complete>,
    pub(super) shared: Arc<Shared>,
}

impl rustyline::Helper for Helper {}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_verbatim = self.shared.is_verbatim.load(Ordering::Relaxed);
        Ok(if !is_verbatim && enter(context.input()) == Enter::Break {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl rustyline::completion::Completer for Helper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if self.shared.breaks_line.swap(false, Ordering::Relaxed) {
            let line_break = Pair {
                display: String::new(),
                replacement: "\n".to_owned(),
            };
            return Ok((cursor - 1, vec![line_break]));
        }
        let Completions { start, candidates } = self.completer.complete(line, cursor);
        Ok((start, pairs(candidates, cursor - start, size())))
    }
}

/// What the editor is given for candidates, of which so many bytes are typed: no more than the screen shows at once,
/// since it shows others in pages, which no Ctrl-C ends.
fn pairs(
    mut candidates: Vec<Candidate>,
    typed: usize,
    (columns, rows): (usize, usize),
) -> Vec<Pair> {
    let widths = candidates.iter().map(|it| width(&it.replacement));
    let widest = widths.max().unwrap_or(0);
    let is_described = candidates.iter().any(|it| !it.description.is_empty());
    let lines = rows.saturating_sub(2).max(1);
    let beside = if is_described {
        1
    } else {
        (columns / (widest.max(MORE) + 2)).max(1)
    };
    let room = lines * beside;
    let more = (candidates.len() > room).then(|| candidates.len() + 1 - room);
    if more.is_some() {
        let common = common_beginning(&candidates);
        if common.len() > typed {
            let replacement = common.to_owned();
            let display = String::new();
            return vec![Pair {
                display,
                replacement,
            }];
        }
        candidates.truncate(room - 1);
    }
    let pair = |candidate: Candidate| candidate.pair(widest, is_described, columns);
    let mut pairs: Vec<Pair> = candidates.into_iter().map(pair).collect();
    pairs.extend(more.map(|more| Pair {
        display: format!("\u{2026} {} more", thousands(more)),
        replacement: String::new(),
    }));
    pairs
}

/// Columns of `… 10,000 more`.
const MORE: usize = 14;

fn common_beginning(candidates: &[Candidate]) -> &str {
    let mut all = candidates.iter().map(|it| it.replacement.as_str());
    let first = all.next().unwrap_or_default();
    let length = all.fold(first.len(), |length, other| {
        let same = first[..length].chars().zip(other.chars());
        same.take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    });
    &first[..length]
}

/// Columns and rows of the terminal.
fn size() -> (usize, usize) {
    let size = tcgetwinsize(std::io::stdout()).or_else(|_| tcgetwinsize(std::io::stdin()));
    match size {
        Ok(size) if size.ws_col > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

impl Candidate {
    /// With its description in a column of its own, as far as that fits; the editor then puts one in each line.
    fn pair(self, widest: usize, is_described: bool, columns: usize) -> Pair {
        let name = harmless(&self.replacement).replace(DESCRIPTION, " ");
        let display = if is_described {
            // What is wider is cut before the descriptions lose all their room.
            let widest = widest.min(columns * 2 / 3);
            let name = fit_to(&name, widest);
            let space = " ".repeat(widest.saturating_sub(width(&name)) + 1);
            let description = harmless(&self.description).replace('\n', " ");
            let line = format!("{name}{space}{DESCRIPTION}{description}");
            let line = fit_to(&line, columns.saturating_sub(1)).into_owned();
            // So wide that no second one has room beside it.
            let missing = (columns / 2).saturating_sub(width(&line));
            line + &" ".repeat(missing)
        } else {
            fit_to(&name, columns.saturating_sub(2)).into_owned()
        };
        Pair {
            display,
            replacement: self.replacement,
        }
    }
}

/// What a line may go on with: shown as far as it fits, taken whole.
pub(super) struct Suggestion {
    shown: String,
    whole: String,
}

impl Hint for Suggestion {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        Some(&self.whole)
    }
}

/// The rest of the newest input that began so.
fn remembered(line: &str, context: &Context<'_>) -> Option<String> {
    let history = context.history();
    let mut from = history.len().checked_sub(1)?;
    loop {
        let found = history
            .starts_with(line, from, SearchDirection::Reverse)
            .ok()??;
        let rest = found.entry.strip_prefix(line).unwrap_or_default();
        // One of several lines would push the prompt about.
        if !rest.trim().is_empty() && !found.entry.contains('\n') {
            return Some(rest.to_owned());
        }
        from = found.idx.checked_sub(1)?;
    }
}

impl Hinter for Helper {
    type Hint = Suggestion;

    fn hint(&self, line: &str, cursor: usize, context: &Context<'_>) -> Option<Suggestion> {
        let is_plain = !line.contains('\n') && !self.shared.is_verbatim.load(Ordering::Relaxed);
        if cursor < line.len() || line.trim().is_empty() || !is_plain {
            return None;
        }
        let whole = self
            .only_candidate(line)
            .or_else(|| remembered(line, context))?;
        let (columns, _) = size();
        let used = self.shared.prompt.load(Ordering::Relaxed) + width(line);
        let room = columns - used % columns - 1;
        Some(Suggestion {
            shown: fit_to(&harmless(&whole), room).into_owned(),
            whole,
        })
    }
}

impl Helper {
    /// The rest of the only candidate.
    fn only_candidate(&self, line: &str) -> Option<String> {
        let Completions { start, candidates } = self.completer.complete(line, line.len());
        let [only] = candidates.as_slice() else {
            return None;
        };
        let rest = only.replacement.strip_prefix(line.get(start..)?)?;
        (!rest.trim().is_empty()).then(|| rest.to_owned())
    }
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        highlighted(line)
    }

    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        match candidate.split_once(DESCRIPTION) {
            Some((name, description)) => Cow::Owned(format!("{name} \x1b[2m{description}\x1b[22m")),
            None => Cow::Borrowed(candidate),
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(names: impl IntoIterator<Item = String>) -> Vec<Candidate> {
        let with = |replacement| Candidate {
            replacement,
            description: String::new(),
        };
        names.into_iter().map(with).collect()
    }

    #[test]
    fn no_more_candidates_are_shown_than_the_screen_has_room_for() {
        let names = || candidates((0..70_000).map(|n| format!("file-{n:05}")));
        let shown = pairs(names(), "file-".len(), (40, 12));
        let last = shown.last().unwrap();
        // Ten lines of two columns.
        assert_eq!((shown.len(), shown[0].display.as_str()), (20, "file-00000"));
        assert_eq!(
            (last.display.as_str(), last.replacement.as_str()),
            ("… 69,981 more", "")
        );
        // What all begin with is typed first.
        let shown = pairs(names(), 1, (40, 12));
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].replacement, "file-");
        // With what they mean, each has a line.
        let mut described = candidates((0..40).map(|n| format!("{n}-session")));
        described[3].description = "What was said first".to_owned();
        let shown = pairs(described, 0, (40, 12));
        assert_eq!(shown.len(), 10);
        assert!(
            shown[3].display.ends_with("What was said first"),
            "{}",
            shown[3].display
        );
        assert_eq!(shown[9].display, "\u{2026} 31 more");
        let few = candidates(["änd".into(), "äös".into()]);
        assert_eq!(common_beginning(&few), "ä");
        assert_eq!(pairs(few, 0, (40, 12)).len(), 2);
    }
}
