//! Collects a reply from its stream: shows what arrives, keeps it, and says how it ended.

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::event::{Observer, TurnEvent};
use crate::chat::{ToolCall, Usage};
use crate::context::stages::stamp::EchoFilter;
use crate::provider::{EventStream, FinishReason, ProviderError, StreamEvent};

/// What arrived of a reply, however it ended.
#[derive(Debug)]
pub(super) struct Reply {
    /// Without echoed time stamps and thinking.
    pub text: String,
    /// In the order of the reply; to be done only where it is complete.
    pub calls: Vec<ToolCall>,
    pub usage: Option<Usage>,
    pub end: End,
}

/// How a stream ended.
#[derive(Debug)]
pub(super) enum End {
    Finished(FinishReason),
    Interrupted,
    Failed(ProviderError),
}

/// Reads a stream to its end, or until `cancel`.
pub(super) async fn collect(
    mut stream: EventStream,
    observe: &mut Observer<'_>,
    cancel: &CancellationToken,
) -> Reply {
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut filter = EchoFilter::default();
    let show = |text: &mut String, delta: String, observe: &mut Observer<'_>| {
        if !delta.is_empty() {
            text.push_str(&delta);
            observe(TurnEvent::Text(delta));
        }
    };
    let (end, usage) = loop {
        let event = tokio::select! {
            biased;
            () = cancel.cancelled() => break (End::Interrupted, None),
            event = stream.next() => event,
        };
        match event {
            Some(Ok(StreamEvent::Text(delta))) => show(&mut text, filter.push(&delta), observe),
            Some(Ok(StreamEvent::Reasoning(delta))) => observe(TurnEvent::Reasoning(delta)),
            Some(Ok(StreamEvent::Retrying { why, after })) => {
                observe(TurnEvent::Retrying { why, after });
            }
            Some(Ok(StreamEvent::ToolCall(call))) => calls.push(call),
            Some(Ok(StreamEvent::Finished { reason, usage })) => {
                break (End::Finished(reason), usage);
            }
            Some(Err(error)) => break (End::Failed(error), None),
            None => break (End::Failed(ended_early()), None),
        }
    };
    show(&mut text, filter.finish(), observe);
    Reply {
        text,
        calls,
        usage,
        end,
    }
}

/// A provider promises a `Finished`; one that breaks its word is an error like any other.
fn ended_early() -> ProviderError {
    ProviderError::Truncated {
        url: "the provider".to_owned(),
        why: None,
    }
}
