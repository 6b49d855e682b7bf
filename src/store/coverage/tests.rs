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
