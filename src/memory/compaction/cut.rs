//! Where a list is cut: what stays of the beginning, what goes, what stays of the end. The one place that says so.
//!
//! Unit: messages. Invariant: the end begins with a turn; the beginning ends where no call waits for its result.

use std::ops::Range;

use super::view::{View, is_answer};
use crate::chat::{CallId, Message, Session, Tokens};
use crate::context::stages::history;

/// Messages `0..head` stay, `head..upto` go, the others stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub head: usize,
    pub upto: usize,
}

/// How many of the newest messages stay, in whole turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) min: usize,
    pub(super) max: usize,
    /// What they may cost where there are more than the least.
    pub(super) room: Tokens,
    /// What they may cost at all; the last turn stays whatever it costs.
    pub(super) at_most: Tokens,
}

impl Cut {
    /// Whether a message goes.
    pub fn takes(self, index: usize) -> bool {
        (self.head..self.upto).contains(&index)
    }

    pub fn range(self) -> Range<usize> {
        self.head..self.upto
    }

    /// The cut, where it takes anything that is sent now; the head gives way to the tail.
    pub fn checked(self, session: &Session) -> Option<Self> {
        let head = self.head.min(self.upto);
        let cut = Self { head, ..self };
        let takes = session.live_turns().any(|turn| {
            let goes = turn.messages.start.max(head)..turn.messages.end.min(cut.upto);
            !goes.is_empty() && goes.end > covered(session)
        });
        takes.then_some(cut)
    }

    /// How many messages that count go.
    pub fn count(self, session: &Session) -> usize {
        taken(session, self.range())
    }
}

/// Messages of turns that count in a range.
pub(super) fn taken(session: &Session, range: Range<usize>) -> usize {
    let turns = session.live_turns();
    let turns = turns.skip_while(|turn| turn.messages.end <= range.start);
    let turns = turns.take_while(|turn| turn.messages.start < range.end);
    turns
        .map(|turn| {
            let goes = turn.messages.start.max(range.start)..turn.messages.end.min(range.end);
            goes.len()
        })
        .sum()
}

/// Messages `0..covered` need no summary: one stands for them.
fn covered(session: &Session) -> usize {
    let hybrid = session.hybrid();
    match &hybrid.compaction {
        Some(compaction) if compaction.form == crate::chat::Form::Notice => {
            hybrid.running().map_or(compaction.upto, |it| it.upto)
        }
        Some(_) | None => hybrid.covered(),
    }
}

/// The end of the first run: through the first answer in words and the results of its calls; the first message where
/// there is none (O7).
pub(super) fn first_run(session: &Session) -> usize {
    let Some(first) = session.live_turns().find(|turn| !turn.messages.is_empty()) else {
        return 0;
    };
    let messages = session.messages_of(first);
    let answer = messages.iter().position(is_answer);
    let last = answer.unwrap_or(0);
    first.messages.start + closed(messages, last + 1)
}

/// The first so many messages, and the results of their calls (G25, Q26).
pub(super) fn first(session: &Session, wanted: usize) -> usize {
    let Some(first) = session.live_turns().find(|turn| !turn.messages.is_empty()) else {
        return 0;
    };
    let messages = session.messages_of(first);
    first.messages.start + closed(messages, wanted.min(messages.len()))
}

/// The first place from `end` on where no call is open.
fn closed(messages: &[Message], end: usize) -> usize {
    let mut open: Vec<&CallId> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if index >= end && open.is_empty() && message.answers().next().is_none() {
            return index;
        }
        open.retain(|call| !message.answers().any(|answer| answer == *call));
        open.extend(message.calls().map(|call| &call.id));
    }
    messages.len()
}

/// Where the newest messages begin, so many at least, with what is being said counted among them.
pub(super) fn newest(session: &Session, messages: usize) -> usize {
    let start = history::window_start(session, messages);
    // What is being said is never all that stays.
    let last = session.live_turns().rfind(|turn| turn.outcome.is_some());
    last.map_or(start, |last| start.min(last.messages.start))
}

/// Where the tail begins, with what is being said not counted.
pub(super) fn fitted(view: &View<'_>, tail: Tail) -> usize {
    let session = view.session;
    let running = session.unfinished().map(|turn| turn.messages.start);
    let mut start = running.unwrap_or(session.messages().len());
    let (mut messages, mut cost) = (0, Tokens::ZERO);
    for turn in view.turns() {
        let more = view.cost(turn);
        let is_enough = messages >= tail.min && messages + turn.messages.len() > tail.max;
        let room = if messages < tail.min {
            tail.at_most
        } else {
            tail.room
        };
        if messages > 0 && (is_enough || cost + more > room) {
            break;
        }
        messages += turn.messages.len();
        cost += more;
        start = turn.messages.start;
        if messages >= tail.max {
            break;
        }
    }
    start
}
