//! The request body of `OpenAI`'s chat completions. Pure. Invariant: one leading system message for each
//! system text, then speeches; each result of a tool is a message of its own.

use serde_json::{Map, Value, json};

use crate::chat::{Part, Role};
use crate::provider::known::LimitField;
use crate::provider::wire::{self, Speech, functions, speeches};
use crate::provider::{ChatRequest, Delivery, Images};

/// What a particular server wants to have differently; learnt from its refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) limit: LimitField,
    /// Whether the server refuses `stream_options`; then it reports no usage.
    pub(super) no_stream_options: bool,
    /// Whether the server refuses `temperature`, as models do that reason by themselves.
    pub(super) no_temperature: bool,
}

pub(super) fn body(model: &str, request: &ChatRequest, dialect: Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), messages(request).into());
    body.insert(
        dialect.limit.as_str().into(),
        request.max_tokens.0.max(1).into(),
    );
    if !request.tools.is_empty() {
        body.insert("tools".into(), functions(&request.tools));
    }
    if let Some(temperature) = request.temperature.filter(|_| !dialect.no_temperature) {
        body.insert("temperature".into(), wire::decimal(temperature));
    }
    let streamed = request.delivery == Delivery::Streamed;
    body.insert("stream".into(), streamed.into());
    if streamed && !dialect.no_stream_options {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    body.into()
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let system = request.system.iter().filter(|text| !text.trim().is_empty());
    let system = system.map(|text| said("system", text.as_str().into()));
    let said = speeches(&request.messages, |role| role);
    let said = said
        .iter()
        .flat_map(|speech| message(speech, &request.images));
    system.chain(said).collect()
}

/// Takes the content whole: `json!` would copy it.
fn said(role: &str, content: Value) -> Value {
    let mut message = json!({"role": role});
    message["content"] = content;
    message
}

fn message(speech: &Speech<'_, Role>, images: &Images) -> Vec<Value> {
    match speech.speaker {
        Role::User => vec![said("user", content(speech, images))],
        Role::Assistant => vec![assistant(speech)],
        Role::Tool => speech
            .parts
            .iter()
            .filter_map(|part| result(part))
            .collect(),
    }
}

/// A text; with pictures a list, which servers without eyes refuse.
fn content(speech: &Speech<'_, Role>, images: &Images) -> Value {
    let mut blocks = vec![json!({"type": "text", "text": speech.text()})];
    blocks.extend(speech.images(images).map(|(media_type, data)| {
        let url = format!("data:{media_type};base64,{data}");
        json!({"type": "image_url", "image_url": {"url": url}})
    }));
    match blocks.as_slice() {
        [_] => speech.text().into(),
        _ => blocks.into(),
    }
}

fn assistant(speech: &Speech<'_, Role>) -> Value {
    let text = speech.text();
    let calls = speech.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(json!({
            "id": call.id.as_str(), "type": "function",
            "function": {"name": call.name, "arguments": arguments(&call.arguments)},
        })),
        Part::Text(_) | Part::ToolResult { .. } | Part::Attached(_) | Part::Image(_) => None,
    });
    let calls: Vec<Value> = calls.collect();
    let content = if text.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    let mut message = said("assistant", content);
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// A good text stays as it was written, so that the request begins like the one before.
fn arguments(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => wire::arguments(text).to_string(),
    }
}

fn result(part: &Part) -> Option<Value> {
    match part {
        Part::ToolResult { call, output, .. } => {
            Some(json!({"role": "tool", "tool_call_id": call.as_str(), "content": output}))
        }
        Part::Text(_) | Part::Attached(_) | Part::Image(_) => {
            Some(json!({"role": "user", "content": wire::text(part)}))
        }
        Part::ToolCall(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::wire::samples;

    #[test]
    fn a_request_with_everything_has_the_vendors_shape() {
        let got = body("m", &samples::everything(), Dialect::default());
        let expected = json!({
            "model": "m", "max_tokens": 9, "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {
                "name": "read", "description": "reads", "parameters": {"type": "object"},
            }}],
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "hello\n\nthere"},
                {"role": "assistant", "content": "well", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"p\":1}"}},
                    {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{\"malformed\":\"{oops\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "found"},
                {"role": "tool", "tool_call_id": "b", "content": "no such file"},
                {"role": "user", "content": "go on"},
            ],
        });
        assert_eq!(got, expected);
    }

    #[test]
    fn a_temperature_is_sent_where_there_is_one_and_the_server_takes_it() {
        let got = body("m", &samples::warm(), Dialect::default());
        assert_eq!(got["temperature"], json!(0.7));
        let refusing = Dialect {
            no_temperature: true,
            ..Dialect::default()
        };
        assert!(
            body("m", &samples::warm(), refusing)
                .get("temperature")
                .is_none()
        );
    }

    #[test]
    fn pictures_are_addresses_with_data_behind_the_text() {
        let got = body("m", &samples::with_attachments(), Dialect::default());
        let text = format!(
            "Look\n\n{}\n\n[image shot.png]\n\n[image old.png]",
            samples::ATTACHED
        );
        let expected = json!([{"role": "user", "content": [
            {"type": "text", "text": text},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        ]}]);
        assert_eq!(got["messages"], expected);
        let mut blind = samples::with_attachments();
        blind.images = Images::default();
        let got = body("m", &blind, Dialect::default());
        assert_eq!(got["messages"], json!([{"role": "user", "content": text}]));
    }

    #[test]
    fn dialects_differ_in_single_fields() {
        let dialect = Dialect {
            limit: LimitField::MaxCompletionTokens,
            no_stream_options: true,
            no_temperature: true,
        };
        let got = body("m", &samples::everything(), dialect);
        assert_eq!(got["max_completion_tokens"], 9);
        assert!(got.get("max_tokens").is_none() && got.get("stream_options").is_none());
        let whole = ChatRequest {
            delivery: Delivery::Whole,
            max_tokens: crate::chat::Tokens(0),
            tools: Vec::new(),
            ..samples::everything()
        };
        let got = body("m", &whole, Dialect::default());
        assert_eq!(
            (&got["stream"], &got["max_tokens"]),
            (&json!(false), &json!(1))
        );
        assert!(got.get("tools").is_none() && got.get("stream_options").is_none());
    }
}
