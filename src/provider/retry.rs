//! A provider around a provider that asks again. Unit: one request. Invariant: only failures that may pass
//! are retried, and only before anything of a reply arrived; at most `tries` requests are made, and none
//! begins later than [`PATIENCE`] after the first. A server that asks for more time gets its error passed
//! on, which says how long.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use tokio::time::Instant;

use super::{
    Abilities, ChatRequest, EventStream, Meter, ModelName, Offered, Provider, ProviderError,
    StreamEvent,
};
use crate::chat::Tokens;

/// The longest a person is kept waiting for a retry.
const PATIENCE: Duration = Duration::from_secs(15);
/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// See above.
#[derive(Clone, Debug)]
pub struct Retry {
    inner: Arc<dyn Provider>,
    tries: u32,
    meter: Meter,
}

impl Retry {
    /// `tries` counts the first request; 0 is taken as 1.
    pub fn new(inner: Arc<dyn Provider>, tries: u32) -> Self {
        Self {
            inner,
            tries,
            meter: Meter::default(),
        }
    }

    /// The same, with what requests took counted.
    #[must_use]
    pub fn with_meter(self, meter: Meter) -> Self {
        Self { meter, ..self }
    }
}

#[async_trait]
impl Provider for Retry {
    fn model(&self) -> &ModelName {
        self.inner.model()
    }

    async fn abilities(&self) -> Abilities {
        self.inner.abilities().await
    }

    async fn takes_tools(&self) -> bool {
        self.inner.takes_tools().await
    }

    async fn takes_images(&self) -> bool {
        self.inner.takes_images().await
    }

    fn knows_trained_tools(&self) -> bool {
        self.inner.knows_trained_tools()
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        self.inner.models().await
    }

    async fn offers(&self) -> Result<Vec<Offered>, ProviderError> {
        self.inner.offers().await
    }

    /// Not asked again: a count that does not come is estimated.
    async fn count(&self, request: &ChatRequest) -> Option<Tokens> {
        self.inner.count(request).await
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let asking = Asking {
            provider: Arc::clone(&self.inner),
            request,
            meter: self.meter.clone(),
            tries_left: self.tries.saturating_sub(1),
            n_failed: 0,
            started: None,
            state: State::Before(Duration::ZERO),
        };
        stream::unfold(asking, |mut asking| async move {
            let event = asking.next().await?;
            if let Ok(StreamEvent::Finished {
                usage: Some(usage), ..
            }) = &event
            {
                asking.meter.count(asking.provider.model(), *usage);
            }
            Some((event, asking))
        })
        .boxed()
    }
}

struct Asking {
    provider: Arc<dyn Provider>,
    request: ChatRequest,
    meter: Meter,
    tries_left: u32,
    n_failed: u32,
    started: Option<Instant>,
    state: State,
}

enum State {
    /// A request is to be sent after a pause.
    Before(Duration),
    /// Nothing of the reply has arrived.
    Waiting(EventStream),
    /// Something has: from here on a failure is final.
    Replying(EventStream),
    Over,
}

impl Asking {
    async fn next(&mut self) -> Option<Result<StreamEvent, ProviderError>> {
        let started = *self.started.get_or_insert_with(Instant::now);
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return None,
                State::Before(pause) => {
                    if !pause.is_zero() {
                        tokio::time::sleep(pause).await;
                    }
                    self.state = State::Waiting(self.provider.stream(self.request.clone()));
                }
                State::Replying(mut events) => {
                    let event = events.next().await?;
                    if event.is_ok() {
                        self.state = State::Replying(events);
                    }
                    return Some(event);
                }
                State::Waiting(mut events) => {
                    return Some(match events.next().await? {
                        Ok(event) => {
                            self.state = State::Replying(events);
                            Ok(event)
                        }
                        Err(error) => self.failed(error, started.elapsed()),
                    });
                }
            }
        }
    }

    fn failed(
        &mut self,
        error: ProviderError,
        elapsed: Duration,
    ) -> Result<StreamEvent, ProviderError> {
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(self.n_failed.min(8));
        let after = error.retry_after().unwrap_or(pause);
        if self.tries_left == 0 || !error.is_transient() || elapsed.saturating_add(after) > PATIENCE
        {
            return Err(error);
        }
        self.tries_left -= 1;
        self.n_failed += 1;
        self.state = State::Before(after);
        Ok(StreamEvent::Retrying {
            why: error.to_string(),
            after,
        })
    }
}

#[cfg(test)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "events are compared with what a stream yields"
)]
mod tests {
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
}
