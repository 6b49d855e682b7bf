//! Taking back what was captured: the line leaves the files, and so do the facts with its words and the words in what was
//! noted of the exchange; a line it had taken the place of counts again; the receipt says so. Unit: one capture.
//!
//! Invariant: only lines as they were written are removed; one that a person changed since stays, and that is told. A file that
//! cannot be changed keeps no other from being changed.

use super::captures::Captures;
use super::capturing::{LONG_TERM, bullets, is_captured_as, statement};
use super::restoring;
use super::striking::Words;
use crate::chat::{Session, SessionName, Timestamp};
use crate::hint::chain;
use crate::notes::{Line, NotesError, Receipt, ReceiptsError, SessionNotes, unmarked};

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    pub receipt: Receipt,
    /// Files that no longer have it.
    pub from: Vec<String>,
    /// Places that no longer have a fact with its words.
    pub facts: Vec<String>,
    /// Files in which a mark stands for its words in what was noted of an exchange.
    pub blanked: Vec<String>,
    /// Lines of MEMORY.md that it had taken the place of, and that count again.
    pub restored: Vec<String>,
    /// Numbers under which the same was captured: they are taken back as well, since what is forgotten is gone.
    pub also: Vec<u64>,
    /// Files in which the line is not as it was written.
    pub changed: Vec<String>,
    /// Files that could not be changed, each with why: the line may still be there.
    pub failed: Vec<(String, String)>,
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
pub enum NotForgotten {
    #[error("nothing was captured under number {number}")]
    NoSuch { number: u64 },
    #[error("number {number} was taken back before")]
    Already { number: u64 },
    #[error(transparent)]
    Receipts(#[from] ReceiptsError),
    #[error(transparent)]
    Notes(#[from] NotesError),
}

/// Days whose notes are looked through for facts.
const DAYS: usize = 30;
/// An exchange is noted on the day it began, or, late at night, on the next one.
const EXCHANGE_DAYS: usize = 2;

/// What became of the line itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removed {
    /// No line is as it was written.
    No,
    Yes,
    /// And a later one had taken its place.
    Outdated,
}

impl Captures {
    /// Takes back the capture of a number. Where its session has no notes any more, those of the open one are looked at: it
    /// may have another name by now. `said`: the session it was said in, if that can be read.
    pub fn forget(
        &self,
        number: u64,
        open: &SessionName,
        said: Option<&Session>,
        now: Timestamp,
    ) -> Result<Forgotten, NotForgotten> {
        let receipts = self.receipts.all()?;
        let receipt = receipts.iter().find(|receipt| receipt.number == number);
        let receipt = receipt.cloned().ok_or(NotForgotten::NoSuch { number })?;
        if receipt.forgotten {
            return Err(NotForgotten::Already { number });
        }
        let mut forgotten = Forgotten {
            from: Vec::new(),
            facts: Vec::new(),
            blanked: Vec::new(),
            restored: Vec::new(),
            also: Vec::new(),
            changed: Vec::new(),
            failed: Vec::new(),
            receipt,
        };
        let (mut failure, mut is_current) = (None, false);
        for file in forgotten.receipt.what.files.clone() {
            match self.remove(&forgotten.receipt, &file, open) {
                Ok(Removed::No) => forgotten.changed.push(file),
                Ok(removed) => {
                    is_current |= file == LONG_TERM && removed == Removed::Yes;
                    forgotten.from.push(file);
                }
                Err(error) => {
                    forgotten.failed.push((file, chain(&error)));
                    failure = failure.or(Some(error));
                }
            }
        }
        // Where nothing was taken back it can be tried again; half of it done is done.
        if let Some(failure) = failure.filter(|_| forgotten.from.is_empty()) {
            return Err(failure.into());
        }
        self.receipts.forget(number, now)?;
        self.forget_twins(&mut forgotten, &receipts, open, now)?;
        self.strike(&mut forgotten, open, said);
        if is_current {
            self.restore(&mut forgotten, &receipts);
        }
        Ok(forgotten)
    }

    /// Takes back what said the same.
    fn forget_twins(
        &self,
        forgotten: &mut Forgotten,
        receipts: &[Receipt],
        open: &SessionName,
        now: Timestamp,
    ) -> Result<(), ReceiptsError> {
        let (number, said) = (
            forgotten.receipt.number,
            statement(&forgotten.receipt.what.text),
        );
        let is_twin = |it: &&Receipt| {
            !it.forgotten && it.number != number && statement(&it.what.text) == said
        };
        for twin in receipts.iter().filter(is_twin) {
            for file in &twin.what.files {
                match self.remove(twin, file, open) {
                    Ok(Removed::Yes | Removed::Outdated) if !forgotten.from.contains(file) => {
                        forgotten.from.push(file.clone());
                    }
                    Ok(_) => {}
                    Err(error) => forgotten.failed.push((file.clone(), chain(&error))),
                }
            }
            self.receipts.forget(twin.number, now)?;
            forgotten.also.push(twin.number);
        }
        Ok(())
    }

    /// Removes the lines of a capture from a file.
    fn remove(
        &self,
        receipt: &Receipt,
        file: &str,
        open: &SessionName,
    ) -> Result<Removed, NotesError> {
        let texts = bullets(&receipt.what);
        if file == LONG_TERM {
            let memory = self.workspace.long_term();
            let lines = memory.lines()?;
            let line = newest(&lines, |line| {
                let written = line.trim_start().strip_prefix("- ");
                written.is_some_and(|line| texts.iter().any(|text| without_mark(line) == text))
            });
            let line = line.or_else(|| newest(&lines, |it| is_captured_as(it, &receipt.what.text)));
            let Some(line) = line else {
                return Ok(Removed::No);
            };
            memory.remove(line)?;
            return Ok(match unmarked(&line.text) {
                Some(_) => Removed::Outdated,
                None => Removed::Yes,
            });
        }
        let state = self.notes_of(receipt, open)?.state();
        let mut removed = Removed::No;
        for text in texts {
            let lines = state.lines()?;
            if let Some(line) = newest(&lines, |line| line.ends_with(&text)) {
                state.remove(line)?;
                removed = Removed::Yes;
            }
        }
        Ok(removed)
    }

    /// The notes of the session it was said in, or else of the open one.
    fn notes_of(
        &self,
        receipt: &Receipt,
        open: &SessionName,
    ) -> Result<SessionNotes<'_>, NotesError> {
        let own = receipt.what.session.parse().ok();
        let own = own.map(|name: SessionName| self.workspace.session(&name));
        Ok(match own {
            Some(own) if own.state().read()?.is_some() => own,
            Some(_) | None => self.workspace.session(open),
        })
    }

    /// Takes out what was drawn from its words.
    fn strike(&self, forgotten: &mut Forgotten, open: &SessionName, said: Option<&Session>) {
        let receipt = forgotten.receipt.clone();
        let words = Words::new(receipt.what.words(), said);
        let facts = |lines: &[Line]| words.facts(lines);
        let of_memory = self.workspace.long_term().revise(&facts);
        forgotten.note_facts(LONG_TERM, of_memory);
        let daily = self.workspace.daily();
        let days = daily.newest(DAYS).unwrap_or_default();
        for day in &days {
            forgotten.note_facts(&day.source, daily.revise(day, &facts));
        }
        if let Some(at) = receipt.at {
            let since = days.iter().rev().filter(|day| day.date >= at.date());
            for day in since.take(EXCHANGE_DAYS) {
                let exchange = |lines: &[Line]| words.exchange(lines, &day.date, at);
                if forgotten.note_blanked(&day.source, daily.revise(day, &exchange)) {
                    break;
                }
            }
        }
        match self.notes_of(&receipt, open) {
            Ok(notes) => {
                let buffers = notes.buffer().revise(&|lines| words.everywhere(lines));
                for (file, revised) in buffers {
                    forgotten.note_blanked(&file, revised);
                }
            }
            Err(error) => forgotten.failed.push((receipt.what.session, chain(&error))),
        }
    }

    /// Lines that it had taken the place of count again.
    fn restore(&self, forgotten: &mut Forgotten, receipts: &[Receipt]) {
        let memory = self.workspace.long_term();
        for outdated in restoring::outdated(&forgotten.receipt, receipts) {
            match memory.revise(&|lines| outdated.unmark(lines)) {
                Ok(0) => {}
                Ok(_) => forgotten.restored.push(outdated.line.clone()),
                Err(error) => {
                    let failed = (LONG_TERM.to_owned(), chain(&error));
                    forgotten.failed.push(failed);
                }
            }
        }
    }
}

impl Forgotten {
    /// Facts of some lines that have its words, and were noted of a session.
    pub fn facts_of<'a>(&self, noted: &'a str, said: &Session) -> Vec<&'a str> {
        let words = Words::new(self.receipt.what.words(), Some(said));
        noted.lines().filter(|line| words.are_fact(line)).collect()
    }

    fn note_facts(&mut self, file: &str, revised: Result<usize, NotesError>) {
        match revised {
            Ok(0) => {}
            Ok(_) => self.facts.push(file.to_owned()),
            Err(error) => self.failed.push((file.to_owned(), chain(&error))),
        }
    }

    /// Whether anything was.
    fn note_blanked(&mut self, file: &str, revised: Result<usize, NotesError>) -> bool {
        match revised {
            Ok(0) => return false,
            Ok(_) => self.blanked.push(file.to_owned()),
            Err(error) => self.failed.push((file.to_owned(), chain(&error))),
        }
        true
    }
}

/// A line that a later one took the place of is as it was written, but for the mark that says so.
pub(super) fn without_mark(line: &str) -> &str {
    let marked = line.strip_prefix("(superseded ");
    marked
        .and_then(|rest| rest.split_once(") "))
        .map_or(line, |(_, line)| line)
}

fn newest(lines: &[Line], is_it: impl Fn(&str) -> bool) -> Option<&Line> {
    lines.iter().rev().find(|line| is_it(&line.text))
}
