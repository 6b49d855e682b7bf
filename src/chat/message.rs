//! One message: who said it, what it holds, when. Text, tool calls and tool results are parts of it
//! from the start, so that grouping and trimming can keep a call and its result together.

use std::borrow::Cow;
use std::fmt;

use super::turn::NO_REPLY;
use super::{Attached, CallId, Image, Timestamp, Tokens, ToolCall};
use crate::declare::named;

/// Names a message for ever; kept verbatim across saves, imports and resumes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(Box<str>);

/// The id of every message of the program's own.
const REFERENCE: &str = "\u{1}reference";

impl MessageId {
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self(id.into())
    }

    /// The id of the `n`-th message that cogtrix itself writes into a session (`m1`, `m2`, …).
    pub fn numbered(n: u64) -> Self {
        Self(format!("m{n}").into())
    }

    /// The `n` of an id made by [`MessageId::numbered`]; a number that counting never reaches is none.
    pub fn number(&self) -> Option<u64> {
        const BEYOND: u64 = 1 << 52;
        let number = self.0.strip_prefix('m')?.parse().ok()?;
        (number < BEYOND).then_some(number)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

named! {
    /// Who speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Role {
        User = "user",
        Assistant = "assistant",
        Tool = "tool",
    }
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    ToolCall(ToolCall),
    ToolResult {
        call: CallId,
        /// The tool that ran; some wire formats want it beside the result.
        name: String,
        output: String,
        failed: bool,
    },
    /// A file that the person named; none of their words.
    Attached(Attached),
    /// A picture that the person named.
    Image(Image),
}

/// Fields of a stored message that this version does not know; carried along and written back.
pub type Unknown = serde_json::Map<String, serde_json::Value>;

/// Begins each reply that stands in for a model's. Such a reply quotes what was said and is no source of it.
pub const STAND_IN: &str = "No model connected.";
/// Begins the same in older sessions.
const OLD_STAND_IN: &str = "[no model; `/help model` says how to get one]";

/// Returns whether a reply stands in for a model's.
pub fn is_stand_in(reply: &str) -> bool {
    reply.starts_with(STAND_IN) || reply.starts_with(OLD_STAND_IN)
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    pub parts: Vec<Part>,
    /// When it was said; absent in files written before times were kept (C34).
    pub at: Option<Timestamp>,
    /// The name of who said it, where it is known; never of a tool, whose name is in its result.
    pub speaker: Option<Box<str>>,
    /// Boxed because almost no message has any.
    pub unknown: Option<Box<Unknown>>,
}

impl Message {
    /// A message of one text.
    pub fn text(id: MessageId, role: Role, text: impl Into<String>, at: Option<Timestamp>) -> Self {
        Self::new(id, role, vec![Part::Text(text.into())], at)
    }

    /// A message of these parts, with nobody's name on it.
    pub fn new(id: MessageId, role: Role, parts: Vec<Part>, at: Option<Timestamp>) -> Self {
        Self {
            id,
            role,
            parts,
            at,
            speaker: None,
            unknown: None,
        }
    }

    /// What the program itself puts before the model among the messages; of no session.
    pub fn reference(text: impl Into<String>) -> Self {
        Self::text(MessageId::new(REFERENCE), Role::User, text, None)
    }

    /// Whether it is one of [`Message::reference`].
    pub fn is_reference(&self) -> bool {
        self.id.as_str() == REFERENCE
    }

    /// Whether it is a reply that was given where there was no model.
    pub fn is_stand_in(&self) -> bool {
        self.role == Role::Assistant && is_stand_in(&self.said())
    }

    /// Whether it only closes a turn to which no reply came: the program's own words.
    pub fn is_no_reply(&self) -> bool {
        self.role == Role::Assistant && self.said().starts_with(NO_REPLY)
    }

    /// The text parts joined by line breaks; borrowed in the usual case of one part.
    pub fn said(&self) -> Cow<'_, str> {
        let mut texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::ToolCall(_) | Part::ToolResult { .. } | Part::Attached(_) | Part::Image(_) => {
                None
            }
        });
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => {
                let mut joined = format!("{first}\n{second}");
                for text in texts {
                    joined.push('\n');
                    joined.push_str(text);
                }
                Cow::Owned(joined)
            }
        }
    }

    /// The name of who said it: more than "user" and "assistant" tell.
    pub fn speaker(&self) -> Option<&str> {
        self.speaker.as_deref()
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text(_) | Part::ToolResult { .. } | Part::Attached(_) | Part::Image(_) => None,
        })
    }

    /// Calls answered by this message.
    pub fn answers(&self) -> impl Iterator<Item = &CallId> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call),
            Part::Text(_) | Part::ToolCall(_) | Part::Attached(_) | Part::Image(_) => None,
        })
    }

    /// Estimated size, envelope included (C78): every part counts, tool arguments too.
    pub fn cost(&self) -> Tokens {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Tokens::estimate(text),
            Part::ToolCall(call) => {
                Tokens::estimate(&call.name) + Tokens::estimate(&call.arguments)
            }
            Part::ToolResult { name, output, .. } => {
                Tokens::estimate(name) + Tokens::estimate(output)
            }
            Part::Attached(attached) => attached.cost(),
            Part::Image(_) => Image::COST,
        });
        parts.fold(Tokens::PER_MESSAGE, |sum, part| sum + part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_texts_are_joined_and_calls_are_not_text() {
        let mut message = Message::text(MessageId::numbered(1), Role::Assistant, "a", None);
        message
            .parts
            .push(Part::ToolCall(ToolCall::new("c1", "read", "{}")));
        message.parts.push(Part::Text("b".into()));
        assert_eq!(message.said(), "a\nb");
        assert_eq!(message.calls().count(), 1);
    }

    #[test]
    fn tool_arguments_count() {
        let plain = Message::text(MessageId::numbered(1), Role::Assistant, "", None);
        let mut calling = plain.clone();
        calling
            .parts
            .push(Part::ToolCall(ToolCall::new("c1", "read", "x".repeat(400))));
        assert_eq!(calling.cost(), plain.cost() + Tokens(101));
    }

    #[test]
    fn numbered_ids_read_back() {
        assert_eq!(MessageId::numbered(7).number(), Some(7));
        assert_eq!(MessageId::new("imported-7").number(), None);
        assert_eq!(MessageId::new(format!("m{}", u64::MAX)).number(), None);
    }
}
