//! Taking back what was captured: the line leaves the files, and so do the facts with its words and the words in what was
//! noted of the exchange; a line it had taken the place of counts again; the receipt says so. Unit: one capture.
//!
//! Invariant: only lines as they were written are removed; one that a person changed since stays, and that is told. A file that
//! cannot be changed keeps no other from being changed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::captures::Captures;
use super::capturing::{LONG_TERM, bullets, is_captured_as, statement};
use super::restoring;
use super::striking::{Words, all_said};
use crate::chat::{Session, SessionName, Timestamp};
use crate::hint::chain;
use crate::notes::{Captured, Line, NotesError, Receipt, ReceiptsError, SessionNotes, unmarked};

/// Reads the session of a name, where it can be read.
pub type Said<'a> = dyn Fn(&str) -> Option<Cow<'a, Session>> + 'a;

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
    /// What said the same: it is taken back as well, since what is forgotten is gone.
    pub also: Vec<Receipt>,
    /// Numbers of facts of MEMORY.md that went with its words.
    pub drawn: Vec<u64>,
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
    /// may have another name by now. `said`: the sessions it and its like were said in.
    pub fn forget(
        &self,
        number: u64,
        open: &SessionName,
        said: &Said<'_>,
        now: Timestamp,
    ) -> Result<Forgotten, NotForgotten> {
        let mut receipts = self.receipts.all()?;
        let receipt = receipts.iter().find(|receipt| receipt.number == number);
        let receipt = receipt.cloned().ok_or(NotForgotten::NoSuch { number })?;
        if receipt.forgotten {
            return Err(NotForgotten::Already { number });
        }
        let mut forgotten = Forgotten::new(receipt);
        let mut is_current = self.take_out(&mut forgotten, open)?;
        self.receipts.forget(number, now)?;
        is_current |= self.forget_twins(&mut forgotten, &receipts, open, now)?;
        for receipt in &mut receipts {
            receipt.forgotten |= forgotten.taken().any(|it| it.number == receipt.number);
        }
        self.strike(&mut forgotten, &receipts, open, said, now)?;
        if is_current {
            self.restore(&mut forgotten, &receipts);
        }
        Ok(forgotten)
    }

    /// Takes its own lines out; tells whether the one of MEMORY.md counted.
    fn take_out(&self, forgotten: &mut Forgotten, open: &SessionName) -> Result<bool, NotesError> {
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
        match failure.filter(|_| forgotten.from.is_empty()) {
            Some(failure) => Err(failure),
            None => Ok(is_current),
        }
    }

    /// Takes back what said the same; tells whether a line of MEMORY.md that went with it counted.
    fn forget_twins(
        &self,
        forgotten: &mut Forgotten,
        receipts: &[Receipt],
        open: &SessionName,
        now: Timestamp,
    ) -> Result<bool, ReceiptsError> {
        let mut is_current = false;
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
                    Ok(Removed::No) => {}
                    Ok(removed) => {
                        is_current |= file == LONG_TERM && removed == Removed::Yes;
                        once(&mut forgotten.from, file);
                    }
                    Err(error) => forgotten.fail(file, &error),
                }
            }
            self.receipts.forget(twin.number, now)?;
            forgotten.also.push(twin.clone());
        }
        Ok(is_current)
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
                written(line).is_some_and(|line| texts.contains(&line))
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

    /// Takes out what was drawn from its words, wherever they were said.
    fn strike(
        &self,
        forgotten: &mut Forgotten,
        receipts: &[Receipt],
        open: &SessionName,
        said: &Said<'_>,
        now: Timestamp,
    ) -> Result<(), ReceiptsError> {
        let taken: Vec<Receipt> = forgotten.taken().cloned().collect();
        let sessions = taken.iter().map(|it| it.what.session.as_str());
        let read = |name| (name, said(name).map(|session| all_said(&session)));
        let said: BTreeMap<&str, Option<String>> = sessions.map(read).collect();
        let words = taken.iter().map(|it| {
            let said = said.get(it.what.session.as_str());
            Words::new(it.what.words(), said.and_then(Option::as_deref))
        });
        let words: Vec<Words<'_>> = words.collect();
        for (receipt, words) in taken.iter().zip(&words) {
            self.strike_of(forgotten, receipt, words, open);
        }
        self.close_facts(forgotten, receipts, &words, now)
    }

    /// The same of one of those that said it.
    fn strike_of(
        &self,
        forgotten: &mut Forgotten,
        receipt: &Receipt,
        words: &Words<'_>,
        open: &SessionName,
    ) {
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
        match self.notes_of(receipt, open) {
            Ok(notes) => {
                let buffers = notes.buffer().revise(&|lines| words.everywhere(lines));
                for (file, revised) in buffers {
                    forgotten.note_blanked(&file, revised);
                }
            }
            Err(error) => forgotten.fail(&receipt.what.session, &error),
        }
    }

    /// A fact whose line went with the words has nothing left to be taken back, and does not say them again.
    fn close_facts(
        &self,
        forgotten: &mut Forgotten,
        receipts: &[Receipt],
        words: &[Words<'_>],
        now: Timestamp,
    ) -> Result<(), ReceiptsError> {
        // What cannot be read was told when its facts were looked for.
        let Ok(lines) = self.workspace.long_term().lines() else {
            return Ok(());
        };
        let is_open = |it: &&Receipt| !it.forgotten && it.what.category == Captured::FACT;
        for fact in receipts.iter().filter(is_open) {
            let line = format!("- {}", fact.what.text);
            let is_drawn = words.iter().any(|words| words.are_fact(&line));
            if is_drawn && lines.iter().all(|it| it.text.trim() != line) {
                self.receipts.forget(fact.number, now)?;
                forgotten.drawn.push(fact.number);
            }
        }
        Ok(())
    }

    /// Lines that it had taken the place of count again.
    fn restore(&self, forgotten: &mut Forgotten, receipts: &[Receipt]) {
        let memory = self.workspace.long_term();
        let outdated = restoring::outdated_by(forgotten.taken(), receipts);
        for outdated in outdated {
            match memory.revise(&|lines| outdated.unmark(lines)) {
                Ok(0) => {}
                Ok(_) => forgotten.restored.push(outdated.line.clone()),
                Err(error) => forgotten.fail(LONG_TERM, &error),
            }
        }
    }
}

impl Forgotten {
    fn new(receipt: Receipt) -> Self {
        Self {
            receipt,
            from: Vec::new(),
            facts: Vec::new(),
            blanked: Vec::new(),
            restored: Vec::new(),
            also: Vec::new(),
            drawn: Vec::new(),
            changed: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// It and all that said the same.
    pub fn taken(&self) -> impl Iterator<Item = &Receipt> {
        std::iter::once(&self.receipt).chain(&self.also)
    }

    /// The sessions in which it was said.
    pub fn sessions(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for receipt in self.taken() {
            let name = receipt.what.session.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Facts of some lines that have its words, and were noted of a session.
    pub fn facts_of<'a>(&self, noted: &'a str, session: &Session) -> Vec<&'a str> {
        let said = all_said(session);
        let here = |it: &&Receipt| it.what.session == session.name().as_str();
        let words = self.taken().filter(here);
        let words: Vec<Words<'_>> = words
            .map(|it| Words::new(it.what.words(), Some(&said)))
            .collect();
        let is_fact = |line: &&str| words.iter().any(|words| words.are_fact(line));
        noted.lines().filter(is_fact).collect()
    }

    fn note_facts(&mut self, file: &str, revised: Result<usize, NotesError>) {
        match revised {
            Ok(0) => {}
            Ok(_) => once(&mut self.facts, file),
            Err(error) => self.fail(file, &error),
        }
    }

    /// Whether anything was.
    fn note_blanked(&mut self, file: &str, revised: Result<usize, NotesError>) -> bool {
        match revised {
            Ok(0) => return false,
            Ok(_) => once(&mut self.blanked, file),
            Err(error) => self.fail(file, &error),
        }
        true
    }

    fn fail(&mut self, file: &str, error: &NotesError) {
        let failed = (file.to_owned(), chain(error));
        if !self.failed.contains(&failed) {
            self.failed.push(failed);
        }
    }
}

fn once(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// What a line of a list says as it was written: a later one may have taken its place since.
pub(super) fn written(line: &str) -> Option<String> {
    let unmarked = unmarked(line).map(|(line, _)| line);
    let line = unmarked.as_deref().unwrap_or(line).trim_start();
    line.strip_prefix("- ").map(str::to_owned)
}

fn newest(lines: &[Line], is_it: impl Fn(&str) -> bool) -> Option<&Line> {
    lines.iter().rev().find(|line| is_it(&line.text))
}
