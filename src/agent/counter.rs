//! Counts tokens as a model does, where its server can be asked, and remembers the counts (G15). Invariant: at most
//! [`AT_ONCE`] questions wait for their answer, none longer than [`PATIENCE`]; what is not answered is estimated and
//! says so. Budgets are not made of these counts: they have to be there at once and offline.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use lru::LruCache;
use sha2::{Digest, Sha256};

use crate::chat::{Message, MessageId, Role, Tokens};
use crate::provider::{ChatRequest, Delivery, Images, ModelName, Provider, Purpose};

const REMEMBERED: NonZeroUsize = NonZeroUsize::new(1_000).expect("a thousand is not zero");
const AT_ONCE: usize = 3;
/// The longest a person waits for the counts of one list of texts.
const PATIENCE: Duration = Duration::from_secs(2);

/// A text, and what it is taken for where nobody counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    pub text: String,
    /// Calibrated.
    pub estimate: Tokens,
}

/// What a text costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub tokens: Tokens,
    pub is_estimate: bool,
}

/// Digest of model and text: another model counts otherwise.
type Key = [u8; 32];

/// The counts of the texts that were asked for last.
#[derive(Debug)]
pub(super) struct TokenCounter {
    known: LruCache<Key, Tokens>,
}

impl Default for TokenCounter {
    fn default() -> Self {
        Self {
            known: LruCache::new(REMEMBERED),
        }
    }
}

impl TokenCounter {
    /// One count for each text, in their order.
    pub(super) async fn count(
        &mut self,
        provider: &dyn Provider,
        texts: &[Uncounted],
    ) -> Vec<Count> {
        let mut counts: Vec<Option<Tokens>> = Vec::with_capacity(texts.len());
        let mut missing = Vec::new();
        for (at, Uncounted { text, .. }) in texts.iter().enumerate() {
            let key = key(provider.model(), text);
            // Blank texts are never sent, and no server counts them.
            let blank = text.trim().is_empty().then_some(Tokens::ZERO);
            let known = blank.or_else(|| self.known.get(&key).copied());
            if known.is_none() {
                missing.push((at, key, request(text)));
            }
            counts.push(known);
        }
        let questions = stream::iter(missing).map(|(at, key, request)| async move {
            let tokens = provider.count(&request).await?;
            Some((at, key, tokens))
        });
        let mut answers = pin!(questions.buffer_unordered(AT_ONCE));
        let all = async {
            while let Some(answer) = answers.next().await {
                if let Some((at, key, tokens)) = answer {
                    self.known.put(key, tokens);
                    counts[at] = Some(tokens);
                }
            }
        };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            tracing::debug!(
                "counting tokens with {} timed out; estimating",
                provider.model()
            );
        }
        let counts = counts.into_iter().zip(texts);
        let count = |(tokens, text): (Option<Tokens>, &Uncounted)| Count {
            tokens: tokens.unwrap_or(text.estimate),
            is_estimate: tokens.is_none(),
        };
        counts.map(count).collect()
    }
}

fn key(model: &ModelName, text: &str) -> Key {
    let model = model.to_string();
    let digest = Sha256::new()
        .chain_update(model.len().to_le_bytes())
        .chain_update(model)
        .chain_update(text);
    digest.finalize().into()
}

fn request(text: &str) -> ChatRequest {
    let message = Message::text(MessageId::new("count"), Role::User, text, None);
    ChatRequest {
        system: Vec::new(),
        recalled: None,
        messages: vec![message].into(),
        images: Images::default(),
        tools: Vec::new(),
        max_tokens: Tokens(1),
        temperature: None,
        purpose: Purpose::Reply,
        delivery: Delivery::Whole,
    }
}

#[cfg(test)]
mod tests;
