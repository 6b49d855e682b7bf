use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::*;
use crate::provider::{Abilities, EventStream, ProviderError, WindowSource};

/// A server, by its answer to the question.
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
