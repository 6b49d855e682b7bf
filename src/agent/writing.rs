//! Lets a model write a text that memory wants: no tools, a limit on each wait, nothing shown.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event::TurnEvent;
use super::reply::{self, End, Reply};
use crate::chat::{Message, MessageId, Role, Tokens};
use crate::context::Budget;
use crate::hint::Hint;
use crate::memory::writing::Writing;
use crate::provider::{
    ChatRequest, Delivery, FinishReason, Images, Provider, ProviderError, Purpose,
};

/// Longest wait for one answer (C15).
const STEP: Duration = Duration::from_mins(1);

/// A shorter answer is no summary.
const LEAST_CHARS: usize = 24;

/// How far a text has come: step `done + 1` of `steps` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub steps: usize,
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("the summary was not complete")]
    Incomplete,
    #[error("the model's window of {window} tokens is too small to summarise in")]
    WindowTooSmall { window: Tokens },
    #[error("the summary is empty or too short")]
    TooShort,
    #[error("the model called a tool instead of writing a summary")]
    CalledTool,
    #[error("no summary within {} s", STEP.as_secs())]
    TimedOut,
    #[error("the summary was not complete after {} s", after.as_secs())]
    Stuck { after: Duration },
    #[error("interrupted")]
    Interrupted,
}

impl Hint for NotWritten {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Provider(error) => error.hint(),
            Self::WindowTooSmall { .. } => {
                Some("`memory.summarization_model` names another model for it".into())
            }
            Self::Incomplete
            | Self::TooShort
            | Self::CalledTool
            | Self::TimedOut
            | Self::Stuck { .. }
            | Self::Interrupted => Some("nothing was changed".into()),
        }
    }
}

/// A model to write with.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) budget: Budget,
    pub(super) cancel: CancellationToken,
}

impl Writer {
    /// The text that all steps together make.
    pub(super) async fn write(
        &self,
        writing: &Writing,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<String, NotWritten> {
        let mut text = String::new();
        for step in 0..writing.steps() {
            progress(Progress {
                done: step,
                steps: writing.steps(),
            });
            text = self
                .answer(writing.request(step, &text), writing.answer())
                .await?;
        }
        Ok(text)
    }

    /// The answer to one request, if it is complete and long enough to build on.
    pub(super) async fn answer(&self, request: String, most: Tokens) -> Result<String, NotWritten> {
        let message = Message::text(MessageId::new("summary"), Role::User, request, None);
        let max_tokens = most.min(self.budget.max_tokens(message.cost()));
        let request = ChatRequest {
            system: Vec::new(),
            recalled: None,
            messages: [message].into(),
            images: Images::default(),
            tools: Vec::new(),
            max_tokens,
            temperature: None,
            purpose: Purpose::Summary,
            delivery: Delivery::Streamed,
        };
        let mut observe = |_: TurnEvent| {};
        let reply = reply::collect(self.provider.stream(request), &mut observe, &self.cancel);
        let Ok(Reply {
            text, end, calls, ..
        }) = tokio::time::timeout(STEP, reply).await
        else {
            return Err(NotWritten::TimedOut);
        };
        match end {
            End::Interrupted => Err(NotWritten::Interrupted),
            End::Failed(error) => Err(error.into()),
            End::Finished(_) if !calls.is_empty() => Err(NotWritten::CalledTool),
            End::Finished(FinishReason::Stop) if text.trim().chars().count() < LEAST_CHARS => {
                Err(NotWritten::TooShort)
            }
            End::Finished(FinishReason::Stop) => Ok(text),
            End::Finished(
                FinishReason::Length
                | FinishReason::ToolCalls
                | FinishReason::Filtered
                | FinishReason::Other(_),
            ) => Err(NotWritten::Incomplete),
        }
    }
}
