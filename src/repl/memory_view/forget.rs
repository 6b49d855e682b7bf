//! Forgetting what was chosen everywhere outside of the open session, and how it is told. Unit: one forgetting.
//!
//! ```text
//!  messages masked -> what stands beside them -> entries -> files -> line history -> index -> receipts
//! ```
//! Invariant: messages come first and receipts last, so that whatever stops it in between, no request has the sentence
//! again and forgetting the same once more finishes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use super::{Caller, MemoryView, MemoryViewError};
use crate::agent::long_term::Forgotten;
use crate::chat::{MessageId, Record, Session, SessionName, Timestamp};
use crate::hint::chain;
use crate::index::session::{drop_words, keys_of};
use crate::index::vectors::Key;
use crate::long_term::entries::{EntriesError, Entry, EntryId, EntryStore, Scope};
use crate::memory::forgetting::{forgotten_in, redact, said_besides};
use crate::repl::input::forget_lines;
use crate::repl::transcript::first_words;
use crate::store::{SessionStore, StoreError};
use crate::term::{Verbosity, harmless};
use crate::text::statement::{Author, Statements};

/// What is to be forgotten.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Of captures.
    pub numbers: Vec<u64>,
    pub entries: Vec<EntryId>,
    pub statements: Statements,
    /// As it was said, to be told once more.
    pub texts: Vec<String>,
    /// The words that it was asked for by.
    pub asked: Option<String>,
    /// What of the names could not be chosen, and why.
    pub problems: Vec<String>,
    /// Messages of which something was forgotten before, by their sessions: to be struck from history.
    pub before: Vec<(String, MessageId)>,
    /// Whether a memory behind a server may have it.
    pub is_further: bool,
}

/// Whether what was said stays in history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    Kept,
    Redacted,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Gone {
    /// Where it was taken out.
    pub from: Vec<String>,
    /// An action of another process, and when it happens.
    later: Vec<String>,
    /// What could not be done, each with why.
    pub failed: Vec<String>,
    files: Forgotten,
    /// Texts whose vectors are to go.
    pub keys: BTreeSet<Key>,
}

impl Chosen {
    pub fn is_empty(&self) -> bool {
        let is_new = self.numbers.is_empty() && self.entries.is_empty();
        is_new && self.statements.is_empty() && self.before.is_empty()
    }

    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        self.numbers.extend(other.numbers);
        self.entries.extend(other.entries);
        other
            .statements
            .iter()
            .for_each(|it| self.statements.push(it.clone()));
        for text in other.texts {
            if !self.texts.contains(&text) {
                self.texts.push(text);
            }
        }
        self.problems.extend(other.problems);
        self.before.extend(other.before);
        self.asked = self.asked.or(other.asked);
        self.is_further |= other.is_further;
        self
    }

    /// Messages of a session that are struck from its history: those of which something was forgotten now or before.
    pub fn to_redact<'m>(
        &self,
        session: &SessionName,
        now: impl Iterator<Item = &'m MessageId>,
        history: History,
    ) -> Vec<MessageId> {
        if history == History::Kept {
            return Vec::new();
        }
        let before = self
            .before
            .iter()
            .filter(|(name, _)| name == session.as_str());
        let before = before.map(|(_, id)| id.clone());
        now.cloned().chain(before).collect()
    }

    /// The command that strikes from history what was forgotten.
    fn again(&self, caller: Caller) -> Option<String> {
        let numbers = self.numbers.iter().map(ToString::to_string);
        let numbers = numbers.collect::<Vec<_>>().join(" ");
        let what = Some(numbers).filter(|it| !it.is_empty());
        let what = what.or_else(|| self.asked.clone())?;
        Some(match caller {
            Caller::Chat => format!("`/forget {what} --redact`"),
            Caller::Shell | Caller::Private => caller.command(&format!("forget {what} --redact")),
        })
    }

    /// Forgets entries, in every project; tells of how many. They are on disk after the next flush.
    pub fn forget_entries(
        &self,
        entries: &mut EntryStore,
        now: Timestamp,
    ) -> Result<usize, EntriesError> {
        let statements = &self.statements;
        let left = |entry: &Entry, content: &str| {
            let key = entry.key.as_deref().unwrap_or_default();
            let is_all = self.entries.contains(&entry.id)
                || statements.are_all_of(content, Author::Person)
                || statements.are_all_of(&format!("{key} {content}"), Author::Person);
            if is_all {
                Some(String::new())
            } else {
                statements.without(content, Author::Person)
            }
        };
        entries.forget(&left, now).map(|gone| gone.len())
    }
}

impl Gone {
    fn is_from_history(&self) -> bool {
        let mut places = self.from.iter();
        places.any(|place| place == "history" || place.starts_with("the history of "))
    }

    /// Adds what went from the open session and from entries.
    pub fn also_from(&mut self, session: &[&str], entries: usize) {
        let mut from: Vec<String> = session.iter().map(|&place| place.to_owned()).collect();
        if entries > 0 {
            from.push("the entries".to_owned());
        }
        from.append(&mut self.from);
        self.from = from;
    }
}

impl MemoryView<'_> {
    /// Lets go of names that the person said besides, in any session: by them alone nothing is told.
    pub fn settle(&self, chosen: &mut Chosen) {
        let mut statements = std::mem::take(&mut chosen.statements);
        self.each_session(&mut |session| {
            let besides = said_besides(session, &statements);
            statements.without_names_of(&besides);
        });
        chosen.statements = statements;
    }

    /// Forgets in every session but the open one, in files, in the line history and at last in the receipts.
    pub fn forget(&self, chosen: &Chosen, history: History) -> Result<Gone, MemoryViewError> {
        let mut gone = Gone::default();
        let is_closed = |name: &SessionName| self.open.is_none_or(|open| open.name() != name);
        let data = self.data.to_owned();
        self.forget_in_all(
            (self.store, &data),
            &is_closed,
            (chosen, history),
            &mut gone,
        );
        for (root, store) in self.store.put_away() {
            self.forget_in_all((&*store, &root), &|_| true, (chosen, history), &mut gone);
            let notes = root.join("workspace");
            let notes = self.captures.forget_put_away(notes, &chosen.statements);
            if !notes.from.is_empty() {
                gone.from.push("notes in the trash or archive".to_owned());
            }
            let failed = notes.failed.into_iter();
            gone.failed
                .extend(failed.map(|(file, why)| format!("{file}: {why}")));
        }
        if let Some(file) = self.line_history {
            match forget_lines(self.disk, file, &chosen.statements) {
                Ok(0) => {}
                Ok(_) => gone.from.push("the input history".to_owned()),
                Err(error) => gone.failed.push(format!("the input history: {error}")),
            }
        }
        gone.files =
            self.captures
                .forget(&chosen.numbers, &chosen.statements, self.session, self.now)?;
        gone.from.extend(gone.files.from.iter().cloned());
        Ok(gone)
    }

    /// The same in the sessions of a store, below its folder.
    fn forget_in_all(
        &self,
        (store, root): (&dyn SessionStore, &Path),
        counts: &dyn Fn(&SessionName) -> bool,
        what: (&Chosen, History),
        gone: &mut Gone,
    ) {
        let listed = store.list().unwrap_or_default();
        for name in listed.into_iter().map(|info| info.name).filter(counts) {
            if let Err(error) = self.forget_in((store, root), &name, what, gone) {
                gone.failed
                    .push(format!("session {name}: {}", chain(&error)));
            }
        }
    }

    fn forget_in(
        &self,
        (store, root): (&dyn SessionStore, &Path),
        name: &SessionName,
        (chosen, history): (&Chosen, History),
        gone: &mut Gone,
    ) -> Result<(), StoreError> {
        let session = store.read(name)?;
        let called = if root == self.data {
            format!("session {name}")
        } else {
            format!("session {name} in the trash or archive")
        };
        let mut statements = chosen.statements.clone();
        if session.forgotten().is_pending {
            // What another one began is finished with it.
            let begun = forgotten_in(&session, session.forgotten());
            begun.iter().for_each(|it| statements.push(it.clone()));
        }
        let struck = redact(&session, &statements);
        let which = chosen.to_redact(name, struck.places.iter().map(|(id, _)| id), history);
        if struck.begin.is_none() && which.is_empty() {
            return Ok(());
        }
        let mut opened = match store.open(name, Duration::ZERO) {
            Ok(opened) => opened,
            Err(StoreError::Locked { .. }) => {
                store.leave_forgotten(name, &struck.places)?;
                gone.later.push(format!(
                    "session {name} is open elsewhere and will forget it with its next turn"
                ));
                if !which.is_empty() {
                    gone.failed.push(format!(
                        "the history of session {name}: it is open elsewhere; repeat this when it is closed"
                    ));
                }
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if let Some(begin) = struck.begin {
            opened.log.append(std::slice::from_ref(&begin))?;
            opened.session.apply(begin);
        }
        let index = root.join("vectordb");
        let said: BTreeSet<Key> = keys_of(&session).into_iter().collect();
        let left: BTreeSet<Key> = keys_of(&opened.session).into_iter().collect();
        if let Err(error) = drop_words(self.disk, &index, name) {
            gone.failed
                .push(format!("the index of session {name}: {error}"));
        }
        gone.keys.extend(said.difference(&left));
        opened.log.append(&struck.records)?;
        for record in struck.records {
            opened.session.apply(record);
        }
        if which.is_empty() {
            opened.log.checkpoint(&opened.session)?;
        } else {
            opened.session = opened.session.redacted(|id| which.contains(id));
            opened.log.rewrite(&opened.session)?;
            let left = opened.session.forgotten().clone();
            opened.log.append(&[Record::ForgottenReplaced(left)])?;
            gone.from.push(format!("the history of {called}"));
        }
        let from = struck.from.iter();
        gone.from
            .extend(from.map(|place| format!("{place} of {called}")));
        Ok(())
    }

    /// In words: what is gone, and what is left; in many words from where it is gone.
    pub fn told(
        &self,
        chosen: &Chosen,
        gone: &Gone,
        history: History,
        verbosity: Verbosity,
    ) -> String {
        let also = gone.files.receipts.iter().map(|it| it.number);
        let also: Vec<u64> = also
            .filter(|number| !chosen.numbers.contains(number))
            .collect();
        let texts = chosen.texts.iter();
        let texts = texts.map(|text| first_words(text, super::list::SHOWN));
        let mut lines: Vec<String> = texts.map(|text| format!("Forgotten: {text}")).collect();
        let mut left = Vec::new();
        if !also.is_empty() {
            left.push(format!("Also {}, saying the same.", joined(&also)));
        }
        left.push(match (history, self.caller) {
            (History::Redacted, _) if gone.is_from_history() => "Removed from history.".to_owned(),
            (History::Redacted, _) if !gone.failed.is_empty() => {
                "It may still be in history:".to_owned()
            }
            (History::Redacted, _) => "It was not in history.".to_owned(),
            (History::Kept, Caller::Private) => "This run is not saved in history.".to_owned(),
            (History::Kept, _) => match chosen.again(self.caller) {
                Some(again) => format!("Still in history; {again} removes it there."),
                None => "Still in history; `--redact` removes it there, too.".to_owned(),
            },
        });
        lines.push(left.join(" "));
        if verbosity == Verbosity::Verbose && !gone.from.is_empty() {
            lines.push(format!("Removed from {}", gone.from.join(", ")));
        }
        lines.extend(gone.later.iter().cloned());
        lines.extend(gone.files.restored.iter().map(|line| {
            let line = first_words(line.trim_start_matches("- "), super::list::SHOWN);
            format!("MEMORY.md: restored what it had replaced: {line}")
        }));
        lines.extend(gone.files.changed.iter().map(|file| {
            format!("{file}: the line is gone or was edited by hand, so nothing was removed")
        }));
        // One reason for many files is one thing to say.
        let mut left: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (file, why) in &gone.files.failed {
            left.entry(why).or_default().push(file);
        }
        lines.extend(left.iter().map(|(why, files)| {
            let files = files.join(", ");
            format!("Still in {files}: {why}; remove it there by hand")
        }));
        let failed = gone.failed.iter();
        lines.extend(failed.map(|why| format!("Not forgotten in {why}")));
        lines.extend(chosen.problems.iter().cloned());
        if let Some(asked) = &chosen.asked {
            let left = self.candidates(asked).map_or(0, |left| left.len());
            if left > 0 {
                let again = self.caller.command(&format!("forget {asked}"));
                lines.push(match left {
                    1 => format!("one more sentence matches: {again} forgets it"),
                    left => format!("{left} more sentences match: {again} lists them"),
                });
            }
        }
        if self.has_external && chosen.is_further {
            lines.push("mem0 may still have it: delete it there".to_owned());
        }
        harmless(&lines.join("\n"))
    }
}

fn joined(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

/// Texts that stand beside the messages of a session: summaries, what modes noted, the scratchpad, pins.
pub(super) fn texts_beside(session: &Session) -> Vec<String> {
    let mut texts = Vec::new();
    let mut take = |_: &str, text: &mut String| texts.push(std::mem::take(text));
    Record::HybridReplaced(session.hybrid().clone()).visit_side_texts(&mut take);
    Record::ModeStatesReplaced(session.mode_states().clone()).visit_side_texts(&mut take);
    Record::ScratchpadReplaced(session.scratchpad().clone()).visit_side_texts(&mut take);
    Record::PinsReplaced(session.pins().clone()).visit_side_texts(&mut take);
    texts
}

/// Takes an entry away, and the line of MEMORY.md that goes with it; it is on disk after the next flush.
pub fn remove(
    entries: &mut EntryStore,
    (name, scope): (&str, Option<Scope>),
    captures: Option<&crate::agent::long_term::Captures>,
    now: Timestamp,
) -> Result<String, MemoryViewError> {
    let (scope, entry) = entries.remove(name, scope)?;
    let gone = captures.and_then(|it| it.let_go(entry.id.as_str(), now).told());
    let gone = gone.map_or_else(String::new, |gone| format!("\nMEMORY.md: {gone}"));
    let words = first_words(&entry.content, super::list::SHOWN);
    let id = &entry.id;
    Ok(harmless(&format!(
        "Removed ({scope}): {words}\n`/memory restore {id}` in a chat brings it back{gone}"
    )))
}
