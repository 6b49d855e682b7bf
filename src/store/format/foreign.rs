//! Shapes that other programs give to a message: roles by other names, content as a list of parts, tool
//! calls in two dialects. Pure readers, from values to the parts of a message; what they cannot
//! read goes to the unknown fields, so that it is written back.

use serde::Deserialize;
use serde_json::Value;

use super::message::Stored;
use crate::chat::{CallId, Part, Role, ToolCall, Unknown};

/// Who a stored message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    Role(Role),
    System,
}

const SPEAKERS: [(&str, Speaker); 11] = [
    ("user", Speaker::Role(Role::User)),
    ("assistant", Speaker::Role(Role::Assistant)),
    ("tool", Speaker::Role(Role::Tool)),
    ("human", Speaker::Role(Role::User)),
    ("ai", Speaker::Role(Role::Assistant)),
    ("AIMessageChunk", Speaker::Role(Role::Assistant)),
    ("model", Speaker::Role(Role::Assistant)),
    ("bot", Speaker::Role(Role::Assistant)),
    ("function", Speaker::Role(Role::Tool)),
    ("system", Speaker::System),
    ("developer", Speaker::System),
];

impl Speaker {
    pub(super) fn parse(word: &str) -> Option<Self> {
        let row = SPEAKERS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word))?;
        Some(row.1)
    }
}

/// The parts of a `content` that is not a string. Where something in it has no counterpart (an image,
/// say), the original stays beside it as `content_parts`.
pub(super) fn parts(content: Value, unknown: &mut Unknown) -> Vec<Part> {
    let Value::Array(items) = content else {
        return vec![Part::Text(content.to_string())];
    };
    let parts: Option<Vec<Part>> = items.iter().map(part).collect();
    parts.unwrap_or_else(|| {
        let understood = items.iter().filter_map(part).collect();
        unknown.insert("content_parts".to_owned(), Value::Array(items));
        understood
    })
}

fn part(item: &Value) -> Option<Part> {
    if let Value::String(text) = item {
        return Some(Part::Text(text.clone()));
    }
    match item.get("type").and_then(Value::as_str) {
        Some("text" | "input_text" | "output_text") | None => {
            Some(Part::Text(item.get("text")?.as_str()?.to_owned()))
        }
        Some("tool_use") => call(item, 0).map(Part::ToolCall),
        Some("tool_result") => {
            let content = item.get("content").cloned().unwrap_or_default();
            Some(Part::ToolResult {
                call: CallId::new(text_of(item.get("tool_use_id")?)),
                name: String::new(),
                output: output(&content)?,
                failed: item.get("is_error") == Some(&Value::Bool(true)),
            })
        }
        Some(_) => None,
    }
}

fn output(content: &Value) -> Option<String> {
    match content {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items
                .iter()
                .map(|item| item.get("text")?.as_str())
                .collect();
            Some(texts?.join("\n"))
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Some(content.to_string()),
    }
}

/// The tool calls of a message; entries that are none stay beside them as `odd_tool_calls`.
pub(super) fn calls(value: Value, unknown: &mut Unknown) -> Vec<Part> {
    let items = match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        other => vec![other],
    };
    let mut calls = Vec::with_capacity(items.len());
    let mut odd = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        match call(&item, place) {
            Some(call) => calls.push(Part::ToolCall(call)),
            None => odd.push(item),
        }
    }
    if !odd.is_empty() {
        unknown.insert("odd_tool_calls".to_owned(), Value::Array(odd));
    }
    calls
}

/// `{id, name, arguments}`, `{id, name, args}`, `{id, name, input}` or `{id, function: {name, arguments}}`.
fn call(item: &Value, place: usize) -> Option<ToolCall> {
    let of = item.get("function").unwrap_or(item);
    let name = of.get("name")?.as_str()?;
    let arguments = ["arguments", "args", "input"]
        .iter()
        .find_map(|key| of.get(key));
    let id = match item.get("id") {
        Some(Value::Null) | None => format!("call{place}"),
        Some(id) => text_of(id),
    };
    Some(ToolCall::new(
        &id,
        name,
        arguments.map_or_else(|| "{}".to_owned(), text_of),
    ))
}

/// A string as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A message one level down, as in `{"type": "human", "data": {"content": …}}`: what stands around it
/// counts where it says nothing itself.
pub(super) fn nested(mut data: Unknown, around: Unknown) -> Result<Stored, &'static str> {
    if data.contains_key("data") {
        return Err("a message inside a message inside a message");
    }
    for (key, value) in around {
        match data.get(&key) {
            Some(Value::Null) | None => data.insert(key, value),
            Some(_) => continue,
        };
    }
    Stored::deserialize(Value::Object(data)).map_err(|_| "a message without a role or content")
}
