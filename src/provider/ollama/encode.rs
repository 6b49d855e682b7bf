//! The body of `/api/chat`, from ollama-rs's types with what they lack set afterwards: `stream`, ids of
//! calls, names of tools. Pure. Invariant: `options.num_ctx` and `options.num_predict` are always there.

use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::generation::chat::{ChatMessage, MessageRole};
use ollama_rs::models::ModelOptions;
use serde_json::{Value, json};

use crate::chat::{Part, Role, Tokens};
use crate::provider::wire::{self, Speech, arguments, functions, speeches};
use crate::provider::{ChatRequest, Delivery, Images};

pub(super) fn body(model: &str, request: &ChatRequest, num_ctx: Tokens) -> Value {
    let options = ModelOptions::default()
        .num_ctx(num_ctx.0.into())
        .num_predict(i32::try_from(request.max_tokens.0.max(1)).unwrap_or(i32::MAX));
    let bare = ChatMessageRequest::new(model.to_owned(), Vec::new()).options(options);
    let mut body = serde_json::to_value(bare).unwrap_or_else(|_| json!({}));
    body["messages"] = messages(request).into();
    if let Some(temperature) = request.temperature {
        body["options"]["temperature"] = wire::decimal(temperature);
    }
    body["stream"] = (request.delivery == Delivery::Streamed).into();
    if !request.tools.is_empty() {
        body["tools"] = functions(&request.tools);
    }
    body
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let system = request.system.iter().filter(|text| !text.trim().is_empty());
    let system = system.map(|text| said(MessageRole::System, text.clone()));
    let speeches = speeches(&request.messages, |role| role);
    let said = speeches
        .iter()
        .flat_map(|speech| message(speech, &request.images));
    system.chain(said).collect()
}

/// A message in the crate's shape, without the fields it writes though they are empty.
fn said(role: MessageRole, text: String) -> Value {
    let mut message =
        serde_json::to_value(ChatMessage::new(role, text)).unwrap_or_else(|_| json!({}));
    if let Some(fields) = message.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && value != &json!([]));
    }
    message
}

fn message(speech: &Speech<'_, Role>, images: &Images) -> Vec<Value> {
    match speech.speaker {
        Role::User => vec![user(speech, images)],
        Role::Assistant => vec![assistant(speech)],
        Role::Tool => speech
            .parts
            .iter()
            .filter_map(|part| result(part))
            .collect(),
    }
}

fn user(speech: &Speech<'_, Role>, images: &Images) -> Value {
    let mut message = said(MessageRole::User, speech.text());
    let images: Vec<Value> = speech.images(images).map(|(_, data)| data.into()).collect();
    if !images.is_empty() {
        message["images"] = images.into();
    }
    message
}

fn assistant(speech: &Speech<'_, Role>) -> Value {
    let mut message = said(MessageRole::Assistant, speech.text());
    let calls = speech.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(json!({
            "id": call.id.as_str(),
            "function": {"name": call.name, "arguments": arguments(&call.arguments)},
        })),
        Part::Text(_) | Part::ToolResult { .. } | Part::Attached(_) | Part::Image(_) => None,
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn result(part: &Part) -> Option<Value> {
    match part {
        Part::ToolResult {
            call, name, output, ..
        } => {
            let mut message = said(MessageRole::Tool, output.clone());
            message["tool_name"] = name.as_str().into();
            message["tool_call_id"] = call.as_str().into();
            Some(message)
        }
        Part::Text(_) | Part::Attached(_) | Part::Image(_) => {
            wire::text(part).map(|text| said(MessageRole::User, text.into_owned()))
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
        let got = body("m", &samples::everything(), Tokens(4096));
        let expected = json!({
            "model": "m", "stream": true,
            "options": {"num_ctx": 4096, "num_predict": 9},
            "tools": [{"type": "function", "function": {
                "name": "read", "description": "reads", "parameters": {"type": "object"},
            }}],
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "hello\n\nthere"},
                {"role": "assistant", "content": "well", "tool_calls": [
                    {"id": "a", "function": {"name": "read", "arguments": {"p": 1}}},
                    {"id": "b", "function": {"name": "read", "arguments": {"malformed": "{oops"}}},
                ]},
                {"role": "tool", "tool_call_id": "a", "tool_name": "read", "content": "found"},
                {"role": "tool", "tool_call_id": "b", "tool_name": "read", "content": "no such file"},
                {"role": "user", "content": "go on"},
            ],
        });
        assert_eq!(got, expected);
    }

    #[test]
    fn a_temperature_is_sent_where_there_is_one() {
        let body = body("m", &samples::warm(), Tokens(1));
        assert_eq!(body["options"]["temperature"], json!(0.7));
    }

    #[test]
    fn pictures_stand_beside_the_text() {
        let got = body("m", &samples::with_attachments(), Tokens(4096));
        let text = format!(
            "Look\n\n{}\n\n[image shot.png]\n\n[image old.png]",
            samples::ATTACHED
        );
        let expected = json!([{"role": "user", "content": text, "images": ["iVBORw=="]}]);
        assert_eq!(got["messages"], expected);
    }

    #[test]
    fn a_limit_is_never_below_one_nor_beyond_the_field() {
        for (tokens, expected) in [(0, 1), (7, 7), (u32::MAX, i32::MAX)] {
            let request = ChatRequest {
                max_tokens: Tokens(tokens),
                ..samples::everything()
            };
            assert_eq!(
                body("m", &request, Tokens(1))["options"]["num_predict"],
                expected
            );
        }
    }
}
