//! `/compact`: memory's job, run in the foreground (O16-O19).

use std::borrow::Cow;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::reply::{self, End, Reply};
use super::{Agent, Warning};
use crate::agent::event::TurnEvent;
use crate::chat::{Message, MessageId, Role, Tokens};
use crate::context::Budget;
use crate::hint::Hint;
use crate::memory::compaction::{self, CannotCompact, Size, head};
use crate::memory::{CompactJob, Done, Job, NotCompacted};
use crate::provider::{ChatRequest, Delivery, FinishReason, ProviderError, Purpose};

/// Longest wait for one step.
const STEP: Duration = Duration::from_mins(1);

/// How far a compaction has come: step `done + 1` of `steps` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub steps: usize,
}

/// What shrank.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactReport {
    pub before: Size,
    pub after: Size,
    pub warning: Option<Warning>,
}

/// Why nothing was compacted; the session is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    #[error(transparent)]
    Cannot(#[from] CannotCompact),
    #[error(transparent)]
    NotTaken(#[from] NotCompacted),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("the summary was not complete")]
    Incomplete,
    #[error("the model called a tool instead of writing a summary")]
    CalledTool,
    #[error("no summary within {} s", STEP.as_secs())]
    TimedOut,
    #[error("interrupted")]
    Interrupted,
}

impl Hint for CompactError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Cannot(error) => error.hint(),
            Self::Provider(error) => error.hint(),
            Self::NotTaken(error) => error.hint(),
            Self::Incomplete | Self::CalledTool | Self::TimedOut | Self::Interrupted => {
                Some("nothing was changed".into())
            }
        }
    }
}

impl Agent {
    /// Lets the active model write one text in the place of everything said so far.
    pub async fn compact(
        &mut self,
        progress: &mut (dyn FnMut(Progress) + Send),
        cancel: &CancellationToken,
    ) -> Result<CompactReport, CompactError> {
        let abilities = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(CompactError::Interrupted),
            abilities = self.provider.abilities() => abilities,
        };
        let budget = self.budget(abilities);
        let Job::Compact(job) = self.memory.compact(self.session(), budget.prompt())?;
        let before = job.before;
        let mut text = String::new();
        for step in 0..job.writing.steps() {
            progress(Progress {
                done: step,
                steps: job.writing.steps(),
            });
            text = self.step(&job, step, &text, budget, cancel).await?;
        }
        let done = Done::Compacted(job.done(&text));
        let record = self.memory.absorb(self.session(), done, self.clock.now())?;
        let warning = self.keep(record);
        let after = self.session().hybrid().compaction.as_ref().map(head);
        let after = after.map_or(
            Size {
                messages: 0,
                tokens: Tokens::ZERO,
            },
            |head| Size {
                messages: head.as_messages().len(),
                tokens: head.cost(),
            },
        );
        Ok(CompactReport {
            before,
            after,
            warning,
        })
    }

    async fn step(
        &self,
        job: &CompactJob,
        step: usize,
        so_far: &str,
        budget: Budget,
        cancel: &CancellationToken,
    ) -> Result<String, CompactError> {
        let text = job.writing.request(step, so_far);
        let message = Message::text(MessageId::new("compact"), Role::User, text, None);
        let max_tokens = job.writing.answer().min(budget.max_tokens(message.cost()));
        let request = ChatRequest {
            system: Vec::new(),
            messages: [message].into(),
            tools: Vec::new(),
            max_tokens,
            purpose: Purpose::Summary,
            delivery: Delivery::Streamed,
        };
        let mut called_tool = false;
        let mut observe = |event| {
            called_tool |= matches!(event, TurnEvent::Warning(Warning::ToolRefused { .. }));
        };
        let reply = reply::collect(self.provider.stream(request), &mut observe, cancel);
        let Ok(Reply { text, end, .. }) = tokio::time::timeout(STEP, reply).await else {
            return Err(CompactError::TimedOut);
        };
        match end {
            End::Interrupted => Err(CompactError::Interrupted),
            End::Failed(error) => Err(error.into()),
            End::Finished(_) if called_tool => Err(CompactError::CalledTool),
            End::Finished(FinishReason::Stop) => Ok(compaction::worth_keeping(text)?),
            End::Finished(
                FinishReason::Length
                | FinishReason::ToolCalls
                | FinishReason::Filtered
                | FinishReason::Other(_),
            ) => Err(CompactError::Incomplete),
        }
    }
}
