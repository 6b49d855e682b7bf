//! What some keys of the line editor do. A handler a key, or a few of one purpose.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustyline::{
    CharSearch, Cmd, ConditionalEventHandler, Event, EventContext, InputMode, KeyCode, KeyEvent,
    Modifiers, Movement, RepeatCount,
};

use super::continuation::{Enter, enter};
use super::shared::{Leave, Shared, event_keys, lock};
use super::vi::Act;

/// Begins to collect a paste. The editor's own way would show all of it.
pub(super) struct OnPaste(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnPaste {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.pasting().get_or_insert_default();
        Some(Cmd::Noop)
    }
}

/// Collects a paste or an answer of the terminal, key by key.
pub(super) struct OnAny(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnAny {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.collect(event)
    }
}

/// The same, and sees to the operators of vi.
pub(super) struct OnVi(pub(super) Arc<Shared>);

impl ConditionalEventHandler for OnVi {
    fn handle(
        &self,
        event: &Event,
        n: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let collected = self.0.collect(event);
        if collected.is_some() {
            return collected;
        }
        let &[KeyEvent(code, modifiers)] = event_keys(event) else {
            return None;
        };
        let mut vi = lock(&self.0.vi);
        let (line, at) = (context.line(), context.pos());
        let key = match (code, modifiers) {
            (KeyCode::Char(key), Modifiers::NONE) => Some(key),
            _ => None,
        };
        if context.input_mode() != InputMode::Command {
            if code == KeyCode::Esc || modifiers == Modifiers::ALT {
                vi.typed(line, at);
            }
            return None;
        }
        let Some(key) = key else {
            return vi.give_up().then_some(Cmd::Noop);
        };
        match vi.key(key, usize::from(n), (line, at), &self.0.folded())? {
            Act::Nothing => Some(Cmd::Noop),
            Act::Edit(edit) => {
                *lock(&self.0.edit) = Some(edit);
                Some(Cmd::Complete)
            }
            Act::Insert(edit) => {
                let cursor = edit.cursor;
                let rows = self.0.rows(line);
                *self.0.left() = Some((Leave::Change { cursor, rows }, edit.done(line)));
                Some(Cmd::AcceptLine)
            }
        }
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
            return lock(&self.0.vi).give_up().then_some(Cmd::Noop);
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

/// Does the same in any mode; an operator that waits is given up.
pub(super) struct OnOther(pub(super) Arc<Shared>, pub(super) Cmd);

impl ConditionalEventHandler for OnOther {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        lock(&self.0.vi).give_up();
        Some(self.1.clone())
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
        let enter = enter(context.line());
        if enter == Enter::Accept || is_verbatim {
            lock(&self.0.vi).typed(context.line(), context.pos());
        }
        if is_verbatim || !is_at_end || enter != Enter::BreakInPlace {
            return None;
        }
        self.0.breaks_line.store(true, Ordering::Relaxed);
        Some(Cmd::Complete)
    }
}
