//! Where every message of a session is, as one request sees it: nothing may be out of reach (C7).
//!
//! Unit: messages. Invariant: each is in exactly one place, or named as being in none. Pure: it reads a session
//! and a plan, and asks whoever knows whether recall would find a message.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::chat::{Form, MessageId, Role, Session, Turn};
use crate::context::{ContextPlan, SectionKind, Source};
use crate::declare::named;
use crate::hint::Hint;

named! {
    /// Where a message is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Place {
        /// In the request word for word: the sliding window, and the turn that the request began.
        Window = "window",
        /// In the request word for word, because no summary covers it yet.
        Pending = "pending",
        /// In the rolling summary.
        Summarised = "summarised",
        /// In the text of a compaction.
        Compacted = "compacted",
        /// Taken back by `/undo` or `/retry`; it is on disk and in no request, as the person asked.
        Withdrawn = "withdrawn",
        /// Not in the request, and found by recall when it is spoken of.
        Recallable = "recallable",
    }
}

/// The place of every message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    places: Vec<Option<Place>>,
}

/// Messages that are nowhere: neither in the request nor to be found from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{missing} of {all} messages are out of reach: {ranges} ({first} to {last})")]
pub struct OutOfReach {
    pub missing: usize,
    pub all: usize,
    pub ranges: Ranges,
    /// The ids of the first and the last of them.
    pub first: MessageId,
    pub last: MessageId,
}

impl Hint for OutOfReach {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(
            "they are still on disk; `/context` shows what was left out, `/compact` makes room"
                .into(),
        )
    }
}

impl Proof {
    /// Looks for every message in a plan that was, or would be, sent. `is_recallable` tells of a message, by its
    /// index, whether recall would find it.
    pub fn of(
        session: &Session,
        plan: &ContextPlan,
        is_recallable: impl Fn(usize) -> bool,
    ) -> Self {
        let stands_for = StandsFor::of(session, plan);
        let mut places = vec![None; session.messages().len()];
        for turn in session.turns() {
            for index in turn.messages.clone() {
                places[index] = stands_for
                    .place(turn, index)
                    .or_else(|| is_recallable(index).then_some(Place::Recallable));
            }
        }
        Self { places }
    }

    /// The messages in a place.
    pub fn ranges(&self, place: Place) -> Ranges {
        self.of_place(Some(place))
    }

    /// Which messages are in no place, if any.
    pub fn check(&self, session: &Session) -> Result<(), OutOfReach> {
        let ranges = self.of_place(None);
        let ends = ranges.0.first().zip(ranges.0.last());
        let Some((first, last)) = ends.map(|(first, last)| (first.start, last.end - 1)) else {
            return Ok(());
        };
        let id = |index: usize| session.messages()[index].id.clone();
        Err(OutOfReach {
            missing: ranges.count(),
            all: self.places.len(),
            first: id(first),
            last: id(last),
            ranges,
        })
    }

    fn of_place(&self, place: Option<Place>) -> Ranges {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (index, found) in self.places.iter().enumerate() {
            match ranges.last_mut() {
                _ if *found != place => {}
                Some(last) if last.end == index => last.end += 1,
                _ => ranges.push(index..index + 1),
            }
        }
        Ranges(ranges)
    }
}

/// What a plan says of the past, by index.
struct StandsFor {
    /// The turns sent whole, by id, oldest first.
    turns: Vec<(u32, Place)>,
    summarised: Range<usize>,
    compacted: Range<usize>,
    /// Messages before this one stand in front of a compaction, word for word.
    head: usize,
    /// Where the turn begins that the plan was made for; what follows it is its answer.
    asked: usize,
}

impl StandsFor {
    fn of(session: &Session, plan: &ContextPlan) -> Self {
        let mut found = Self {
            turns: Vec::new(),
            summarised: 0..0,
            compacted: 0..0,
            head: 0,
            asked: session.messages().len(),
        };
        for section in plan.sections() {
            match (section.kind, &section.source) {
                (SectionKind::Window, Source::Turn(turn)) => {
                    found.turns.push((turn.0, Place::Window));
                }
                (SectionKind::Pending, Source::Turn(turn)) => {
                    found.turns.push((turn.0, Place::Pending));
                }
                (SectionKind::Summary, Source::Summary { from, upto }) => {
                    found.summarised = *from..*upto;
                }
                (
                    SectionKind::Compacted,
                    Source::Compaction {
                        head,
                        from,
                        upto,
                        form,
                    },
                ) => {
                    found.head = *head;
                    if *form == Form::Summary {
                        found.compacted = *from..*upto;
                    }
                }
                (SectionKind::Input, _) => {
                    let input = section.as_messages().last();
                    let sent = session.messages().iter().rposition(|message| {
                        message.role == Role::User && input.is_some_and(|it| it.id == message.id)
                    });
                    found.asked = sent.unwrap_or(found.asked);
                }
                _ => {}
            }
        }
        found.turns.sort_unstable_by_key(|(turn, _)| *turn);
        found
    }

    fn place(&self, turn: &Turn, index: usize) -> Option<Place> {
        let sent = || {
            let found = self.turns.binary_search_by_key(&turn.id.0, |(id, _)| *id);
            found.ok().map(|found| self.turns[found].1)
        };
        if turn.withdrawn.is_some() {
            Some(Place::Withdrawn)
        } else if index >= self.asked || index < self.head {
            Some(Place::Window)
        } else if let Some(place) = sent() {
            Some(place)
        } else if self.summarised.contains(&index) {
            Some(Place::Summarised)
        } else {
            self.compacted.contains(&index).then_some(Place::Compacted)
        }
    }
}

/// Messages by their place in history; shown counted from 1: `1 to 10, 15`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<usize>>);

impl Ranges {
    pub fn count(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED: usize = 6;
        for (n, range) in self.0.iter().take(NAMED).enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            match range.len() {
                1 => write!(f, "{comma}{}", range.end)?,
                _ => write!(f, "{comma}{} to {}", range.start + 1, range.end)?,
            }
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more ranges"),
        }
    }
}

#[cfg(test)]
mod tests;
