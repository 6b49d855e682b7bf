//! Summaries of a session whose history is another than when they were written: mended, or edited by hand (C29).
//!
//! Unit: the summaries of one session. Invariant: one that is left stands only for messages it was made of, by their
//! ids; older files hold none, and are only kept from standing for more than there is. Says what was done, writes
//! nothing.

use std::ops::Range;

use crate::chat::{Compaction, Hybrid, Message, MessageId, Outcome, Session, Summary};

/// What became of the summaries, the worst of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Followed {
    Unchanged,
    /// They stand elsewhere now.
    Moved,
    /// They stood for messages that are not there any more.
    Dropped,
}

/// Clamps every summary to the messages it was made of, as far as they are there, and drops those of which none is; the
/// newest that is left becomes the running one. `missing`: messages that may be missing before any index.
pub(super) fn follow(hybrid: &mut Hybrid, session: &Session, missing: usize) -> Followed {
    let compaction = hybrid.compaction.as_mut();
    let mut worst = compaction.map_or(Followed::Unchanged, |it| fit_compaction(it, session));
    let mut keep = |summary: &mut Summary| {
        let followed = fit(summary, session, missing);
        worst = worst.max(followed);
        followed < Followed::Dropped
    };
    hybrid.replaced.retain_mut(&mut keep);
    if hybrid.summary.as_mut().is_some_and(|it| !keep(it)) {
        hybrid.summary = hybrid.replaced.pop();
    }
    let compacted = hybrid.compaction.as_ref().map_or(0, |it| it.upto);
    // Nothing would stand for what lies before it.
    let leaves_a_hole = |it: &Summary| it.upto > compacted && it.from > compacted;
    while hybrid.summary.as_ref().is_some_and(leaves_a_hole) {
        worst = Followed::Dropped;
        hybrid.summary = hybrid.replaced.pop();
    }
    worst
}

fn fit(summary: &mut Summary, session: &Session, missing: usize) -> Followed {
    if summary.covers.0.as_str().is_empty() || summary.covers.1.as_str().is_empty() {
        return clamped(summary, session, missing);
    }
    let stands = summary.from..summary.upto;
    let Some(left) = left_of(session, &stands, &summary.covers) else {
        return Followed::Dropped;
    };
    if left == stands {
        return Followed::Unchanged;
    }
    let messages = &session.messages()[left.clone()];
    if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
        summary.covers = (first.id.clone(), last.id.clone());
    }
    (summary.from, summary.upto) = (left.start, left.end);
    Followed::Moved
}

/// Clamps a compaction and those it replaced; one of which no message is left stands for nothing.
fn fit_compaction(compaction: &mut Compaction, session: &Session) -> Followed {
    let mut worst = Followed::Unchanged;
    let mut next = Some(compaction);
    while let Some(compaction) = next {
        let stands = compaction.head..compaction.upto;
        if let Some(covers) = &mut compaction.covers {
            let left = left_of(session, &stands, covers).unwrap_or(0..0);
            if left != stands {
                worst = worst.max(if left.is_empty() {
                    Followed::Dropped
                } else {
                    Followed::Moved
                });
                let messages = &session.messages()[left.clone()];
                if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
                    *covers = (first.id.clone(), last.id.clone());
                }
                (compaction.head, compaction.upto) = (left.start, left.end);
                compaction.untold = compaction.untold.min(left.len());
                compaction.gone = None;
            }
        }
        next = compaction.previous.as_deref_mut();
    }
    worst
}

/// What is there of the messages that a text stands for, by the ids of their ends; `None` where nothing is, or where
/// others came in between them.
fn left_of(
    session: &Session,
    stands: &Range<usize>,
    (first, last): &(MessageId, MessageId),
) -> Option<Range<usize>> {
    let found = still_there(session.messages(), first, last)?;
    let upto = session.boundary(found.end);
    if upto <= found.start || upto - found.start > stands.len() {
        return None;
    }
    let left = found.start..upto;
    if left == *stands {
        return Some(left);
    }
    // Cut at its end, a history may be covered whole: its newest turn is sent as it was said, where more is left to
    // stand for.
    let newest = session
        .turns()
        .last()
        .map_or(upto, |turn| turn.messages.start);
    let upto = if newest > left.start {
        upto.min(newest)
    } else {
        upto
    };
    Some(left.start..upto)
}

/// The first run of messages that a summary from `first` to `last` was made of. Ids count upwards: they tell which of
/// the messages between the two are left when either is gone, and which came in later.
fn still_there(messages: &[Message], first: &MessageId, last: &MessageId) -> Option<Range<usize>> {
    let (Some(lowest), Some(highest)) = (first.number(), last.number()) else {
        return between(messages, first, last);
    };
    let is_covered = |message: &Message| {
        let number = message.id.number();
        number.is_none_or(|number| (lowest..=highest).contains(&number))
    };
    let is_known = |message: &&Message| message.id.number().is_some() && is_covered(message);
    let from = messages.iter().position(|it| is_known(&it))?;
    let run = messages[from..].iter().take_while(|it| is_covered(it));
    // Messages of other origin have no number: they belong to the run up to the last that has one.
    let length = run.enumerate().filter(|(_, it)| is_known(it)).last()?.0;
    Some(from..from + length + 1)
}

/// The range that begins and ends with these messages.
fn between(messages: &[Message], first: &MessageId, last: &MessageId) -> Option<Range<usize>> {
    let from = messages.iter().position(|message| message.id == *first)?;
    let length = messages[from..]
        .iter()
        .position(|message| message.id == *last)?;
    Some(from..from + length + 1)
}

/// Without ids there is only the count to go by; where it is too large, the last answered turn stays uncovered.
fn clamped(summary: &mut Summary, session: &Session, missing: usize) -> Followed {
    let wanted = summary.upto.saturating_sub(missing);
    let upto = if wanted > session.messages().len() || wanted < summary.upto {
        let mut live = session.live_turns();
        let last = live.rfind(|turn| turn.outcome == Some(Outcome::Answered));
        wanted.min(last.map_or(0, |turn| turn.messages.start))
    } else {
        wanted
    };
    let upto = session.boundary(upto);
    let from = summary.from.min(upto);
    if (from, upto) == (summary.from, summary.upto) {
        return Followed::Unchanged;
    }
    (summary.from, summary.upto) = (from, upto);
    if from < upto {
        Followed::Moved
    } else {
        Followed::Dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Part, Role, SessionMeta, Timestamp};

    /// A history of messages with these numbers; the odd ones are the person's.
    fn history(numbers: impl IntoIterator<Item = u64>) -> Session {
        let message = |n: u64| {
            let role = if n % 2 == 1 {
                Role::User
            } else {
                Role::Assistant
            };
            Message::text(MessageId::numbered(n), role, "said", None)
        };
        let messages = numbers.into_iter().map(message).collect();
        let name = "test".parse().unwrap();
        Session::restore(name, SessionMeta::default(), messages, |_| None)
    }

    fn summary(from: u64, upto: u64) -> Summary {
        let index = |n: u64| usize::try_from(n).unwrap();
        Summary {
            text: "so far".into(),
            from: index(from),
            upto: index(upto),
            covers: (MessageId::numbered(from + 1), MessageId::numbered(upto)),
            at: Timestamp::from_unix(1_800_000_000).unwrap(),
            by: "m".into(),
        }
    }

    fn hybrid(summaries: &[Summary]) -> Hybrid {
        let mut replaced = summaries.to_vec();
        Hybrid {
            summary: replaced.pop(),
            replaced,
            ..Hybrid::default()
        }
    }

    /// What became of the summaries of 1 to 10 and 1 to 20, and the range of the running one.
    fn followed(session: &Session) -> (Followed, Option<(usize, usize)>) {
        let mut hybrid = hybrid(&[summary(0, 10), summary(0, 20)]);
        let followed = follow(&mut hybrid, session, 0);
        let again = follow(&mut hybrid, session, 0);
        assert_eq!(again, Followed::Unchanged, "mended once");
        (followed, hybrid.summary.map(|it| (it.from, it.upto)))
    }

    #[test]
    fn a_summary_is_clamped_to_the_messages_it_was_made_of() {
        use Followed::{Dropped, Moved, Unchanged};
        for (what, session, expected) in [
            ("whole", history(1..=38), (Unchanged, Some((0, 20)))),
            ("cut behind it", history(1..=24), (Unchanged, Some((0, 20)))),
            ("cut within it", history(1..=16), (Moved, Some((0, 14)))),
            (
                "all but four are gone",
                history(1..=4),
                (Moved, Some((0, 2))),
            ),
            (
                "all but one turn is gone",
                history(1..=2),
                (Moved, Some((0, 2))),
            ),
            (
                "the first twelve are gone, all of the older summary's",
                history(13..=38),
                (Dropped, Some((0, 8))),
            ),
            (
                "some in the middle are gone",
                history((1..=4).chain(7..=38)),
                (Moved, Some((0, 18))),
            ),
            (
                "its end and what follows are gone",
                history((1..=16).chain(21..=38)),
                (Moved, Some((0, 16))),
            ),
            (
                "its begin, its middle and its end are gone",
                history((5..=8).chain(11..=16).chain(25..=38)),
                (Moved, Some((0, 10))),
            ),
            (
                "only what came after it is there",
                history(21..=38),
                (Dropped, None),
            ),
            ("everything is gone", history([]), (Dropped, None)),
            (
                "there are others before them",
                history((41..=42).chain(1..=38)),
                (Dropped, None),
            ),
            (
                "there are others between them",
                history((1..=12).chain(41..=42).chain(13..=38)),
                (Moved, Some((0, 12))),
            ),
            (
                "others stand in the place of some",
                history((1..=12).chain(41..=42).chain(15..=38)),
                (Moved, Some((0, 12))),
            ),
        ] {
            assert_eq!(followed(&session), expected, "{what}");
        }
    }

    #[test]
    fn a_summary_of_messages_whose_texts_were_edited_stays() {
        let mut messages = history(1..=38).messages().to_vec();
        messages[3].parts = vec![Part::Text("said otherwise".into())];
        let name = "test".parse().unwrap();
        let session = Session::restore(name, SessionMeta::default(), messages, |_| None);
        assert_eq!(followed(&session), (Followed::Unchanged, Some((0, 20))));
    }

    #[test]
    fn a_summary_of_messages_from_elsewhere_is_known_by_its_ends_alone() {
        let foreign = |gone: &[usize]| {
            let mut messages = history(1..=38).messages().to_vec();
            for (place, message) in messages[..20].iter_mut().enumerate() {
                message.id = MessageId::new(format!("x{}", place + 1));
            }
            let mut place = 0;
            messages.retain(|_| {
                place += 1;
                !gone.contains(&place)
            });
            let name = "test".parse().unwrap();
            Session::restore(name, SessionMeta::default(), messages, |_| None)
        };
        for (gone, expected) in [
            (&[][..], (Followed::Unchanged, Some(20))),
            (&[5, 6], (Followed::Moved, Some(18))),
            (&[19, 20], (Followed::Dropped, None)),
        ] {
            let mut hybrid = hybrid(&[Summary {
                covers: (MessageId::new("x1"), MessageId::new("x20")),
                ..summary(0, 20)
            }]);
            let followed = follow(&mut hybrid, &foreign(gone), 0);
            let upto = hybrid.summary.map(|it| it.upto);
            assert_eq!((followed, upto), expected, "without {gone:?}");
        }
    }

    #[test]
    fn a_compaction_is_clamped_the_same_and_stands_for_nothing_where_none_is_left() {
        use Followed::{Dropped, Moved, Unchanged};
        for (what, session, expected) in [
            ("whole", history(1..=38), (Unchanged, 2..20)),
            ("cut within it", history(1..=16), (Moved, 2..14)),
            ("its begin is gone", history(7..=38), (Moved, 0..14)),
            (
                "its middle is gone",
                history((1..=8).chain(13..=38)),
                (Moved, 2..16),
            ),
            (
                "only what was sent as it was said",
                history(1..=2),
                (Dropped, 0..0),
            ),
            ("everything is gone", history([]), (Dropped, 0..0)),
        ] {
            let at = Timestamp::from_unix(1_800_000_000).unwrap();
            let mut hybrid = Hybrid {
                compaction: Some(Compaction {
                    head: 2,
                    upto: 20,
                    covers: Some((MessageId::numbered(3), MessageId::numbered(20))),
                    gone: Some(18),
                    text: "older".into(),
                    ..Compaction::blank("compact", at)
                }),
                ..Hybrid::default()
            };
            let followed = follow(&mut hybrid, &session, 0);
            let found = hybrid.compaction.unwrap();
            assert_eq!((followed, found.head..found.upto), expected, "{what}");
        }
    }

    #[test]
    fn one_that_begins_behind_a_compaction_goes_where_that_moves_back() {
        let session = history(1..=38);
        let mut hybrid = hybrid(&[summary(10, 20)]);
        let compaction = |upto| {
            let at = Timestamp::from_unix(1_800_000_000).unwrap();
            Some(Compaction {
                upto,
                text: "older".into(),
                ..Compaction::blank("compact", at)
            })
        };
        hybrid.compaction = compaction(10);
        assert_eq!(follow(&mut hybrid, &session, 0), Followed::Unchanged);
        hybrid.compaction = compaction(8);
        assert_eq!(follow(&mut hybrid, &session, 0), Followed::Dropped);
        assert_eq!(hybrid.summary, None);
    }

    #[test]
    fn one_without_ids_is_clamped_and_leaves_the_last_turn_uncovered() {
        let old = |upto| Summary {
            covers: (MessageId::new(""), MessageId::new("")),
            ..summary(0, upto)
        };
        for (upto, messages, missing, expected) in [
            (20, 38, 0, (Followed::Unchanged, Some(20))),
            (44, 5, 0, (Followed::Moved, Some(2))),
            (44, 4, 0, (Followed::Moved, Some(2))),
            (44, 2, 0, (Followed::Dropped, None)),
            (19, 38, 0, (Followed::Moved, Some(18))),
            (20, 30, 8, (Followed::Moved, Some(12))),
        ] {
            let session = history(1..=messages);
            let mut hybrid = hybrid(&[old(upto)]);
            let followed = follow(&mut hybrid, &session, missing);
            let upto = hybrid.summary.map(|it| it.upto);
            assert_eq!((followed, upto), expected, "{messages} messages");
        }
    }
}
