//! What is on disk, by version, and how it becomes the values of `chat` and back. Types on disk are
//! not the types in memory: a durable format changes seldom, and never by accident.
//!
//! ```text
//! {session}.json             {"version":1,"meta":{…},"messages":[…]}      snapshot.rs
//! {session}.journal.jsonl    {"seq":1,"type":"turn_started",…}            journal.rs
//! {session}_hybrid.json      {"version":1,"compaction":{…}|null,…}        side.rs
//! {session}_mode_state.json  {"version":1,"modes":{…},…}                  side.rs
//! {session}_scratchpad.json  {"version":1,KEY:TEXT,…}                      side.rs
//! {session}_pins.json        {"version":1,pins[{id,text,ts}],next}         side.rs
//! a message                  {"id","role","content","timestamp",…}        message.rs
//!                            read by draft.rs and, of other programs, foreign.rs
//! ```
//! Fields that this version does not know are kept at every level and written back.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::chat::{
    Calibration, Outcome, Session, SessionMeta, Spending, Spent, Timestamp, Unknown, Withdrawal,
};

mod draft;
mod foreign;
pub(super) mod message;
pub(super) mod side;

/// The version of every file of a session. Raised when an older program would misread a newer file.
pub(super) const VERSION: u64 = 1;

/// What a file says of its version, where that is not the one this program knows.
pub(super) fn unknown_version(said: &Value) -> Option<String> {
    (said.as_u64() != Some(VERSION)).then(|| said.to_string())
}

/// A `seq` from here on is no count of anything: nothing is numbered after it. Half of what a line of the
/// journal may say, so that what follows the highest sane one is read back.
pub(super) const SANE_SEQ: u64 = 1 << 52;

/// How a turn ended and whether it was taken back: kept with the first message of the turn.
pub(super) type Mark = (Outcome, Option<Withdrawal>);

/// The `meta` block of a snapshot: small, and first in the file, so that a list of sessions need not read the messages.
pub(super) struct Head {
    pub(super) meta: SessionMeta,
    /// Messages of turns that are sent.
    pub(super) messages: usize,
    /// The last record of the journal that the snapshot contains; `None` where the file says what cannot be.
    pub(super) journal_seq: Option<u64>,
}

impl Head {
    /// Takes from `fields` what has the expected type; everything else stays unknown and is kept.
    pub(super) fn from_fields(mut fields: Unknown) -> Self {
        for derived in ["id", "turns"] {
            fields.remove(derived);
        }
        let count = |fields: &mut Unknown, key| take(fields, key, Value::as_u64);
        let text = |fields: &mut Unknown, key| take(fields, key, string);
        let time = |fields: &mut Unknown, key| {
            take(fields, key, |value| Timestamp::parse(value.as_str()?))
        };
        let messages = count(&mut fields, "messages").unwrap_or(0);
        let journal_seq = count(&mut fields, "journal_seq").unwrap_or(0);
        let journal_seq = (journal_seq < SANE_SEQ).then_some(journal_seq);
        let calibration = take(&mut fields, "calibration", Value::as_f64);
        let meta = SessionMeta {
            title: text(&mut fields, "title").unwrap_or_default(),
            created_at: time(&mut fields, "created_at"),
            updated_at: time(&mut fields, "updated_at"),
            mode: text(&mut fields, "mode"),
            model: text(&mut fields, "model"),
            calibration: calibration.map(Calibration::new).unwrap_or_default(),
            spent: take(&mut fields, "spent", read_spending).unwrap_or_default(),
            unknown: fields,
        };
        Self {
            meta,
            messages: usize::try_from(messages).unwrap_or(usize::MAX),
            journal_seq,
        }
    }
}

fn string(value: &Value) -> Option<String> {
    Some(value.as_str()?.to_owned())
}

fn read_spending(value: &Value) -> Option<Spending> {
    let mut spending = Spending::default();
    for (model, spent) in value.as_object()? {
        spending.add(model, read_spent(spent)?);
    }
    Some(spending)
}

pub(super) fn read_spent(value: &Value) -> Option<Spent> {
    let count = |key: &str| value.get(key)?.as_u64();
    Some(Spent {
        requests: count("requests")?,
        prompt: count("prompt")?,
        completion: count("completion")?,
        cached: count("cached").unwrap_or(0),
    })
}

pub(super) fn written_spent(spent: Spent) -> Value {
    json!({
        "requests": spent.requests,
        "prompt": spent.prompt,
        "completion": spent.completion,
        "cached": spent.cached,
    })
}

/// Removes a field if it can be read; one of another type stays where it is.
fn take<T>(fields: &mut Unknown, key: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    let taken = read(fields.get(key)?)?;
    fields.remove(key);
    Some(taken)
}

/// Writes the `meta` block of a session.
pub(super) struct HeadOf<'a> {
    pub(super) id: &'a str,
    pub(super) session: &'a Session,
    pub(super) journal_seq: u64,
}

impl Serialize for HeadOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let meta = self.session.meta();
        let mut fields = Fields::begin(serializer)?;
        fields.put("id", self.id)?;
        fields.put("title", &meta.title)?;
        fields.put_some("created_at", meta.created_at.map(Timestamp::iso))?;
        fields.put_some("updated_at", meta.updated_at.map(Timestamp::iso))?;
        fields.put_some("mode", meta.mode.as_ref())?;
        fields.put_some("model", meta.model.as_ref())?;
        fields.put("turns", &self.session.turns().len())?;
        fields.put("messages", &self.session.live_messages())?;
        if meta.calibration != Calibration::default() {
            fields.put("calibration", &meta.calibration.ratio())?;
        }
        if !meta.spent.is_empty() {
            let spent = meta.spent.iter();
            let spent: Unknown = spent
                .map(|(model, spent)| (model.to_owned(), written_spent(spent)))
                .collect();
            fields.put("spent", &spent)?;
        }
        fields.put("journal_seq", &self.journal_seq)?;
        fields.end(Some(&meta.unknown))
    }
}

/// An object in the making: known fields first, then the unknown ones, no key twice.
pub(super) struct Fields<S: Serializer> {
    map: S::SerializeMap,
    written: Vec<&'static str>,
}

impl<S: Serializer> Fields<S> {
    pub(super) fn begin(serializer: S) -> Result<Self, S::Error> {
        Ok(Self {
            map: serializer.serialize_map(None)?,
            written: Vec::with_capacity(12),
        })
    }

    pub(super) fn put<T>(&mut self, key: &'static str, value: &T) -> Result<(), S::Error>
    where
        T: Serialize + ?Sized,
    {
        self.written.push(key);
        self.map.serialize_entry(key, value)
    }

    pub(super) fn put_some<T>(
        &mut self,
        key: &'static str,
        value: Option<T>,
    ) -> Result<(), S::Error>
    where
        T: Serialize,
    {
        value.map_or(Ok(()), |value| self.put(key, &value))
    }

    pub(super) fn end(mut self, unknown: Option<&Unknown>) -> Result<S::Ok, S::Error> {
        for (key, value) in unknown.into_iter().flatten() {
            if !self.written.contains(&key.as_str()) {
                self.map.serialize_entry(key, value)?;
            }
        }
        self.map.end()
    }
}
