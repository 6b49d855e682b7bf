//! What is kept and what comes back: [`Memory::prepare`] before a request, [`Memory::update`] after a
//! turn, [`Memory::absorb`] when slow work is done.
//!
//! Memory is total: no failure in it ends a turn. It does no I/O; what needs a model leaves as a [`Job`],
//! what must last leaves as a [`Record`]. The message log is the truth; everything here can be rebuilt.

pub mod capture;
pub mod compaction;
mod cue_files;
mod draft;
mod draft_steady;
mod due;
pub mod facts;
pub mod forgetting;
pub mod learning;
mod long_term_context;
mod masking;
mod modes;
mod prompts;
pub mod proof;
pub mod recall;
mod recovery;
pub mod report;
mod script;
mod settings;
pub mod summary;
mod texts;
pub mod tracking;
mod transcript;
pub mod writing;

pub use compaction::{CannotCompact, CompactJob, Compacted, Gauge, NotCompacted};
pub use cue_files::BadCues;
pub use draft::{Keeping, Offered, Surroundings};
pub use due::{Planning, When};
pub use long_term_context::{KeptFile, LongTermContext, Recovery, Related};
pub use masking::{hear_record, known_secrets, masked_record};
pub use modes::{BadMode, HybridOptions, MemoryMode, Preset, Registry};
pub use prompts::{KeptTexts, ModeTexts, Prompt, Prompts, ThinkTexts};
pub use proof::{OutOfReach, Place, Proof};
pub use recovery::{BadRecoveryCues, RecoveryCues};
pub use settings::{
    AutoRecallSettings, Backend, CodeSettings, ConversationSettings, Mem0Settings, ModesSettings,
    ReasoningSettings, RecallSettings, ScratchpadSettings, Settings, Timestamps,
};
pub use summary::{NotSummarised, Summarised, SummaryJob};
pub use texts::TEXTS;
pub use transcript::fenced;

use draft::MAX_PENDING;
use learning::{LearnJob, Learned};
use tracking::readers::Readers;
use tracking::{Board, By, CannotEdit, Edit, Edited, Exchange};

use crate::chat::{Record, Session, SessionName, Timestamp, Turn, TurnId};
use crate::context::ContextPlan;

/// Slow work that memory wants done in the background, as data.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    Summarise(SummaryJob),
    Compact(CompactJob),
    Learn(LearnJob),
}

/// What came of slow work.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    Compacted(Compacted),
    Summarised(Summarised),
    Learned(Learned),
}

/// Why a result was not taken; the session is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    #[error(transparent)]
    Compaction(#[from] NotCompacted),
    #[error(transparent)]
    Summary(#[from] NotSummarised),
}

impl NotTaken {
    /// Whether the session changed while the work was done: nobody's fault.
    pub fn is_stale(&self) -> bool {
        match self {
            Self::Compaction(error) => *error == NotCompacted::Stale,
            Self::Summary(error) => *error == NotSummarised::Stale,
        }
    }
}

/// Why a model's note is not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotTrack {
    #[error("{mode} mode does not track {kind}; it tracks: {known}")]
    Foreign {
        kind: &'static str,
        mode: String,
        known: String,
    },
    #[error(transparent)]
    Edit(#[from] CannotEdit),
}

/// The memory of one session.
#[derive(Debug)]
pub struct Memory {
    modes: Registry,
    settings: Settings,
    prompts: Prompts,
    unread: Vec<String>,
    /// What a live switch set of recall, by mode; before one, the modes say.
    recalls: Vec<(String, usize)>,
    /// Readers that have read nothing yet.
    cold: Option<Readers>,
}

/// Turns that are read again at most: when a session is opened whose modes have not read them, because it
/// was imported or its mode states were lost, and when a turn is taken back.
const READ_AGAIN: usize = 500;

impl Memory {
    /// Memory with the modes of `modes`, the one of `settings` active.
    pub fn new(mut modes: Registry, settings: Settings, prompts: Prompts) -> Result<Self, BadMode> {
        modes.switch(&settings.mode)?;
        Ok(Self {
            modes,
            settings,
            prompts,
            unread: Vec::new(),
            recalls: Vec::new(),
            cold: None,
        })
    }

    /// With the readers of the modes, to be warmed up before they read.
    #[must_use]
    pub fn with_cold(mut self, readers: Readers) -> Self {
        self.cold = Some(readers);
        self
    }

    /// What makes the first reading quick, once: for threads of their own, while a model answers.
    pub fn warm_up(&mut self) -> Vec<impl FnOnce() + Send + use<>> {
        let cold = self.cold.take().into_iter();
        cold.flat_map(|readers| readers.warm_up()).collect()
    }

    pub fn modes(&self) -> &Registry {
        &self.modes
    }

    pub fn mode(&self) -> &Preset {
        self.modes.active().preset()
    }

    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Makes another mode the active one, from the very next request on (C65).
    pub fn switch(&mut self, mode: &str) -> Result<(), BadMode> {
        self.modes.switch(mode)
    }

    /// What the modes could not read of their kept states, by its place: `code: files[3]`. It is kept.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Takes up what a session kept of its modes, and reads the turns they have not read.
    pub fn restore(&mut self, session: &Session) {
        self.unread = self.modes.restore(session.mode_states());
        for mode in self.modes.iter_mut() {
            let read = mode.board().and_then(Board::read);
            let missed = newest_turns(session);
            let missed: Vec<&Turn> = missed
                .into_iter()
                .filter(|turn| read.is_none_or(|read| turn.id > read))
                .collect();
            observe(mode.as_mut(), session, &missed, Calls::New);
        }
    }

    /// Where every message of the session is, as a request sees it. `recallable`: whether recall can bring a message.
    pub fn proof(
        &self,
        session: &Session,
        plan: &ContextPlan,
        recallable: impl Fn(usize) -> bool,
    ) -> Proof {
        Proof::of(session, plan, recallable)
    }

    /// Reads a finished turn; returns what must last. Fast, no I/O.
    pub fn update(&mut self, session: &Session, turn: &Turn) -> Record {
        for mode in self.modes.iter_mut() {
            observe(mode.as_mut(), session, &[turn], Calls::Noted);
        }
        self.kept()
    }

    /// Forgets what a turn that was taken back has brought, by reading the turns before it again; what was
    /// set by hand stays.
    pub fn withdraw(&mut self, session: &Session) -> Record {
        let turns = newest_turns(session);
        let older = session.live_turns().count() - turns.len();
        for mode in self.modes.iter_mut() {
            let Some(board) = mode.board_mut() else {
                continue;
            };
            let before = board.clone();
            board.rewind(u64::try_from(older).unwrap_or(u64::MAX));
            observe(mode.as_mut(), session, &turns, Calls::New);
            if let Some(board) = mode.board_mut() {
                board.settle(&before);
            }
        }
        self.kept()
    }

    /// Returns a copy of a session under another name, whole or as it was when a turn had ended, with what the modes
    /// had noted by then: what was set by hand later is left out. `None` where there is no such turn. This memory is
    /// that of the copy afterwards.
    pub fn fork(
        &mut self,
        session: &Session,
        name: SessionName,
        at: Option<TurnId>,
    ) -> Option<Session> {
        let mut fork = session.forked(name, at)?;
        self.restore(&fork);
        if at.is_some() {
            for mode in self.modes.iter_mut() {
                read_anew(mode.as_mut(), &fork);
            }
            fork.apply(self.kept());
        }
        Some(fork)
    }

    /// Changes by hand what a mode keeps; tells which mode it was.
    pub fn edit(
        &mut self,
        edit: &Edit,
        now: Timestamp,
    ) -> Result<(Edited, String, Record), CannotEdit> {
        let kind = edit.kind();
        let foreign = CannotEdit::Foreign { kind };
        let mode = self.modes.keeper_mut(kind).ok_or(foreign.clone())?;
        let name = mode.preset().name.clone();
        let edited = mode
            .board_mut()
            .ok_or(foreign)?
            .edit(edit, By::Person, Some(now))?;
        Ok((edited, name, self.kept()))
    }

    /// Notes on the active mode's board what a model says; tells in words what stands there now. What it says is kept
    /// with the turn, whose calls are read again when a board is made anew.
    pub fn track(&mut self, edit: &Edit, now: Timestamp) -> Result<String, CannotTrack> {
        let kind = edit.kind();
        let mode = self.modes.active_mut();
        let name = mode.preset().name.clone();
        let kept = mode.board().map_or(&[][..], Board::sections);
        if kept.iter().all(|section| section.kind() != kind) {
            let known = kept.iter().map(|section| section.kind().row().name);
            return Err(CannotTrack::Foreign {
                kind: kind.row().name,
                mode: name,
                known: known.collect::<Vec<_>>().join(", "),
            });
        }
        let Some(board) = mode.board_mut() else {
            return Ok(String::new());
        };
        Ok(match board.edit(edit, By::Tool, Some(now))? {
            Edited::Set(entry) => format!(
                "{} #{}: {}",
                kind.row().name,
                entry.number,
                tracking::words(&entry.note)
            ),
            Edited::Dropped(dropped) => format!("{} dropped", dropped.len()),
        })
    }

    /// Whether no mode has anything noted.
    pub fn is_blank(&self) -> bool {
        self.modes
            .iter()
            .all(|mode| mode.board().is_none_or(Board::is_blank))
    }

    fn kept(&self) -> Record {
        Record::ModeStatesReplaced(self.modes.states())
    }

    /// What a live switch of presets changes: which messages carry their time, and how much recall brings.
    pub fn resettle(&mut self, settings: Settings) {
        let recalls = [
            ("conversation", settings.modes.conversation.vector_recall_k),
            ("code", settings.modes.code.vector_recall_k),
            ("reasoning", settings.modes.reasoning.vector_recall_k),
        ];
        self.recalls = recalls.map(|(mode, k)| (mode.to_owned(), k)).into();
        self.settings = settings;
    }

    /// Exchanges that recall may bring into a request of the active mode; 0 turns it off.
    pub fn recall_k(&self) -> usize {
        let mode = self.mode();
        let set = self.recalls.iter().find(|(name, _)| *name == mode.name);
        set.map_or(mode.hybrid.vector_recall_k, |(_, k)| *k)
    }

    /// Takes in what a job brought, if it still fits the session and is good enough; the session is
    /// changed by the record alone.
    pub fn absorb(
        &self,
        session: &Session,
        done: Done,
        now: Timestamp,
    ) -> Result<Record, NotTaken> {
        Ok(match done {
            Done::Compacted(compacted) => compaction::accept(session, compacted, now)?,
            Done::Summarised(summarised) => summary::accept(session, summarised, now)?,
            Done::Learned(learned) => learned.record(session),
        })
    }
}

/// Reads all turns of a session again, with what a person set by hand in between.
fn read_anew(mode: &mut dyn MemoryMode, session: &Session) {
    let Some(board) = mode.board_mut() else {
        return;
    };
    let before = std::mem::replace(board, board.emptied());
    let finished = session.live_turns().filter(|turn| turn.outcome.is_some());
    for turn in finished {
        if let Some(board) = mode.board_mut() {
            board.set_again(&before);
        }
        observe(mode, session, &[turn], Calls::New);
    }
}

/// The newest finished turns that count, oldest first.
fn newest_turns(session: &Session) -> Vec<&Turn> {
    let finished = session.live_turns().filter(|turn| turn.outcome.is_some());
    let mut newest: Vec<&Turn> = finished.rev().take(READ_AGAIN).collect();
    newest.reverse();
    newest
}

/// Whether a board has what the model itself noted in the turns that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    New,
    /// When it was called for: [`Memory::track`].
    Noted,
}

fn observe(mode: &mut dyn MemoryMode, session: &Session, turns: &[&Turn], calls: Calls) {
    for turn in turns {
        let messages = session.messages_of(turn);
        let exchange = Exchange::of(messages);
        if let Some(board) = mode.board_mut() {
            let called = match calls {
                Calls::New => tracking::called(&exchange),
                Calls::Noted => Vec::new(),
            };
            for edit in called.into_iter().chain(tracking::reported(messages)) {
                // The model was told at the time what could not be noted.
                board.edit(&edit, By::Tool, exchange.at).ok();
            }
        }
        mode.observe(turn.id, &exchange);
    }
}
