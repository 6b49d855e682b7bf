//! Reads one message, whatever wrote it. Its unit is the JSON object; a field of an unexpected type is
//! never an error but kept as an unknown one, and only an object that is no message at all is refused.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value};
use serde_json::Value;

use super::Mark;
use super::foreign::{self, Speaker};
use super::message::{Stored, StoredMessage, StoredPart, content};
use crate::chat::{
    CallId, Message, MessageId, Outcome, Part, Role, Timestamp, Unknown, Withdrawal,
};

/// The known fields of a message as they are met, and the rest.
#[derive(Default)]
struct Draft<'de> {
    id: Option<Loose<'de>>,
    role: Option<Loose<'de>>,
    kind: Option<Loose<'de>>,
    content: Option<Loose<'de>>,
    timestamp: Option<Loose<'de>>,
    tool_calls: Option<Loose<'de>>,
    tool_call_id: Option<Loose<'de>>,
    name: Option<Loose<'de>>,
    failed: Option<Loose<'de>>,
    outcome: Option<Loose<'de>>,
    withdrawn: Option<Loose<'de>>,
    parts: Option<Loose<'de>>,
    unknown: Unknown,
}

impl<'de> Draft<'de> {
    fn put(&mut self, key: &str, value: Loose<'de>) {
        let field = match key {
            "id" => &mut self.id,
            "role" => &mut self.role,
            "type" => &mut self.kind,
            "content" => &mut self.content,
            "timestamp" => &mut self.timestamp,
            "tool_calls" => &mut self.tool_calls,
            "tool_call_id" => &mut self.tool_call_id,
            "name" => &mut self.name,
            "failed" => &mut self.failed,
            "outcome" => &mut self.outcome,
            "withdrawn" => &mut self.withdrawn,
            "parts" => &mut self.parts,
            _ => {
                self.unknown.insert(key.to_owned(), value.into_value());
                return;
            }
        };
        *field = Some(value);
    }

    /// Keeps a field that could not be read, so that it is written back as it was.
    fn keep(&mut self, key: &str, value: Loose<'_>) {
        if !matches!(value, Loose::Null) {
            self.unknown.insert(key.to_owned(), value.into_value());
        }
    }

    /// A text field, read by `read`; of any other form it is kept as unknown.
    fn text<T>(
        &mut self,
        key: &str,
        value: Option<Loose<'de>>,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = value?;
        let Loose::Text(text) = &value else {
            self.keep(key, value);
            return None;
        };
        let read = read(text);
        if read.is_none() {
            self.keep(key, value);
        }
        read
    }

    fn speaker(&mut self) -> Option<Speaker> {
        let role = self.role.take();
        if let Some(Loose::Text(role)) = &role {
            if let Some(kind) = self.kind.take() {
                self.keep("type", kind);
            }
            return Speaker::parse(role);
        }
        match self.kind.take() {
            Some(Loose::Text(kind)) => Speaker::parse(&kind),
            Some(_) | None => None,
        }
    }

    fn id(&mut self) -> MessageId {
        match self.id.take() {
            Some(Loose::Text(id)) => MessageId::new(id.into_owned()),
            Some(Loose::Other(Value::Number(id))) => MessageId::new(id.to_string()),
            Some(odd) => {
                self.keep("id", odd);
                MessageId::new("")
            }
            None => MessageId::new(""),
        }
    }

    fn mark(&mut self) -> Option<Mark> {
        let [outcome, withdrawn] = [self.outcome.take(), self.withdrawn.take()];
        let outcome = self.text("outcome", outcome, Outcome::parse);
        let withdrawn = self.text("withdrawn", withdrawn, Withdrawal::parse);
        match (outcome, withdrawn) {
            (None, None) => None,
            (outcome, withdrawn) => Some((outcome.unwrap_or(Outcome::Answered), withdrawn)),
        }
    }

    /// The parts from `content` and its companions, unless `parts` says it more exactly.
    fn parts(&mut self, role: Role) -> Vec<Part> {
        let mut parts = match self.content.take() {
            Some(Loose::Text(text)) => vec![Part::Text(text.into_owned())],
            Some(Loose::Other(value)) => foreign::parts(value, &mut self.unknown),
            Some(Loose::Null) | None => Vec::new(),
        };
        if let Some(calls) = self.tool_calls.take() {
            let mut calls = foreign::calls(calls.into_value(), &mut self.unknown);
            if !calls.is_empty() {
                parts.retain(|part| !matches!(part, Part::ToolCall(_)));
                parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
                parts.append(&mut calls);
            }
        }
        if role == Role::Tool {
            parts = self.result(parts);
        }
        if parts.is_empty() {
            parts.push(Part::Text(String::new()));
        }
        self.exact(role, &parts).unwrap_or(parts)
    }

    /// The content of a tool message is the result of its one call.
    fn result(&mut self, parts: Vec<Part>) -> Vec<Part> {
        if parts
            .iter()
            .any(|part| matches!(part, Part::ToolResult { .. }))
        {
            return parts;
        }
        let [call, name] = [self.tool_call_id.take(), self.name.take()];
        let own = |text: &str| Some(text.to_owned());
        let call = self.text("tool_call_id", call, own).unwrap_or_default();
        let name = self.text("name", name, own).unwrap_or_default();
        let failed = match self.failed.take() {
            Some(Loose::Other(Value::Bool(failed))) => failed,
            Some(odd) => {
                self.keep("failed", odd);
                false
            }
            None => self.unknown.get("status").and_then(Value::as_str) == Some("error"),
        };
        let mut texts = parts.into_iter();
        let output = match (texts.next(), texts.len()) {
            (Some(Part::Text(text)), 0) => text,
            (first, _) => {
                let all: Vec<Part> = first.into_iter().chain(texts).collect();
                content(Role::Tool, &all).into_owned()
            }
        };
        vec![Part::ToolResult {
            call: CallId::new(call),
            name,
            output,
            failed,
        }]
    }

    /// The `parts` of a file, unless someone has edited `content` beside them.
    fn exact(&mut self, role: Role, read: &[Part]) -> Option<Vec<Part>> {
        let stored = self.parts.take()?.into_value();
        let exact: Option<Vec<StoredPart<'_>>> = serde_json::from_value(stored.clone()).ok();
        let exact: Option<Vec<Part>> =
            exact.map(|parts| parts.into_iter().map(Part::from).collect());
        let exact = exact.filter(|exact| content(role, exact) == content(role, read));
        if exact.is_none() {
            self.keep("parts", Loose::Other(stored));
        }
        exact
    }

    /// The `name` of a message that is not a tool's.
    fn name_of_speaker(&mut self, role: Role) -> Option<Box<str>> {
        let name = match role {
            Role::User | Role::Assistant => self.name.take(),
            Role::Tool => None,
        };
        self.text("name", name, |name| {
            (!name.is_empty()).then(|| Box::from(name))
        })
    }

    /// Fields that mean nothing for this message are unknown ones.
    fn keep_the_rest(&mut self) {
        let rest = [
            ("type", self.kind.take()),
            ("tool_call_id", self.tool_call_id.take()),
            ("name", self.name.take()),
            ("failed", self.failed.take()),
        ];
        for (key, value) in rest {
            if let Some(value) = value {
                self.keep(key, value);
            }
        }
    }

    fn finish(mut self) -> Result<Stored, &'static str> {
        if self.content.is_none() && matches!(self.unknown.get("data"), Some(Value::Object(_))) {
            return self.unpack();
        }
        let role = match self.speaker() {
            Some(Speaker::Role(role)) => role,
            Some(Speaker::System) => return Ok(Stored::Aside(self.into_aside())),
            None => return Err("a message without a role"),
        };
        if self.content.is_none() && self.tool_calls.is_none() && self.parts.is_none() {
            return Err("a message without content");
        }
        let id = self.id();
        let timestamp = self.timestamp.take();
        let at = self.text("timestamp", timestamp, Timestamp::parse);
        let mark = self.mark();
        let parts = self.parts(role);
        let speaker = self.name_of_speaker(role);
        self.keep_the_rest();
        let unknown = (!self.unknown.is_empty()).then(|| Box::new(self.unknown));
        let message = Message {
            id,
            role,
            parts,
            at,
            speaker,
            unknown,
        };
        Ok(Stored::Message(StoredMessage { message, mark }))
    }

    /// Reads the message that is one level down.
    fn unpack(self) -> Result<Stored, &'static str> {
        let mut around = self.into_fields();
        match around.remove("data") {
            Some(Value::Object(data)) => foreign::nested(data, around),
            Some(_) | None => Err("a message without content"),
        }
    }

    fn into_aside(self) -> Value {
        let mut fields = self.into_fields();
        fields.insert("role".to_owned(), "system".into());
        Value::Object(fields)
    }

    fn into_fields(mut self) -> Unknown {
        let known = [
            ("id", self.id.take()),
            ("role", self.role.take()),
            ("type", self.kind.take()),
            ("content", self.content.take()),
            ("timestamp", self.timestamp.take()),
        ];
        for (key, value) in known {
            if let Some(value) = value {
                self.keep(key, value);
            }
        }
        self.unknown
    }
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Stored;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Stored, A::Error> {
                let mut draft = Draft::default();
                while let Some(Loose::Text(key)) = map.next_key()? {
                    draft.put(&key, map.next_value()?);
                }
                draft.finish().map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for StoredMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Stored::deserialize(deserializer)? {
            Stored::Message(message) => Ok(message),
            Stored::Aside(_) => Err(de::Error::custom("not a message of the conversation")),
        }
    }
}

/// A value of a field: a text is borrowed from the file where that is possible, so that the contents of a large history
/// are copied once, into the message they belong to.
pub(super) enum Loose<'de> {
    Text(Cow<'de, str>),
    Null,
    Other(Value),
}

impl Loose<'_> {
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Null => Value::Null,
            Self::Other(value) => value,
        }
    }
}

impl<'de> Deserialize<'de> for Loose<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;
        impl<'de> Visitor<'de> for AnyValue {
            type Value = Loose<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E>(self, text: String) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Owned(text)))
            }
            fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
                Ok(Loose::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Loose<'de>, A::Error> {
                let list = Value::deserialize(value::SeqAccessDeserializer::new(seq))?;
                Ok(Loose::Other(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose<'de>, A::Error> {
                let object = Value::deserialize(value::MapAccessDeserializer::new(map))?;
                Ok(Loose::Other(object))
            }
        }
        deserializer.deserialize_any(AnyValue)
    }
}
