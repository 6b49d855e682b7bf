//! One message on disk: `{id, role, content, timestamp?, tool_calls?, tool_call_id?, name?, failed?,
//! outcome?, withdrawn?, …}`. Its unit is the message. The reader is tolerant (`draft.rs`); the writer,
//! here, has one form:
//!
//! - `content` is always a string: what was said, or what the tool put out;
//! - `tool_calls` is `[{"id","name","arguments"}]`, the arguments as the model wrote them;
//! - `name` is the tool's, or of any other message the name of who said it;
//! - `outcome` (left out when answered) and `withdrawn` stand with the first message of their turn;
//! - `parts` is added only where these fields could not give the message back exactly.
//!
//! Invariant: what is written reads back as the same message.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::{Fields, Mark};
use crate::chat::{
    Attached, CallId, Image, Lines, Message, Part, Role, Timestamp, ToolCall, Withdrawal,
};

/// Names of fields that mean something in a message on disk; any other is kept as it is.
pub const MESSAGE_FIELDS: [&str; 12] = [
    "id",
    "role",
    "type",
    "content",
    "timestamp",
    "tool_calls",
    "tool_call_id",
    "name",
    "failed",
    "outcome",
    "withdrawn",
    "parts",
];

/// What stands in the list of messages.
pub(in crate::store) enum Stored {
    Message(StoredMessage),
    /// A system prompt that another program kept among the messages: not part of the conversation.
    Aside(Value),
}

pub(in crate::store) struct StoredMessage {
    /// With an empty id where the file has none.
    pub(in crate::store) message: Message,
    pub(in crate::store) mark: Option<Mark>,
}

/// Writes a message.
pub(in crate::store) struct Line<'a> {
    pub(in crate::store) message: &'a Message,
    pub(in crate::store) mark: Option<Mark>,
}

impl<'a> From<&'a Message> for Line<'a> {
    fn from(message: &'a Message) -> Self {
        Self {
            message,
            mark: None,
        }
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.message;
        let mut fields = Fields::begin(serializer)?;
        fields.put("id", message.id.as_str())?;
        fields.put("role", message.role.as_str())?;
        fields.put("content", content(message.role, &message.parts).as_ref())?;
        fields.put_some("timestamp", message.at.map(Timestamp::iso))?;
        let speaker = message.speaker().filter(|_| message.role != Role::Tool);
        fields.put_some("name", speaker)?;
        match Shape::of(message) {
            Shape::Text => {}
            Shape::Calls => fields.put("tool_calls", &calls(message))?,
            Shape::Result { call, name, failed } => {
                fields.put("tool_call_id", call.as_str())?;
                fields.put_some("name", (!name.is_empty()).then_some(name))?;
                fields.put_some("failed", failed.then_some(true))?;
            }
            Shape::Other => {
                let calls = calls(message);
                fields.put_some("tool_calls", (!calls.is_empty()).then_some(calls))?;
                let parts: Vec<StoredPart<'_>> = message.parts.iter().map(Into::into).collect();
                fields.put("parts", &parts)?;
            }
        }
        if let Some((outcome, withdrawn)) = self.mark {
            fields.put("outcome", outcome.as_str())?;
            fields.put_some("withdrawn", withdrawn.map(Withdrawal::as_str))?;
        }
        fields.end(message.unknown.as_deref())
    }
}

/// Which of the plain forms can hold a message.
enum Shape<'a> {
    Text,
    Calls,
    Result {
        call: &'a CallId,
        name: &'a str,
        failed: bool,
    },
    Other,
}

impl<'a> Shape<'a> {
    fn of(message: &'a Message) -> Self {
        let calls_only = |parts: &[Part]| {
            !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolCall(_)))
        };
        match (message.role, message.parts.as_slice()) {
            (
                Role::Tool,
                [
                    Part::ToolResult {
                        call, name, failed, ..
                    },
                ],
            ) => Self::Result {
                call,
                name,
                failed: *failed,
            },
            (Role::User | Role::Assistant, [Part::Text(_)]) => Self::Text,
            (Role::User | Role::Assistant, [Part::Text(text), calls @ ..])
                if !text.is_empty() && calls_only(calls) =>
            {
                Self::Calls
            }
            (Role::User | Role::Assistant, calls) if calls_only(calls) => Self::Calls,
            _ => Self::Other,
        }
    }
}

/// What a reader of the file sees first: the text, or the output of tools.
pub(super) fn content(role: Role, parts: &[Part]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::ToolResult { output, .. } if role == Role::Tool => Some(output.as_str()),
        Part::ToolCall(_) | Part::ToolResult { .. } | Part::Attached(_) | Part::Image(_) => None,
    });
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |all, text| {
        Cow::Owned(format!("{all}\n{text}"))
    })
}

fn calls(message: &Message) -> Vec<StoredCall<'_>> {
    message.calls().map(Into::into).collect()
}

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct StoredCall<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl<'a> From<&'a ToolCall> for StoredCall<'a> {
    fn from(call: &'a ToolCall) -> Self {
        Self {
            id: call.id.as_str().into(),
            name: call.name.as_str().into(),
            arguments: call.arguments.as_str().into(),
        }
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredPart<'a> {
    Text(Cow<'a, str>),
    Call(StoredCall<'a>),
    Result {
        call: Cow<'a, str>,
        name: Cow<'a, str>,
        output: Cow<'a, str>,
        failed: bool,
    },
    Attached {
        name: Cow<'a, str>,
        /// First and last; left out of what is whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<(u64, u64)>,
        text: Cow<'a, str>,
    },
    Image {
        name: Cow<'a, str>,
        media_type: Cow<'a, str>,
        sha256: Cow<'a, str>,
    },
}

impl<'a> From<&'a Part> for StoredPart<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Text(text) => Self::Text(text.as_str().into()),
            Part::ToolCall(call) => Self::Call(call.into()),
            Part::ToolResult {
                call,
                name,
                output,
                failed,
            } => Self::Result {
                call: call.as_str().into(),
                name: name.as_str().into(),
                output: output.as_str().into(),
                failed: *failed,
            },
            Part::Attached(Attached { name, lines, text }) => Self::Attached {
                name: name.as_str().into(),
                lines: lines.map(|lines| (lines.first, lines.last)),
                text: text.as_str().into(),
            },
            Part::Image(image) => Self::Image {
                name: image.name.as_str().into(),
                media_type: image.media_type.as_str().into(),
                sha256: image.sha256.as_str().into(),
            },
        }
    }
}

impl From<StoredPart<'_>> for Part {
    fn from(part: StoredPart<'_>) -> Self {
        match part {
            StoredPart::Text(text) => Self::Text(text.into_owned()),
            StoredPart::Call(call) => {
                Self::ToolCall(ToolCall::new(&call.id, call.name, call.arguments))
            }
            StoredPart::Result {
                call,
                name,
                output,
                failed,
            } => Self::ToolResult {
                call: CallId::new(call),
                name: name.into_owned(),
                output: output.into_owned(),
                failed,
            },
            StoredPart::Attached { name, lines, text } => Self::Attached(Attached {
                name: name.into_owned(),
                lines: lines.map(|(first, last)| Lines { first, last }),
                text: text.into_owned(),
            }),
            StoredPart::Image {
                name,
                media_type,
                sha256,
            } => Self::Image(Image {
                name: name.into_owned(),
                media_type: media_type.into_owned(),
                sha256: sha256.into_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
