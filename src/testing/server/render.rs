//! Replies in words, written down in each of the three formats: streamed or whole. The shapes are those the
//! vendors document, and of optional fields those that real servers send.

use serde_json::{Value, json};

use super::Request;
use super::reply::Said;

/// A wire format, known by the path of a chat request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Openai,
    Ollama,
    Anthropic,
}

const PATHS: [(&str, Format); 3] = [
    ("/chat/completions", Format::Openai),
    ("/api/chat", Format::Ollama),
    ("/v1/messages", Format::Anthropic),
];

/// A body in pieces: the ones that a fault counts, and those around them.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) content_type: &'static str,
    pub(super) head: Vec<Vec<u8>>,
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) end: Vec<Vec<u8>>,
}

impl Format {
    pub(super) fn of(request: &Request) -> Option<Self> {
        let path = request.path.split('?').next().unwrap_or_default();
        let found = PATHS.iter().find(|(end, _)| path.ends_with(end));
        found
            .filter(|_| request.method == "POST")
            .map(|(_, format)| *format)
    }

    /// An error body as this format's vendor writes it.
    pub(super) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Openai => json!({"error": {
                "message": message, "type": "server_error", "param": null, "code": null,
            }}),
            Self::Ollama => json!({"error": message}),
            Self::Anthropic => json!({"type": "error", "error": {
                "type": if status == 529 { "overloaded_error" } else { "api_error" },
                "message": message,
            }}),
        }
    }

    /// An error inside a stream.
    pub(super) fn broken_off(self, message: &str) -> Vec<u8> {
        let error = self.error(200, message);
        match self {
            Self::Openai => event(&error),
            Self::Ollama => line(&error),
            Self::Anthropic => named(&error),
        }
    }

    pub(super) fn write(self, said: &Said, request: &Request) -> Body {
        let model = request.body["model"].as_str().unwrap_or("scripted");
        let said = &said.counted(request.body.to_string().len());
        // Ollama streams unless told otherwise.
        let streamed = request.body["stream"]
            .as_bool()
            .unwrap_or(self == Self::Ollama);
        match (self, streamed) {
            (Self::Openai, true) => openai(said, model, request),
            (Self::Ollama, true) => ollama(said, model),
            (Self::Anthropic, true) => anthropic(said, model),
            (format, false) => Body {
                content_type: "application/json",
                head: Vec::new(),
                pieces: vec![format.whole(said, model).to_string().into_bytes()],
                end: Vec::new(),
            },
        }
    }

    fn reason(self, said: &Said) -> String {
        let usual = match self {
            Self::Openai if !said.calls.is_empty() => "tool_calls",
            Self::Openai | Self::Ollama => "stop",
            Self::Anthropic if !said.calls.is_empty() => "tool_use",
            Self::Anthropic => "end_turn",
        };
        said.finish.clone().unwrap_or_else(|| usual.to_owned())
    }

    fn whole(self, said: &Said, model: &str) -> Value {
        let text = said.pieces.concat();
        let reason = self.reason(said);
        match self {
            Self::Openai => {
                let mut message = json!({"role": "assistant", "content": text});
                if !said.thinking.is_empty() {
                    message["reasoning_content"] = said.thinking.as_str().into();
                }
                if !said.calls.is_empty() {
                    message["tool_calls"] = said.calls.iter().map(openai_call).collect();
                }
                json!({
                    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
                    "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                    "usage": openai_usage(said),
                })
            }
            Self::Ollama => {
                let mut last = ollama_end(said, model, &reason);
                last["message"] = ollama_message(&text, &said.thinking);
                if !said.calls.is_empty() {
                    last["message"]["tool_calls"] = said.calls.iter().map(ollama_call).collect();
                }
                last
            }
            Self::Anthropic => {
                let mut blocks = Vec::new();
                if !said.thinking.is_empty() {
                    blocks.push(
                        json!({"type": "thinking", "thinking": said.thinking, "signature": ""}),
                    );
                }
                if !text.is_empty() {
                    blocks.push(json!({"type": "text", "text": text}));
                }
                let call = |call: &super::reply::Call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments});
                blocks.extend(said.calls.iter().map(call));
                let (input, output) = said.usage.unwrap_or_default();
                json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "model": model,
                    "content": blocks, "stop_reason": reason, "stop_sequence": null,
                    "usage": {"input_tokens": input, "output_tokens": output},
                })
            }
        }
    }
}

fn event(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn named(data: &Value) -> Vec<u8> {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

fn line(data: &Value) -> Vec<u8> {
    format!("{data}\n").into_bytes()
}

fn openai_call(call: &super::reply::Call) -> Value {
    json!({"id": call.id, "type": "function", "function": {
        "name": call.name, "arguments": call.arguments.to_string(),
    }})
}

fn openai_usage(said: &Said) -> Value {
    said.usage.map_or(Value::Null, |(prompt, completion)| {
        json!({
            "prompt_tokens": prompt, "completion_tokens": completion,
            "total_tokens": prompt + completion, "prompt_tokens_details": {"cached_tokens": 0},
        })
    })
}

fn openai(said: &Said, model: &str, request: &Request) -> Body {
    let chunk = |choices: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| {
        event(&chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
        ))
    };
    let mut pieces = Vec::new();
    if !said.thinking.is_empty() {
        pieces.push(delta(json!({"reasoning_content": said.thinking})));
    }
    pieces.extend(
        said.pieces
            .iter()
            .map(|text| delta(json!({"content": text}))),
    );
    for (index, call) in said.calls.iter().enumerate() {
        pieces.push(delta(json!({"tool_calls": [{
            "index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]})));
        // One character at a time, as real engines stream arguments.
        pieces.extend(call.arguments.to_string().chars().map(|character| {
            delta(json!({"tool_calls": [{
                "index": index, "function": {"arguments": character.to_string()},
            }]}))
        }));
    }
    let reason = Format::Openai.reason(said);
    let mut end = vec![event(&chunk(
        json!([{"index": 0, "delta": {}, "finish_reason": reason}]),
    ))];
    let wants_usage = request.body["stream_options"]["include_usage"] == true;
    if wants_usage && said.usage.is_some() {
        let mut last = chunk(json!([]));
        last["usage"] = openai_usage(said);
        end.push(event(&last));
    }
    end.push(b"data: [DONE]\n\n".to_vec());
    Body {
        content_type: "text/event-stream",
        head: vec![delta(json!({"role": "assistant", "content": null}))],
        pieces,
        end,
    }
}

fn ollama_message(text: &str, thinking: &str) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        message["thinking"] = thinking.into();
    }
    message
}

fn ollama_call(call: &super::reply::Call) -> Value {
    let mut value = json!({"function": {"name": call.name, "arguments": call.arguments}});
    if !call.id.is_empty() {
        value["id"] = call.id.as_str().into();
    }
    value
}

fn ollama_end(said: &Said, model: &str, reason: &str) -> Value {
    let mut last = json!({
        "model": model, "created_at": "2026-02-14T15:23:05.123456Z",
        "message": {"role": "assistant", "content": ""},
        "done": true, "done_reason": reason, "total_duration": 1,
    });
    if let Some((prompt, completion)) = said.usage {
        last["prompt_eval_count"] = prompt.into();
        last["eval_count"] = completion.into();
    }
    last
}

fn ollama(said: &Said, model: &str) -> Body {
    let piece = |message: Value| {
        line(&json!({
            "model": model, "created_at": "2026-02-14T15:23:05.12Z", "message": message, "done": false,
        }))
    };
    let mut pieces = Vec::new();
    if !said.thinking.is_empty() {
        pieces.push(piece(ollama_message("", &said.thinking)));
    }
    pieces.extend(
        said.pieces
            .iter()
            .map(|text| piece(ollama_message(text, ""))),
    );
    pieces.extend(said.calls.iter().map(|call| {
        let mut message = ollama_message("", "");
        message["tool_calls"] = json!([ollama_call(call)]);
        piece(message)
    }));
    let reason = Format::Ollama.reason(said);
    Body {
        content_type: "application/x-ndjson",
        head: Vec::new(),
        pieces,
        end: vec![line(&ollama_end(said, model, &reason))],
    }
}

fn anthropic(said: &Said, model: &str) -> Body {
    let (input, output) = said.usage.unwrap_or_default();
    let start = json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": input, "output_tokens": 1},
    }});
    let mut pieces = Vec::new();
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        pieces.push(named(&json!({
            "type": "content_block_start", "index": index, "content_block": start,
        })));
        pieces.extend(deltas.iter().map(|delta| {
            named(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        }));
        pieces.push(named(
            &json!({"type": "content_block_stop", "index": index}),
        ));
        index += 1;
    };
    if !said.thinking.is_empty() {
        block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": said.thinking}),
                json!({"type": "signature_delta", "signature": "c2ln"}),
            ],
        );
    }
    if !said.pieces.is_empty() {
        let delta = |text: &String| json!({"type": "text_delta", "text": text});
        block(
            json!({"type": "text", "text": ""}),
            said.pieces.iter().map(delta).collect(),
        );
    }
    for call in &said.calls {
        let json = call.arguments.to_string();
        let delta =
            |piece: char| json!({"type": "input_json_delta", "partial_json": piece.to_string()});
        block(
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
            json.chars().map(delta).collect(),
        );
    }
    let reason = Format::Anthropic.reason(said);
    Body {
        content_type: "text/event-stream",
        head: vec![named(&start), named(&json!({"type": "ping"}))],
        pieces,
        end: vec![
            named(&json!({
                "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                "usage": {"output_tokens": output},
            })),
            named(&json!({"type": "message_stop"})),
        ],
    }
}
