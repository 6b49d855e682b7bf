//! Events of the Messages API, keyed by block, because not every server ends one block before it begins
//! the next. Pure. Unknown events, blocks and deltas are skipped, as the protocol asks. A whole message is
//! read as the blocks it has.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::names::Names;
use crate::chat::{Tokens, Usage};
use crate::provider::reply::{Decode, Reply};
use crate::provider::{FinishReason, ProviderError};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    index: usize,
    content_block: Option<Block>,
    delta: Option<Delta>,
    message: Option<Message>,
    usage: Option<Counts>,
    error: Option<Value>,
    /// Of a whole message.
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    usage: Option<Counts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(rename = "input_tokens")]
    input: Option<u32>,
    #[serde(rename = "output_tokens")]
    output: Option<u32>,
    #[serde(rename = "cache_read_input_tokens")]
    cached: Option<u32>,
    #[serde(rename = "cache_creation_input_tokens")]
    created: Option<u32>,
}

/// A call in the making.
#[derive(Debug)]
struct Call {
    id: Option<String>,
    name: String,
    /// Given whole at the start by some gateways; `json` goes before it.
    input: String,
    json: String,
}

/// The calls that are not ended yet, and the reason once it is known.
pub(super) struct Decoder {
    names: Names,
    calls: BTreeMap<usize, Call>,
    reason: Option<String>,
}

impl Decoder {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            calls: BTreeMap::new(),
            reason: None,
        }
    }

    fn begin(&mut self, index: usize, block: Block, reply: &mut Reply) {
        match block.kind.as_str() {
            "text" => reply.text(&block.text.unwrap_or_default()),
            "thinking" => reply.reasoning(&block.thinking.unwrap_or_default()),
            "tool_use" => {
                let input = block.input.filter(Value::is_object);
                let call = Call {
                    id: block.id.filter(|id| !id.is_empty()),
                    name: block.name.unwrap_or_default(),
                    input: input.map_or_else(|| "{}".to_owned(), |input| input.to_string()),
                    json: String::new(),
                };
                reply.begin_call();
                reply.keep(call.id.as_deref().unwrap_or_default());
                reply.keep(&call.name);
                reply.keep(&call.input);
                self.calls.insert(index, call);
            }
            _ => {}
        }
    }

    fn go_on(&mut self, index: usize, delta: &Delta, reply: &mut Reply) {
        if let Some(text) = &delta.text {
            reply.text(text);
        }
        if let Some(text) = &delta.thinking {
            reply.reasoning(text);
        }
        if let (Some(json), Some(call)) = (&delta.partial_json, self.calls.get_mut(&index)) {
            reply.keep(json);
            call.json.push_str(json);
        }
    }

    fn end(&mut self, index: usize, reply: &mut Reply) {
        let Some(call) = self.calls.remove(&index) else {
            return;
        };
        let arguments = if call.json.trim().is_empty() {
            call.input
        } else {
            call.json
        };
        let name = self.names.ours(call.name, &arguments);
        reply.call(call.id, name, arguments);
    }

    fn stop(&mut self, reply: &mut Reply) {
        let reason = self
            .reason
            .as_deref()
            .map_or(FinishReason::Stop, FinishReason::of);
        reply.ended(reason);
    }

    fn whole(&mut self, event: Event, reply: &mut Reply) {
        for (index, block) in event.content.into_iter().flatten().enumerate() {
            self.begin(index, block, reply);
            self.end(index, reply);
        }
        self.reason = event.stop_reason;
        count(event.usage, reply);
        self.stop(reply);
    }
}

/// Later counts replace earlier ones; what they leave out stays.
fn count(counts: Option<Counts>, reply: &mut Reply) {
    let Some(counts) = counts else { return };
    let before = reply.usage();
    let Counts {
        input,
        output,
        cached,
        created,
    } = counts;
    let prompt = input.map(|fresh| {
        let all = [Some(fresh), cached, created].into_iter().flatten();
        all.map(Tokens).sum::<Tokens>()
    });
    reply.used(Usage {
        prompt: prompt.or(before.prompt),
        completion: output.map(Tokens).or(before.completion),
        cached: cached.map(Tokens).or(before.cached),
    });
}

impl Decode for Decoder {
    type Frame = String;

    fn frame(&mut self, data: String, reply: &mut Reply) -> Result<(), ProviderError> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event = reply.parse(&data, "a reply event")?;
        reply.check(event.error.as_ref())?;
        let delta = event.delta.as_ref();
        match event.kind.as_deref().unwrap_or_default() {
            "message_start" => count(event.message.unwrap_or_default().usage, reply),
            "content_block_start" => {
                self.begin(event.index, event.content_block.unwrap_or_default(), reply);
            }
            "content_block_delta" => {
                self.go_on(event.index, &event.delta.unwrap_or_default(), reply);
            }
            "content_block_stop" => self.end(event.index, reply),
            "message_delta" => {
                let reason = delta.and_then(|delta| delta.stop_reason.clone());
                self.reason = reason.or(self.reason.take());
                count(event.usage, reply);
            }
            "message_stop" => self.stop(reply),
            "message" => self.whole(event, reply),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, reply: &mut Reply) {
        let open: Vec<usize> = self.calls.keys().copied().collect();
        for index in open {
            self.end(index, reply);
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

    async fn bytes(pieces: &[&[u8]]) -> Events {
        let decoder = Decoder::new(Names::default());
        joined(replay(decoder, sse::recorded(pieces).await).await)
    }

    async fn events(events: &[&str]) -> Events {
        let stream = format!("data: {}\n\n", events.join("\n\ndata: "));
        bytes(&[stream.as_bytes()]).await
    }

    fn text(text: &str) -> Result<StreamEvent, ProviderError> {
        Ok(StreamEvent::Text(text.into()))
    }

    fn call(id: &str, name: &str, arguments: &str) -> Result<StreamEvent, ProviderError> {
        Ok(StreamEvent::ToolCall(ToolCall::new(id, name, arguments)))
    }

    const RECORDED: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":null,\"output_tokens\":1}}}\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"h\u{e9}\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"na\u{ef}ve \u{1f600}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "event: news\ndata: {\"type\":\"news\",\"index\":3,\"delta\":{\"type\":\"news_delta\"}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"p\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":1}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );

    /// Traps 9 and 13.
    #[tokio::test]
    async fn recorded_bytes_cut_at_every_position_give_the_same_events() {
        let expected = [
            Ok(StreamEvent::Reasoning("hé".into())),
            text("naïve 😀"),
            call("toolu_1", "read", r#"{"p":1}"#),
            Ok(StreamEvent::Finished {
                reason: FinishReason::ToolCalls,
                usage: Some(Usage {
                    prompt: Some(Tokens(17)),
                    completion: Some(Tokens(9)),
                    cached: Some(Tokens(7)),
                }),
            }),
        ];
        for cut in 0..=RECORDED.len() {
            let (head, tail) = RECORDED.as_bytes().split_at(cut);
            assert_eq!(bytes(&[head, tail]).await, expected, "{cut}");
        }
    }

    /// Trap 7: blocks that overlap, and start blocks without an input.
    #[tokio::test]
    async fn interleaved_blocks_are_kept_apart() {
        let got = events(&[
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"one"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"two","input":{"whole":true}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ])
        .await;
        assert_eq!(
            got,
            [
                call("b", "two", r#"{"whole":true}"#),
                call("a", "one", r#"{"x":1}"#),
                Ok(StreamEvent::Finished {
                    reason: FinishReason::ToolCalls,
                    usage: None
                }),
            ]
        );
    }

    #[tokio::test]
    async fn arguments_count_while_they_come_and_so_do_calls() {
        let begun = |n: usize| {
            format!(
                r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"tool_use","id":"a{n}","name":"f"}}}}"#
            )
        };
        let piece = format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{}"}}}}"#,
            "x".repeat(1 << 20)
        );
        let error = |what: &str| {
            [Err(ProviderError::Protocol {
                url: "http://test".into(),
                what: what.into(),
            })]
        };
        let long: Vec<String> = [begun(0)].into_iter().chain(vec![piece; 33]).collect();
        let many: Vec<String> = (0..=100).map(begun).collect();
        for (stream, what) in [
            (long, "a reply of more than 32 MiB"),
            (many, "a reply with more than 100 tool calls"),
        ] {
            let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
            assert_eq!(events(&stream).await, error(what));
        }
    }

    /// Trap 3.
    #[tokio::test]
    async fn an_error_event_is_an_error_and_an_overload_may_be_retried() {
        let start = r#"{"type":"message_start","message":{}}"#;
        let error =
            |kind: &str| format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#);
        let overloaded = events(&[start, &error("overloaded_error")]).await;
        assert!(
            overloaded[0]
                .as_ref()
                .is_err_and(ProviderError::is_transient)
        );
        let broken = events(&[start, &error("api_error")]).await;
        assert!(matches!(&broken[0], Err(ProviderError::Stream { message, .. }) if message == "m"));
    }

    /// Traps 1 and 2.
    #[tokio::test]
    async fn a_stream_without_message_stop_is_truncated() {
        let cut = RECORDED.find("event: message_stop").unwrap();
        for stream in ["", &RECORDED[..cut]] {
            let got = bytes(&[stream.as_bytes()]).await;
            let is_truncated = matches!(got.last(), Some(Err(ProviderError::Truncated { .. })));
            assert!(is_truncated, "{got:?}");
        }
    }

    #[tokio::test]
    async fn a_whole_message_gives_the_same_events() {
        let got = events(&[r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{"p":1}}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}}"#]).await;
        assert_eq!(
            got,
            [
                Ok(StreamEvent::Reasoning("hm".into())),
                text("x"),
                call("a", "f", r#"{"p":1}"#),
                Ok(StreamEvent::Finished {
                    reason: FinishReason::Length,
                    usage: Some(Usage {
                        prompt: Some(Tokens(3)),
                        completion: Some(Tokens(4)),
                        cached: None
                    })
                })
            ]
        );
    }
}
