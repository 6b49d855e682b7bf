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
mod tests;
