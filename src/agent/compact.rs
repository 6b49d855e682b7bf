//! `/compact`: memory's job, run in the foreground (O16-O19).

use std::borrow::Cow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::writing::{NotWritten, Progress, Writer};
use super::{Agent, Warning};
use crate::chat::Tokens;
use crate::hint::Hint;
use crate::memory::compaction::{CannotCompact, Size, head};
use crate::memory::{Done, NotTaken};

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
    NotTaken(#[from] NotTaken),
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
}

impl Hint for CompactError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Cannot(error) => error.hint(),
            Self::NotTaken(error) => error.hint(),
            Self::NotWritten(error) => error.hint(),
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
            () = cancel.cancelled() => return Err(NotWritten::Interrupted.into()),
            abilities = self.provider.abilities() => abilities,
        };
        let budget = self.budget(abilities);
        let job = self.memory.compact(self.session(), budget.prompt())?;
        let before = job.before;
        let writer = Writer {
            provider: Arc::clone(&self.provider),
            budget,
            cancel: cancel.clone(),
        };
        let text = writer.write(&job.writing, progress).await?;
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
}
