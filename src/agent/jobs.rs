//! Memory's slow work in the background, one job at a time; among it the model as a second reader, asked at the end of a
//! chat what of it lasts. Its task is owned here, and awaited or aborted.
//!
//! A job works on what it was given; its result is taken only if the session is still what it was made for.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::auto_compact::{Asker, written};
use super::summarizer::{Asked, NotWritten, Summarizer};
use super::{Agent, Warning};
use crate::chat::TurnId;
use crate::context::Budget;
use crate::memory::learning::{self, Fact, LearnJob, Learned};
use crate::memory::summary::{self, Summarised, SummaryJob};
use crate::memory::{Done, Job, When};

/// A summary that is not there after so long is given up, whatever it waits for (C9).
const LONGEST: Duration = Duration::from_mins(2);

/// What runs.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    task: JoinHandle<Result<Done, NotWritten>>,
    cancel: CancellationToken,
    /// Messages that the result will stand for.
    covers: usize,
    what: What,
}

/// What kind of work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Summary,
    Compaction,
    Learning,
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Jobs {
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    /// Gives up what runs; it is planned again after the next turn.
    pub(super) fn abort(&mut self) {
        if let Some(running) = self.running.take() {
            running.cancel.cancel();
            running.task.abort();
        }
    }

    /// What runs, by its name.
    fn name(&self) -> Option<&'static str> {
        let running = self.running.as_ref()?;
        Some(match running.what {
            What::Summary => "summary",
            What::Compaction => "compaction",
            What::Learning => "facts",
        })
    }

    pub(super) fn is_compacting(&self) -> bool {
        let what = self.running.as_ref().map(|running| running.what);
        what == Some(What::Compaction)
    }

    pub(super) fn start(&mut self, job: Job, asker: Asker) {
        let cancel = CancellationToken::new();
        let (covers, what) = match &job {
            Job::Summarise(job) => (job.messages(), What::Summary),
            Job::Compact(job) => (job.messages(), What::Compaction),
            Job::Learn(job) => (job.messages(), What::Learning),
        };
        let done = done(job, asker, cancel.clone());
        let in_time = tokio::time::timeout(LONGEST, done);
        let task = tokio::spawn(async {
            let stuck = NotWritten::Stuck { after: LONGEST };
            in_time.await.unwrap_or(Err(stuck))
        });
        self.running = Some(Running {
            task,
            cancel,
            covers,
            what,
        });
    }
}

async fn done(job: Job, asker: Asker, cancel: CancellationToken) -> Result<Done, NotWritten> {
    match job {
        Job::Summarise(job) => summarise(job, asker, cancel).await,
        Job::Compact(job) => written(job, asker, &mut |_| (), &cancel).await,
        Job::Learn(job) => learn(job, asker, cancel).await.map(Done::Learned),
    }
}

/// Lets the model write the summary; one that is too long is asked for once more (C14).
pub(super) async fn summarise(
    job: SummaryJob,
    asker: Asker,
    cancel: CancellationToken,
) -> Result<Done, NotWritten> {
    let writer = writer(asker, cancel).await;
    let window = writer.budget.window();
    let writing = job
        .writing(writer.budget.prompt())
        .ok_or(NotWritten::WindowTooSmall { window })?;
    let by = writer.provider.model().to_string();
    let mut text = writer.write(&writing, &mut |_| ()).await?;
    if let Some(request) = job.shorten(&text) {
        // The longer one is cut where a shorter one cannot be had.
        text = writer
            .answer(Asked {
                text: request,
                most: writing.answer,
                temperature: None,
            })
            .await
            .unwrap_or(text);
    }
    Ok(Done::Summarised(Summarised { job, text, by }))
}

/// A model to write with, and what it has room for.
pub(super) async fn writer(asker: Asker, cancel: CancellationToken) -> Summarizer {
    let Asker {
        provider,
        limit,
        calibration,
        ..
    } = asker;
    let abilities = provider.abilities().await;
    let window = limit.map_or(abilities.context_window, |limit| {
        abilities.context_window.min(limit)
    });
    Summarizer {
        provider,
        budget: Budget::new(window, abilities.max_output, calibration),
        cancel,
        summaries: None,
    }
}

impl Agent {
    /// Begins the slow work that is due, unless some runs already.
    pub(super) fn begin_jobs(&mut self) -> Option<Warning> {
        let news = self.begin_embedding();
        let budget = self.last_budget();
        if self.jobs.running.is_none()
            && let Some(job) = self.due_after_turn(budget)
        {
            match &job {
                Job::Summarise(job) => {
                    tracing::info!(messages = job.messages(), "summary started");
                }
                Job::Learn(_) => {}
                Job::Compact(job) => {
                    self.compacted_in = self.last_turn();
                    let kind = job.kind.as_str();
                    tracing::info!(messages = job.messages(), kind, "compaction started");
                }
            }
            let asker = self.asker();
            self.jobs.start(job, asker);
        }
        news.map(Warning::Recall)
    }

    /// What is due now that a turn is over; no compaction where that turn had one, or tried to.
    fn due_after_turn(&self, budget: Option<Budget>) -> Option<Job> {
        let job = self.due(When::AfterTurn, budget, None)?;
        let had = self.compacted_in.is_some() && self.compacted_in == self.last_turn();
        let is_compaction = matches!(job, Job::Compact(_));
        (!had || !is_compaction).then_some(job)
    }

    fn last_turn(&self) -> Option<TurnId> {
        self.session().turns().last().map(|turn| turn.id)
    }

    /// That of the last request, with what was learnt since.
    fn last_budget(&self) -> Option<Budget> {
        let budget = self.last.as_ref()?.plan.budget();
        let calibration = self.session().meta().calibration;
        Some(budget.with(budget.window(), calibration))
    }

    /// Whether any slow work runs.
    pub fn is_working(&self) -> bool {
        let embeds = self
            .index
            .as_ref()
            .is_some_and(|index| index.meaning.is_working());
        embeds || self.jobs.running.is_some()
    }

    /// What is being written in the background: `summary` or `compaction`.
    pub fn job_name(&self) -> Option<&'static str> {
        self.jobs.name()
    }

    /// How many messages the work that runs will stand for; 0 where none runs.
    pub fn job_covers(&self) -> usize {
        self.jobs
            .running
            .as_ref()
            .map_or(0, |running| running.covers)
    }

    /// Waits until some of the work that runs is done, for ever where none does, and takes its result in. May be
    /// dropped at any time.
    pub async fn job_done(&mut self) -> Option<Warning> {
        let summary = async {
            match &mut self.jobs.running {
                None => std::future::pending().await,
                Some(running) => (&mut running.task).await,
            }
        };
        let embedding = async {
            match &mut self.index {
                None => std::future::pending().await,
                Some(index) => index.meaning.done().await,
            }
        };
        let entries = self.entries.due(self.clock.as_ref());
        tokio::select! {
            warning = entries => warning,
            result = summary => {
                let result = result.unwrap_or(Err(NotWritten::Interrupted));
                match (self.jobs.running.take().map(|running| running.what), result) {
                    // It is done again another time.
                    (Some(What::Learning), Err(error)) => {
                        tracing::warn!(%error, "could not extract facts");
                        None
                    }
                    (_, Ok(Done::Learned(learned))) => self.take_in_learned(&learned),
                    (_, result) => self.take_in(result),
                }
            }
            news = embedding => {
                let more = self.begin_embedding();
                news.or(more).map(Warning::Recall)
            }
        }
    }

    /// Takes in the result of work that is done, without waiting.
    pub(super) async fn take_in_finished(&mut self) -> Option<Warning> {
        let finished = self.jobs.running.as_ref();
        if finished.is_some_and(|running| running.task.is_finished()) {
            self.job_done().await
        } else {
            None
        }
    }

    fn take_in(&mut self, result: Result<Done, NotWritten>) -> Option<Warning> {
        let kind = match &result {
            Ok(Done::Compacted(compacted)) => Some(compacted.kind),
            Ok(Done::Summarised(_) | Done::Learned(_)) | Err(_) => None,
        };
        let before = self.compacted_to();
        let record = match result {
            Ok(done) => self.memory.absorb(self.session(), done, self.clock.now()),
            Err(NotWritten::Interrupted) => return None,
            Err(error) => {
                tracing::warn!(%error, "could not write a summary");
                return self.failed(&error.to_string());
            }
        };
        match record {
            Ok(record) => {
                let refused = self.keep(record);
                // Of a rolling summary, or of a further part of a backlog, nobody is told: they are taken in all the
                // time.
                let kind = kind.filter(|_| self.compacted_to() > before);
                let told = kind.and_then(|_| self.compacted());
                refused
                    .or_else(|| self.missed(kind?, self.last_budget()?, None))
                    .or(told)
            }
            Err(error) if error.is_stale() => {
                tracing::info!("discarded an outdated summary");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "summary rejected");
                // What was not good enough is asked for anew.
                self.summaries.clear();
                self.failed(&error.to_string())
            }
        }
    }

    /// Counts a failure; the person hears of it once (C15).
    fn failed(&mut self, why: &str) -> Option<Warning> {
        let (record, tell) = summary::failed(self.session());
        let refused = self.keep(record);
        tell.then(|| Warning::NoSummary {
            why: why.to_owned(),
        })
        .or(refused)
    }

    /// Waits for the work that runs, at most so long; what is not done then is given up and done again another time.
    pub async fn settle(&mut self, grace: Duration) -> Vec<Warning> {
        let refused = self.entries.flush_at_last(self.clock.now());
        // A folder that refuses the session refuses its entries: one thing to say.
        let is_told = self.loses_entries();
        let refused = refused
            .filter(|warning| !(is_told && matches!(warning, Warning::EntriesNotKept { .. })));
        let mut warnings: Vec<Warning> = refused.into_iter().collect();
        let had_summary = self.jobs.running.is_some();
        let mut external = self.external.take();
        let all = async {
            while self.is_working() {
                warnings.extend(self.job_done().await);
                if had_summary && self.jobs.running.is_none() {
                    // Nobody waits a summary's time for what else there is.
                    break;
                }
            }
        };
        let adding = async {
            match &mut external {
                Some(external) => external.added().await,
                None => None,
            }
        };
        // What took too long is given up.
        let both = async { tokio::join!(all, adding) };
        let ended = tokio::time::timeout(grace, both).await;
        warnings.extend(ended.ok().and_then(|((), warning)| warning));
        if let Some(external) = &mut external {
            external.abort();
        }
        self.external = external;
        self.jobs.abort();
        if let Some(index) = &mut self.index {
            index.meaning.abort();
        }
        warnings
    }
}

/// Lets the model read for what lasts. A reply that cannot be read is asked for once more, and then brings nothing.
pub(super) async fn learn(
    mut job: LearnJob,
    asker: Asker,
    cancel: CancellationToken,
) -> Result<Learned, NotWritten> {
    let writer = writer(asker, cancel).await;
    let room = writer.budget.prompt().minus(learning::ANSWER);
    let inquiry = |text| Asked {
        text,
        most: learning::ANSWER,
        temperature: None,
    };
    let Some(request) = job.request(room) else {
        return Err(NotWritten::WindowTooSmall {
            window: writer.budget.window(),
        });
    };
    let reply = match writer.answer(inquiry(request)).await {
        // An empty list is short.
        Err(NotWritten::TooShort) => return Ok(job.nothing()),
        reply => reply?,
    };
    if let Ok(learned) = job.read(&reply) {
        return Ok(learned);
    }
    let again = writer.answer(inquiry(LearnJob::repair(&reply))).await?;
    Ok(job.read(&again).unwrap_or_else(|_| job.nothing()))
}

impl Agent {
    /// Begins to let the model read what the person said, where enough of it is unread; tells whether it did.
    pub fn begin_learning(&mut self) -> bool {
        let parts = self.long_term().filter(|parts| parts.learns());
        let Some(parts) = parts.filter(|_| self.jobs.is_idle()) else {
            return false;
        };
        let asker = self.asker();
        if asker.provider.is_offline() {
            return false;
        }
        let prompt = &self.memory.prompts().learn;
        let Some(job) = LearnJob::of(self.session(), parts.captured(), prompt) else {
            return false;
        };
        tracing::info!(messages = job.messages(), "fact extraction started");
        self.jobs.start(Job::Learn(job), asker);
        true
    }

    /// Writes what the model found to MEMORY.md, and that the messages are read to the session.
    pub(super) fn take_in_learned(&mut self, learned: &Learned) -> Option<Warning> {
        let parts = Arc::clone(self.long_term.as_ref()?.parts());
        let known = self.ledger.known();
        let is_clean = |fact: &&Fact| {
            let detail = &fact.capture.detail;
            *known.masked(detail) == **detail
        };
        let facts: Vec<&Fact> = learned.facts.iter().filter(is_clean).collect();
        let taken = parts.learn(self.session().name(), &facts, self.clock.now());
        let record = learned.record(self.session());
        let refused = self.keep(record);
        let problems = taken.problems.into_iter();
        let problem = problems.map(|why| Warning::NotNoted { why }).next();
        let facts: Vec<String> = taken.receipts.into_iter().map(|it| it.what.text).collect();
        let learned = (!facts.is_empty()).then_some(Warning::Learned { facts });
        refused.or(problem).or(learned)
    }
}
