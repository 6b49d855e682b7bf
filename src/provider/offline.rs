//! The provider that stands in where there is no model.

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use super::{
    Abilities, ChatRequest, EventStream, FinishReason, ModelName, Provider, ProviderError,
    StreamEvent, WindowSource,
};
use crate::chat::Tokens;

/// Answers with one fixed sentence.
#[derive(Clone, Debug)]
pub struct Offline {
    name: ModelName,
}

impl Offline {
    pub fn new() -> Self {
        Self {
            name: ModelName {
                provider: "offline".to_owned(),
                model: "none".to_owned(),
            },
        }
    }
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Provider for Offline {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn abilities(&self) -> Abilities {
        Abilities {
            context_window: Tokens(8_192),
            window_source: WindowSource::Table,
            max_output: None,
        }
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(vec![self.name.model.clone()])
    }

    fn stream(&self, _request: ChatRequest) -> EventStream {
        stream::iter([
            Ok(StreamEvent::Text("There is no model to answer.".to_owned())),
            Ok(StreamEvent::Finished {
                reason: FinishReason::Stop,
                usage: None,
            }),
        ])
        .boxed()
    }
}
