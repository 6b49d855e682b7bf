//! An entry carried elsewhere: an object of its own, a line each, in the form of the files. Read strictly: whoever
//! imports a file wants to hear of what is wrong in it, not to find half of it.

use std::borrow::Cow;

use serde_json::Value;

use super::entry::{Entry, EntryId, Kind, Scope};
use super::format::{self, VERSION};
use super::wanted::{MAX_CHARS, MAX_KEY_CHARS, within};
use crate::chat::Timestamp;
use crate::hint::Hint;

/// What is wrong with an entry.
#[derive(Debug, thiserror::Error)]
pub enum BadEntry {
    #[error("not JSON: {problem}")]
    NotJson { problem: String },
    #[error("not an object")]
    NotObject,
    #[error("no \"content\"")]
    NoContent,
    #[error("{field:?} is not a string")]
    NotText { field: &'static str },
    #[error("invalid \"id\": {found:?}")]
    Id { found: String },
    #[error("invalid \"type\": {found:?}")]
    Scope { found: String },
    #[error("invalid \"kind\": {found:?}")]
    Kind { found: String },
    #[error("invalid \"timestamp\": {found:?}")]
    Time { found: String },
    #[error("\"tags\" is not a list of strings")]
    Tags,
    #[error(transparent)]
    TooLong(#[from] super::EntriesError),
    #[error("the file has version {found}, but this program supports {VERSION}")]
    Newer { found: String },
}

impl Hint for BadEntry {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::NotJson { .. } | Self::NotObject | Self::NoContent => {
                "each line is an object such as {\"content\": \"deploy uses fly.io\", \"key\": \"deploy\", \"type\": \"project\"}"
            }
            Self::NotText { .. } => "put it in quotes, or omit it if it is optional",
            Self::Id { .. } => {
                "an id is mem_ and 16 hexadecimal digits; omit it to have one generated"
            }
            Self::Scope { .. } => "use project or global; the default is project",
            Self::Kind { .. } => "use note, fact, preference, convention or pattern",
            Self::Time { .. } => "write a timestamp like 2026-02-14T15:23:05Z",
            Self::Tags => "write tags like [\"database\", \"work\"]",
            Self::TooLong(error) => return error.hint(),
            Self::Newer { .. } => "use a newer cogtrix",
        }))
    }
}

/// Characters of a wrong value that are told.
const TOLD: usize = 40;

/// An entry as a line.
pub fn written(scope: Scope, entry: &Entry) -> String {
    format::stored(entry, scope).to_string()
}

/// The objects of a whole file of entries; `None` where the bytes are something else, such as lines.
pub fn document(bytes: &[u8]) -> Option<Result<Vec<Value>, BadEntry>> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(bytes) else {
        return None;
    };
    let Some(Value::Array(entries)) = fields.remove("entries") else {
        return None;
    };
    match fields.remove("version") {
        Some(version) if version.as_u64() != Some(VERSION) => Some(Err(BadEntry::Newer {
            found: version.to_string(),
        })),
        Some(_) | None => Some(Ok(entries)),
    }
}

/// Reads an object, and the scope it says it is of.
pub fn parse(stored: Value, now: Timestamp) -> Result<(Option<Scope>, Entry), BadEntry> {
    let Value::Object(fields) = &stored else {
        return Err(BadEntry::NotObject);
    };
    let text = |field: &'static str| match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(BadEntry::NotText { field }),
    };
    let content = text("content")?.filter(|content| !content.trim().is_empty());
    let content = content.ok_or(BadEntry::NoContent)?;
    within("content", content, MAX_CHARS)?;
    within("key", text("key")?.unwrap_or_default(), MAX_KEY_CHARS)?;
    let found = |text: &str| text.chars().take(TOLD).collect::<String>();
    if let Some(id) = text("id")?.filter(|id| EntryId::parse(id).is_none()) {
        return Err(BadEntry::Id { found: found(id) });
    }
    if let Some(kind) = text("kind")?.filter(|kind| Kind::parse(kind).is_none()) {
        return Err(BadEntry::Kind { found: found(kind) });
    }
    if let Some(time) = text("timestamp")?.filter(|time| Timestamp::parse(time).is_none()) {
        return Err(BadEntry::Time { found: found(time) });
    }
    let is_text = |tags: &Vec<Value>| tags.iter().all(Value::is_string);
    match fields.get("tags") {
        None | Some(Value::Null) => {}
        Some(Value::Array(tags)) if is_text(tags) => {}
        Some(_) => return Err(BadEntry::Tags),
    }
    let said = text("type")?;
    let scope = said.and_then(Scope::parse);
    if let Some(said) = said.filter(|_| scope.is_none()) {
        return Err(BadEntry::Scope { found: found(said) });
    }
    let usual = scope.unwrap_or(Scope::Project);
    let entry = format::entry(stored, usual, now).ok_or(BadEntry::NoContent)?;
    Ok((scope, entry))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_unix(1_800_000_000).unwrap()
    }

    #[test]
    fn a_line_reads_back_as_it_was_written() {
        let stored = json!({
            "id": "mem_0123456789abcdef", "key": "db", "content": "MySQL", "type": "global", "kind": "fact",
            "tags": ["db"], "timestamp": "2026-02-14T15:23:05Z", "created": "2026-02-13T15:23:05Z",
            "from": {"session": "s", "message": "m1"}, "mood": "calm",
            "earlier": [{"content": "Postgres", "timestamp": "2026-02-14T15:23:05Z"}],
        });
        let (scope, entry) = parse(stored.clone(), now()).unwrap();
        assert_eq!(scope, Some(Scope::Global));
        let line = written(Scope::Global, &entry);
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), stored);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        for (stored, expected) in [
            (json!([]), "not an object"),
            (json!({"text": "x"}), "no \"content\""),
            (json!({"content": " "}), "no \"content\""),
            (json!({"content": 7}), "\"content\" is not a string"),
            (
                json!({"content": "x", "key": []}),
                "\"key\" is not a string",
            ),
            (json!({"content": "x", "id": "7"}), "invalid \"id\": \"7\""),
            (
                json!({"content": "x", "type": "team"}),
                "invalid \"type\": \"team\"",
            ),
            (
                json!({"content": "x", "kind": "lie"}),
                "invalid \"kind\": \"lie\"",
            ),
            (
                json!({"content": "x", "timestamp": "noon"}),
                "invalid \"timestamp\": \"noon\"",
            ),
            (
                json!({"content": "x", "tags": "a"}),
                "\"tags\" is not a list",
            ),
            (json!({"content": "x".repeat(8_001)}), "8001 characters"),
        ] {
            let error = parse(stored.clone(), now()).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(expected), "{stored}: {said}");
            let is_long = matches!(error, BadEntry::TooLong(_));
            assert!(is_long || error.hint().is_some(), "{said}");
        }
    }

    #[test]
    fn a_whole_file_is_told_from_lines_and_of_a_newer_one_nothing_is_taken() {
        let file = br#"{"version": 1, "entries": [{"content": "a"}, 7]}"#;
        assert_eq!(document(file).unwrap().unwrap().len(), 2);
        assert!(
            document(br#"{"version": 9, "entries": []}"#)
                .unwrap()
                .is_err()
        );
        for lines in [&b"{\"content\": \"a\"}"[..], b"{}\n{}", b"", b"\xff"] {
            assert!(document(lines).is_none());
        }
    }

    proptest! {
        #[test]
        fn no_object_makes_reading_panic(field in "[a-z]{1,9}|content|id|key|earlier|from", text in any::<String>()) {
            let now = now();
            parse(json!({"content": "x", field.clone(): text}), now).ok();
            parse(json!({"content": text, field: [1, {"a": null}]}), now).ok();
        }
    }
}
