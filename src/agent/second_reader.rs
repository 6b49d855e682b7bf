//! The model as a second reader: asked at the end of a chat what of it lasts, and what it finds is kept with a receipt.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::auto_compact::Asker;
use super::jobs::writer;
use super::summarizer::{Asked, NotWritten};
use super::{Agent, Warning};
use crate::memory::Job;
use crate::memory::learning::{self, Fact, LearnJob, Learned};

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
        let Some(job) = self.memory.learn(self.session(), parts.captured()) else {
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
