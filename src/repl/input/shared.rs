//! What the parts of the line editor tell each other.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustyline::{Cmd, Event, KeyEvent};

use super::late_answer::LateAnswer;
use super::paste::Folded;
use super::resized::{self, Drawn, Position, size};
use super::vi::{Edit, Vi};
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
    /// What the terminal answers, after nobody waits for it any more.
    pub(super) answer: Mutex<LateAnswer>,
    pub(super) vi: Mutex<Vi>,
    /// The next completion does this instead.
    pub(super) edit: Mutex<Option<Edit>>,
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
    /// A change of vi, after which the line is gone on with in insert mode.
    Change {
        cursor: usize,
        /// Rows of the screen that the line took before.
        rows: usize,
    },
}

impl Shared {
    pub(super) fn new(is_answer_due: bool, reflows: bool) -> Self {
        Self {
            answer: Mutex::new(LateAnswer::new(is_answer_due)),
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
        lock(&self.vi).give_up();
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

    /// Takes a key that belongs to a paste or to an answer of the terminal; `None` where it belongs to neither.
    pub(super) fn collect(&self, event: &Event) -> Option<Cmd> {
        let pasted = self.paste(event);
        pasted.or_else(|| lock(&self.answer).pass(event))
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
