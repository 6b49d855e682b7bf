//! Counts tokens as a model does, where its server can be asked, and remembers the counts (G15). Unit: one
//! text, counted as one message of the user. Invariant: at most [`AT_ONCE`] questions wait for their answer,
//! none longer than [`PATIENCE`]; what is not answered is estimated and says so. Budgets are not made of
//! these counts: they have to be there at once and offline.

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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::provider::{Abilities, EventStream, ProviderError, WindowSource};

    /// How a server takes the question.
    #[derive(Clone, Copy, Debug)]
    enum Server {
        /// Counts bytes.
        Counts,
        Refuses,
        /// Counts texts of one word and never answers for others.
        Hangs,
    }

    #[derive(Debug)]
    struct Counting {
        name: ModelName,
        server: Server,
        asked: AtomicUsize,
        in_flight: AtomicUsize,
        most_in_flight: AtomicUsize,
    }

    impl Counting {
        fn new(model: &str, server: Server) -> Self {
            Self {
                name: ModelName {
                    provider: "p".into(),
                    model: model.into(),
                },
                server,
                asked: AtomicUsize::new(0),
                in_flight: AtomicUsize::new(0),
                most_in_flight: AtomicUsize::new(0),
            }
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::Relaxed)
        }
    }

    #[async_trait]
    impl Provider for Counting {
        fn model(&self) -> &ModelName {
            &self.name
        }

        async fn abilities(&self) -> Abilities {
            Abilities {
                context_window: Tokens(1),
                window_source: WindowSource::Fallback,
                max_output: None,
                price: None,
            }
        }

        async fn models(&self) -> Result<Vec<String>, ProviderError> {
            Ok(Vec::new())
        }

        async fn count(&self, request: &ChatRequest) -> Option<Tokens> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
            self.most_in_flight.fetch_max(now, Ordering::Relaxed);
            // Lets the others begin.
            tokio::task::yield_now().await;
            let text = request.messages[0].said();
            let tokens = match self.server {
                Server::Counts => Some(Tokens::of_chars(text.len() * Tokens::CHARS_EACH)),
                Server::Refuses => None,
                Server::Hangs if text.contains(' ') => std::future::pending().await,
                Server::Hangs => Some(Tokens(1)),
            };
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
            tokens
        }

        fn stream(&self, _request: ChatRequest) -> EventStream {
            stream::empty().boxed()
        }
    }

    fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Uncounted> {
        let uncounted = |text: &str| Uncounted {
            text: text.to_owned(),
            estimate: Tokens(99),
        };
        texts.into_iter().map(uncounted).collect()
    }

    fn counted(tokens: u32) -> Count {
        Count {
            tokens: Tokens(tokens),
            is_estimate: false,
        }
    }

    const ESTIMATED: Count = Count {
        tokens: Tokens(99),
        is_estimate: true,
    };

    #[tokio::test]
    async fn a_text_is_asked_for_once_by_each_model() {
        let mut counter = TokenCounter::default();
        let small = Counting::new("small", Server::Counts);
        let expected = [counted(1), counted(2)];
        for _ in 0..2 {
            assert_eq!(counter.count(&small, &texts(["a", "bb"])).await, expected);
        }
        assert_eq!(small.asked(), 2);
        let large = Counting::new("large", Server::Counts);
        counter.count(&large, &texts(["a", "bb"])).await;
        assert_eq!(large.asked(), 2);
    }

    #[tokio::test]
    async fn the_last_thousand_are_remembered() {
        let mut counter = TokenCounter::default();
        let provider = Counting::new("m", Server::Counts);
        let numbers: Vec<String> = (0..1_001).map(|n| n.to_string()).collect();
        let all = texts(numbers.iter().map(String::as_str));
        counter.count(&provider, &all[..1]).await;
        counter.count(&provider, &all[1..]).await;
        counter.count(&provider, &all[1..]).await;
        assert_eq!(provider.asked(), 1_001);
        counter.count(&provider, &all[..1]).await;
        assert_eq!(provider.asked(), 1_002);
    }

    #[tokio::test]
    async fn of_ten_questions_three_wait_at_once() {
        let provider = Counting::new("m", Server::Counts);
        let ten = texts(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
        let counts = TokenCounter::default().count(&provider, &ten).await;
        assert_eq!(counts, [counted(1); 10]);
        assert_eq!(provider.asked(), 10);
        assert_eq!(provider.most_in_flight.into_inner(), 3);
    }

    #[tokio::test]
    async fn what_the_server_does_not_count_is_estimated_and_asked_for_again() {
        let mut counter = TokenCounter::default();
        let provider = Counting::new("m", Server::Refuses);
        for _ in 0..2 {
            assert_eq!(counter.count(&provider, &texts(["a"])).await, [ESTIMATED]);
        }
        assert_eq!(provider.asked(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_server_is_not_waited_for_and_what_it_counted_is_kept() {
        let provider = Counting::new("m", Server::Hangs);
        let some = texts(["quick", "too slow"]);
        let counts = TokenCounter::default().count(&provider, &some).await;
        assert_eq!(counts, [counted(1), ESTIMATED]);
    }

    #[tokio::test]
    async fn blank_texts_cost_nothing_and_are_not_asked_for() {
        let provider = Counting::new("m", Server::Counts);
        let blank = texts(["", " \n"]);
        let counts = TokenCounter::default().count(&provider, &blank).await;
        assert_eq!((counts, provider.asked()), (vec![counted(0); 2], 0));
    }
}
