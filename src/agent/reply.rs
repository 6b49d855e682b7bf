//! Collects a reply from its stream: shows what arrives, keeps it, and says how it ended.
//!
//! Of a reply that takes longer, what has arrived is kept on disk twice a second, for the case that the process ends
//! before the reply does: what was seen a second before is there.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep_until};

use super::Ledger;
use super::event::{TurnContext, TurnEvent};
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

/// Text is on disk so long after it arrived, at the latest; half of what is promised, as drawing and writing take time
/// too.
const KEPT_WITHIN: Duration = Duration::from_millis(500);

/// What has arrived of a reply and is not on disk yet.
#[derive(Debug)]
pub(super) struct Arriving<'a> {
    ledger: &'a mut Ledger,
    text: String,
    due: Option<Instant>,
}

impl<'a> Arriving<'a> {
    pub(super) fn into(ledger: &'a mut Ledger) -> Self {
        Self {
            ledger,
            text: String::new(),
            due: None,
        }
    }

    fn push(&mut self, text: &str) {
        self.due.get_or_insert_with(|| Instant::now() + KEPT_WITHIN);
        self.text.push_str(text);
    }

    fn keep(&mut self) {
        self.due = None;
        self.ledger.keep_arrived(std::mem::take(&mut self.text));
    }
}

/// Waits until text is due to be kept, for ever where there is none.
async fn passed(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Reads a stream to its end, or until `cancel`. Thinking is not kept.
pub(super) async fn collect(
    mut stream: EventStream,
    mut arriving: Option<Arriving<'_>>,
    context: &mut TurnContext<'_>,
) -> Reply {
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut filter = EchoFilter::default();
    let show = |text: &mut String, delta: String, context: &mut TurnContext<'_>| {
        if !delta.is_empty() {
            text.push_str(&delta);
            context.emit(TurnEvent::Text(delta));
        }
    };
    let (end, usage) = loop {
        let due = arriving.as_ref().and_then(|arriving| arriving.due);
        let event = tokio::select! {
            biased;
            () = context.cancel.cancelled() => break (End::Interrupted, None),
            () = passed(due) => {
                arriving.iter_mut().for_each(Arriving::keep);
                continue;
            }
            event = stream.next() => event,
        };
        match event {
            Some(Ok(StreamEvent::Text(delta))) => {
                let delta = filter.push(&delta);
                if let Some(arriving) = arriving.as_mut().filter(|_| !delta.is_empty()) {
                    arriving.push(&delta);
                }
                show(&mut text, delta, context);
            }
            Some(Ok(StreamEvent::Reasoning(delta))) => context.emit(TurnEvent::Reasoning(delta)),
            Some(Ok(StreamEvent::Retrying { why, after })) => {
                context.emit(TurnEvent::Retrying { why, after });
            }
            Some(Ok(StreamEvent::ToolCall(call))) => calls.push(call),
            Some(Ok(StreamEvent::Finished { reason, usage })) => {
                break (End::Finished(reason), usage);
            }
            Some(Err(error)) => break (End::Failed(error), None),
            None => break (End::Failed(ended_early()), None),
        }
    };
    show(&mut text, filter.finish(), context);
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

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::chat::{Message, MessageId, Record, Role};
    use crate::testing::MemoryLog;

    /// A stream of texts, each so long after the one before it.
    fn slow(texts: &[(&'static str, u64)]) -> EventStream {
        let events: Vec<_> = texts.iter().copied().chain([("", 0)]).collect();
        Box::pin(stream::unfold(events.into_iter(), |mut events| async {
            let (text, after) = events.next()?;
            tokio::time::sleep(Duration::from_millis(after)).await;
            let event = if text.is_empty() {
                StreamEvent::Finished {
                    reason: FinishReason::Stop,
                    usage: None,
                }
            } else if let Some(thought) = text.strip_prefix("thinks: ") {
                StreamEvent::Reasoning(thought.to_owned())
            } else {
                StreamEvent::Text(text.to_owned())
            };
            Some((Ok(event), events))
        }))
    }

    /// What is kept of a reply beside the reply itself.
    async fn kept(texts: &[(&'static str, u64)]) -> Vec<String> {
        let log = MemoryLog::default();
        let mut ledger = Ledger::new(log.open("test"));
        let turn = ledger.session().next_turn();
        let input = Message::text(MessageId::numbered(1), Role::User, "Hello", None);
        ledger
            .record(Record::TurnStarted {
                turn,
                input,
                mode: "code".into(),
                model: "m".into(),
            })
            .unwrap();
        let arriving = Some(Arriving::into(&mut ledger));
        let (mut ignore, cancel) = (|_: TurnEvent| {}, CancellationToken::new());
        let mut context = TurnContext::new(&mut ignore, &cancel);
        let reply = collect(slow(texts), arriving, &mut context).await;
        let said = texts.iter().filter(|(text, _)| !text.starts_with("thinks"));
        assert_eq!(reply.text, said.map(|(text, _)| *text).collect::<String>());
        let records = log.records().into_iter();
        let texts = records.filter_map(|record| match record {
            Record::ReplyArrived { text, .. } => Some(text),
            _ => None,
        });
        texts.collect()
    }

    #[tokio::test(start_paused = true)]
    async fn what_arrives_is_kept_well_within_a_second_and_each_word_once() {
        for (texts, expected) in [
            (&[("quick", 0), (" reply", 450)][..], &[][..]),
            (&[("one", 0), (" two", 490), (" three", 20)], &["one two"]),
            (
                &[
                    ("one", 0),
                    (" two", 1_500),
                    (" three", 1_500),
                    (" four", 10),
                ],
                &["one", " two"],
            ),
            (&[("a stall", 0), (" and more", 600_000)], &["a stall"]),
            (&[("late", 5_000)], &[]),
            (&[("thinks: hard", 0), ("said", 5_000)], &[]),
        ] {
            assert_eq!(kept(texts).await, expected, "{texts:?}");
        }
    }
}
