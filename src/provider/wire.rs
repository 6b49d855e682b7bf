//! What the encoders of all wire formats share: messages as speeches, each of one speaker, with what no server accepts
//! left out. Invariant: no two neighbours have the same speaker, and no speech is empty. How a speech is written down
//! is left to each format.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::chat::{Image, Message, Part, Role, ToolSpec};

/// A number as it was written down: 0.7, not what is nearest to it in fewer bits.
pub(super) fn decimal(number: f32) -> Value {
    number
        .to_string()
        .parse()
        .map_or(Value::Null, |number: f64| number.into())
}

/// What one side says before the other answers.
#[derive(Debug, PartialEq)]
pub(super) struct Speech<'a, Speaker> {
    pub(super) speaker: Speaker,
    pub(super) parts: Vec<&'a Part>,
}

impl<Speaker> Speech<'_, Speaker> {
    /// The texts, a blank line between them.
    pub(super) fn text(&self) -> String {
        let texts: Vec<Cow<'_, str>> = self.parts.iter().filter_map(|part| text(part)).collect();
        texts.join("\n\n")
    }

    /// Media types and base64 of the pictures that are sent.
    pub(super) fn images<'b>(
        &'b self,
        images: &'b Images,
    ) -> impl Iterator<Item = (&'b str, &'b str)> {
        let parts = self.parts.iter();
        parts.filter_map(|part| match part {
            Part::Image(image) => Some((image.media_type.as_str(), images.data(image)?)),
            Part::Text(_) | Part::ToolCall(_) | Part::ToolResult { .. } | Part::Attached(_) => None,
        })
    }
}

/// Returns what is read as text: of a picture its name, sent or not, so that it can be spoken of.
pub(super) fn text(part: &Part) -> Option<Cow<'_, str>> {
    match part {
        Part::Text(text) => Some(Cow::Borrowed(text)),
        Part::Attached(attached) => Some(Cow::Owned(attached.rendered())),
        Part::Image(image) => Some(Cow::Owned(image.mark())),
        Part::ToolCall(_) | Part::ToolResult { .. } => None,
    }
}

fn is_blank(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.trim().is_empty())
}

/// Merges neighbours whom `speaker` takes for one, and drops blank texts, which strict servers refuse.
pub(super) fn speeches<Speaker: PartialEq>(
    messages: &[Message],
    speaker: impl Fn(Role) -> Speaker,
) -> Vec<Speech<'_, Speaker>> {
    let mut speeches: Vec<Speech<'_, Speaker>> = Vec::with_capacity(messages.len());
    for message in messages {
        let said = message.parts.iter();
        let said: Vec<&Part> = said.filter(|part| !is_blank(part)).collect();
        if said.is_empty() {
            continue;
        }
        let speaker = speaker(message.role);
        match speeches.last_mut() {
            Some(last) if last.speaker == speaker => last.parts.extend(said),
            _ => speeches.push(Speech {
                speaker,
                parts: said,
            }),
        }
    }
    speeches
}

/// The beginning of ids for calls that come without; a number follows. Unique in the session as long as the
/// id of the last message is.
pub(super) fn spare_id(messages: &[Message]) -> String {
    let last = messages.last().map_or("", |message| message.id.as_str());
    let last: String = last.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("call_{last}_")
}

/// The arguments of a call as an object, even of what a model got wrong: protocols insist on one, and
/// servers that parse the text of earlier calls fail without.
pub(super) fn arguments(text: &str) -> Value {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(object) => object.into(),
        Err(_) if text.trim().is_empty() => json!({}),
        Err(_) => json!({"malformed": text}),
    }
}

/// Tools as functions, the shape that `OpenAI` and Ollama share.
pub(super) fn functions(tools: &[ToolSpec]) -> Value {
    let function = |tool: &ToolSpec| {
        json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        }})
    };
    tools.iter().map(function).collect()
}

/// Shared, because whoever may have to ask again keeps the request.
#[derive(Clone, Default, PartialEq)]
pub struct Images(BTreeMap<String, Arc<str>>);

impl Images {
    pub fn add(&mut self, image: &Image, bytes: &[u8]) {
        let text = STANDARD.encode(bytes);
        self.0.insert(image.sha256.clone(), text.into());
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is sent of a picture; one that is not here is named only.
    pub(super) fn data(&self, image: &Image) -> Option<&str> {
        self.0.get(&image.sha256).map(AsRef::as_ref)
    }
}

/// Not megabytes of letters.
impl fmt::Debug for Images {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::MessageId;

    fn message(n: u64, role: Role, text: &str) -> Message {
        Message::text(MessageId::numbered(n), role, text, None)
    }

    #[test]
    fn neighbours_of_one_role_are_merged_and_blank_texts_are_not_sent() {
        let messages = [
            message(1, Role::User, "a"),
            message(2, Role::Assistant, " \n"),
            message(3, Role::User, "b"),
            message(4, Role::Assistant, "c"),
        ];
        let speeches = speeches(&messages, |role| role);
        let said: Vec<(Role, String)> = speeches
            .iter()
            .map(|speech| (speech.speaker, speech.text()))
            .collect();
        assert_eq!(
            said,
            [
                (Role::User, "a\n\nb".to_owned()),
                (Role::Assistant, "c".to_owned())
            ]
        );
    }

    #[test]
    fn arguments_are_an_object_whatever_a_model_wrote() {
        for (text, expected) in [
            (r#"{"p":1}"#, json!({"p": 1})),
            (" ", json!({})),
            ("{oops", json!({"malformed": "{oops"})),
            ("[1]", json!({"malformed": "[1]"})),
        ] {
            assert_eq!(arguments(text), expected, "{text}");
        }
    }

    #[test]
    fn made_up_ids_differ_from_request_to_request() {
        let first = [message(1, Role::User, "a")];
        let second = [message(9, Role::User, "a")];
        assert_ne!(spare_id(&first), spare_id(&second));
    }
}

/// Requests for the tests of the encoders.
#[cfg(test)]
pub(super) mod samples {
    use super::{Message, Part, Role};
    use crate::chat::{Attached, CallId, Image, Lines, MessageId, Tokens, ToolCall, ToolSpec};
    use crate::provider::{ChatRequest, Delivery, Images, Purpose};

    fn message(n: u64, role: Role, parts: Vec<Part>) -> Message {
        Message {
            id: MessageId::numbered(n),
            role,
            parts,
            at: None,
            speaker: None,
            unknown: None,
        }
    }

    /// [`everything`] with a temperature.
    pub(in crate::provider) fn warm() -> ChatRequest {
        ChatRequest {
            temperature: Some(0.7),
            ..everything()
        }
    }

    fn result(call: &str, output: &str, failed: bool) -> Part {
        Part::ToolResult {
            call: CallId::new(call),
            name: "read".into(),
            output: output.into(),
            failed,
        }
    }

    /// Neighbours of one role, blank texts, calls good and malformed, results good and failed.
    pub(in crate::provider) fn everything() -> ChatRequest {
        let text = |text: &str| Part::Text(text.into());
        ChatRequest {
            system: vec!["be kind".into(), " ".into()],
            recalled: None,
            messages: [
                message(1, Role::User, vec![text("hello")]),
                message(2, Role::User, vec![text("there"), text("")]),
                message(
                    3,
                    Role::Assistant,
                    vec![
                        text("well"),
                        Part::ToolCall(ToolCall::new("a", "read", "{\"p\":1}")),
                        Part::ToolCall(ToolCall::new("b", "read", "{oops")),
                    ],
                ),
                message(4, Role::Tool, vec![result("a", "found", false)]),
                message(5, Role::Tool, vec![result("b", "no such file", true)]),
                message(6, Role::Assistant, vec![text("\n")]),
                message(7, Role::User, vec![text("go on")]),
            ]
            .into(),
            images: Images::default(),
            tools: vec![ToolSpec {
                name: "read".into(),
                description: "reads".into(),
                parameters: serde_json::json!({"type": "object"}),
                trained: None,
            }],
            max_tokens: Tokens(9),
            temperature: None,
            purpose: Purpose::Reply,
            delivery: Delivery::Streamed,
        }
    }

    /// A message with a file and two pictures, of which one is sent.
    pub(in crate::provider) fn with_attachments() -> ChatRequest {
        let image = |name: &str, sha256: &str| Image {
            name: name.into(),
            media_type: "image/png".into(),
            sha256: sha256.into(),
        };
        let (sent, old) = (image("shot.png", "1"), image("old.png", "2"));
        let mut images = Images::default();
        images.add(&sent, b"\x89PNG");
        let attached = Attached {
            name: "a.rs".into(),
            lines: Some(Lines { first: 1, last: 2 }),
            text: "fn a() {}\n".into(),
        };
        let parts = vec![
            Part::Text("Look".into()),
            Part::Attached(attached),
            Part::Image(sent),
            Part::Image(old),
        ];
        ChatRequest {
            messages: [message(1, Role::User, parts)].into(),
            system: Vec::new(),
            images,
            tools: Vec::new(),
            ..everything()
        }
    }

    /// How a model reads the file of it.
    pub(in crate::provider) const ATTACHED: &str = "[file a.rs, lines 1-2]\n```\nfn a() {}\n```";
}
