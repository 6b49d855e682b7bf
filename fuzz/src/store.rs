//! A data folder in memory with a session under test and one that is nobody's business.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cogtrix::chat::{Message, Outcome, Record, Role, Session, SessionName};
use cogtrix::files::MemoryDisk;
use cogtrix::store::{FileStore, Opened, SessionStore, StoreError, export_json};
use cogtrix::testing::{ManualClock, session};
use serde_json::Value;

/// Files of the session under test, in the order of [`split`].
pub const FILES: [&str; 6] = [
    "s.json",
    "s.journal.jsonl",
    "s_hybrid.json",
    "s_mode_state.json",
    "s_scratchpad.json",
    "s_pins.json",
];

/// Stands between the files of one input: no JSON text has it unescaped.
pub const SEPARATOR: u8 = 0x1e;

pub fn name() -> SessionName {
    "s".parse().expect("a letter is a name")
}

pub fn path(file: &str) -> PathBuf {
    PathBuf::from("/d/history").join(file)
}

pub fn store(disk: &MemoryDisk) -> FileStore {
    FileStore::new(
        Arc::new(disk.clone()),
        "/d".into(),
        Arc::new(ManualClock::new()),
    )
}

pub fn open(disk: &MemoryDisk) -> Result<Opened, StoreError> {
    store(disk).open(&name(), Duration::ZERO)
}

/// Another session in the folder, which no damage of the first may touch.
pub fn put_other(disk: &MemoryDisk) -> Session {
    let other = session("other", [("Where is it?", "Here.")]);
    disk.put(path("other.json"), export_json(&other).as_bytes());
    other
}

/// The other session is listed and reads as it was.
pub fn check_other(disk: &MemoryDisk, other: &Session) {
    let read = store(disk)
        .read(other.name())
        .expect("the other session reads");
    assert_eq!(
        read.messages(),
        other.messages(),
        "the other session changed"
    );
    let listed = store(disk).list().expect("sessions are listed");
    let listed = listed.iter().find(|info| info.name == *other.name());
    let listed = listed.expect("the other session is listed");
    assert_eq!((listed.messages, &listed.problem), (2, &None));
}

/// Records of a whole turn.
pub fn turn(session: &Session, asked: &str, replied: &str) -> [Record; 2] {
    let turn = session.next_turn();
    let input = Message::text(session.next_message_id(0), Role::User, asked, None);
    let reply = Message::text(session.next_message_id(1), Role::Assistant, replied, None);
    [
        Record::TurnStarted {
            turn,
            input,
            mode: "code".into(),
            model: "m".into(),
        },
        Record::TurnFinished {
            turn,
            messages: vec![reply],
            outcome: Outcome::Answered,
            calibration: None,
        },
    ]
}

/// Asks once more and opens the session again: what was there is there, and the new turn behind it.
pub fn check_goes_on(disk: &MemoryDisk, opened: Opened) {
    let Opened {
        mut session,
        mut log,
        ..
    } = opened;
    let records = turn(&session, "and now?", "Now it works.");
    log.append(&records).expect("a mended session takes a turn");
    drop(log);
    for record in records {
        session.apply(record);
    }
    let again = open(disk).expect("a mended session opens");
    assert_eq!(again.repairs, [], "mended twice");
    assert_eq!(plain(&again.session), plain(&session));
}

/// Messages without what a file says of the end of a turn in words that nobody knows: it is kept until it is known how
/// the turn ended.
pub fn plain(session: &Session) -> Vec<Message> {
    let mut messages = session.messages().to_vec();
    for message in &mut messages {
        let Some(unknown) = &mut message.unknown else {
            continue;
        };
        // Of a tool's message these are always written, so that a value that cannot be theirs gives way.
        for mark in ["outcome", "withdrawn", "tool_call_id", "name"] {
            unknown.remove(mark);
        }
        unknown.values_mut().for_each(without_fractions);
        if unknown.is_empty() {
            message.unknown = None;
        }
    }
    messages
}

/// Fractions are read to the last digit but one.
pub fn without_fractions(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => *value = Value::Null,
        Value::Array(items) => items.iter_mut().for_each(without_fractions),
        Value::Object(fields) => fields.values_mut().for_each(without_fractions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
