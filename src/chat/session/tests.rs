use proptest::prelude::*;

use super::*;
use crate::chat::fixture;
use crate::chat::{Compaction, Hybrid, Summary};

fn message(n: u64, role: Role, text: &str) -> Message {
    Message::text(
        MessageId::numbered(n),
        role,
        text,
        Timestamp::from_unix(1_000_000 + i64::try_from(n).unwrap()),
    )
}

fn session() -> Session {
    Session::new("test".parse().unwrap())
}

fn start(session: &mut Session, text: &str) -> TurnId {
    let turn = session.next_turn();
    let input = Message::text(
        session.next_message_id(0),
        Role::User,
        text,
        Timestamp::from_unix(5),
    );
    session.apply(Record::TurnStarted {
        turn,
        input,
        mode: "code".into(),
        model: "m".into(),
    });
    turn
}

fn finish(session: &mut Session, turn: TurnId, text: &str) {
    let reply = Message::text(session.next_message_id(0), Role::Assistant, text, None);
    fixture::answer(session, turn, vec![reply]);
}

#[test]
fn a_turn_begins_open_and_ends_with_its_outcome() {
    let mut session = session();
    let turn = start(&mut session, "Hello\n  world");
    assert!(session.unfinished().is_some());
    finish(&mut session, turn, "Hi");
    assert_eq!(session.unfinished(), None);
    assert_eq!(session.meta().title, "Hello world");
    assert_eq!(session.turns()[0].messages, 0..2);
    assert_eq!(session.next_message_id(0), MessageId::numbered(3));
}

#[test]
fn a_withdrawn_turn_stays_in_history_and_leaves_the_view() {
    let mut session = session();
    let turn = start(&mut session, "one");
    finish(&mut session, turn, "1");
    session.apply(Record::TurnWithdrawn {
        turn,
        why: Withdrawal::Undone,
    });
    assert_eq!(session.live_turns().count(), 0);
    assert_eq!(session.messages().len(), 2);
    assert_eq!(session.next_turn(), TurnId(2));
}

#[test]
fn foreign_messages_are_cut_into_turns() {
    let messages = vec![
        message(1, Role::Assistant, "Welcome"),
        message(9, Role::User, "a"),
        message(3, Role::Assistant, "b"),
        message(4, Role::User, "c"),
    ];
    let session = Session::restore(
        "x".parse().unwrap(),
        SessionMeta::default(),
        messages,
        |_| None,
    );
    let cut: Vec<_> = session
        .turns()
        .iter()
        .map(|t| (t.id.0, t.messages.clone(), t.outcome))
        .collect();
    assert_eq!(
        cut,
        [
            (0, 0..1, Some(Outcome::Answered)),
            (1, 1..3, Some(Outcome::Answered)),
            (2, 3..4, Some(Outcome::Interrupted)),
        ]
    );
    assert_eq!(session.next_message_id(0), MessageId::numbered(10));
}

#[test]
fn messages_from_elsewhere_are_cut_as_a_file_of_them_would_be() {
    let (user, assistant) = (Role::User, Role::Assistant);
    for roles in [
        vec![],
        vec![user],
        vec![assistant, assistant, user],
        vec![user, user, assistant, assistant, user, assistant],
    ] {
        let message = |(n, role): (u64, &Role)| message(n, *role, "x");
        let messages: Vec<Message> = (1..).zip(&roles).map(message).collect();
        let restored = Session::restore(
            "test".parse().unwrap(),
            SessionMeta::default(),
            messages.clone(),
            |_| None,
        );
        for cut in 0..=messages.len() {
            let mut imported = session();
            imported.import(messages[..cut].to_vec());
            imported.import(messages[cut..].to_vec());
            assert_eq!(imported.messages(), restored.messages(), "{roles:?}");
            assert_eq!(
                imported.turns(),
                restored.turns(),
                "{roles:?}, cut at {cut}"
            );
            assert_eq!(imported.next_message_id(0), restored.next_message_id(0));
        }
    }
}

#[test]
fn an_import_goes_behind_what_is_there_and_an_older_one_does_not_turn_back_the_clock() {
    let mut session = session();
    let turn = start(&mut session, "own question");
    finish(&mut session, turn, "own answer");
    let before = session.meta().clone();
    let old = Message::text(
        MessageId::new("a"),
        Role::User,
        "old",
        Timestamp::from_unix(1),
    );
    session.import(vec![old]);
    assert_eq!(session.meta(), &before);
    assert_eq!(session.turns()[1].id, TurnId(2));
    assert_eq!(session.messages()[2].said(), "old");
}

/// A summary of the first messages.
fn summary(upto: usize) -> Summary {
    let number = |n: usize| MessageId::numbered(n as u64);
    Summary {
        text: "so far".into(),
        from: 0,
        upto,
        covers: (number(1), number(upto)),
        at: Timestamp::from_unix(1).unwrap(),
        by: "m".into(),
    }
}

proptest! {
    #[test]
    fn a_fork_holds_the_turns_up_to_its_own_and_no_summary_of_later_ones(
        withdrawn in prop::collection::vec(any::<bool>(), 1..8),
        summaries in prop::collection::vec(1usize..8, 0..4),
        compactions in prop::collection::vec(1usize..8, 0..4),
        at in 1u32..9,
    ) {
        let mut whole = session();
        for is_withdrawn in &withdrawn {
            let turn = start(&mut whole, "q");
            finish(&mut whole, turn, "a");
            if *is_withdrawn {
                let why = Withdrawal::Undone;
                whole.apply(Record::TurnWithdrawn { turn, why });
            }
        }
        let turns = withdrawn.len();
        let summaries = summaries.into_iter().map(|n| summary(2 * n.min(turns)));
        let mut replaced: Vec<Summary> = summaries.collect();
        replaced.sort_by_key(|it| it.upto);
        let mut compaction = None;
        for n in compactions {
            let mut next = Compaction::blank("compact", Timestamp::from_unix(1).unwrap());
            (next.upto, next.made) = (2 * n.min(turns), 2 * turns);
            compaction = Some(next.replacing(compaction));
        }
        whole.apply(Record::HybridReplaced(Hybrid {
            summary: replaced.pop(),
            replaced,
            compaction,
            learned: 2 * turns,
            undone: Some(2 * turns),
            ..Hybrid::default()
        }));

        let name: SessionName = "fork".parse().unwrap();
        let now = whole.forked(name.clone(), None).unwrap();
        prop_assert_eq!(now.hybrid(), whole.hybrid());
        prop_assert_eq!((now.messages(), now.turns()), (whole.messages(), whole.turns()));
        let fork = whole.forked(name, Some(TurnId(at)));
        let cut = 2 * at as usize;
        prop_assert_eq!(fork.is_some(), cut <= 2 * turns);
        if let Some(fork) = fork {
            prop_assert_eq!(fork.messages(), &whole.messages()[..cut]);
            prop_assert_eq!(fork.turns().last().unwrap().withdrawn, None);
            prop_assert_eq!(fork.missing_messages(), 0);
            let hybrid = fork.hybrid();
            prop_assert!(hybrid.covered() <= cut && hybrid.learned <= cut);
            let mut kept = hybrid.replaced.iter().chain(&hybrid.summary);
            prop_assert!(cut == 2 * turns || kept.all(|it| it.upto <= cut - 2));
        }
    }
}

#[test]
fn records_of_an_unknown_turn_change_nothing() {
    let mut session = session();
    session.apply(Record::MessageAdded {
        turn: TurnId(4),
        message: message(1, Role::Assistant, "x"),
    });
    session.apply(Record::TurnWithdrawn {
        turn: TurnId(4),
        why: Withdrawal::Undone,
    });
    assert!(session.is_empty());
}

#[test]
fn a_boundary_stands_between_finished_turns_only() {
    let mut session = session();
    for _ in 0..2 {
        let turn = start(&mut session, "q");
        finish(&mut session, turn, "a");
    }
    start(&mut session, "still running");
    let found: Vec<usize> = (0..=7).map(|index| session.boundary(index)).collect();
    assert_eq!(found, [0, 0, 2, 2, 4, 4, 4, 4]);
}

#[test]
fn what_is_missing_shows_in_the_numbers_of_the_ids() {
    assert_eq!(session().missing_messages(), 0);
    let turn = |messages: Vec<Message>| {
        Session::restore(
            "test".parse().unwrap(),
            SessionMeta::default(),
            messages,
            |_| None,
        )
    };
    let kept = vec![
        message(5, Role::User, "q"),
        message(6, Role::Assistant, "a"),
    ];
    assert_eq!(turn(kept).missing_messages(), 4);
    let whole = vec![
        message(1, Role::User, "q"),
        message(2, Role::Assistant, "a"),
    ];
    assert_eq!(turn(whole).missing_messages(), 0);
}
