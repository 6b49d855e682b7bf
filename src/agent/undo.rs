//! Taking back: a turn and what its tools did to files, a summary, a compaction. History itself only grows.

use std::borrow::Cow;

use super::toolbox::Files;
use super::{Agent, Warning};
use crate::chat::{Hybrid, Message, Record, Scratchpad, Turn, TurnId, Withdrawal};
use crate::hint::Hint;
use crate::long_term::notes::{Receipt, ReceiptsError};
use crate::memory::report::Report;
use crate::memory::summary;
use crate::tools::files::{ChangesError, Restored};

/// A turn that was taken back.
#[derive(Debug)]
pub struct Undone {
    /// What the person had said.
    pub input: String,
    /// What became of the files that its tools had changed.
    pub files: Result<Restored, ChangesError>,
    /// Whether commands ran in it: what they changed stays as it is.
    pub has_commands: bool,
    /// What was captured of it, and stays.
    pub captured: Result<Vec<Receipt>, ReceiptsError>,
    pub warning: Option<Warning>,
}

/// A turn that is out of what is sent, in memory: the records wait for [`Ledger::save`](super::Ledger::save).
#[derive(Debug)]
pub(super) struct TakenBack {
    pub(super) input: String,
    pub(super) files: Result<Restored, ChangesError>,
}

/// What no longer stands for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenDown {
    Compaction,
    Summary,
}

/// Why a turn cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTurn {
    #[error("nothing to undo")]
    NothingToUndo,
    #[error("nothing to retry")]
    NothingToRetry,
    #[error("no compaction to undo")]
    NoCompaction,
    #[error("no summary to undo")]
    NoSummary,
    #[error("the last turn has been compacted")]
    Compacted,
}

impl Hint for NoTurn {
    fn hint(&self) -> Option<Cow<'_, str>> {
        (*self == Self::Compacted).then(|| "run `/compact undo` first".into())
    }
}

impl Agent {
    /// Takes the last turn out of what is sent, its notes with it, and brings back the files that its tools changed;
    /// history keeps the turn.
    pub fn undo(&mut self) -> Result<Undone, NoTurn> {
        let turn = self.last_to_withdraw(Withdrawal::Undone)?;
        let session = self.session();
        let input = session.messages_of(&turn).first();
        let taken_back = (session.name().clone(), input.map(|it| it.id.clone()));
        self.drop_unwritten(|it| {
            it.session == taken_back.0 && Some(&it.message.id) == taken_back.1.as_ref()
        });
        let captured = self.captured_in(&turn);
        let messages = self.session().messages_of(&turn).iter();
        let has_commands = messages
            .flat_map(Message::calls)
            .any(|call| call.name == "shell");
        let TakenBack { input, files } = self.take_back(Withdrawal::Undone)?;
        let refused = self.ledger.save().err();
        let warning = refused.and_then(|refused| self.warned.of_refusal(&refused));
        Ok(Undone {
            input,
            files,
            has_commands,
            captured,
            warning,
        })
    }

    /// What was captured of the person's words in a turn, and not taken back since.
    fn captured_in(&self, turn: &Turn) -> Result<Vec<Receipt>, ReceiptsError> {
        let session = self.session();
        let (Some(long_term), Some(input)) = (self.long_term(), session.messages_of(turn).first())
        else {
            return Ok(Vec::new());
        };
        let mut receipts = long_term.captures().all()?;
        receipts.retain(|receipt| {
            let what = &receipt.what;
            let is_its =
                what.session == session.name().as_str() && what.message == input.id.as_str();
            // A session that was begun anew under this name counts its messages anew.
            // An entry is not taken back with a turn, and neither is its line.
            is_its
                && !receipt.forgotten
                && what.entry.is_none()
                && !what.files.is_empty()
                && receipt.at >= input.at
        });
        Ok(receipts)
    }

    /// The files come first: a turn that is withdrawn is not looked at again, while files that hold already what they
    /// held before do no harm when the program was stopped in between.
    pub(super) fn take_back(&mut self, why: Withdrawal) -> Result<TakenBack, NoTurn> {
        let turn = self.last_to_withdraw(why)?;
        let files = self.restore_files(turn.id);
        let input = self.withdraw(&turn, why);
        Ok(TakenBack { input, files })
    }

    fn restore_files(&self, turn: TurnId) -> Result<Restored, ChangesError> {
        match &self.toolbox.files {
            Some(Files {
                project, changes, ..
            }) => changes.restore(project, self.session().name(), turn),
            None => Ok(Restored::default()),
        }
    }

    /// What tools changed in files, from before the first of these turns to now, as a unified diff. Turns that were
    /// taken back changed nothing.
    pub fn changes(&self, newest: usize) -> Result<String, ChangesError> {
        let Some(Files {
            project, changes, ..
        }) = &self.toolbox.files
        else {
            return Ok(String::new());
        };
        let turns = self.session().live_turns().rev().take(newest);
        let turns: Vec<TurnId> = turns.map(|turn| turn.id).collect();
        changes.diff(project, self.session().name(), &turns)
    }

    /// The last live turn, unless a compaction stands for it.
    fn last_to_withdraw(&self, why: Withdrawal) -> Result<Turn, NoTurn> {
        let session = self.session();
        let last = session.live_turns().next_back();
        let last = last.ok_or(match why {
            Withdrawal::Undone => NoTurn::NothingToUndo,
            Withdrawal::Retried => NoTurn::NothingToRetry,
        })?;
        let compacted = session
            .hybrid()
            .compaction
            .as_ref()
            .map_or(0, |compaction| compaction.upto);
        if last.messages.start < compacted {
            return Err(NoTurn::Compacted);
        }
        Ok(last.clone())
    }

    /// Tells the turn's input.
    fn withdraw(&mut self, last: &Turn, why: Withdrawal) -> String {
        let turn = last.id;
        self.counted.forget();
        let session = self.session();
        let fitting = summary::fitting(session.hybrid(), last.messages.start);
        let input = session
            .messages_of(last)
            .first()
            .map(|input| input.said().into_owned());
        self.ledger.apply(Record::TurnWithdrawn { turn, why });
        if let Some(index) = &mut self.index {
            index.session.take_back(self.ledger.session(), turn);
        }
        if let Some(scratchpad) = self.without_thoughts_of(turn) {
            self.ledger.apply(Record::ScratchpadReplaced(scratchpad));
        }
        // No summary goes on speaking of what was taken back.
        if let Some(hybrid) = fitting {
            self.ledger.apply(Record::HybridReplaced(hybrid));
        }
        let states = self.memory.withdraw(self.ledger.session());
        self.ledger.apply(states);
        input.unwrap_or_default()
    }

    /// The scratchpad without what a turn thought through, where it has any of it.
    fn without_thoughts_of(&self, turn: TurnId) -> Option<Scratchpad> {
        let session = self.session();
        let turn = session.turns().iter().rfind(|it| it.id == turn)?;
        let mut scratchpad = session.scratchpad().clone();
        for report in Report::of(session.messages_of(turn)) {
            scratchpad.forget_thought(report.number);
        }
        (scratchpad != *session.scratchpad()).then_some(scratchpad)
    }

    /// Takes back the newest of what stands for older messages: the last compaction, or the summary that grew since.
    pub fn undo_newest(&mut self) -> Result<(TakenDown, Option<Warning>), NoTurn> {
        if self.is_summary_newest() {
            return Ok((TakenDown::Summary, self.undo_summary()?));
        }
        Ok((TakenDown::Compaction, self.undo_compaction()?))
    }

    /// By time; of one second, the one that stands for later messages was made behind the other.
    fn is_summary_newest(&self) -> bool {
        let hybrid = self.session().hybrid();
        let compaction = hybrid.compaction.as_ref().map(|it| (it.at, it.upto));
        let summary = hybrid.running().map(|it| (it.at, it.upto));
        summary.is_some_and(|summary| compaction.is_none_or(|compaction| summary > compaction))
    }

    /// Goes back to the summary before the present one; what it does not cover is sent again.
    pub fn undo_summary(&mut self) -> Result<Option<Warning>, NoTurn> {
        let record = summary::undone(self.session());
        let record = record.ok_or(NoTurn::NoSummary)?;
        self.jobs.abort();
        Ok(self.keep(record))
    }

    /// Goes back to what was sent before the last compaction.
    pub fn undo_compaction(&mut self) -> Result<Option<Warning>, NoTurn> {
        let hybrid = self.session().hybrid();
        let compaction = hybrid.compaction.clone().ok_or(NoTurn::NoCompaction)?;
        // What runs was begun behind it, and no turn is to wait for that.
        self.jobs.abort();
        let hybrid = self.session().hybrid();
        let compaction = compaction.previous.map(|previous| *previous);
        let hybrid = Hybrid {
            compaction,
            undone: Some(self.session().messages().len()),
            ..hybrid.clone()
        };
        // A summary that was begun behind the compaction does not stand for what is sent again.
        let fitting = summary::fitting(&hybrid, self.session().messages().len());
        Ok(self.keep(Record::HybridReplaced(fitting.unwrap_or(hybrid))))
    }
}
