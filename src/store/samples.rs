//! Random sessions for the tests of this folder: any text, any shape of message, any run of records
//! that an agent could make.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chat::{
    Attached, Calibration, CallId, Image, Lines, Message, MessageId, Outcome, Part, Record, Role,
    Session, SessionName, Spent, Timestamp, ToolCall, Unknown, Withdrawal,
};

pub(super) fn name() -> SessionName {
    "test".parse().unwrap()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        any::<String>(),
        "[a-z {}\\[\\]\",:\\\\\n]{0,40}",
        Just("{\"seq\":1,\"type\":\"mode_changed\",\"mode\":\"x\"}\n".to_owned()),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        text().prop_map(Part::Text),
        (text(), text(), text())
            .prop_map(|(id, name, arguments)| Part::ToolCall(ToolCall::new(&id, name, arguments))),
        (text(), text(), text(), any::<bool>()).prop_map(|(call, name, output, failed)| {
            Part::ToolResult {
                call: CallId::new(call),
                name,
                output,
                failed,
            }
        }),
        (text(), prop::option::of((1_u64..9, 9_u64..99)), text()).prop_map(
            |(name, lines, text)| {
                let lines = lines.map(|(first, last)| Lines { first, last });
                Part::Attached(Attached { name, lines, text })
            }
        ),
        (text(), text(), text()).prop_map(|(name, media_type, sha256)| {
            Part::Image(Image {
                name,
                media_type,
                sha256,
            })
        }),
    ]
}

fn unknown() -> impl Strategy<Value = Option<Box<Unknown>>> {
    let fields = json!({"lang": "de", "x": {"y": [1, null, "z"]}, "type": "message"});
    prop_oneof![
        4 => Just(None),
        1 => Just(match fields {
            Value::Object(fields) => Some(Box::new(fields)),
            _ => None,
        }),
    ]
}

fn time() -> impl Strategy<Value = Option<Timestamp>> {
    prop::option::of((0_i64..4_000_000_000).prop_map(|at| Timestamp::from_unix(at).unwrap()))
}

/// A message that still needs an id.
fn message(role: Role) -> impl Strategy<Value = Message> {
    let parts = prop_oneof![
        3 => text().prop_map(|text| vec![Part::Text(text)]),
        1 => prop::collection::vec(part(), 0..4),
    ];
    let speaker = prop_oneof![3 => Just(None), 1 => ".{1,9}".prop_map(|name| Some(name.into()))];
    (parts, time(), speaker, unknown()).prop_map(move |(parts, at, speaker, unknown)| Message {
        id: MessageId::new("?"),
        role,
        parts,
        at,
        speaker: speaker.filter(|_| role != Role::Tool),
        unknown,
    })
}

#[derive(Clone, Debug)]
enum Step {
    Turn(Message, Vec<Message>, Vec<Message>, Outcome, Option<u8>),
    Withdraw(u32, Withdrawal),
    Mode(String),
    Model(String),
}

fn step() -> impl Strategy<Value = Step> {
    let replies = || {
        let role = prop_oneof![Just(Role::Assistant), Just(Role::Tool)];
        prop::collection::vec(role.prop_flat_map(message), 0..3)
    };
    let outcome = prop_oneof![
        Just(Outcome::Answered),
        Just(Outcome::Interrupted),
        Just(Outcome::Failed)
    ];
    let why = prop_oneof![Just(Withdrawal::Undone), Just(Withdrawal::Retried)];
    prop_oneof![
        6 => (message(Role::User), replies(), replies(), outcome, prop::option::of(8_u8..40))
            .prop_map(|(input, added, rest, outcome, ratio)| {
                Step::Turn(input, added, rest, outcome, ratio)
            }),
        1 => (0_u32..6, why).prop_map(|(turn, why)| Step::Withdraw(turn, why)),
        1 => text().prop_map(Step::Mode),
        1 => text().prop_map(Step::Model),
    ]
}

/// Records as an agent writes them, every turn finished.
pub(super) fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(step(), 0..8).prop_map(|steps| {
        let mut session = Session::new(name());
        let mut records = Vec::new();
        for step in steps {
            for record in records_of(step, &session) {
                session.apply(record.clone());
                records.push(record);
            }
        }
        records
    })
}

fn records_of(step: Step, session: &Session) -> Vec<Record> {
    let turn = session.next_turn();
    match step {
        Step::Turn(mut input, mut added, mut rest, outcome, ratio) => {
            let all = std::iter::once(&mut input)
                .chain(&mut added)
                .chain(&mut rest);
            for (message, ahead) in all.zip(0..) {
                message.id = session.next_message_id(ahead);
            }
            let started = Record::TurnStarted {
                turn,
                input,
                mode: "code".into(),
                model: "m".into(),
            };
            let added = added
                .into_iter()
                .map(|message| Record::MessageAdded { turn, message });
            let finished = Record::TurnFinished {
                turn,
                messages: rest,
                outcome,
                calibration: ratio.map(|ratio| Calibration::new(f64::from(ratio) / 8.0)),
            };
            std::iter::once(started)
                .chain(added)
                .chain([finished])
                .collect()
        }
        Step::Withdraw(back, why) => {
            let turns = session.turns();
            let turn = turns.iter().rev().nth(back as usize);
            turn.map(|turn| Record::TurnWithdrawn { turn: turn.id, why })
                .into_iter()
                .collect()
        }
        Step::Mode(mode) => vec![Record::ModeChanged { mode }],
        Step::Model(model) => {
            let spent = Spent {
                requests: 1,
                prompt: 900,
                completion: 30,
                cached: 7,
            };
            let changed = Record::ModelChanged {
                model: model.clone(),
            };
            vec![changed, Record::Spent { model, spent }]
        }
    }
}

/// A turn whose reply arrives in parts.
pub(super) fn streamed(session: &Session, texts: &[String]) -> (Record, Vec<Record>) {
    let turn = session.next_turn();
    let started = Record::TurnStarted {
        turn,
        input: Message::text(session.next_message_id(0), Role::User, "Tell me", None),
        mode: "code".into(),
        model: "m".into(),
    };
    let arrived = texts.iter().map(|text| Record::ReplyArrived {
        turn,
        text: text.clone(),
    });
    (started, arrived.collect())
}

/// The whole reply to the running turn.
pub(super) fn finished(session: &Session, reply: &str) -> Record {
    let turn = session.unfinished().unwrap();
    Record::TurnFinished {
        turn: turn.id,
        messages: vec![Message::text(
            session.next_message_id(0),
            Role::Assistant,
            reply,
            None,
        )],
        outcome: Outcome::Answered,
        calibration: None,
    }
}

/// The session that records make.
pub(super) fn session(records: &[Record]) -> Session {
    let mut session = Session::new(name());
    for record in records {
        session.apply(record.clone());
    }
    session
}

/// A turn with a tool call, taken back later: what the golden files hold.
pub(super) fn one_tool_turn() -> Vec<Record> {
    let at = |second| Timestamp::parse(&format!("2026-02-14T15:23:{second:02}Z"));
    let turn = crate::chat::TurnId(1);
    let message = |n, role, parts, at| Message {
        id: MessageId::numbered(n),
        role,
        parts,
        at,
        speaker: None,
        unknown: None,
    };
    let call = ToolCall::new("c1", "read_file", r#"{"path": "a.txt"}"#);
    let result = Part::ToolResult {
        call: call.id.clone(),
        name: call.name.clone(),
        output: "not found".into(),
        failed: true,
    };
    vec![
        Record::TurnStarted {
            turn,
            input: Message::text(MessageId::numbered(1), Role::User, "Read \"a.txt\"", at(5)),
            mode: "code".into(),
            model: "llama".into(),
        },
        Record::MessageAdded {
            turn,
            message: message(2, Role::Assistant, vec![Part::ToolCall(call)], at(6)),
        },
        Record::MessageAdded {
            turn,
            message: message(3, Role::Tool, vec![result], at(7)),
        },
        Record::TurnFinished {
            turn,
            messages: vec![Message::text(
                MessageId::numbered(4),
                Role::Assistant,
                "There is no such file.",
                at(8),
            )],
            outcome: Outcome::Answered,
            calibration: Some(Calibration::new(1.5)),
        },
        Record::TurnWithdrawn {
            turn,
            why: Withdrawal::Undone,
        },
    ]
}
