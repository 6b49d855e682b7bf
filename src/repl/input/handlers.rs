//! What some keys of the line editor do. A handler a key, or a few of one purpose.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustyline::{
    CharSearch, Cmd, ConditionalEventHandler, Event, EventContext, InputMode, Movement, RepeatCount,
};

use super::continuation::{Enter, enter};
use super::operator;
use super::shared::{Leave, Shared, event_keys, lock};

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
