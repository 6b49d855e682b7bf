use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;
use crate::provider::wire::samples;
use crate::provider::{FinishReason, KeySource, WindowSource};

type Reply = Vec<Result<StreamEvent, ProviderError>>;

/// Gives one reply after another, and the last for ever.
#[derive(Debug)]
struct Scripted {
    name: ModelName,
    replies: Mutex<VecDeque<Reply>>,
}

#[async_trait]
impl Provider for Scripted {
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

    fn stream(&self, _request: ChatRequest) -> EventStream {
        let mut replies = self.replies.lock().unwrap();
        let reply = if replies.len() > 1 {
            replies.pop_front()
        } else {
            replies.front().cloned()
        };
        stream::iter(reply.unwrap_or_default()).boxed()
    }
}

async fn ask(tries: u32, replies: &[Reply]) -> (Reply, Duration) {
    let inner = Scripted {
        name: ModelName {
            provider: "p".into(),
            model: "m".into(),
        },
        replies: Mutex::new(replies.iter().cloned().collect()),
    };
    let start = Instant::now();
    let retry = Retry::new(Arc::new(inner), tries);
    let got = retry.stream(samples::everything()).collect().await;
    (got, start.elapsed())
}

fn limited(retry_after: Option<u64>) -> ProviderError {
    ProviderError::RateLimited {
        url: "u".into(),
        status: 429,
        message: "slow down".into(),
        retry_after: retry_after.map(Duration::from_secs),
        quota: false,
    }
}

fn retrying(error: &ProviderError, after: Duration) -> Result<StreamEvent, ProviderError> {
    Ok(StreamEvent::Retrying {
        why: error.to_string(),
        after,
    })
}

fn good() -> Reply {
    vec![
        Ok(StreamEvent::Text("x".into())),
        Ok(StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        }),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_is_retried_with_growing_pauses() {
    let error = limited(None);
    let failed = || vec![Err(error.clone())];
    let (got, waited) = ask(3, &[failed(), failed(), good()]).await;
    let mut expected = vec![
        retrying(&error, Duration::from_millis(500)),
        retrying(&error, Duration::from_secs(1)),
    ];
    expected.extend(good());
    assert_eq!(got, expected);
    assert_eq!(waited.as_millis() / 10, 150);
}

#[tokio::test(start_paused = true)]
async fn the_tries_are_counted() {
    let error = limited(None);
    for (tries, retries) in [(0, 0), (1, 0), (2, 1), (3, 2)] {
        let (got, _) = ask(tries, &[vec![Err(error.clone())]]).await;
        assert_eq!(got.len(), retries + 1, "{tries}");
        assert_eq!(got.last(), Some(&Err(error.clone())));
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_says_how_long_and_if_too_long_the_error_is_passed_on() {
    let (got, waited) = ask(3, &[vec![Err(limited(Some(7)))], good()]).await;
    assert_eq!(got[0], retrying(&limited(Some(7)), Duration::from_secs(7)));
    assert_eq!(waited.as_secs(), 7);
    // Twice 8 s is more than anybody waits; so is 16 s, or an absurd time, at once.
    let (got, waited) = ask(3, &[vec![Err(limited(Some(8)))]]).await;
    assert_eq!((got.len(), waited.as_secs()), (2, 8));
    for long in [16, u64::MAX] {
        let (got, waited) = ask(3, &[vec![Err(limited(Some(long)))]]).await;
        assert_eq!(got, [Err(limited(Some(long)))]);
        assert_eq!(waited.as_secs(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_retried_once_something_arrived() {
    for first in [
        StreamEvent::Text("x".into()),
        StreamEvent::Reasoning("x".into()),
    ] {
        let reply = vec![Ok(first), Err(limited(None)), good().remove(0)];
        let (got, _) = ask(3, &[reply.clone(), good()]).await;
        assert_eq!(got, reply[..2], "and nothing follows an error");
    }
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_not_retried() {
    let quota = ProviderError::RateLimited {
        url: "u".into(),
        status: 429,
        message: "m".into(),
        retry_after: None,
        quota: true,
    };
    let status = |status| ProviderError::Status {
        url: "u".into(),
        status,
        message: "m".into(),
        retry_after: None,
    };
    let unauthorized = ProviderError::Unauthorized {
        url: "u".into(),
        status: 401,
        message: "m".into(),
        key: KeySource::None,
    };
    for error in [quota, status(400), status(404), unauthorized] {
        let (got, _) = ask(3, &[vec![Err(error.clone())], good()]).await;
        assert_eq!(got, [Err(error)]);
    }
    let (got, _) = ask(3, &[vec![Err(status(502))], good()]).await;
    assert_eq!(got.len(), 3);
}
