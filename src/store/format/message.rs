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
mod tests {
    use super::*;
    use crate::chat::Unknown;

    /// What a message of a file becomes, and what it is written as.
    fn through(file: &str) -> (Message, Value) {
        let Ok(Stored::Message(stored)) = serde_json::from_str(file) else {
            panic!("{file}")
        };
        let line = Line {
            message: &stored.message,
            mark: stored.mark,
        };
        let written = serde_json::to_value(line).unwrap();
        (stored.message, written)
    }

    #[test]
    fn what_is_attached_stands_beside_the_words() {
        let file = serde_json::json!({
            "id": "m1", "role": "user", "content": "See @a and @b.png",
            "parts": [
                {"text": "See @a and @b.png"},
                {"attached": {"name": "a", "lines": [1, 2], "text": "x"}},
                {"attached": {"name": "src/", "text": "a.rs"}},
                {"image": {"name": "b.png", "media_type": "image/png", "sha256": "00ff"}},
            ],
        });
        let (message, written) = through(&file.to_string());
        assert_eq!((message.parts.len(), message.unknown), (4, None));
        assert_eq!(written, file);
    }

    #[test]
    fn every_dialect_is_read_and_one_is_written() {
        let call = r#"[{"id":"c1","name":"f","arguments":"{\"a\":1}"}]"#;
        for (file, role, content, calls) in [
            (r#"{"role":"USER","content":"x"}"#, "user", "x", None),
            (r#"{"type":"human","content":"x"}"#, "user", "x", None),
            (
                r#"{"type":"ai","content":["a",{"type":"text","text":"b"}]}"#,
                "assistant",
                "a\nb",
                None,
            ),
            (
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
                    "function":{"name":"f","arguments":"{\"a\":1}"}}]}"#,
                "assistant",
                "",
                Some(call),
            ),
            (
                r#"{"type":"ai","content":"","tool_calls":[{"name":"f","args":{"a":1},"id":"c1"}]}"#,
                "assistant",
                "",
                Some(call),
            ),
            (
                r#"{"role":"assistant","content":[{"type":"text","text":"x"},
                    {"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]}"#,
                "assistant",
                "x",
                Some(call),
            ),
            (r#"{"role":"user","content":7}"#, "user", "7", None),
        ] {
            let (message, written) = through(file);
            assert_eq!(written["role"], role, "{file}");
            assert_eq!(written["content"], content, "{file}");
            let calls: Option<Value> = calls.map(|calls| serde_json::from_str(calls).unwrap());
            assert_eq!(written.get("tool_calls"), calls.as_ref(), "{file}");
            let (again, _) = through(&written.to_string());
            assert_eq!(again, message, "{file}");
        }
    }

    #[test]
    fn results_of_tools_are_read_from_every_dialect() {
        for (file, call, output, failed) in [
            (
                r#"{"role":"tool","tool_call_id":"c1","name":"f","content":"42"}"#,
                "c1",
                "42",
                false,
            ),
            (
                r#"{"type":"tool","tool_call_id":"c1","status":"error","content":"no"}"#,
                "c1",
                "no",
                true,
            ),
            (
                r#"{"role":"tool","content":[{"type":"tool_result","tool_use_id":"c1",
                    "content":[{"type":"text","text":"42"}],"is_error":true}]}"#,
                "c1",
                "42",
                true,
            ),
            (
                r#"{"role":"function","name":"f","content":null}"#,
                "",
                "",
                false,
            ),
        ] {
            let (message, _) = through(file);
            let [
                Part::ToolResult {
                    call: found,
                    output: said,
                    failed: broke,
                    ..
                },
            ] = &message.parts[..]
            else {
                panic!("{message:?}")
            };
            assert_eq!(
                (found.as_str(), said.as_str(), *broke),
                (call, output, failed),
                "{file}"
            );
        }
    }

    #[test]
    fn what_is_not_understood_is_written_back() {
        for (file, key) in [
            (r#"{"role":"user","content":"x","name":["Ann"]}"#, "name"),
            (r#"{"role":"user","content":"x","name":""}"#, "name"),
            (r#"{"role":"user","content":"x","data":[1]}"#, "data"),
            (
                r#"{"role":"user","content":"x","timestamp":12}"#,
                "timestamp",
            ),
            (
                r#"{"role":"user","content":"x","outcome":"odd"}"#,
                "outcome",
            ),
            (r#"{"role":"user","content":"x","parts":"odd"}"#, "parts"),
            (r#"{"role":"user","type":"message","content":"x"}"#, "type"),
        ] {
            let (_, written) = through(file);
            let file: Unknown = serde_json::from_str(file).unwrap();
            assert_eq!(written[key], file[key], "{key}");
        }
        let (_, written) =
            through(r#"{"role":"user","content":[{"type":"image_url","image_url":1}]}"#);
        assert_eq!(written["content_parts"][0]["image_url"], 1);
    }

    #[test]
    fn the_name_of_who_said_it_comes_back() {
        for role in ["user", "assistant"] {
            let file = format!(r#"{{"role":"{role}","content":"x","name":"Ann"}}"#);
            let (message, written) = through(&file);
            assert_eq!(message.speaker(), Some("Ann"));
            assert_eq!((message.unknown, &written["name"]), (None, &"Ann".into()));
        }
    }

    #[test]
    fn content_edited_by_hand_wins_over_the_parts_beside_it() {
        let file = r#"{"role":"user","content":"a\nb","parts":[{"text":"a"},{"text":"b"}]}"#;
        assert_eq!(through(file).0.parts.len(), 2);
        let (edited, _) = through(&file.replace(r"a\nb", "mine"));
        assert_eq!(edited.parts, [Part::Text("mine".into())]);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for file in [
            "{}",
            r#"{"role":"user"}"#,
            r#"{"content":"x"}"#,
            r#"{"role":"cat","content":"x"}"#,
        ] {
            assert!(serde_json::from_str::<Stored>(file).is_err(), "{file}");
        }
    }
}
