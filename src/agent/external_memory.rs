//! A memory behind a server, beside the files (X21): what is to last is added to it, and it is asked with them.
//!
//! Invariant: nobody waits for what is added, and only so long for an answer; what fails is told once, and the files
//! have it all the same; no secret is sent.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::Agent;
use super::event::Warning;
use crate::hint::chain;
use crate::index::{Hit, Kind};
use crate::long_term::notes::{LONG_TERM, Receipt};
use crate::mem0::Mem0;
use crate::text::lines::single_spaced;
use crate::text::secrets::masked_beginning;

/// How long a search that a person or a model wants waits for it; the client has a limit of its own.
pub(super) const PATIENT: Duration = Duration::from_secs(3);
/// How long a turn waits for what may come beside it.
pub(super) const SHORT: Duration = Duration::from_secs(1);
/// Texts on their way at once; what comes beyond them stays in the files alone.
const MAX: usize = 32;
/// Characters of a question, and of a hit.
const QUESTION: usize = 500;
/// Characters of it that are looked at for secrets, so that none is cut before it is known.
const LOOKED_AT: usize = 4_000;
const HIT: usize = 300;

/// The memory, and what is on its way there.
#[derive(Debug)]
pub struct ExternalMemory {
    mem0: Arc<Mem0>,
    adding: JoinSet<Result<(), String>>,
    /// What was told already.
    told_of_adding: bool,
    told_of_searching: bool,
}

impl ExternalMemory {
    /// Sends nothing yet.
    pub fn new(mem0: Mem0) -> Self {
        Self {
            mem0: Arc::new(mem0),
            adding: JoinSet::new(),
            told_of_adding: false,
            told_of_searching: false,
        }
    }

    fn add(&mut self, text: String) {
        if self.adding.len() >= MAX {
            tracing::warn!("mem0: too many entries at once; saved to files only");
            return;
        }
        let mem0 = Arc::clone(&self.mem0);
        let added = async move { mem0.add(&text).await.map_err(|error| chain(&error)) };
        self.adding.spawn(added);
    }

    /// What it holds on a question; a failure is a sentence.
    pub(super) async fn search(
        &self,
        question: &str,
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<Hit>, String> {
        let question = masked_beginning(question, LOOKED_AT);
        let question: String = question.chars().take(QUESTION).collect();
        if question.trim().is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let found = tokio::time::timeout(patience, self.mem0.search(&question, limit)).await;
        let late = |_| {
            let server = self.mem0.shown();
            format!("no answer from {server} within {} s", patience.as_secs())
        };
        let found = found.map_err(late)?.map_err(|error| chain(&error))?;
        let hits = (1..).zip(found).map(|(line, memory)| Hit {
            source: "mem0".to_owned(),
            line,
            content: one_line(&memory.text),
            score: memory.score.clamp(0.0, 1.0),
            kind: Kind::External,
            at: None,
            also: Vec::new(),
            // The store ranks by meaning.
            overlap: 0.0,
            similarity: Some(memory.score),
            is_beside: false,
        });
        Ok(hits.filter(|hit| !hit.content.is_empty()).collect())
    }

    /// What is to be told of a search that failed: the first time.
    pub(super) fn not_searched(&mut self, why: &str) -> Option<String> {
        let is_new = !std::mem::replace(&mut self.told_of_searching, true);
        is_new.then(|| format!("could not search mem0: {why}"))
    }

    /// What is to be told of texts that did not get there: the first time.
    fn not_added(&mut self) -> Option<Warning> {
        let mut failed = None;
        while let Some(added) = self.adding.try_join_next() {
            failed = failed.or(added.ok().and_then(Result::err));
        }
        self.failed(failed)
    }

    fn failed(&mut self, why: Option<String>) -> Option<Warning> {
        let why = why.filter(|_| !self.told_of_adding)?;
        self.told_of_adding = true;
        let why = format!("could not save to mem0, only to files: {why}");
        Some(Warning::NotNoted { why })
    }

    /// Waits for what is on its way. May be dropped at any time.
    pub(super) async fn added(&mut self) -> Option<Warning> {
        let mut failed = None;
        while let Some(added) = self.adding.join_next().await {
            failed = failed.or(added.ok().and_then(Result::err));
        }
        self.failed(failed)
    }

    pub(super) fn abort(&mut self) {
        self.adding.abort_all();
    }
}

impl Agent {
    /// The same with a memory behind a server.
    #[must_use]
    pub fn with_external_memory(mut self, external: Option<ExternalMemory>) -> Self {
        self.external = external;
        self
    }

    /// Whether there is a memory behind a server.
    pub fn has_external(&self) -> bool {
        self.external.is_some()
    }

    /// Whether something is on its way to a memory behind a server.
    pub fn is_adding(&self) -> bool {
        let external = self.external.as_ref();
        external.is_some_and(|external| !external.adding.is_empty())
    }

    /// Adds what is to last, in the background.
    pub(super) fn add_further(&mut self, text: &str) {
        let text = self.ledger.known().masked_after("", text).into_owned();
        if let Some(external) = &mut self.external {
            external.add(text);
        }
    }

    /// Adds what was captured for good; tells of what did not get there before.
    pub(super) fn add_captured(&mut self, receipts: &[Receipt]) -> Option<Warning> {
        let lasts = |receipt: &&Receipt| receipt.what.files.iter().any(|file| file == LONG_TERM);
        for receipt in receipts.iter().filter(lasts) {
            self.add_further(&receipt.what.text);
        }
        self.external.as_mut().and_then(ExternalMemory::not_added)
    }
}

fn one_line(text: &str) -> String {
    single_spaced(text).chars().take(HIT).collect()
}
