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
    /// Returns what stands for `[DONE]`, or for the end of a whole body.
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
mod tests;
