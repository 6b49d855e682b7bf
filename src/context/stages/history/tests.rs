use super::*;
use crate::chat::fixture;
use crate::chat::{CallId, Outcome, Record, Withdrawal};

const ALL: Pending = Pending::Carried { max: usize::MAX };

/// A session of `turns` plain turns, two messages each.
fn session(turns: u32) -> Session {
    let mut session = Session::new("test".parse().unwrap());
    for n in 0..turns {
        say(
            &mut session,
            &format!("question {n}"),
            &[&format!("answer {n}")],
        );
    }
    session
}

fn say(session: &mut Session, input: &str, replies: &[&str]) {
    let turn = fixture::begin(session, input, None);
    let messages = replies.iter().enumerate().map(|(n, text)| {
        Message::text(
            session.next_message_id(n as u64),
            Role::Assistant,
            *text,
            None,
        )
    });
    let messages = messages.collect();
    fixture::answer(session, turn, messages);
}

fn wanted(window: usize, pending: Pending) -> Wanted {
    Wanted {
        window,
        covered: 0,
        pending,
        room: Tokens(1_000_000),
    }
}

fn counts(session: &Session, wanted: Wanted) -> (usize, usize, usize) {
    let (sections, beyond) = sections(session, wanted, |_, message| message.clone());
    let of = |kind| {
        sections
            .iter()
            .filter(|s| s.kind == kind)
            .map(|s| s.as_messages().len())
            .sum()
    };
    (of(SectionKind::Pending), of(SectionKind::Window), beyond)
}

#[test]
fn windows_are_whole_turns_of_at_least_the_asked_size() {
    for (turns, window, pending, expected) in [
        (20, 25, Pending::Dropped, (0, 26, 14)),
        (18, 30, Pending::Dropped, (0, 30, 6)),
        (20, 25, ALL, (14, 26, 0)),
        (40, 25, Pending::Carried { max: 9 }, (10, 26, 44)),
        (3, 25, ALL, (0, 6, 0)),
        (0, 25, ALL, (0, 0, 0)),
    ] {
        assert_eq!(
            counts(&session(turns), wanted(window, pending)),
            expected,
            "{turns} turns"
        );
    }
}

#[test]
fn what_is_covered_pending_and_in_the_window_tile_a_session() {
    let covered = Wanted {
        covered: 44,
        ..wanted(25, ALL)
    };
    assert_eq!(counts(&session(40), covered), (10, 26, 0));
}

#[test]
fn a_long_tool_chain_stays_whole() {
    let mut session = session(1);
    say(&mut session, "work", &["step"; 40]);
    say(&mut session, "next", &["ok"]);
    assert_eq!(counts(&session, wanted(25, Pending::Dropped)), (0, 43, 2));
}

#[test]
fn drafting_stops_where_nothing_more_can_fit() {
    let few = Wanted {
        room: Tokens(100),
        ..wanted(4, ALL)
    };
    let (pending, window, beyond) = counts(&session(1_000), few);
    assert_eq!(window, 4);
    assert!(pending < 30, "{pending}");
    assert_eq!(pending + window + beyond, 2_000);
}

#[test]
fn undone_turns_are_not_sent() {
    let mut session = session(3);
    let turn = session.turns()[1].id;
    session.apply(Record::TurnWithdrawn {
        turn,
        why: Withdrawal::Undone,
    });
    let (sections, beyond) = sections(&session, wanted(25, ALL), |_, message| message.clone());
    let said: Vec<_> = sections
        .iter()
        .map(|s| s.as_messages()[0].said().into_owned())
        .collect();
    assert_eq!(said, ["question 0", "question 2"]);
    assert_eq!(beyond, 0, "an undone turn is not one that found no room");
}

#[test]
fn with_the_oldest_turns_undone_nothing_is_said_to_have_found_no_room() {
    let mut session = session(3);
    for turn in 0..2 {
        let turn = session.turns()[turn].id;
        session.apply(Record::TurnWithdrawn {
            turn,
            why: Withdrawal::Retried,
        });
    }
    let counted = counts(&session, wanted(25, ALL));
    assert_eq!(counted, (0, 2, 0));
}

#[test]
fn a_result_without_its_call_and_a_reply_without_a_question_are_made_sendable() {
    let mut orphan = Message::text(MessageId::numbered(3), Role::Tool, "", None);
    orphan.parts = vec![Part::ToolResult {
        call: CallId::new("lost"),
        name: "read".into(),
        output: "x".into(),
        failed: false,
    }];
    let messages = vec![
        Message::text(MessageId::numbered(1), Role::Assistant, "Welcome", None),
        Message::text(MessageId::numbered(2), Role::User, "hi", None),
        orphan,
        Message::text(MessageId::numbered(4), Role::Assistant, "hello", None),
    ];
    let name = "x".parse().unwrap();
    let session = Session::restore(name, crate::chat::SessionMeta::default(), messages, |_| {
        None
    });
    let (sections, _) = sections(&session, wanted(25, ALL), |_, message| message.clone());
    let roles: Vec<_> = sections
        .iter()
        .flat_map(Section::as_messages)
        .map(|m| m.role)
        .collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::User, Role::Assistant]
    );
}

#[test]
fn a_call_that_never_got_its_result_is_closed_where_it_stands() {
    let mut session = session(0);
    let turn = session.next_turn();
    let text = |n: u64, role, text: &str| Message::text(MessageId::numbered(n), role, text, None);
    let mut calling = text(2, Role::Assistant, "");
    calling.parts = ["a", "b"]
        .map(|id| Part::ToolCall(ToolCall::new(id, "read", "{}")))
        .into();
    let mut answer = text(3, Role::Tool, "");
    let output = "content".to_owned();
    answer.parts = vec![Part::ToolResult {
        call: CallId::new("a"),
        name: "read".into(),
        output,
        failed: false,
    }];
    session.apply(Record::TurnStarted {
        turn,
        input: text(1, Role::User, "go"),
        mode: "m".into(),
        model: "m".into(),
    });
    let messages = vec![calling, answer, text(4, Role::Assistant, "done")];
    session.apply(Record::TurnFinished {
        turn,
        messages,
        outcome: Outcome::Answered,
        calibration: None,
    });

    let (sections, _) = sections(&session, wanted(25, ALL), |_, message| message.clone());
    let sent: Vec<_> = sections.iter().flat_map(Section::as_messages).collect();
    let answered: Vec<Vec<&str>> = sent
        .iter()
        .map(|message| message.answers().map(CallId::as_str).collect())
        .collect();
    assert_eq!(answered, [vec![], vec![], vec!["a"], vec!["b"], vec![]]);
}
