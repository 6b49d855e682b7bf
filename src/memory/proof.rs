//! Where every message of a session is, as one request sees it: nothing may be out of reach (C7).
//!
//! Unit: messages. Invariant: each is in exactly one place, or named as being in none. Pure: it reads a session
//! and a plan, and asks whoever knows whether recall would find a message.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::chat::{Form, MessageId, Role, Session, Turn};
use crate::context::{ContextPlan, SectionKind, Source};
use crate::hint::Hint;

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the request word for word: the sliding window, and the turn that the request began.
    Window,
    /// In the request word for word, because no summary covers it yet.
    Pending,
    /// In the rolling summary.
    Summarised,
    /// In the text of a compaction.
    Compacted,
    /// Taken back by `/undo` or `/retry`; it is on disk and in no request, as the person asked.
    Withdrawn,
    /// Not in the request, and found by recall when it is spoken of.
    Recallable,
}

impl Place {
    pub const ALL: [Self; 6] = [
        Self::Window,
        Self::Pending,
        Self::Summarised,
        Self::Compacted,
        Self::Withdrawn,
        Self::Recallable,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Pending => "pending",
            Self::Summarised => "summarised",
            Self::Compacted => "compacted",
            Self::Withdrawn => "withdrawn",
            Self::Recallable => "recallable",
        }
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
mod tests {
    use super::*;
    use crate::chat::{
        Calibration, Compaction, Hybrid, Message, Outcome, Record, Summary, Timestamp, Tokens,
        Withdrawal,
    };
    use crate::context::{Budget, Layout, fit};
    use crate::memory::Kept;
    use crate::memory::tracking::readers::Readers;
    use crate::memory::{Memory, Prompts, Registry, Settings, Surroundings};

    fn session(turns: usize) -> Session {
        let mut session = Session::new("test".parse().unwrap());
        for _ in 0..turns {
            turn(&mut session);
        }
        session
    }

    fn turn(session: &mut Session) {
        let turn = session.next_turn();
        let input = Message::text(session.next_message_id(0), Role::User, "question", None);
        session.apply(Record::TurnStarted {
            turn,
            input,
            mode: "m".into(),
            model: "m".into(),
        });
        let reply = Message::text(session.next_message_id(0), Role::Assistant, "answer", None);
        session.apply(Record::TurnFinished {
            turn,
            messages: vec![reply],
            outcome: Outcome::Answered,
            calibration: None,
        });
    }

    fn covering(from: usize, upto: usize) -> Summary {
        let id = |n: usize| MessageId::numbered(n as u64);
        Summary {
            text: "- They ask and answer.".into(),
            from,
            upto,
            covers: (id(from + 1), id(upto)),
            at: Timestamp::from_unix(1_800_000_000).unwrap(),
            by: "m".into(),
        }
    }

    fn compacted(upto: usize) -> Compaction {
        let at = Timestamp::from_unix(1_800_000_000).unwrap();
        Compaction {
            upto,
            text: "- They began.".into(),
            ..Compaction::blank("compact", at)
        }
    }

    fn with(session: &mut Session, summary: Summary, compaction: Option<Compaction>) {
        session.apply(Record::HybridReplaced(Hybrid {
            summary: Some(summary),
            compaction,
            ..Hybrid::default()
        }));
    }

    /// What the next request would hold in a window of so many tokens.
    fn plan(session: &Session, window: u32) -> ContextPlan {
        laid_out(session, window, Layout::Classic, "next")
    }

    fn laid_out(session: &Session, window: u32, layout: Layout, input: &str) -> ContextPlan {
        let settings = Settings::default();
        let prompts = Prompts::embedded();
        let modes = Registry::standard(&settings, &prompts, Readers::embedded());
        let memory = Memory::new(modes, settings, prompts).unwrap();
        let budget = Budget::new(Tokens(window), None, Calibration::default());
        let around = Surroundings {
            directory: "~".into(),
            now: Timestamp::from_unix(1_800_000_000).unwrap(),
            room: budget.prompt(),
            layout,
            recall: None,
            offered: None,
            result_chars: 2_000,
            kept: &Kept::default(),
            compacted_now: 0..0,
            strategy: crate::context::Strategy::Rolling,
        };
        let input = Message::text(session.next_message_id(0), Role::User, input, None);
        fit(memory.prepare(session, &input, &around), budget).unwrap()
    }

    fn places(session: &Session, proof: &Proof) -> String {
        let mut shown: Vec<String> = Vec::new();
        for place in Place::ALL {
            let ranges = proof.ranges(place);
            if ranges.count() > 0 {
                shown.push(format!("{} {ranges}", place.as_str()));
            }
        }
        shown.extend(proof.check(session).err().map(|error| error.to_string()));
        shown.join("; ")
    }

    fn proven(session: &Session, window: u32) -> String {
        places(
            session,
            &Proof::of(session, &plan(session, window), |_| false),
        )
    }

    #[test]
    fn every_message_is_in_exactly_one_place() {
        assert_eq!(proven(&session(0), 8_192), "");
        assert_eq!(proven(&session(3), 8_192), "window 1 to 6");
        assert_eq!(
            proven(&session(18), 8_192),
            "window 11 to 36; pending 1 to 10"
        );
        let mut session = session(20);
        with(&mut session, covering(0, 10), None);
        assert_eq!(
            proven(&session, 8_192),
            "window 15 to 40; pending 11 to 14; summarised 1 to 10"
        );
        with(&mut session, covering(6, 10), Some(compacted(6)));
        assert_eq!(
            proven(&session, 8_192),
            "window 15 to 40; pending 11 to 14; summarised 7 to 10; compacted 1 to 6"
        );
    }

    #[test]
    fn the_head_of_a_compaction_is_sent_and_a_notice_stands_for_nothing() {
        let mut session = session(6);
        let of_form = |form| Compaction {
            head: 2,
            form,
            ..compacted(8)
        };
        let hybrid = |compaction| Hybrid {
            compaction: Some(compaction),
            ..Hybrid::default()
        };
        session.apply(Record::HybridReplaced(hybrid(of_form(Form::Summary))));
        let expected = "window 1 to 2, 9 to 12; compacted 3 to 8";
        assert_eq!(proven(&session, 8_192), expected);
        session.apply(Record::HybridReplaced(hybrid(of_form(Form::Notice))));
        let plan = plan(&session, 8_192);
        let proof = Proof::of(&session, &plan, |index| index < 7);
        let shown = places(&session, &proof);
        assert!(
            shown.contains("recallable 3 to 7; 1 of 12 messages are out of reach: 8"),
            "{shown}"
        );
    }

    #[test]
    fn a_layout_that_sends_an_older_summary_sends_what_that_does_not_cover() {
        let mut session = session(80);
        session.apply(Record::HybridReplaced(Hybrid {
            summary: Some(covering(0, 120)),
            replaced: [90, 100, 110].map(|upto| covering(0, upto)).into(),
            ..Hybrid::default()
        }));
        for (window, expected) in [
            (
                8_192,
                "window 135 to 160; pending 101 to 134; summarised 1 to 100",
            ),
            (
                1_600,
                "window 135 to 160; pending 121 to 134; summarised 1 to 120",
            ),
        ] {
            let plan = laid_out(&session, window, Layout::CacheFriendly, "next");
            let proof = Proof::of(&session, &plan, |_| false);
            assert_eq!(places(&session, &proof), expected, "{window}");
        }
    }

    #[test]
    fn nothing_is_out_of_reach_in_one_layout_that_is_not_in_the_other() {
        let mut session = session(80);
        session.apply(Record::HybridReplaced(Hybrid {
            summary: Some(covering(0, 120)),
            replaced: [90, 100, 110].map(|upto| covering(0, upto)).into(),
            ..Hybrid::default()
        }));
        let mut whole = 0;
        for words in (0..5_000).step_by(25) {
            let input = "word ".repeat(words);
            let is_whole = |layout| {
                let plan = laid_out(&session, 8_192, layout, &input);
                let proof = Proof::of(&session, &plan, |_| false);
                proof.check(&session).is_ok()
            };
            if is_whole(Layout::Classic) {
                whole += 1;
                assert!(is_whole(Layout::CacheFriendly), "{words} words");
            }
        }
        assert!((100..200).contains(&whole), "{whole}");
    }

    #[test]
    fn what_was_taken_back_is_named_as_such() {
        let mut session = session(5);
        for (turn, why) in [(1, Withdrawal::Undone), (4, Withdrawal::Retried)] {
            let turn = session.turns()[turn].id;
            session.apply(Record::TurnWithdrawn { turn, why });
        }
        assert_eq!(
            proven(&session, 8_192),
            "window 1 to 2, 5 to 8; withdrawn 3 to 4, 9 to 10"
        );
    }

    #[test]
    fn the_turn_that_a_request_began_counts_with_its_answer() {
        let mut session = session(2);
        let plan = plan(&session, 8_192);
        turn(&mut session);
        let proof = Proof::of(&session, &plan, |_| false);
        assert_eq!(places(&session, &proof), "window 1 to 6");
    }

    #[test]
    fn what_found_no_room_is_recallable_or_out_of_reach_and_named() {
        let mut session = session(40);
        with(&mut session, covering(0, 20), None);
        let shown = proven(&session, 1_000);
        assert!(
            shown.contains("messages are out of reach: 21 to ") && shown.contains("(m21 to m"),
            "{shown}"
        );
        let proof = Proof::of(&session, &plan(&session, 1_000), |index| index >= 20);
        assert_eq!(proof.check(&session), Ok(()));
        assert!(proof.ranges(Place::Recallable).count() > 10);
    }

    #[test]
    fn a_summary_that_begins_later_does_not_stand_for_what_was_before_it() {
        let mut session = session(20);
        with(&mut session, covering(6, 14), None);
        let shown = proven(&session, 8_192);
        assert!(
            shown.ends_with("6 of 40 messages are out of reach: 1 to 6 (m1 to m6)"),
            "{shown}"
        );
    }

    #[test]
    fn many_ranges_are_shown_in_a_line() {
        let ranges = Ranges((0..9).map(|n| n * 3..n * 3 + 2).collect());
        assert_eq!(
            ranges.to_string(),
            "1 to 2, 4 to 5, 7 to 8, 10 to 11, 13 to 14, 16 to 17 and 3 more ranges"
        );
        assert_eq!(ranges.count(), 18);
    }
}
