//! What was taken back, in words: which files no longer have it, which still do and why.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use super::origin::Origin;
use super::{Front, Holdings, HoldingsError, kind, name};
use crate::agent::notebook::{Captures, Forgotten};
use crate::chat::{Record, Session, SessionName, Timestamp};
use crate::entries::{Entry, EntryStore, Scope};
use crate::hint::chain;
use crate::notes::Receipt;
use crate::repl::transcript::first_words;
use crate::store::StoreError;
use crate::term::harmless;

/// Days whose notes are looked through for the same words.
const DAYS: usize = 30;
/// Places that are named.
const NAMED: usize = 5;

/// A capture that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    pub told: String,
    /// Lines to be taken out of the facts on the scratchpad of the open session; they are told as taken out.
    pub facts: Vec<String>,
    /// Numbers that were taken back along with it.
    pub also: Vec<u64>,
}

/// What became of facts on a scratchpad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// There are none.
    None,
    ByCaller,
    Yes,
    /// Why not.
    No(String),
}

impl Holdings<'_> {
    /// Whether a name is that of a capture.
    pub fn is_number(name: &str) -> bool {
        name::number(name.trim()).is_some()
    }

    /// Whether a name is one of these numbers.
    pub fn is_among(name: &str, numbers: &[u64]) -> bool {
        let number = name::number(name.trim()).and_then(|digits| digits.parse().ok());
        number.is_some_and(|number| numbers.contains(&number))
    }

    /// Takes back the capture of a number. Facts on the scratchpad of the session that is open here are the caller's to drop.
    pub fn forget(&self, number: &str) -> Result<TakenBack, HoldingsError> {
        let digits = name::number(number.trim()).unwrap_or_default();
        let receipt = self.capture(digits)?;
        let read = |name: &str| self.session_of(name);
        let captures = &self.captures;
        let forgotten = captures.forget(receipt.number, self.session, &read, self.now)?;
        let (mut lasting, mut dropped, mut facts) = (Vec::new(), Vec::new(), Vec::new());
        for name in forgotten.sessions() {
            let Some(said) = self.session_of(name) else {
                continue;
            };
            let noted = forgotten.facts_of(said.scratchpad().facts(), &said);
            let noted: Vec<String> = noted.into_iter().map(str::to_owned).collect();
            let done = self.drop_facts(name, &noted);
            if done == Dropped::ByCaller {
                facts = noted;
            }
            dropped.push((name.to_owned(), done));
            lasting.extend(self.message_left(&forgotten, &said));
        }
        let told = self.told(&forgotten, &dropped, lasting);
        let twins = forgotten.also.iter().map(|twin| twin.number);
        Ok(TakenBack {
            told: harmless(&told),
            facts,
            also: twins.chain(forgotten.drawn.iter().copied()).collect(),
        })
    }

    /// The session of a name, open or on disk, where it can be read.
    fn session_of(&self, name: &str) -> Option<Cow<'_, Session>> {
        if let Some(open) = self.open.filter(|open| open.name().as_str() == name) {
            return Some(Cow::Borrowed(open));
        }
        let name: SessionName = name.parse().ok()?;
        self.store.read(&name).ok().map(Cow::Owned)
    }

    /// Takes facts off the scratchpad of a session that is not open here.
    fn drop_facts(&self, session: &str, facts: &[String]) -> Dropped {
        if facts.is_empty() {
            return Dropped::None;
        }
        if self
            .open
            .is_some_and(|open| open.name().as_str() == session)
        {
            return Dropped::ByCaller;
        }
        let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
        let dropped = session
            .parse::<SessionName>()
            .map_err(|error| chain(&error))
            .and_then(|name| self.drop_on_disk(&name, &facts).map_err(|it| chain(&it)));
        dropped.map_or_else(Dropped::No, |()| Dropped::Yes)
    }

    fn drop_on_disk(&self, session: &SessionName, facts: &[&str]) -> Result<(), StoreError> {
        let mut opened = self.store.open(session, Duration::ZERO)?;
        let mut scratchpad = opened.session.scratchpad().clone();
        if scratchpad.drop_facts(facts) {
            let record = Record::ScratchpadReplaced(scratchpad);
            opened.log.append(std::slice::from_ref(&record))?;
            opened.session.apply(record);
            opened.log.checkpoint(&opened.session)?;
        }
        Ok(())
    }

    pub(super) fn told(
        &self,
        forgotten: &Forgotten,
        dropped: &[(String, Dropped)],
        lasting: Vec<String>,
    ) -> String {
        let Forgotten {
            receipt,
            from: _,
            facts: _,
            blanked: _,
            restored,
            also,
            drawn,
            changed,
            failed,
        } = forgotten;
        let what = &receipt.what;
        let text = first_words(&what.text, super::list::SHOWN);
        let mut lines = vec![format!(
            "Forgotten {} ({}): {text}",
            receipt.number,
            kind(&what.category)
        )];
        let twins = also.iter().map(|twin| twin.number);
        lines.extend(
            twins.map(|number| format!("number {number} said the same, and is taken back with it")),
        );
        lines.extend(drawn.iter().map(|number| {
            format!("number {number}, a fact with its words, is taken back with it")
        }));
        lines.extend(gone(forgotten, dropped));
        lines.extend(restored.iter().map(|line| {
            let line = first_words(line.trim_start_matches("- "), super::list::SHOWN);
            format!("MEMORY.md: what it had taken the place of counts again: {line}")
        }));
        lines.extend(changed.iter().map(|file| {
            format!("{file}: the line is gone or was changed by hand, so nothing was taken from it")
        }));
        let unchanged = failed.iter().map(|(file, why)| {
            format!("{file}: could not be changed, take the line out by hand: {why}")
        });
        lines.extend(unchanged);
        for (session, dropped) in dropped {
            if let Dropped::No(why) = dropped {
                lines.push(format!(
                    "the scratchpad of session {session} still has it ({why}); `/scratch rm session_facts` there takes it off"
                ));
            }
        }
        let entries: BTreeSet<&str> = forgotten
            .taken()
            .filter_map(|it| self.entry_of(it))
            .map(|entry| entry.id.as_str())
            .collect();
        lines.extend(entries.into_iter().map(|id| {
            let forget = self.front.command(&format!("forget {id}"));
            format!("the entry that says it stays: {forget} takes it back")
        }));
        let places = self.elsewhere(what.words());
        if !places.is_empty() {
            lines.push(format!(
                "its words also stand in {}: take them out by hand",
                places.join(", ")
            ));
        }
        lines.extend(lasting);
        // Only what was captured for good may have been sent there.
        let mut files = forgotten.taken().flat_map(|it| &it.what.files);
        if self.has_further && files.any(|file| file == "MEMORY.md") {
            lines.push("mem0 may have it too, and keeps it: delete it there".to_owned());
        }
        lines.join("\n")
    }

    /// Where the message itself still is, and how it is taken away.
    fn message_left(&self, forgotten: &Forgotten, said: &Session) -> Option<String> {
        let session = said.name();
        let here = |it: &&Receipt| it.what.session == session.as_str();
        let mut origins = forgotten.taken().filter(here).map(Origin::of);
        let is_there = |origin: Origin<'_>| said.messages().iter().any(|it| origin.is(it));
        if !origins.any(is_there) {
            return None;
        }
        let how = match (
            self.front,
            self.open.is_some_and(|it| it.name() == said.name()),
        ) {
            (Front::Chat, true) => {
                format!("`/delete {session}` in another session takes that away")
            }
            (Front::Chat, false) => format!("`/delete {session}` takes the session away"),
            (Front::Shell | Front::Private, _) => {
                format!("`cogtrix sessions delete {session}` takes the session away")
            }
        };
        Some(format!(
            "the message itself, and what sums it up, stays in session {session}: {how}"
        ))
    }

    /// Lines of the workspace that have the same words: `memory/2026-02-14.md:7`.
    fn elsewhere(&self, text: &str) -> Vec<String> {
        let workspace = &self.captures.workspace;
        let wanted = text.to_lowercase();
        let sources = workspace.sources(self.session, DAYS).found.into_iter();
        let mut places = sources.flat_map(|source| {
            // What cannot be read is told when it is shown.
            let text = workspace.text(&source).ok().flatten().unwrap_or_default();
            let lines: Vec<String> = (1..)
                .zip(text.lines())
                .filter(|(_, line)| line.to_lowercase().contains(&wanted))
                .map(|(number, _): (usize, _)| format!("{}:{number}", source.as_str()))
                .collect();
            lines
        });
        let mut named: Vec<String> = places.by_ref().take(NAMED).collect();
        if places.next().is_some() {
            named.push("…".to_owned());
        }
        named
    }
}

/// What was taken out where, in one line.
fn gone(forgotten: &Forgotten, dropped: &[(String, Dropped)]) -> Option<String> {
    let is_off = |(_, it): &(String, Dropped)| matches!(it, Dropped::ByCaller | Dropped::Yes);
    let scratchpad = dropped
        .iter()
        .any(is_off)
        .then(|| "the scratchpad".to_owned());
    let facts: Vec<String> = forgotten.facts.iter().cloned().chain(scratchpad).collect();
    let parts = [
        ("gone from ", &forgotten.from),
        ("facts with its words from ", &facts),
        ("its words from exchanges in ", &forgotten.blanked),
    ];
    let parts = parts.iter().filter(|(_, places)| !places.is_empty());
    let parts: Vec<String> = parts
        .map(|(what, places)| format!("{what}{}", places.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Takes an entry away, and the line of MEMORY.md that goes with it; it is on disk after the next flush.
pub fn remove(
    entries: &mut EntryStore,
    (name, scope): (&str, Option<Scope>),
    captures: Option<&Captures>,
    now: Timestamp,
) -> Result<String, HoldingsError> {
    let (scope, entry) = entries.remove(name, scope)?;
    let gone = captures.and_then(|it| it.let_go(entry.id.as_str(), now).told());
    let gone = gone.map_or_else(String::new, |gone| format!("\nMEMORY.md: {gone}"));
    Ok(removed(scope, &entry) + &harmless(&gone))
}

fn removed(scope: Scope, entry: &Entry) -> String {
    let words = first_words(&entry.content, super::list::SHOWN);
    let id = &entry.id;
    harmless(&format!(
        "Removed ({scope}): {words}\n`/memory restore {id}` in a chat brings it back"
    ))
}
