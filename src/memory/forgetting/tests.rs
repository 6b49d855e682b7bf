use serde_json::json;

use super::*;
use crate::chat::{CallId, Compaction, MessageId, ModeStates, Timestamp, ToolCall};

const SISTER: &str = "My sister Gulnora lives in Tashkent";

fn session(said: &[(Role, &str)]) -> Session {
    let mut session = Session::new("s".parse().unwrap());
    let messages = (1..).zip(said);
    let messages =
        messages.map(|(n, (role, text))| Message::text(MessageId::numbered(n), *role, *text, None));
    session.import(messages.collect());
    session
}

fn forget(session: &mut Session, text: &str) -> Vec<&'static str> {
    let mut statements: Statements = Statement::of(text).into_iter().collect();
    statements.without_names_of(&said_besides(session, &statements));
    let redacted = redact(session, &statements);
    for record in redacted.records {
        session.apply(record);
    }
    redacted.from
}

fn said(session: &Session) -> Vec<String> {
    let messages = session.messages().iter();
    messages
        .map(|message| message.said().into_owned())
        .collect()
}

#[test]
fn messages_read_forgotten_and_history_keeps_what_was_said() {
    let mut session = session(&[
        (
            Role::User,
            "Hello. My sister Gulnora lives in Tashkent. What is 2+2?",
        ),
        (Role::Assistant, "4. Say hello to Gulnora!"),
        (Role::User, "I fly to Tashkent in May"),
        (Role::Assistant, "Tashkent is warm then."),
    ]);
    assert_eq!(forget(&mut session, SISTER), ["requests"]);
    assert_eq!(
        said(&session),
        [
            "Hello. [forgotten] What is 2+2?",
            "4. [forgotten]",
            "I fly to Tashkent in May",
            "Tashkent is warm then.",
        ]
    );
    assert!(session.as_said(0).said().contains("Gulnora"));
    assert_eq!(forget(&mut session, SISTER), [""; 0], "once");
    let redacted = session.redacted(|_| true);
    assert!(!redacted.as_said(0).said().contains("Gulnora"));
    assert_eq!(redacted.meta().title, "Hello. [forgotten] What is 2+2?");
}

#[test]
fn what_stands_beside_history_loses_the_sentence_and_no_other() {
    let mut session = session(&[(Role::User, SISTER), (Role::Assistant, "I see.")]);
    let at = Timestamp::from_unix(1).unwrap();
    session.apply(Record::HybridReplaced(Hybrid {
        compaction: Some(Compaction {
            text: "They talk. The sister Gulnora lives in Tashkent. The bug is fixed.".into(),
            ..Compaction::blank("compact", at)
        }),
        ..Hybrid::default()
    }));
    let states = json!({"sections": {"facts": {"entries": [
        {"number": 1, "text": "sister Gulnora lives in Tashkent", "by": "heuristic"},
        {"number": 2, "text": "likes tea"}], "dropped": ["gulnora"], "last_number": 2}}});
    let mut modes = ModeStates::default();
    modes.0.insert("conversation".into(), states);
    session.apply(Record::ModeStatesReplaced(modes));
    let notes = [
        ("family", "sister: Gulnora"),
        (
            "session_facts",
            "- User request: My sister Gulnora lives in Tashkent\n- User request: fix it",
        ),
    ];
    let notes = notes.map(|(key, text)| (key.to_owned(), text.to_owned()));
    session.apply(Record::ScratchpadReplaced(Scratchpad::restore(notes)));
    let mut pinned = Pins::default();
    pinned.pin(SISTER, at).unwrap();
    pinned.pin("always use tabs", at).unwrap();
    session.apply(Record::PinsReplaced(pinned));

    let from = forget(&mut session, SISTER);
    assert_eq!(
        from,
        [
            "requests",
            "summaries",
            "the notes of modes",
            "the scratchpad",
            "the pins"
        ]
    );
    let compaction = session.hybrid().compaction.as_ref().unwrap();
    assert_eq!(compaction.text, "They talk. The bug is fixed.");
    let facts = &session.mode_states().0["conversation"]["sections"]["facts"];
    assert_eq!(
        facts["entries"],
        json!([{"number": 2, "text": "likes tea"}])
    );
    assert_eq!(facts["dropped"], json!([]));
    assert_eq!(
        session.scratchpad().entries().collect::<Vec<_>>(),
        [("session_facts", "- User request: fix it")]
    );
    assert_eq!(
        session
            .pins()
            .iter()
            .map(|it| it.text.as_str())
            .collect::<Vec<_>>(),
        ["always use tabs"]
    );
}

#[test]
fn a_mark_in_the_arguments_of_a_call_leaves_them_json() {
    let mut session = session(&[(Role::User, SISTER)]);
    let call = ToolCall {
        id: CallId::new("c1"),
        name: "memory".into(),
        arguments:
            r#"{"action":"add","content":"Their \"sister\" Gulnora lives in Tashkent","n":1}"#
                .into(),
    };
    let parts = vec![Part::ToolCall(call)];
    session.import(vec![Message::new(
        MessageId::numbered(2),
        Role::Assistant,
        parts,
        None,
    )]);
    forget(&mut session, SISTER);
    let arguments = &session.messages()[1].calls().next().unwrap().arguments;
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    assert_eq!(arguments["content"], FORGOTTEN);
    assert_eq!(arguments["action"], "add");
}
