//! One line of a file to import: `{"session","id","role","speaker","timestamp","text"}`. Its unit is the line,
//! as bytes without the line break.
//!
//! Invariant: every line is a message, nothing (an empty line) or a flaw in words for the person. What a session
//! file would take for something else, or could not be read with again, never gets into a message.

use std::borrow::Cow;

use serde_json::Value;

use crate::chat::{BadName, Message, MessageId, Role, SessionName, Timestamp, Unknown};
use crate::hint::Hint;
use crate::store::MESSAGE_FIELDS;

/// A longer line is no message.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Deeper values would make a session file that its reader refuses.
const MAX_LEVELS: usize = 64;

/// Where fields are kept whose names mean something else in a session file.
const IMPORTED: &str = "imported";

/// What the role was of a message that is kept as the assistant's.
const IMPORTED_ROLE: &str = "imported_role";

/// Years that a session file can hold: 0000 to 9999.
const TIMES: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// The role of a line and what it becomes. What a tool said is kept as the assistant's: without the call it
/// answers, no server would accept it as a result.
const ROLES: [(&str, Role); 3] = [
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Assistant),
];

/// A message and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) session: SessionName,
    pub(super) message: Message,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flaw {
    #[error("the line is longer than 16 MB")]
    TooLong,
    #[error("byte {at} is not UTF-8")]
    NotUtf8 { at: usize },
    #[error("not JSON: {problem} (column {column})")]
    NotJson { problem: String, column: usize },
    #[error("{found}, not an object")]
    NotObject { found: &'static str },
    #[error("no {field:?}")]
    Missing { field: &'static str },
    #[error("{field:?} is {found}, not a string")]
    NotText {
        field: &'static str,
        found: &'static str,
    },
    #[error("\"id\" is empty")]
    EmptyId,
    #[error("\"role\" is {found:?}")]
    Role { found: String },
    #[error("\"timestamp\" is {found:?}")]
    Time { found: String },
    #[error(transparent)]
    Session(#[from] BadName),
    #[error("{field:?} has more than {MAX_LEVELS} levels")]
    TooDeep { field: String },
    #[error("id {:?} is already used on line {first}, with different content", id.as_str())]
    Repeated { id: MessageId, first: usize },
    #[error("session {session} already has a message {:?} with different content", id.as_str())]
    Taken { session: SessionName, id: MessageId },
}

impl Hint for Flaw {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::TooLong => "each message must be one line; is this a JSONL file?",
            Self::NotUtf8 { .. } => "convert the file to UTF-8 first",
            Self::NotJson { .. } | Self::NotObject { .. } => {
                "each line must be an object such as {\"session\":\"work\",\"id\":\"1\",\"role\":\"user\",\"text\":\"Hello\"}"
            }
            Self::Missing { .. } => {
                "a message needs session, id, role and text; speaker and timestamp are optional"
            }
            Self::NotText { .. } => "put it in quotes, or omit it if it is optional",
            Self::EmptyId | Self::Repeated { .. } => "give each message in a session its own id",
            Self::Role { .. } => "use user, assistant or tool; omit system prompts",
            Self::Time { .. } => {
                "use a timestamp like 2026-02-14T15:23:05Z or 2026-02-14T16:23:05+01:00"
            }
            Self::Session(name) => return name.hint(),
            Self::TooDeep { .. } => "make it a string, or omit it",
            Self::Taken { .. } => "import into another session, or change the ids",
        };
        Some(hint.into())
    }
}

/// Reads a line; `None` where there is nothing on it.
pub(super) fn parse(line: &[u8]) -> Result<Option<Line>, Flaw> {
    if line.len() > MAX_BYTES {
        return Err(Flaw::TooLong);
    }
    let line = std::str::from_utf8(line).map_err(|error| Flaw::NotUtf8 {
        at: error.valid_up_to() + 1,
    })?;
    if line.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => message(fields).map(Some),
        Ok(other) => Err(Flaw::NotObject {
            found: kind(&other),
        }),
        Err(error) => Err(not_json(&error)),
    }
}

fn message(mut fields: Unknown) -> Result<Line, Flaw> {
    let session = required(&mut fields, "session")?.parse()?;
    let id = required(&mut fields, "id")?;
    if id.is_empty() {
        return Err(Flaw::EmptyId);
    }
    let said_by = required(&mut fields, "role")?;
    let Some((_, role)) = ROLES.iter().find(|(name, _)| *name == said_by) else {
        return Err(Flaw::Role {
            found: shortened(&said_by),
        });
    };
    let speaker = optional(&mut fields, "speaker")?;
    let at = optional(&mut fields, "timestamp")?;
    let at = at.as_deref().map(time).transpose()?;
    let text = required(&mut fields, "text")?;
    let mut message = Message::text(MessageId::new(id), *role, text, at);
    message.speaker = speaker
        .filter(|name| !name.trim().is_empty())
        .map(String::into_boxed_str);
    if role.as_str() != said_by {
        fields.insert(IMPORTED_ROLE.to_owned(), said_by.into());
    }
    message.unknown = kept(fields)?;
    Ok(Line { session, message })
}

/// A field with a text in it.
fn required(fields: &mut Unknown, field: &'static str) -> Result<String, Flaw> {
    optional(fields, field)?.ok_or(Flaw::Missing { field })
}

fn optional(fields: &mut Unknown, field: &'static str) -> Result<Option<String>, Flaw> {
    match fields.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Flaw::NotText {
            field,
            found: kind(&other),
        }),
    }
}

fn time(text: &str) -> Result<Timestamp, Flaw> {
    let time = Timestamp::parse(text).filter(|time| TIMES.contains(&time.unix()));
    time.ok_or_else(|| Flaw::Time {
        found: shortened(text),
    })
}

/// The fields that are no part of the format, as a session file can keep them.
fn kept(fields: Unknown) -> Result<Option<Box<Unknown>>, Flaw> {
    let mut kept = Unknown::new();
    let mut aside = Unknown::new();
    for (field, value) in fields {
        if !is_within(&value, MAX_LEVELS) {
            return Err(Flaw::TooDeep { field });
        }
        let means_something = MESSAGE_FIELDS.contains(&field.as_str()) || field == IMPORTED;
        let place = if means_something {
            &mut aside
        } else {
            &mut kept
        };
        place.insert(field, value);
    }
    if !aside.is_empty() {
        kept.insert(IMPORTED.to_owned(), Value::Object(aside));
    }
    Ok((!kept.is_empty()).then(|| Box::new(kept)))
}

fn is_within(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().all(|item| is_within(item, below)),
        Value::Object(fields) => fields.values().all(|item| is_within(item, below)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// In the words of the parser, without its line number: it saw one line only.
fn not_json(error: &serde_json::Error) -> Flaw {
    Flaw::NotJson {
        problem: problem(error),
        column: error.column(),
    }
}

/// What a parser says of a line, without the place in it.
pub(super) fn problem(error: &serde_json::Error) -> String {
    let problem = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    problem.strip_suffix(&place).unwrap_or(&problem).to_owned()
}

fn shortened(text: &str) -> String {
    const MAX: usize = 40;
    text.chars().take(MAX).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::chat::Session;

    fn read(line: &Value) -> Result<Option<Line>, Flaw> {
        parse(line.to_string().as_bytes())
    }

    fn sample() -> Value {
        json!({"session": "trips", "id": "t/1", "role": "user", "speaker": "Ana",
            "timestamp": "2026-02-14T16:23:05+01:00", "text": "The ferry was late."})
    }

    fn with(field: &str, value: Value) -> Value {
        let mut line = sample();
        line[field] = value;
        line
    }

    #[test]
    fn a_message_keeps_id_speaker_time_and_text() {
        let Line { session, message } = read(&sample()).unwrap().unwrap();
        assert_eq!(session.as_str(), "trips");
        assert_eq!(message.id.as_str(), "t/1");
        assert_eq!(message.role, Role::User);
        assert_eq!(message.speaker(), Some("Ana"));
        assert_eq!(message.at.unwrap().iso(), "2026-02-14T15:23:05Z");
        assert_eq!(message.said(), "The ferry was late.");
        assert_eq!(message.unknown, None);
    }

    #[test]
    fn times_have_a_zone_or_are_in_utc_and_may_be_missing() {
        for (time, expected) in [
            (json!("2026-02-14T15:23:05Z"), Some("2026-02-14T15:23:05Z")),
            (
                json!("2026-02-14T15:23:05.9-02:00"),
                Some("2026-02-14T17:23:05Z"),
            ),
            (json!("2026-02-14T15:23:05"), Some("2026-02-14T15:23:05Z")),
            (Value::Null, None),
        ] {
            let line = read(&with("timestamp", time.clone())).unwrap().unwrap();
            let at = line.message.at.map(Timestamp::iso);
            assert_eq!(at.as_deref(), expected, "{time}");
        }
    }

    #[test]
    fn what_a_tool_said_is_kept_as_the_assistants_and_marked() {
        let line = read(&with("role", "tool".into())).unwrap().unwrap();
        assert_eq!(line.message.role, Role::Assistant);
        assert_eq!(line.message.unknown.unwrap()["imported_role"], "tool");
    }

    #[test]
    fn fields_of_its_own_are_kept_and_those_a_session_file_would_misread_stand_aside() {
        let mut line = sample();
        line["lang"] = "pt".into();
        line["outcome"] = "failed".into();
        line["parts"] = json!([1]);
        let kept = read(&line).unwrap().unwrap().message.unknown.unwrap();
        assert_eq!(
            Value::Object(*kept),
            json!({"lang": "pt", "imported": {"outcome": "failed", "parts": [1]}})
        );
    }

    #[test]
    fn empty_lines_are_nothing() {
        for line in ["", " ", "\r", "\t \r"] {
            assert_eq!(parse(line.as_bytes()), Ok(None), "{line:?}");
        }
    }

    #[test]
    fn each_flaw_is_told() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        for (line, expected) in [
            (
                "{\"id\":".to_owned(),
                "not JSON: EOF while parsing a value (column 6)",
            ),
            (
                "{} {}".to_owned(),
                "not JSON: trailing characters (column 4)",
            ),
            ("[1]".to_owned(), "a list, not an object"),
            ("{}".to_owned(), "no \"session\""),
            (with("text", Value::Null).to_string(), "no \"text\""),
            (
                with("text", json!(["a"])).to_string(),
                "\"text\" is a list, not a string",
            ),
            (
                with("id", json!(7)).to_string(),
                "\"id\" is a number, not a string",
            ),
            (with("id", "".into()).to_string(), "\"id\" is empty"),
            (
                with("role", "system".into()).to_string(),
                "\"role\" is \"system\"",
            ),
            (
                with("role", "User".into()).to_string(),
                "\"role\" is \"User\"",
            ),
            (
                with("timestamp", "yesterday".into()).to_string(),
                "\"timestamp\" is \"yesterday\"",
            ),
            (
                with("timestamp", "0000-01-01T00:00:00+01:00".into()).to_string(),
                "\"timestamp\" is \"0000-01-01T00:00:00+01:00\"",
            ),
            (
                with("session", "../x".into()).to_string(),
                "session name \"../x\" starts with a dot",
            ),
            (
                with("more", deep).to_string(),
                "\"more\" has more than 64 levels",
            ),
        ] {
            let flaw = parse(line.as_bytes()).unwrap_err();
            assert_eq!(flaw.to_string(), expected, "{line}");
            assert!(flaw.hint().is_some(), "{line}");
        }
        let flaw = parse(b"{\"id\":\"\xff\"}").unwrap_err();
        assert_eq!(flaw, Flaw::NotUtf8 { at: 8 });
        let flaw = parse(&vec![b'x'; MAX_BYTES + 1]).unwrap_err();
        assert_eq!(flaw, Flaw::TooLong);
    }

    fn field() -> impl Strategy<Value = (String, Value)> {
        let name = prop_oneof![
            prop::sample::select(MESSAGE_FIELDS.to_vec()).prop_map(str::to_owned),
            prop::sample::select(vec![
                "session", "speaker", "text", "data", "imported", "status"
            ])
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            prop::sample::select(vec![
                "user",
                "tool",
                "answered",
                "undone",
                "2026-02-14T15:23:05"
            ])
            .prop_map(Value::from),
        ];
        let value = leaf.prop_recursive(4, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        });
        (name, value)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_bytes_make_reading_panic(line in any::<Vec<u8>>()) {
            parse(&line).ok();
        }

        #[test]
        fn no_object_makes_reading_panic(fields in prop::collection::vec(field(), 0..8)) {
            let fields: Unknown = fields.into_iter().collect();
            read(&Value::Object(fields)).ok();
        }

        #[test]
        fn whatever_stands_in_a_line_is_in_the_session_file_the_same(
            fields in prop::collection::vec(field(), 0..8),
            text in any::<String>(),
        ) {
            let mut line = sample();
            for (name, value) in fields {
                if sample().get(&name).is_none() {
                    line[name] = value;
                }
            }
            line["text"] = text.into();
            let Line { session, message } = read(&line).unwrap().unwrap();
            let mut kept = Session::new(session);
            kept.import(vec![message.clone()]);
            let file: Value = serde_json::from_str(&crate::store::export_json(&kept)).unwrap();
            let written = &file["messages"][0];
            prop_assert_eq!(&written["content"], &line["text"]);
            prop_assert_eq!(&written["name"], "Ana");
            prop_assert_eq!(&written["outcome"], "interrupted");
            for (field, value) in message.unknown.into_iter().flat_map(|unknown| *unknown) {
                prop_assert_eq!(&written[field], &value);
            }
        }
    }
}
