//! What outlives a session, as a turn uses it: words are captured before the model is asked, files are read for the
//! request, the exchange is noted when the turn is over.
//!
//! ```text
//!  input -> capture -> SESSION-STATE.md, MEMORY.md, a receipt
//!        -> read    -> LongTermContext: identity, rules, long-term memory, captures, recovery
//!  reply -> hooks   -> the day's notes, the working buffer, facts
//! ```
//! Invariant: whatever fails here is told once, and the turn goes on.

mod captures;
mod capturing;
mod forgetting;
mod hooks;
mod learning;
mod memory_file;
mod reading;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub use captures::Captures;
pub(super) use capturing::{Taken, Unwritten};
pub use forgetting::Forgotten;
pub use memory_file::LetGo;
pub(super) use reading::Lost;
use reading::Shortened;

use tokio::task::JoinHandle;

use super::end_hooks::{EndHooks, Ending, Ran};
use crate::chat::{Session, SessionName};
use crate::context;
use crate::long_term::notes::{Receipts, RuleFiles, Workspace};
use crate::memory::capture::{Capturing, Extractor};
use crate::memory::facts::FactCues;
use crate::memory::{self, Backend, RecoveryCues};
use crate::text::once::Once;

/// What it works with.
#[derive(Clone, Debug)]
pub struct Parts {
    pub workspace: Workspace,
    pub receipts: Receipts,
    /// `None`: nothing is captured.
    pub extractor: Option<Arc<Extractor>>,
    /// `None`: nothing is ever recovered.
    pub recovery: Option<Arc<RecoveryCues>>,
    /// `None`: no facts are ever noted.
    pub facts: Option<Arc<FactCues>>,
    /// Of these, `daily_notes` and `facts` are on only where anything is captured.
    pub settings: memory::Settings,
    /// Whether what was lost is recovered now (Q29).
    pub recovers: bool,
    /// The share of the window from which on exchanges go to the working buffer (Q22); 0: never.
    pub buffer_from: f64,
    /// Whether the model has files of its own, in a folder that is made for them (Q36).
    pub memories: bool,
    /// The folder that is worked in.
    pub project: PathBuf,
    pub rules: RuleFiles,
}

impl Parts {
    /// The same with other settings. Whether anything outlives the session, and is captured, stays as it was: cues are
    /// read and files opened with that.
    #[must_use]
    pub fn with(self, context: &context::Settings, memory: &memory::Settings) -> Self {
        let (backend, capture) = (self.settings.backend, self.settings.capture);
        let lasts = backend != Backend::None;
        let captures = lasts && capture == Capturing::On;
        let mut settings = memory::Settings {
            capture,
            backend,
            ..memory.clone()
        };
        settings.daily_notes.enabled &= captures;
        settings.facts.enabled &= captures;
        Self {
            recovers: context.recovery,
            buffer_from: if lasts { context.buffer_threshold } else { 0.0 },
            settings,
            ..self
        }
    }

    /// What was captured, with the files that hold it.
    pub fn captures(&self) -> Captures {
        Captures {
            workspace: self.workspace.clone(),
            receipts: self.receipts.clone(),
        }
    }
}

/// What a run keeps for later ones.
#[derive(Debug)]
pub(super) struct LongTermMemory {
    parts: Arc<Parts>,
    /// Shared with the thread in which they run.
    hooks: Arc<Mutex<EndHooks>>,
    /// Captures that are being written, oldest first: what became of them is told as soon as somebody waits for it.
    pub(super) capturing: Vec<JoinHandle<Taken>>,
    /// What the disk refused of captures, oldest first.
    pub(super) unwritten: Vec<Unwritten>,
    /// What was told already.
    told: Once,
    /// What went wrong where nobody could be told: it is told with the next turn.
    pub(super) later: Vec<String>,
    /// The compaction after which was recovered last: it is not done twice.
    recovered: Option<Shortened>,
    /// The session that was written to last.
    session: Option<SessionName>,
}

impl LongTermMemory {
    pub(super) fn new(parts: Parts) -> Self {
        let parts = Arc::new(parts);
        Self {
            hooks: Arc::new(Mutex::new(hooks::standard(&parts))),
            capturing: Vec::new(),
            parts,
            unwritten: Vec::new(),
            told: Once::default(),
            later: Vec::new(),
            recovered: None,
            session: None,
        }
    }

    /// Takes other settings from the next turn on.
    pub(super) fn resettle(&mut self, context: &context::Settings, memory: &memory::Settings) {
        let parts = Parts::clone(&self.parts).with(context, memory);
        self.parts = Arc::new(parts);
        self.hooks = Arc::new(Mutex::new(hooks::standard(&self.parts)));
    }

    /// Whether a session is written to for the first time.
    pub(super) fn takes_up(&mut self, session: &SessionName) -> bool {
        let is_new = self.session.as_ref() != Some(session);
        if is_new {
            self.leave_session();
            self.session = Some(session.clone());
        }
        is_new
    }

    /// Gives up what belongs to the state of a session that is left; what belongs to MEMORY.md is tried again.
    pub(super) fn leave_session(&mut self) {
        self.session = None;
        self.unwritten.retain_mut(|lacking| {
            lacking.in_state = false;
            lacking.in_memory
        });
    }

    /// The session that is written to has another name now.
    pub(super) fn renamed(&mut self, before: &SessionName, name: &SessionName) {
        let unwritten = self.unwritten.iter_mut().map(|it| &mut it.session);
        for session in self.session.iter_mut().chain(unwritten) {
            if session == before {
                *session = name.clone();
            }
        }
    }

    /// Takes what the disk refused, to be tried again.
    pub(super) fn refused(&mut self, unwritten: Vec<Unwritten>) {
        const MAX: usize = 100;
        self.unwritten.extend(unwritten);
        let excess = self.unwritten.len().saturating_sub(MAX);
        self.unwritten.drain(..excess);
    }

    /// The compaction after which nothing was recovered yet.
    pub(super) fn shortened(&self, session: &Session) -> Option<Shortened> {
        let newest = Shortened::of(session);
        newest.filter(|newest| self.recovered != Some(*newest))
    }

    /// What was recovered has been answered: it does not come again.
    pub(super) fn recovered(&mut self, session: &Session) {
        self.recovered = Shortened::of(session);
    }

    pub(super) fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }

    /// What is done at the end of a turn, for a thread of its own. `is_told`: what was recovered was answered, and its
    /// buffer is put away before anything else.
    pub(super) fn at_end(
        &self,
        ending: Ending,
        is_told: bool,
    ) -> impl FnOnce() -> (Option<String>, Ran) + Send + use<> {
        let parts = Arc::clone(&self.parts);
        let hooks = Arc::clone(&self.hooks);
        move || {
            let put_away = is_told.then(|| parts.put_buffer_away(&ending.session, ending.now));
            let mut hooks = hooks.lock().unwrap_or_else(PoisonError::into_inner);
            (put_away.flatten(), hooks.run(&ending))
        }
    }

    /// Those of some problems that were not told yet.
    pub(super) fn news(&mut self, problems: Vec<String>) -> Vec<String> {
        let mut news = std::mem::take(&mut self.later);
        news.extend(problems);
        self.told.news(news)
    }
}
