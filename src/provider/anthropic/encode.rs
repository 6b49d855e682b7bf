//! The request body of the Messages API. Pure. Invariant: the first message is the user's, speakers take turns, results
//! come before what the user says with them, `max_tokens` is always there where a reply is wanted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::names::Names;
use crate::chat::{Message, Part, Role};
use crate::provider::wire::{self, Speech, arguments, speeches, text};
use crate::provider::{ChatRequest, Delivery, Images};

/// This protocol knows two speakers; results of tools are the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

impl From<Role> for Speaker {
    fn from(role: Role) -> Self {
        match role {
            Role::User | Role::Tool => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

/// A request for a reply.
pub(super) fn body(model: &str, request: &ChatRequest) -> Value {
    let mut body = prompt(model, request);
    body["max_tokens"] = request.max_tokens.0.max(1).into();
    if let Some(temperature) = request.temperature {
        body["temperature"] = wire::decimal(temperature);
    }
    body["stream"] = (request.delivery == Delivery::Streamed).into();
    body
}

/// Returns what the model reads; as it stands, a request to count it, which refuses anything more.
pub(super) fn prompt(model: &str, request: &ChatRequest) -> Value {
    let mut body = json!({"model": model});
    // Set, not written above: `json!` would copy it.
    body["messages"] = messages(request).into();
    let system = request.system.iter().map(|text| text.trim());
    let system: Vec<&str> = system.filter(|text| !text.is_empty()).collect();
    if !system.is_empty() {
        body["system"] = system.join("\n\n").into();
    }
    if !request.tools.is_empty() {
        let names = Names::of(&request.tools);
        let tools = request.tools.iter().map(|tool| match tool.trained {
            Some(trained) => json!({"type": trained.kind, "name": trained.name}),
            None => json!({
                "name": names.wire(&tool.name), "description": tool.description, "input_schema": tool.parameters,
            }),
        });
        body["tools"] = tools.collect();
    } else if let Some(tools) = called(request) {
        body["tools"] = tools;
        body["tool_choice"] = json!({"type": "none"});
    }
    body
}

/// Tools that were called in the past and are not offered now: this protocol wants each of them defined.
fn called(request: &ChatRequest) -> Option<Value> {
    let calls = request.messages.iter().flat_map(Message::calls);
    let names: BTreeSet<&str> = calls.map(|call| call.name.as_str()).collect();
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    (!names.is_empty()).then(|| names.into_iter().map(tool).collect())
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let speeches = speeches(&request.messages, Speaker::from);
    let begins_late = speeches.first().map(|speech| speech.speaker) == Some(Speaker::Assistant);
    let names = Names::of(&request.tools);
    let opening = begins_late.then(|| json!({"role": "user", "content": "[…]"}));
    opening
        .into_iter()
        .chain(
            speeches
                .iter()
                .map(|speech| message(speech, &request.images, &names)),
        )
        .collect()
}

fn message(speech: &Speech<'_, Speaker>, images: &Images, names: &Names) -> Value {
    let role = match speech.speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
    let parts = speech.parts.iter();
    let results = parts.clone().filter(|part| is_result(part));
    let others = parts.filter(|part| !is_result(part));
    let blocks = results.chain(others).map(|part| block(part, names));
    let images = speech.images(images).map(|(media_type, data)| {
        json!({"type": "image", "source": {
            "type": "base64", "media_type": media_type, "data": data,
        }})
    });
    let blocks: Vec<Value> = blocks.chain(images).collect();
    let mut message = json!({"role": role});
    message["content"] = blocks.into();
    message
}

fn block(part: &Part, names: &Names) -> Value {
    match part {
        Part::Text(_) | Part::Attached(_) | Part::Image(_) => {
            json!({"type": "text", "text": text(part)})
        }
        Part::ToolCall(call) => json!({
            "type": "tool_use", "id": call.id.as_str(), "name": names.wire(&call.name),
            "input": arguments(&call.arguments),
        }),
        Part::ToolResult {
            call,
            output,
            failed,
            ..
        } => {
            let mut block = json!({"type": "tool_result", "tool_use_id": call.as_str()});
            if !output.trim().is_empty() {
                block["content"] = output.as_str().into();
            }
            if *failed {
                block["is_error"] = true.into();
            }
            block
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::wire::samples;

    #[test]
    fn a_request_with_everything_has_the_vendors_shape() {
        let got = body("m", &samples::everything());
        let text = |text: &str| json!({"type": "text", "text": text});
        let expected = json!({
            "model": "m", "max_tokens": 9, "stream": true, "system": "be kind",
            "tools": [{"name": "read", "description": "reads", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": [text("hello"), text("there")]},
                {"role": "assistant", "content": [
                    text("well"),
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}},
                    {"type": "tool_use", "id": "b", "name": "read", "input": {"malformed": "{oops"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "found"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "no such file", "is_error": true},
                    text("go on"),
                ]},
            ],
        });
        assert_eq!(got, expected);
    }

    #[test]
    fn a_tool_the_models_know_is_named_and_not_described() {
        let mut request = samples::everything();
        request.tools[0].trained = Some(crate::chat::Trained {
            kind: "memory_20250818",
            name: "memory",
            displaced: "memory_store",
            marker: "command",
            beta: "b",
        });
        let got = body("m", &request);
        assert_eq!(
            got["tools"],
            json!([{"type": "memory_20250818", "name": "memory"}])
        );
        assert_eq!(got["messages"][1]["content"][1]["name"], "memory");
    }

    #[test]
    fn pictures_are_blocks_behind_the_texts() {
        let got = body("m", &samples::with_attachments());
        let text = |text: &str| json!({"type": "text", "text": text});
        let expected = json!([{"role": "user", "content": [
            text("Look"),
            text(samples::ATTACHED),
            text("[image shot.png]"),
            text("[image old.png]"),
            {"type": "image", "source": {
                "type": "base64", "media_type": "image/png", "data": "iVBORw==",
            }},
        ]}]);
        assert_eq!(got["messages"], expected);
    }

    #[test]
    fn tools_of_the_past_are_defined_and_not_to_be_called_where_none_are_offered() {
        let mut request = samples::everything();
        request.tools.clear();
        let got = body("m", &request);
        assert_eq!(
            got["tools"],
            json!([{"name": "read", "input_schema": {"type": "object"}}])
        );
        assert_eq!(got["tool_choice"], json!({"type": "none"}));
    }

    #[test]
    fn a_temperature_is_sent_where_there_is_one() {
        let request = samples::warm();
        assert_eq!(body("m", &request)["temperature"], json!(0.7));
        assert!(
            body("m", &samples::everything())
                .get("temperature")
                .is_none()
        );
    }

    #[test]
    fn the_first_message_is_the_users() {
        let mut request = samples::everything();
        request.messages = request.messages[2..].into();
        request.system.clear();
        let got = body("m", &request);
        assert_eq!(got["messages"][0]["role"], "user");
        assert!(got.get("system").is_none());
    }
}
