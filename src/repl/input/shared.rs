//! What the parts of the line editor tell each other, and what has come so far of a paste or of a late answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::termios::tcgetwinsize;
use rustyline::{Cmd, Event, KeyCode, KeyEvent, Modifiers};

use super::operator::Operator;
use super::paste::{Came, Folded};
use super::resized::{self, Drawn, Position};
use crate::term::at_cursor;

/// What the editor's parts tell each other; all on one thread, atomic because its handlers must be `Sync`.
#[derive(Default)]
pub(super) struct Shared {
    /// Lines are taken as they come.
    pub(super) is_verbatim: AtomicBool,
    /// What stood on the line when a key ended its editing, to be gone on with.
    left: Mutex<Option<(Leave, String)>>,
    /// What is being pasted, as far as it has come.
    pub(super) pasting: Mutex<Option<String>>,
    pub(super) folded: Mutex<Folded>,
    /// What is on the screen.
    pub(super) drawn: Mutex<Drawn>,
    /// The terminal breaks lines anew when its width changes.
    reflows: bool,
    /// The next completion puts a line break in the place of the backslash before the cursor.
    pub(super) breaks_line: AtomicBool,
    late: Mutex<Late>,
    /// The terminal has not said yet what it can do.
    is_answer_due: AtomicBool,
    /// An operator of vi that waits for its motion.
    pub(super) operator: Mutex<Option<Operator>>,
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
    pub(super) fn new(is_answer_due: bool, reflows: bool) -> Self {
        Self {
            is_answer_due: is_answer_due.into(),
            reflows,
            ..Self::default()
        }
    }

    /// Returns how many rows of the screen a line takes with its prompt.
    pub(super) fn rows(&self, line: &str) -> usize {
        let prompt = &lock(&self.drawn).prompt;
        Position::behind(&format!("{prompt}{line}"), size().0).row + 1
    }

    /// A prompt is about to be shown.
    pub(super) fn begin(&self, prompt: &str) {
        *lock(&self.drawn) = Drawn {
            prompt: prompt.to_owned(),
            columns: size().0,
            ..Drawn::default()
        };
    }

    /// The editor is about to draw a line: clears what a resized terminal made of it.
    pub(super) fn draw(&self, line: &str, cursor: usize, hint: &str) {
        let mut drawn = lock(&self.drawn);
        let (columns, _) = size();
        // Where another line is drawn already, the old one fitted into a row at either width.
        if self.reflows && drawn.columns != columns && drawn.line == line {
            at_cursor(&resized::clear(&drawn, cursor, columns));
        }
        line.clone_into(&mut drawn.line);
        hint.clone_into(&mut drawn.hint);
        drawn.columns = columns;
    }

    pub(super) fn left(&self) -> MutexGuard<'_, Option<(Leave, String)>> {
        lock(&self.left)
    }

    pub(super) fn folded(&self) -> MutexGuard<'_, Folded> {
        lock(&self.folded)
    }

    pub(super) fn pasting(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.pasting)
    }

    /// Gives up a paste that is under way; tells whether one was.
    pub(super) fn stop_paste(&self) -> bool {
        self.pasting().take().is_some()
    }

    /// Lets a key pass that belongs to a late answer of the terminal; `None` where it is a key.
    pub(super) fn pass_answer(&self, event: &Event) -> Option<Cmd> {
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
    pub(super) fn paste(&self, event: &Event) -> Option<Cmd> {
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

pub(super) fn event_keys(event: &Event) -> &[KeyEvent] {
    match event {
        Event::KeySeq(keys) => keys,
        Event::Any | Event::Mouse() => &[],
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Columns and rows of the terminal.
pub(super) fn size() -> (usize, usize) {
    let size = tcgetwinsize(std::io::stdout()).or_else(|_| tcgetwinsize(std::io::stdin()));
    match size {
        Ok(size) if size.ws_col > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}
