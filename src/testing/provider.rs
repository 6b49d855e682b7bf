//! A provider that says what a test tells it to, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::chat::{Tokens, Usage};
use crate::provider::{
    Abilities, ChatRequest, EventStream, FinishReason, ModelName, Provider, ProviderError,
    StreamEvent, WindowSource,
};
pub use crate::provider::{Recorded, Wire, joined};

/// Events of one reply, in order.
pub type Script = Vec<Result<StreamEvent, ProviderError>>;

/// Answers each request with the next script; the last one again when they run out.
#[derive(Clone, Debug)]
pub struct ScriptedProvider {
    name: ModelName,
    window: Tokens,
    max_output: Option<Tokens>,
    count: fn(&ChatRequest) -> Option<Tokens>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    scripts: VecDeque<Script>,
    requests: Vec<ChatRequest>,
}

impl ScriptedProvider {
    pub fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let name = ModelName {
            provider: "test".to_owned(),
            model: "scripted".to_owned(),
        };
        let state = State {
            scripts: scripts.into_iter().collect(),
            requests: Vec::new(),
        };
        Self {
            name,
            window: Tokens(8_192),
            max_output: None,
            count: |_| None,
            state: Arc::new(Mutex::new(state)),
        }
    }

    #[must_use]
    pub fn with_window(self, window: Tokens) -> Self {
        Self { window, ..self }
    }

    #[must_use]
    pub fn with_max_output(self, max_output: Tokens) -> Self {
        Self {
            max_output: Some(max_output),
            ..self
        }
    }

    /// Counts prompts so; without this it cannot.
    #[must_use]
    pub fn with_count(self, count: fn(&ChatRequest) -> Option<Tokens>) -> Self {
        Self { count, ..self }
    }

    /// Everything it was asked so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.state
            .lock()
            .expect("no test panics while it holds the lock")
            .requests
            .clone()
    }
}

/// A complete reply in one piece.
pub fn says(text: &str) -> Script {
    counted(text, None)
}

/// A complete reply, and the server's count of the prompt.
pub fn counted(text: &str, prompt: Option<Tokens>) -> Script {
    let usage = prompt.map(|prompt| Usage {
        prompt: Some(prompt),
        completion: None,
        cached: None,
    });
    vec![
        Ok(StreamEvent::Text(text.to_owned())),
        Ok(StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage,
        }),
    ]
}

/// Half a reply, then an error.
pub fn breaks_off(text: &str, error: ProviderError) -> Script {
    vec![Ok(StreamEvent::Text(text.to_owned())), Err(error)]
}

#[async_trait]
impl Provider for ScriptedProvider {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn abilities(&self) -> Abilities {
        Abilities {
            context_window: self.window,
            window_source: WindowSource::Config,
            max_output: self.max_output,
            price: None,
        }
    }

    async fn count(&self, request: &ChatRequest) -> Option<Tokens> {
        (self.count)(request)
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(vec![self.name.model.clone()])
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let mut state = self
            .state
            .lock()
            .expect("no test panics while it holds the lock");
        state.requests.push(request);
        let script = match state.scripts.len() {
            0 => says("ok"),
            1 => state.scripts[0].clone(),
            _ => state.scripts.pop_front().unwrap_or_default(),
        };
        stream::iter(script).boxed()
    }
}
