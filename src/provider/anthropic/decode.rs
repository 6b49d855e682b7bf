//! Events of the Messages API, keyed by block, because not every server ends one block before it begins the next. Pure.
//! Unknown events, blocks and deltas are skipped, as the protocol asks. A whole message is read as the blocks it has.

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
mod tests;
