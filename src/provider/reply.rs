//! From frames to events, the part that no wire format does its own way: the order of events, thinking inside text, the
//! bound on a reply, and what counts as its end. Invariant: deltas and calls, then exactly one `Finished`; or one
//! error; nothing after either. A frame's meaning is left to the format's [`Decode`].

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::failure::Complaint;
use super::think::{Said, Splitter};
use super::{EventStream, FinishReason, ProviderError, StreamEvent, failure};
use crate::chat::{ToolCall, Usage};
use crate::net::Endpoint;

/// Bytes of text, thinking and arguments of calls. No model writes that much; a server that sends more does not know
/// how to stop.
const MAX_SIZE: usize = 32 << 20;
/// Calls of tools, for the same reason.
const MAX_CALLS: usize = 100;
/// How long a stream may stay open after its end mark; reading it to its end keeps the connection usable.
const LINGER: Duration = Duration::from_secs(1);

/// What travels in the stream of one format, until it means something.
pub(super) type Frames<F> = BoxStream<'static, Result<F, ProviderError>>;

/// One format's reading of its frames.
pub(super) trait Decode: Send + 'static {
    type Frame: Send + 'static;

    fn frame(&mut self, frame: Self::Frame, reply: &mut Reply) -> Result<(), ProviderError>;

    /// Called once, after a complete reply: what was assembled over several frames.
    fn close(&mut self, reply: &mut Reply);
}

/// A reply as it grows.
#[derive(Debug)]
pub(super) struct Reply {
    endpoint: Endpoint,
    /// The beginning of ids for calls that come without; a number follows.
    spare_id: String,
    splitter: Splitter,
    size: usize,
    /// Calls that began, and those of them that are whole.
    n_begun: usize,
    n_calls: usize,
    reason: Option<FinishReason>,
    usage: Option<Usage>,
    events: VecDeque<StreamEvent>,
}

impl Reply {
    pub(super) fn new(endpoint: Endpoint, spare_id: String) -> Self {
        Self {
            endpoint,
            spare_id,
            splitter: Splitter::new(),
            size: 0,
            n_begun: 0,
            n_calls: 0,
            reason: None,
            usage: None,
            events: VecDeque::new(),
        }
    }

    /// Returns where it comes from, for errors.
    fn url(&self) -> String {
        self.endpoint.shown()
    }

    /// Reads a frame that is JSON; `what` says what it should be.
    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        frame: &str,
        what: &str,
    ) -> Result<T, ProviderError> {
        serde_json::from_str(frame).map_err(|error| {
            let start: String = self.endpoint.mask(frame).chars().take(80).collect();
            ProviderError::Protocol {
                url: self.url(),
                what: format!("{start:?} is not {what} ({error})"),
            }
        })
    }

    /// Fails with the error object of a frame, if it has one.
    pub(super) fn check(&self, error: Option<&Value>) -> Result<(), ProviderError> {
        let Some(error) = error.filter(|error| !error.is_null()) else {
            return Ok(());
        };
        let complaint = Complaint::within(error, |text| self.endpoint.mask(text));
        Err(failure::in_stream(self.url(), complaint))
    }

    pub(super) fn text(&mut self, text: &str) {
        self.size += text.len();
        for said in self.splitter.push(text) {
            self.say(said);
        }
    }

    pub(super) fn reasoning(&mut self, text: &str) {
        self.size += text.len();
        if !text.is_empty() {
            self.events
                .push_back(StreamEvent::Reasoning(text.to_owned()));
        }
    }

    /// Counts a call whose pieces a decoder begins to keep.
    pub(super) fn begin_call(&mut self) {
        self.n_begun += 1;
    }

    /// Counts a piece of a call that a decoder keeps.
    pub(super) fn keep(&mut self, piece: &str) {
        self.size += piece.len();
    }

    /// Takes a call that was counted before; one without an id gets one.
    pub(super) fn call(&mut self, id: Option<String>, name: String, arguments: String) {
        let id = id.filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| format!("{}{}", self.spare_id, self.n_calls));
        self.n_calls += 1;
        self.flush();
        let call = ToolCall::new(&id, name, arguments);
        self.events.push_back(StreamEvent::ToolCall(call));
    }

    /// The end mark.
    pub(super) fn ended(&mut self, reason: FinishReason) {
        self.reason = Some(reason);
    }

    pub(super) fn used(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    fn is_complete(&self) -> bool {
        self.reason.is_some()
    }

    fn say(&mut self, said: Said) {
        self.events.push_back(match said {
            Said::Text(text) => StreamEvent::Text(text),
            Said::Thought(text) => StreamEvent::Reasoning(text),
        });
    }

    fn flush(&mut self) {
        if let Some(said) = self.splitter.end() {
            self.say(said);
        }
    }

    fn check_size(&self) -> Result<(), ProviderError> {
        let what = if self.size > MAX_SIZE {
            format!("a reply of more than {} MiB", MAX_SIZE >> 20)
        } else if self.n_begun > MAX_CALLS {
            format!("a reply with more than {MAX_CALLS} tool calls")
        } else {
            return Ok(());
        };
        let url = self.url();
        Err(ProviderError::Protocol { url, what })
    }

    /// The last events, or why there is no proper end.
    fn finish(&mut self, failure: Option<ProviderError>) -> Result<(), ProviderError> {
        self.flush();
        match (self.reason.take(), failure) {
            (Some(reason), late) => {
                if let Some(late) = late {
                    tracing::debug!("after the end of the reply: {late}");
                }
                let reason = match reason {
                    // Ollama says "stop", and so do some gateways.
                    FinishReason::Stop if self.n_calls > 0 => FinishReason::ToolCalls,
                    reason => reason,
                };
                let usage = self.usage;
                self.events
                    .push_back(StreamEvent::Finished { reason, usage });
                Ok(())
            }
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(ProviderError::Truncated {
                url: self.url(),
                why: None,
            }),
        }
    }
}

/// A stream of events from frames that are still to be opened.
pub(super) fn events<D: Decode>(
    reply: Reply,
    decoder: D,
    open: impl Future<Output = Result<Frames<D::Frame>, ProviderError>> + Send + 'static,
) -> EventStream {
    async move {
        match open.await {
            Ok(frames) => decoded(reply, decoder, frames),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
    .flatten_stream()
    .boxed()
}

struct Reading<D: Decode> {
    reply: Reply,
    decoder: D,
    /// `None` once the reply is over.
    frames: Option<Frames<D::Frame>>,
    failure: Option<ProviderError>,
}

impl<D: Decode> Reading<D> {
    async fn next(&mut self) -> Option<Result<StreamEvent, ProviderError>> {
        loop {
            if let Some(event) = self.reply.events.pop_front() {
                return Some(Ok(event));
            }
            if let Some(failure) = self.failure.take() {
                return Some(Err(failure));
            }
            let frames = self.frames.as_mut()?;
            let frame = if self.reply.is_complete() {
                let last = tokio::time::timeout(LINGER, frames.next()).await;
                last.unwrap_or_default()
            } else {
                frames.next().await
            };
            self.take(frame);
        }
    }

    fn take(&mut self, frame: Option<Result<D::Frame, ProviderError>>) {
        let failure = match frame {
            Some(Ok(frame)) => {
                let read = self.decoder.frame(frame, &mut self.reply);
                match read.and_then(|()| self.reply.check_size()) {
                    Ok(()) => return,
                    Err(failure) => Some(failure),
                }
            }
            Some(Err(failure)) => Some(failure),
            None => None,
        };
        self.frames = None;
        if self.reply.is_complete() {
            self.decoder.close(&mut self.reply);
        }
        self.failure = self.reply.finish(failure).err();
    }
}

fn decoded<D: Decode>(reply: Reply, decoder: D, frames: Frames<D::Frame>) -> EventStream {
    let reading = Reading {
        reply,
        decoder,
        frames: Some(frames),
        failure: None,
    };
    stream::unfold(reading, |mut reading| async move {
        let event = reading.next().await?;
        Some((event, reading))
    })
    .boxed()
}

#[cfg(test)]
fn tested() -> Reply {
    let base = reqwest::Url::parse("http://test").unwrap();
    let endpoint = Endpoint::new(base, crate::net::Key::none(), crate::net::Scheme::Bearer);
    Reply::new(endpoint.unwrap(), "call_m1_".to_owned())
}

/// The events of frames that are at hand, for the tests of the decoders.
#[cfg(test)]
pub(super) async fn replay<D: Decode>(
    decoder: D,
    frames: Vec<Result<D::Frame, ProviderError>>,
) -> Vec<Result<StreamEvent, ProviderError>> {
    decoded(tested(), decoder, stream::iter(frames).boxed())
        .collect()
        .await
}

/// Joins neighbouring deltas of one kind, so that replies can be compared whatever their pieces.
#[cfg(any(test, feature = "testing"))]
pub fn joined(
    events: Vec<Result<StreamEvent, ProviderError>>,
) -> Vec<Result<StreamEvent, ProviderError>> {
    let mut joined: Vec<Result<StreamEvent, ProviderError>> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(Ok(StreamEvent::Text(last))), Ok(StreamEvent::Text(next)))
            | (Some(Ok(StreamEvent::Reasoning(last))), Ok(StreamEvent::Reasoning(next))) => {
                last.push_str(&next);
            }
            (_, event) => joined.push(event),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames are texts; `.` ends the reply.
    struct Plain;

    impl Decode for Plain {
        type Frame = String;

        fn frame(&mut self, frame: String, reply: &mut Reply) -> Result<(), ProviderError> {
            if frame == "." {
                reply.ended(FinishReason::Stop);
            } else {
                reply.text(&frame);
            }
            Ok(())
        }

        fn close(&mut self, reply: &mut Reply) {
            reply.call(Some("c".into()), "f".into(), "{}".into());
        }
    }

    fn truncated() -> ProviderError {
        ProviderError::Truncated {
            url: "http://test".into(),
            why: Some("reset".into()),
        }
    }

    #[tokio::test]
    async fn an_endless_reply_is_ended() {
        let mebibyte = "x".repeat(1 << 20);
        let endless = stream::iter(0..).map(move |_| Ok(mebibyte.clone())).boxed();
        let got = joined(decoded(tested(), Plain, endless).collect().await);
        assert!(matches!(
            got.last(),
            Some(Err(ProviderError::Protocol { .. }))
        ));
        assert_eq!(got.len(), 2);
    }

    #[tokio::test]
    async fn what_breaks_after_the_end_mark_breaks_nothing() {
        let got = replay(
            Plain,
            vec![Ok("x".into()), Ok(".".into()), Err(truncated())],
        )
        .await;
        let expected = [
            Ok(StreamEvent::Text("x".into())),
            Ok(StreamEvent::ToolCall(ToolCall::new("c", "f", "{}"))),
            Ok(StreamEvent::Finished {
                reason: FinishReason::ToolCalls,
                usage: None,
            }),
        ];
        assert_eq!(got, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_left_open_after_its_end_mark_is_not_waited_for() {
        let frames = stream::iter([Ok(".".to_owned())]).chain(stream::pending());
        let got: Vec<_> = decoded(tested(), Plain, frames.boxed()).collect().await;
        assert!(matches!(got.last(), Some(Ok(StreamEvent::Finished { .. }))));
    }

    #[tokio::test]
    async fn calls_of_a_broken_reply_are_not_given_out() {
        let got = replay(Plain, vec![Ok("x".into()), Err(truncated())]).await;
        assert_eq!(got, [Ok(StreamEvent::Text("x".into())), Err(truncated())]);
    }
}
