//! A provider around a provider that asks again. Invariant: only failures that may pass are retried, and only before
//! anything of a reply arrived; at most `tries` requests are made, and none begins later than [`PATIENCE`] after the
//! first. A server that asks for more time gets its error passed on, which says how long.

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

    async fn chats(&self) -> Option<bool> {
        self.inner.chats().await
    }

    fn knows_trained_tools(&self) -> bool {
        self.inner.knows_trained_tools()
    }

    fn loads_window(&self) -> bool {
        self.inner.loads_window()
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
mod tests;
