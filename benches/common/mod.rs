//! Sessions of a wanted size, as values and as the files that the program itself leaves behind.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogtrix::chat::{
    Message, MessageId, Outcome, Record, Role, Session, SessionMeta, SessionName, Timestamp,
};
use cogtrix::clock::SystemClock;
use cogtrix::files::LocalDisk;
use cogtrix::store::{FileStore, SessionStore};

/// About what a message of a real conversation holds.
pub(crate) const TEXT: &str = "We looked at the query plan again: the index on (customer_id, created_at) is used, \
                               but the sort spills to disk because work_mem is too small for the two months of orders \
                               that the report asks for. Raising it for this one session is enough.";

fn message(n: u64) -> Message {
    let role = if n.is_multiple_of(2) {
        Role::User
    } else {
        Role::Assistant
    };
    let at = Timestamp::from_unix(1_700_000_000 + i64::try_from(n).unwrap_or(0) * 60);
    Message::text(MessageId::numbered(n + 1), role, format!("{n}. {TEXT}"), at)
}

/// A session of so many messages.
pub(crate) fn session(name: SessionName, messages: usize) -> Session {
    let past = (0..messages as u64).map(message).collect();
    Session::restore(name, SessionMeta::default(), past, |_| None)
}

/// The question and the answer that come next in a session.
pub(crate) fn next_turn(session: &Session) -> [Record; 2] {
    let [question, answer] = [0, 1].map(|n| message(session.messages().len() as u64 + n));
    let turn = session.next_turn();
    [
        Record::TurnStarted {
            turn,
            input: question,
            mode: "conversation".into(),
            model: "at-openai/m".into(),
        },
        Record::TurnFinished {
            turn,
            messages: vec![answer],
            outcome: Outcome::Answered,
            calibration: None,
        },
    ]
}

pub(crate) fn store(data: &Path) -> FileStore {
    FileStore::new(Arc::new(LocalDisk), data.to_owned(), Arc::new(SystemClock))
}

/// Keeps a session of so many messages in a data folder: one snapshot, no journal.
pub(crate) fn keep(data: &Path, name: SessionName, messages: usize) {
    let mut opened = store(data)
        .open(&name, Duration::ZERO)
        .expect("a fresh folder");
    let mut session = session(name, messages - 2);
    let records = next_turn(&session);
    opened.log.append(&records).expect("room on the disk");
    for record in records {
        session.apply(record);
    }
    opened.log.checkpoint(&session).expect("room on the disk");
}
