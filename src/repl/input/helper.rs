//! What rustyline asks while a line is edited: whether it is complete, what it can go on with, what some
//! of its keys do.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustyline::completion::Pair;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, ConditionalEventHandler, Context, Event, EventContext, RepeatCount};

use super::continuation::{Enter, enter};
use crate::term::{fit_to, harmless, width};

/// Columns of a candidate with its description.
const CANDIDATE_COLUMNS: usize = 78;

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
    /// The last Ctrl-C met an empty line.
    pub(super) was_empty: AtomicBool,
    /// What stood on the line when Ctrl-Z ended its editing.
    suspended: Mutex<Option<String>>,
    /// The next completion puts a line break in the place of the backslash before the cursor.
    breaks_line: AtomicBool,
}

impl Shared {
    pub(super) fn suspended(&self) -> MutexGuard<'_, Option<String>> {
        self.suspended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a Ctrl-C on an empty line from one that clears something.
pub(super) struct OnInterrupt(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnInterrupt {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        self.0
            .was_empty
            .store(context.line().is_empty(), Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

/// Ends the editing, for the process is to stop.
pub(super) struct OnSuspend(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnSuspend {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        *self.0.suspended() = Some(context.line().to_owned());
        Some(Cmd::Interrupt)
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
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
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
        let widest = candidates
            .iter()
            .map(|c| width(&c.replacement))
            .max()
            .unwrap_or(0);
        let pairs = candidates
            .into_iter()
            .map(|candidate| candidate.pair(widest))
            .collect();
        Ok((start, pairs))
    }
}

impl Candidate {
    /// With its description in a column of its own.
    fn pair(self, widest: usize) -> Pair {
        let space = " ".repeat(widest.saturating_sub(width(&self.replacement)) + 2);
        let line = format!("{}{space}{}", self.replacement, self.description);
        Pair {
            display: fit_to(&harmless(line.trim_end()), CANDIDATE_COLUMNS).into_owned(),
            replacement: self.replacement,
        }
    }
}

impl Hinter for Helper {
    type Hint = String;

    /// The rest of the only candidate.
    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        if cursor < line.len() || line.is_empty() {
            return None;
        }
        let Completions { start, candidates } = self.completer.complete(line, cursor);
        let [only] = candidates.as_slice() else {
            return None;
        };
        let rest = only.replacement.strip_prefix(line.get(start..cursor)?)?;
        (!rest.trim().is_empty()).then(|| rest.to_owned())
    }
}

impl Highlighter for Helper {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        false
    }
}
