//! `/compact`: memory's job, run in the foreground (O16-O19), and what it would do.

use std::borrow::Cow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::auto_compact::{Asker, written};
use super::summarizer::{BETTER_MODEL, NotWritten, Progress};
use super::{Agent, Warning};
use crate::chat::Tokens;
use crate::hint::Hint;
use crate::memory::compaction::{CannotCompact, Cut, Kind, Size};
use crate::memory::{Done, NotTaken};
use crate::provider::CONNECT;

/// What shrank.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactReport {
    pub before: Size,
    pub after: Size,
    pub warning: Option<Warning>,
}

/// What the person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compacting {
    /// Older results of tools are shortened, without a model.
    Tools,
    /// That, and then everything is summarised.
    Aggressive,
    /// The rolling summary of what has left the window.
    Rolling,
    Kind(Kind),
}

/// What would be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dry {
    Cut(DryCut),
    Tools(DryTools),
    /// Both, the cut by [`Kind::Compact`]; no results where none is long enough.
    Aggressive(Option<DryTools>, DryCut),
    /// What the summary would take in that it does not cover yet.
    Rolling(Size),
}

/// What would become of results of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DryTools {
    pub results: usize,
    pub before: Tokens,
    pub after: Tokens,
}

/// What a compaction would do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DryCut {
    pub kind: Kind,
    pub cut: Cut,
    pub goes: Size,
    pub stays: Size,
    /// Requests to a model.
    pub requests: usize,
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
    #[error("a summary needs a model, and none is connected")]
    NeedsModel,
}

impl Hint for CompactError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Cannot(error) => error.hint(),
            Self::NotTaken(error) if error.is_stale() => Some("try again".into()),
            Self::NotTaken(_) => Some(BETTER_MODEL.into()),
            Self::NotWritten(error) => error.hint(),
            Self::NeedsModel => Some(CONNECT.into()),
        }
    }
}

impl Agent {
    /// Compacts as the person says. `focus`: what they want kept. What is being written in the background is given up
    /// as soon as this one has something to write; where it fails, the next turn begins that anew.
    pub async fn compact(
        &mut self,
        what: Compacting,
        focus: &str,
        progress: &mut (dyn FnMut(Progress) + Send),
        cancel: &CancellationToken,
    ) -> Result<CompactReport, CompactError> {
        match what {
            Compacting::Tools => self.condense(),
            Compacting::Rolling => self.roll(focus, progress, cancel).await,
            Compacting::Kind(kind) => self.compact_by(kind, focus, progress, cancel).await,
            Compacting::Aggressive => {
                match self.condense() {
                    Ok(_) | Err(CompactError::Cannot(_)) => {}
                    Err(error) => return Err(error),
                }
                self.compact_by(Kind::Compact, focus, progress, cancel)
                    .await
            }
        }
    }

    /// What a compaction would do, without doing it.
    pub async fn compact_dry(&self, what: Compacting) -> Result<Dry, CompactError> {
        match what {
            Compacting::Tools => Ok(Dry::Tools(self.dry_tools()?)),
            Compacting::Kind(kind) => Ok(Dry::Cut(self.dry_cut(kind).await?)),
            Compacting::Aggressive => {
                let cut = self.dry_cut(Kind::Compact).await?;
                Ok(Dry::Aggressive(self.dry_tools().ok(), cut))
            }
            Compacting::Rolling => {
                let job = self.memory.summarise(self.session(), "");
                let job = job.ok_or(CannotCompact::WindowHoldsAll)?;
                Ok(Dry::Rolling(Size {
                    messages: job.messages(),
                    tokens: job.cost(),
                }))
            }
        }
    }

    fn dry_tools(&self) -> Result<DryTools, CannotCompact> {
        let settings = &self.settings.context;
        let condensed = self
            .memory
            .condense(self.session(), settings, self.clock.now())?;
        Ok(DryTools {
            results: condensed.results,
            before: condensed.before.tokens,
            after: condensed.after.tokens,
        })
    }

    async fn dry_cut(&self, kind: Kind) -> Result<DryCut, CompactError> {
        let budget = self.budget(self.provider.abilities().await);
        let job = self.compact_job(kind, "", budget)?;
        let inquiry = job.inquiry(budget.prompt())?;
        let steps = inquiry.parts.iter().map(|part| part.writing.steps());
        let merging = usize::from(inquiry.parts.len() > 1);
        Ok(DryCut {
            kind,
            cut: job.cut,
            goes: job.before,
            stays: job.stays,
            requests: steps.sum::<usize>() + merging,
        })
    }

    /// One strategy, once.
    async fn compact_by(
        &mut self,
        kind: Kind,
        focus: &str,
        progress: &mut (dyn FnMut(Progress) + Send),
        cancel: &CancellationToken,
    ) -> Result<CompactReport, CompactError> {
        let abilities = cancel.run_until_cancelled(self.provider.abilities());
        let budget = self.budget(abilities.await.ok_or(NotWritten::Interrupted)?);
        let job = self.compact_job(kind, focus, budget)?;
        // What runs in the background would be written for nothing, and take the model's time.
        self.jobs.abort();
        let stays = job.stays;
        let before = job.before + stays;
        let done = if job.asks() {
            // The active model, whoever summarises otherwise (O15).
            let written = written(job, self.active_asker(), progress, cancel).await;
            written.map_err(|error| self.without_model(error))?
        } else {
            Done::Compacted(job.without_summary().ok_or(CannotCompact::Nothing)?)
        };
        let warning = self.take_from_active(done)?;
        self.assume(kind, budget);
        let after = self.memory.compacted_size(self.session()) + stays;
        Ok(CompactReport {
            before,
            after,
            warning,
        })
    }

    /// The active model, however it came to be that.
    fn active_asker(&self) -> Asker {
        Asker {
            provider: Arc::clone(&self.provider),
            limit: self.served_window,
            calibration: self.session().meta().calibration,
            summaries: Arc::clone(&self.summaries),
        }
    }

    /// Returns the error, or that a model is needed where none is connected.
    fn without_model(&self, error: NotWritten) -> CompactError {
        if self.provider.is_offline() && !matches!(error, NotWritten::Interrupted) {
            CompactError::NeedsModel
        } else {
            error.into()
        }
    }

    /// Takes in what the active model wrote. Quotes in its place are often too long to stand for what was said.
    fn take_from_active(&mut self, done: Done) -> Result<Option<Warning>, CompactError> {
        let is_offline = self.provider.is_offline();
        self.take_compaction(done).map_err(|error| {
            if is_offline && !error.is_stale() {
                CompactError::NeedsModel
            } else {
                error.into()
            }
        })
    }

    /// Takes a result in; one that is not good enough is asked for anew the next time.
    pub(super) fn take_compaction(&mut self, done: Done) -> Result<Option<Warning>, NotTaken> {
        let record = self.memory.absorb(self.session(), done, self.clock.now());
        if record.as_ref().is_err_and(|error| !error.is_stale()) {
            self.summaries.clear();
        }
        let record = record?;
        // What was begun meanwhile speaks of what is no longer sent.
        self.jobs.abort();
        Ok(self.keep(record))
    }

    fn condense(&mut self) -> Result<CompactReport, CompactError> {
        let settings = &self.settings.context;
        let condensed = self
            .memory
            .condense(self.session(), settings, self.clock.now())?;
        // The list it was begun for is another one now: it would come too late.
        if self.jobs.is_compacting() {
            self.jobs.abort();
        }
        let warning = self.keep(condensed.record);
        Ok(CompactReport {
            before: condensed.before,
            after: condensed.after,
            warning,
        })
    }

    /// The rolling summary of whatever has left the window.
    async fn roll(
        &mut self,
        focus: &str,
        progress: &mut (dyn FnMut(Progress) + Send),
        cancel: &CancellationToken,
    ) -> Result<CompactReport, CompactError> {
        let job = self.memory.summarise(self.session(), focus);
        let job = job.ok_or(CannotCompact::WindowHoldsAll)?;
        self.jobs.abort();
        let before = Size {
            messages: job.messages(),
            tokens: job.cost(),
        };
        progress(Progress { done: 0, steps: 1 });
        let asker = self.active_asker();
        let written = super::jobs::summarise(job, asker, cancel.clone());
        let done = written.await?;
        let warning = self.take_from_active(done)?;
        let summary = self.session().hybrid().summary.as_ref();
        let after = Size {
            messages: 1,
            tokens: summary.map_or(before.tokens, |it| Tokens::estimate(&it.text)),
        };
        Ok(CompactReport {
            before,
            after,
            warning,
        })
    }
}
