//! Chunks of `OpenAI`'s chat completions, read with tolerance: only what is used is looked at, anything may
//! be absent or null. Pure. A whole completion is read as one chunk whose delta is the message.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::chat::{Tokens, Usage};
use crate::provider::reply::{Decode, Reply};
use crate::provider::{FinishReason, ProviderError};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Counts>,
    error: Option<Value>,
    /// Nothing follows, and nothing was lost on the way.
    #[serde(skip)]
    is_last: bool,
}

impl Chunk {
    /// What stands for `[DONE]`, or for the end of a whole body.
    pub(super) fn last() -> Self {
        Self {
            is_last: true,
            ..Self::default()
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<Content>,
    reasoning_content: Option<String>,
    reasoning: Option<Value>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

/// Text, or a list of parts as some gateways send it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionDelta {
    name: Option<String>,
    /// A string in pieces, or, against the protocol, an object.
    arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    prompt_tokens: Option<u32>,
    completion_tokens: Option<u32>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u32>,
}

/// A call in the making.
#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

/// Assembles calls; everything else goes straight to the reply.
#[derive(Default)]
pub(super) struct Decoder {
    calls: BTreeMap<usize, Call>,
    /// Whether there was any choice: an end mark alone ends nothing.
    has_begun: bool,
    has_reason: bool,
}

impl Decoder {
    fn delta(&mut self, delta: Delta, reply: &mut Reply) {
        let reasoning = match &delta.reasoning {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        // Some gateways send the same thought in both fields.
        if let Some(text) = delta.reasoning_content.as_ref().or(reasoning) {
            reply.reasoning(text);
        }
        match &delta.content {
            Some(Content::Text(text)) => reply.text(text),
            Some(Content::Parts(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.for_each(|text| reply.text(text));
            }
            None => {}
        }
        if let Some(refusal) = &delta.refusal {
            reply.text(refusal);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.assemble(call, reply);
        }
    }

    /// A piece without an index belongs to the last call, unless it brings an id of its own.
    fn assemble(&mut self, piece: CallDelta, reply: &mut Reply) {
        let last = self.calls.last_key_value().map(|(index, _)| *index);
        let id = piece.id.unwrap_or_default();
        let index = match (piece.index, last) {
            (Some(index), _) => index,
            (None, None) => 0,
            (None, Some(last)) if id.is_empty() || self.calls[&last].id == id => last,
            (None, Some(last)) => last + 1,
        };
        let call = self.calls.entry(index).or_insert_with(|| {
            reply.begin_call();
            Call::default()
        });
        if call.id.is_empty() {
            reply.keep(&id);
            call.id = id;
        }
        let function = piece.function.unwrap_or_default();
        if call.name.is_empty() {
            call.name = function.name.unwrap_or_default();
            reply.keep(&call.name);
        }
        let arguments = match function.arguments {
            None | Some(Value::Null) => return,
            Some(Value::String(text)) => text,
            Some(whole) => whole.to_string(),
        };
        reply.keep(&arguments);
        call.arguments.push_str(&arguments);
    }
}

impl Decode for Decoder {
    type Frame = Chunk;

    fn frame(&mut self, chunk: Chunk, reply: &mut Reply) -> Result<(), ProviderError> {
        reply.check(chunk.error.as_ref())?;
        if chunk.is_last && self.has_begun && !self.has_reason {
            reply.ended(FinishReason::Stop);
        }
        if let Some(usage) = chunk.usage {
            reply.used(Usage {
                prompt: usage.prompt_tokens.map(Tokens),
                completion: usage.completion_tokens.map(Tokens),
                cached: usage
                    .prompt_tokens_details
                    .and_then(|details| details.cached_tokens)
                    .map(Tokens),
            });
        }
        // One completion was asked for; others would be somebody else's.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else {
            return Ok(());
        };
        self.has_begun = true;
        if let Some(delta) = choice.delta {
            self.delta(delta, reply);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.has_reason = true;
            reply.ended(FinishReason::of(&reason));
        }
        Ok(())
    }

    fn close(&mut self, reply: &mut Reply) {
        for call in std::mem::take(&mut self.calls).into_values() {
            let arguments = if call.arguments.trim().is_empty() {
                "{}".to_owned()
            } else {
                call.arguments
            };
            reply.call(Some(call.id), call.name, arguments);
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "events are compared with what a stream yields"
)]
mod tests {
    use super::*;
    use crate::chat::ToolCall;
    use crate::provider::StreamEvent;
    use crate::provider::reply::{joined, replay};
    use crate::provider::sse;

    type Events = Vec<Result<StreamEvent, ProviderError>>;

    async fn chunks(chunks: &[&str]) -> Events {
        let chunks = chunks
            .iter()
            .map(|text| Ok(serde_json::from_str(text).unwrap()));
        joined(replay(Decoder::default(), chunks.collect()).await)
    }

    fn text(text: &str) -> Result<StreamEvent, ProviderError> {
        Ok(StreamEvent::Text(text.into()))
    }

    fn finished(reason: FinishReason, usage: Option<Usage>) -> Result<StreamEvent, ProviderError> {
        Ok(StreamEvent::Finished { reason, usage })
    }

    const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

    /// A reply of llama.cpp's server: `content: null` first, thinking, then text, extra fields.
    const RECORDED: &str = concat!(
        "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"created\":1,\"id\":\"c\",\"object\":\"chat.completion.chunk\"}\n\n",
        ": keep-alive\n\n",
        "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"reasoning_content\":\"h\u{e9}\"}}]}\n\n",
        "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"na\u{ef}ve \"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\u{1f600}\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"completion_tokens\":5,\"prompt_tokens\":22,\"total_tokens\":27,\"prompt_tokens_details\":{\"cached_tokens\":7}},\"timings\":{\"cache_n\":1}}\n\n",
    );

    async fn bytes(pieces: &[&[u8]]) -> Events {
        let data = sse::recorded(pieces).await;
        let chunks = data
            .into_iter()
            .map(|data| Ok(serde_json::from_str(&data?).unwrap()));
        joined(replay(Decoder::default(), chunks.collect()).await)
    }

    /// Traps 8 and 9.
    #[tokio::test]
    async fn recorded_bytes_cut_at_every_position_give_the_same_events() {
        let usage = Usage {
            prompt: Some(Tokens(22)),
            completion: Some(Tokens(5)),
            cached: Some(Tokens(7)),
        };
        let expected = [
            Ok(StreamEvent::Reasoning("hé".into())),
            text("naïve 😀"),
            finished(FinishReason::Stop, Some(usage)),
        ];
        for cut in 0..=RECORDED.len() {
            let (head, tail) = RECORDED.as_bytes().split_at(cut);
            assert_eq!(bytes(&[head, tail]).await, expected, "{cut}");
        }
        let single: Vec<&[u8]> = RECORDED.as_bytes().chunks(1).collect();
        assert_eq!(bytes(&single).await, expected);
    }

    /// Trap 6.
    #[tokio::test]
    async fn calls_are_assembled_by_index_whatever_their_pieces() {
        let expected = [
            Ok(StreamEvent::ToolCall(ToolCall::new(
                "a",
                "read",
                r#"{"p":1}"#,
            ))),
            Ok(StreamEvent::ToolCall(ToolCall::new(
                "call_m1_1",
                "list",
                "{}",
            ))),
            finished(FinishReason::ToolCalls, None),
        ];
        let streams: [&[&str]; 3] = [
            // Interleaved, in pieces, the second without an id.
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"list","arguments":"{"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\""}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":null,"function":{"arguments":"}"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}]}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            ],
            // Whole, as an object, no arguments at all, and "stop" for a reason.
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"","function":{"name":"list"}}]}}]}"#,
                STOP,
            ],
            // Without indexes: an id begins a call.
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{\"p\":"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"1}"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"list","arguments":null}}]}}]}"#,
                STOP,
            ],
        ];
        for stream in streams {
            assert_eq!(chunks(stream).await, expected, "{stream:?}");
        }
    }

    #[tokio::test]
    async fn arguments_count_while_they_come_and_so_do_calls() {
        let piece = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{}"}}}}]}}}}]}}"#,
            "x".repeat(1 << 20)
        );
        let call = |n: usize| {
            format!(
                r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{n},"function":{{"name":"f"}}}}]}}}}]}}"#
            )
        };
        let calls: Vec<String> = (0..=100).map(call).collect();
        let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
        let error = |what: &str| {
            [Err(ProviderError::Protocol {
                url: "http://test".into(),
                what: what.into(),
            })]
        };
        let got = chunks(&vec![piece.as_str(); 33]).await;
        assert_eq!(got, error("a reply of more than 32 MiB"));
        let got = chunks(&calls).await;
        assert_eq!(got, error("a reply with more than 100 tool calls"));
        let got = chunks(&[&calls[..100], &[STOP]].concat()).await;
        assert_eq!(got.len(), 101);
        assert!(got.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn odd_but_good_chunks_are_read() {
        for odd in [
            r#"{"choices":[{"delta":{"content":"x"}}]}"#,
            r#"{"id":null,"created":1.5,"usage":null,"choices":[{"index":null,"delta":{"content":"x"},"finish_reason":""}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"x"}],"tool_calls":null}}]}"#,
            r#"{"choices":[{"delta":{"refusal":"x","content":null}}],"error":null}"#,
        ] {
            let expected = [text("x"), finished(FinishReason::Stop, None)];
            assert_eq!(chunks(&[odd, STOP]).await, expected, "{odd}");
        }
    }

    #[tokio::test]
    async fn thinking_inside_the_text_and_beside_it_is_no_text() {
        for thinking in [
            r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"hm","reasoning":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"content":"<think>hm</think>\n"}}]}"#,
        ] {
            let x = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
            let expected = [
                Ok(StreamEvent::Reasoning("hm".into())),
                text("x"),
                finished(FinishReason::Stop, None),
            ];
            assert_eq!(chunks(&[thinking, x, STOP]).await, expected, "{thinking}");
        }
    }

    /// Traps 1 and 2.
    #[tokio::test]
    async fn a_stream_without_its_end_mark_is_truncated_and_keeps_what_came() {
        let truncated = || {
            Err(ProviderError::Truncated {
                url: "http://test".into(),
                why: None,
            })
        };
        assert_eq!(chunks(&[]).await, [truncated()]);
        let x = r#"{"choices":[{"delta":{"content":"<thi"}}]}"#;
        assert_eq!(chunks(&[x]).await, [text("<thi"), truncated()]);
    }

    /// Trap 3.
    #[tokio::test]
    async fn an_error_object_in_mid_stream_is_an_error() {
        for (error, message) in [
            (r#"{"error":{"message":"boom","code":500}}"#, "boom"),
            (r#"{"error":"boom"}"#, "boom"),
        ] {
            let x = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
            let expected = Err(ProviderError::Stream {
                url: "http://test".into(),
                message: message.into(),
            });
            assert_eq!(chunks(&[x, error, STOP]).await, [text("x"), expected]);
        }
    }

    #[tokio::test]
    async fn a_whole_completion_is_read_like_one_chunk() {
        let whole = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"x","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}"#;
        let usage = Usage {
            prompt: Some(Tokens(3)),
            ..Usage::default()
        };
        assert_eq!(
            chunks(&[whole]).await,
            [
                text("x"),
                Ok(StreamEvent::ToolCall(ToolCall::new("a", "f", "{}"))),
                finished(FinishReason::ToolCalls, Some(usage))
            ]
        );
    }
}
