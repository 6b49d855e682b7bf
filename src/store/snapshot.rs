//! The snapshot: a session's complete transcript as of its last checkpoint (C71, C72), and the fast way
//! to read it. Its unit is the whole file; `meta` comes first, then one message a line.
//!
//! ```text
//! {"version":1,"meta":{"id":"work","messages":4,"journal_seq":9,…},"messages":[
//! {"id":"m1","role":"user","content":"…","timestamp":"2026-02-14T15:23:05Z"},
//! …
//! ]}
//! ```
//! A bare list of messages is a snapshot too (C34, C71). What does not parse is left to `repair`.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::format::message::{Line, Stored, StoredMessage};
use super::format::{Head, HeadOf, Mark, VERSION, unknown_version};
use crate::chat::{Message, MessageId, Outcome, Role, Session, SessionName, Turn, Unknown};

/// Where a list of sessions finds `meta`.
pub(super) const HEAD_BYTES: usize = 4096;

/// Some editors put it in front of a file; it is not part of the JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A session as the snapshot has it, and how much of the journal that includes.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) session: Session,
    /// `None` where it is not known.
    pub(super) journal_seq: Option<u64>,
}

/// Why a file is not a snapshot that can be read whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    Newer(String),
    Damaged,
}

impl Snapshot {
    pub(super) fn empty(name: &SessionName) -> Self {
        Self {
            session: Session::new(name.clone()),
            journal_seq: Some(0),
        }
    }
}

/// Reads a whole file; ids and contents are moved into the session, not copied.
pub(super) fn read(name: &SessionName, file: &[u8]) -> Result<Snapshot, Unreadable> {
    let file = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    let mut contents = Contents::default();
    let mut json = serde_json::Deserializer::from_slice(file);
    let parsed = contents
        .deserialize_from(&mut json)
        .and_then(|()| json.end());
    if let Some(newer) = contents.unknown_version {
        return Err(Unreadable::Newer(newer));
    }
    match parsed {
        Ok(()) => Ok(contents.into_snapshot(name)),
        Err(_) => Err(newer_version_anywhere(file).map_or(Unreadable::Damaged, Unreadable::Newer)),
    }
}

/// The `meta` block, from the first bytes of a file; `None` where they do not hold all of it.
pub(super) fn read_head(start: &[u8]) -> Option<Head> {
    let mut contents = Contents {
        only_head: true,
        ..Contents::default()
    };
    let mut json = serde_json::Deserializer::from_slice(start);
    // Ends with an error at the messages or at the end of `start`; what was met before is what counts.
    contents.deserialize_from(&mut json).ok();
    if contents.unknown_version.is_some() {
        return None;
    }
    contents.meta.map(Head::from_fields)
}

/// A newer file may hold what this version cannot read even before it tells its version.
fn newer_version_anywhere(file: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Version {
        version: Option<Value>,
    }
    // Without the look at the brace a list would do for the struct.
    let object = file.trim_ascii_start().strip_prefix(b"{").map(|_| file)?;
    unknown_version(&serde_json::from_slice::<Version>(object).ok()?.version?)
}

/// Writes the file for a session whose journal is contained up to `journal_seq`.
pub(super) fn write(
    session: &Session,
    name: &SessionName,
    journal_seq: u64,
) -> io::Result<Vec<u8>> {
    const BYTES_EACH: usize = 400;
    let mut file = Vec::with_capacity(HEAD_BYTES + session.messages().len() * BYTES_EACH);
    write!(file, "{{\"version\":{VERSION},\"meta\":")?;
    let head = HeadOf {
        id: name.as_str(),
        session,
        journal_seq,
    };
    serde_json::to_writer(&mut file, &head)?;
    file.extend_from_slice(b",\"messages\":[");
    let mut separator: &[u8] = b"\n";
    for turn in session.turns() {
        let mut mark = mark_of(session, turn);
        for message in turn.messages.clone().map(|index| session.as_said(index)) {
            file.extend_from_slice(separator);
            let mark = mark.take();
            serde_json::to_writer(&mut file, &Line { message, mark })?;
            separator = b",\n";
        }
    }
    file.extend_from_slice(b"\n]}\n");
    Ok(file)
}

/// What has to be said of a turn beyond what its messages show.
fn mark_of(session: &Session, turn: &Turn) -> Option<Mark> {
    let outcome = turn.outcome.unwrap_or(Outcome::Interrupted);
    let replied = session
        .messages_of(turn)
        .last()
        .is_some_and(|last| last.role != Role::User);
    let plain = outcome == Outcome::Answered && replied && turn.withdrawn.is_none();
    (!plain).then_some((outcome, turn.withdrawn))
}

/// What a file holds, as far as it was read.
#[derive(Default)]
pub(super) struct Contents {
    only_head: bool,
    /// What the file says of its version, unless it is the one known here.
    unknown_version: Option<String>,
    meta: Option<Unknown>,
    others: Unknown,
    messages: Vec<Message>,
    marks: HashMap<MessageId, Mark>,
    aside: Vec<Value>,
}

impl Contents {
    fn deserialize_from<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        json: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()> {
        Root(self).deserialize(json)
    }

    pub(super) fn put_head(&mut self, meta: Unknown) {
        self.meta = Some(meta);
    }

    pub(super) fn put(&mut self, stored: Stored) {
        match stored {
            Stored::Message(StoredMessage { message, mark }) => {
                if let Some(mark) = mark {
                    self.marks.insert(message.id.clone(), mark);
                }
                self.messages.push(message);
            }
            Stored::Aside(value) => self.aside.push(value),
        }
    }

    pub(super) fn messages(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn into_snapshot(mut self, name: &SessionName) -> Snapshot {
        give_missing_ids(&mut self.messages);
        let mut head = match self.meta {
            Some(fields) => Head::from_fields(fields),
            None => head_from(&self.messages),
        };
        for (key, value) in self.others {
            head.meta.unknown.entry(key).or_insert(value);
        }
        if !self.aside.is_empty() {
            let kept = head
                .meta
                .unknown
                .entry(ASIDE)
                .or_insert(Value::Array(Vec::new()));
            if let Value::Array(kept) = kept {
                kept.append(&mut self.aside);
            }
        }
        let marks = self.marks;
        let session = Session::restore(name.clone(), head.meta, self.messages, |id| {
            marks.get(id).copied()
        });
        Snapshot {
            session,
            journal_seq: head.journal_seq,
        }
    }
}

/// Where system prompts that stood among the messages are kept.
const ASIDE: &str = "system_messages";

/// Gives numbers to messages without an id, above every number that is taken.
fn give_missing_ids(messages: &mut [Message]) {
    let missing = |message: &Message| message.id.as_str().is_empty();
    if !messages.iter().any(missing) {
        return;
    }
    let mut last = messages
        .iter()
        .filter_map(|message| message.id.number())
        .max()
        .unwrap_or(0);
    for message in messages.iter_mut().filter(|message| missing(message)) {
        last += 1;
        message.id = MessageId::numbered(last);
    }
}

/// A file without `meta` still has a title and times.
fn head_from(messages: &[Message]) -> Head {
    let mut head = Head::from_fields(Unknown::new());
    let first = messages.iter().find(|message| message.role == Role::User);
    head.meta.title = first.map_or_else(String::new, |first| Session::title_of(&first.said()));
    head.meta.created_at = messages.iter().find_map(|message| message.at);
    head.meta.updated_at = messages.iter().rev().find_map(|message| message.at);
    head
}

/// The file itself: an object or a list.
struct Root<'a>(&'a mut Contents);

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session or a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Messages(self.0).visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_messages = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "version" => {
                    self.0.unknown_version = unknown_version(&map.next_value()?);
                    if self.0.unknown_version.is_some() {
                        return Err(de::Error::custom("a newer version"));
                    }
                }
                "meta" => match map.next_value()? {
                    Value::Object(meta) => self.0.meta = Some(meta),
                    odd => {
                        self.0.others.insert(key, odd);
                    }
                },
                "messages" if self.0.only_head => {
                    return Err(de::Error::custom("the head ends here"));
                }
                "messages" => {
                    has_messages = true;
                    map.next_value_seed(Messages(self.0))?;
                }
                _ if self.0.only_head => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let value = map.next_value()?;
                    self.0.others.insert(key, value);
                }
            }
        }
        if has_messages {
            Ok(())
        } else {
            Err(de::Error::custom("no list of messages"))
        }
    }
}

struct Messages<'a>(&'a mut Contents);

impl<'de> DeserializeSeed<'de> for Messages<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.0.only_head {
            return Err(de::Error::custom("no head here"));
        }
        while let Some(stored) = seq.next_element()? {
            self.0.put(stored);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::samples;
    use proptest::prelude::*;

    fn read_text(file: &str) -> Session {
        read(&samples::name(), file.as_bytes()).unwrap().session
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_is_written_reads_back_the_same(records in samples::records()) {
            let session = samples::session(&records);
            let file = write(&session, &samples::name(), 7).unwrap();
            let snapshot = read(&samples::name(), &file).unwrap();
            prop_assert_eq!(snapshot.journal_seq, Some(7));
            prop_assert_eq!(&snapshot.session, &session);
            if let Some(head) = read_head(&file[..file.len().min(HEAD_BYTES)]) {
                prop_assert_eq!(&head.meta, session.meta());
                prop_assert_eq!(head.messages, session.live_messages());
            }
        }

        #[test]
        fn no_bytes_make_reading_panic(file in any::<Vec<u8>>()) {
            read(&samples::name(), &file).ok();
            read_head(&file);
        }
    }

    #[test]
    fn a_bare_list_without_ids_and_times_loads() {
        let session = read_text(
            r#"[{"role":"user","content":"Hello"},{"type":"ai","content":"Hi","id":7},
                {"type":"human","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#,
        );
        let ids: Vec<_> = session.messages().iter().map(|m| m.id.as_str()).collect();
        assert_eq!(ids, ["m1", "7", "m2"]);
        assert_eq!(session.messages()[2].said(), "a\nb");
        assert_eq!(session.messages()[0].at, None);
        assert_eq!(session.meta().title, "Hello");
        assert_eq!(session.turns().len(), 2);
    }

    #[test]
    fn system_prompts_are_kept_beside_the_conversation() {
        let file = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"x"}]"#;
        let session = read_text(file);
        assert_eq!(session.messages().len(), 1);
        let again = write(&session, &samples::name(), 0).unwrap();
        assert!(String::from_utf8(again).unwrap().contains("Be brief."));
    }

    #[test]
    fn unknown_fields_of_every_level_are_written_back() {
        let file = r#"{"version":1,"extra":1,"meta":{"id":"x","title":7,"color":"red"},
            "messages":[{"id":"a","role":"user","content":"x","lang":"de","timestamp":"late"}]}"#;
        let written = write(&read_text(file), &samples::name(), 0).unwrap();
        let json: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(json["meta"]["extra"], 1);
        assert_eq!(json["meta"]["color"], "red");
        assert_eq!(json["messages"][0]["lang"], "de");
        assert_eq!(json["messages"][0]["timestamp"], "late");
    }

    #[test]
    fn a_newer_version_is_told_wherever_it_stands() {
        for file in [
            r#"{"version":2,"messages":"in another shape"}"#,
            r#"{"messages":[{"role":"hologram"}],"version":2}"#,
        ] {
            let read = read(&samples::name(), file.as_bytes());
            assert_eq!(read.unwrap_err(), Unreadable::Newer("2".into()), "{file}");
        }
    }

    #[test]
    fn what_is_no_session_is_damaged() {
        for file in [
            "",
            "{}",
            "null",
            "7",
            "[7]",
            "{\"messages\":{}}",
            "[{}]",
            "\0\0",
        ] {
            let read = read(&samples::name(), file.as_bytes());
            assert_eq!(read.unwrap_err(), Unreadable::Damaged, "{file}");
        }
    }

    #[test]
    fn the_file_looks_like_this() {
        let records = samples::one_tool_turn();
        let session = samples::session(&records);
        let file = write(&session, &samples::name(), 5).unwrap();
        assert_eq!(
            String::from_utf8(file).unwrap(),
            include_str!("golden/session.json")
        );
    }
}
