//! Where replies come from: one trait, one event stream, whatever the server speaks.
//!
//! Nothing above this folder sees a wire type, partial JSON or an HTTP status it has to interpret.
//!
//! ```text
//!   catalog, detect, places, known   names -> a provider that retries
//!   listing                          all providers side by side
//!   price                            what models cost, and what was spent
//!   retry                            a provider around a provider
//!   openai, ollama, anthropic        encode(request), decode(frame): pure; a thin call around them
//!   reply, think, wire               what no format does its own way
//!   sse, ndjson                      bytes -> frames
//!   http                             requests
//!   failure, overflow                errors
//! ```

mod anthropic;
mod catalog;
mod detect;
mod error;
mod failure;
mod http;
mod known;
mod listing;
mod ndjson;
mod offline;
mod ollama;
mod openai;
mod overflow;
mod places;
mod price;
#[cfg(any(test, feature = "testing"))]
mod recorded;
mod reply;
mod retry;
mod settings;
mod sse;
mod surrogates;
mod target;
mod think;
mod wire;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::chat::{Message, Tokens, ToolCall, ToolSpec, Usage};
use crate::declare::named;

pub use crate::net::KeySource;
pub use catalog::{Catalog, Choice, Host, Place};
pub use error::ProviderError;
pub use known::{FALLBACK_WINDOW, KNOWN_MODELS, Known, KnownModel, LimitField};
pub use listing::{Answered, Listed, SetUp};
pub use offline::{CONNECT, Offline};
pub use price::{Cost, Dollars, Meter, Price};
#[cfg(any(test, feature = "testing"))]
pub use recorded::{Recorded, Wire};
#[cfg(any(test, feature = "testing"))]
pub use reply::joined;
pub use retry::Retry;
pub use settings::{
    Environment, Kind, ModelSettings, ModelsSettings, NetworkSettings, ProviderSettings, Settings,
};
pub use target::{Offered, chat_models, is_like};
pub use wire::Images;

/// Deltas and calls, then exactly one `Finished`; or one error. Nothing after either.
pub type EventStream = BoxStream<'static, Result<StreamEvent, ProviderError>>;

/// A model on a server, or what stands in for one.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns which model answers; known without asking anybody.
    fn model(&self) -> &ModelName;

    /// Returns what the model can hold. Asks the server at most once; where nothing answers, falls back to the
    /// table of known models and then to 8,192 tokens (G16), and asks again next time; but a window that was
    /// sent with a request (Ollama's) stays.
    async fn abilities(&self) -> Abilities;

    /// Returns whether it makes sense to offer it tools: not where its server says that the model takes none.
    async fn takes_tools(&self) -> bool {
        true
    }

    /// Returns whether the model is shown pictures; what its server says of it where that is known, else yes.
    async fn takes_images(&self) -> bool {
        true
    }

    /// Returns whether the model replies in a chat, where its server says so of each model alone and not in its list.
    async fn chats(&self) -> Option<bool> {
        None
    }

    /// Returns whether its models were trained with tools of ours that have a place in each request then; known without
    /// asking.
    fn knows_trained_tools(&self) -> bool {
        false
    }

    /// Returns whether its server loads the window that it is told (Ollama's `num_ctx`).
    fn loads_window(&self) -> bool {
        false
    }

    /// Returns whether there is no model behind it.
    fn is_offline(&self) -> bool {
        false
    }

    /// Names of the models this server offers, in its order. Waits for a silent server some seconds only.
    async fn models(&self) -> Result<Vec<String>, ProviderError>;

    /// The same with what the server tells of each.
    async fn offers(&self) -> Result<Vec<Offered>, ProviderError> {
        let models = self.models().await?.into_iter();
        Ok(models.map(Offered::named).collect())
    }

    /// Returns how many tokens the server counts for a prompt, where its protocol has a question for that (G15).
    /// `None` where it has none, or where the server does not answer.
    async fn count(&self, _request: &ChatRequest) -> Option<Tokens> {
        None
    }

    /// Sends a request. Connecting is the first thing that can fail *in* the stream, so that callers
    /// handle one kind of failure in one place.
    fn stream(&self, request: ChatRequest) -> EventStream;
}

/// `provider/model`, as `/model` and the banner show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    pub provider: String,
    pub model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// What a model can hold and how we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Tokens the server will really read and write in one request (Ollama: the `num_ctx` we send).
    pub context_window: Tokens,
    pub window_source: WindowSource,
    /// Most tokens of one reply, where the model has such a limit.
    pub max_output: Option<Tokens>,
    /// What it costs, where the config or the server says so.
    pub price: Option<Price>,
}

named! {
    /// Where a context window was learnt.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WindowSource {
        Config = "from config",
        Server = "from the server",
        /// The table of known models, `config/models.yaml`.
        Table = "known model",
        /// Nothing is known of the model.
        Fallback = "window size assumed",
    }
}

/// One request.
///
/// `system` stands before `messages`; with `context.merge_system: false` it has several texts, otherwise
/// at most one. Encoders merge neighbours of one role, so that strict servers accept every request.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    pub system: Vec<String>,
    /// What recall brought, as it stands in `system` too: for who can only quote.
    pub recalled: Option<String>,
    /// Shared, because whoever may have to ask again keeps the request.
    pub messages: Arc<[Message]>,
    /// What is sent of the pictures in `messages`; the others are named.
    pub images: Images,
    pub tools: Vec<ToolSpec>,
    /// Room for the reply; at least 1 (C82).
    pub max_tokens: Tokens,
    /// How freely the model chooses its words; `None`: as the server sees fit.
    pub temperature: Option<f32>,
    pub purpose: Purpose,
    pub delivery: Delivery,
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The person reads it.
    Reply,
    /// It stands for older messages.
    Summary,
    /// The program reads it: a step of thinking something through.
    Thought,
}

/// How the reply travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Streamed,
    /// One body; the stream then has one `Text` (`--no-stream`).
    Whole,
}

/// What arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    Text(String),
    /// Thinking: shown dim, never stored, sent or summarised.
    Reasoning(String),
    /// A whole call; arguments are assembled below this line.
    ToolCall(ToolCall),
    /// A try failed before anything arrived, and another follows.
    Retrying {
        why: String,
        after: std::time::Duration,
    },
    Finished {
        reason: FinishReason,
        usage: Option<Usage>,
    },
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    /// The reply reached `max_tokens` or the end of the window.
    Length,
    ToolCalls,
    /// The server refused or filtered it.
    Filtered,
    Other(String),
}

/// The vendors' words for each reason, in lower case. Ollama says `load` and `unload` of a request that only
/// loads or unloads the model: there was nothing to say, and nothing is missing.
const REASONS: [(&str, FinishReason); 27] = [
    ("", FinishReason::Stop),
    ("stop", FinishReason::Stop),
    ("end_turn", FinishReason::Stop),
    ("stop_sequence", FinishReason::Stop),
    ("eos", FinishReason::Stop),
    ("eos_token", FinishReason::Stop),
    ("end", FinishReason::Stop),
    ("complete", FinishReason::Stop),
    ("completed", FinishReason::Stop),
    ("load", FinishReason::Stop),
    ("unload", FinishReason::Stop),
    ("length", FinishReason::Length),
    ("max_tokens", FinishReason::Length),
    ("max_output_tokens", FinishReason::Length),
    ("model_length", FinishReason::Length),
    ("model_context_window_exceeded", FinishReason::Length),
    ("tool_calls", FinishReason::ToolCalls),
    ("tool_use", FinishReason::ToolCalls),
    ("function_call", FinishReason::ToolCalls),
    ("content_filter", FinishReason::Filtered),
    ("content-filter", FinishReason::Filtered),
    ("refusal", FinishReason::Filtered),
    ("safety", FinishReason::Filtered),
    ("recitation", FinishReason::Filtered),
    ("blocklist", FinishReason::Filtered),
    ("prohibited_content", FinishReason::Filtered),
    ("spii", FinishReason::Filtered),
];

impl FinishReason {
    /// Reads any vendor's word; gateways write some in capitals. Only what is sure to be the end of a complete
    /// reply is [`Self::Stop`].
    fn of(word: &str) -> Self {
        let plain = word.trim().to_ascii_lowercase();
        let known = REASONS.into_iter().find(|(known, _)| *known == plain);
        known.map_or_else(|| Self::Other(word.to_owned()), |(_, reason)| reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_complete_reply_is_a_stop() {
        use FinishReason as F;
        for (words, expected) in [
            (
                &[
                    "",
                    "stop",
                    "STOP",
                    "end_turn",
                    "stop_sequence",
                    "eos",
                    "eos_token",
                    "load",
                    "unload",
                    "COMPLETE",
                ][..],
                Some(F::Stop),
            ),
            (
                &["length", "max_tokens", "MAX_TOKENS", "model_length"],
                Some(F::Length),
            ),
            (&["content_filter", "refusal", "SAFETY"], Some(F::Filtered)),
            (&["tool_calls", "tool_use"], Some(F::ToolCalls)),
            (
                &[
                    "pause_turn",
                    "error",
                    "abort",
                    "insufficient_system_resource",
                ],
                None,
            ),
        ] {
            for word in words {
                let expected = expected.clone();
                let expected = expected.unwrap_or_else(|| F::Other((*word).to_owned()));
                assert_eq!(F::of(word), expected, "{word}");
            }
        }
    }
}
