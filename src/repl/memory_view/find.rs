//! What is to be forgotten: by number, range, id, key, `last`, or words. Unit: one request of the person.
//!
//! Invariant: nothing changes here. Words that mean several things choose none of them: all are listed, each with how
//! it is named.

mod candidates;
mod names;

use super::forget::{Chosen, History};
use super::name::unknown;
use super::origin::Origin;
use super::{MemoryView, MemoryViewError, list};
use crate::chat::{MessageId, Session, Turn};
use crate::long_term::entries::{EntriesError, Entry, Scope};
use crate::long_term::notes::{Captured, Receipt};
use crate::repl::transcript::first_words;
use crate::term::harmless;
use crate::text::statement::{Statement, Statements, sentences};
use names::{Name, Pick, names, picked};

pub(super) use candidates::Candidate;

/// What the words mean.
#[derive(Debug)]
pub enum Found {
    One(Chosen),
    /// Several things, listed.
    Several(String),
}

/// Candidates that are listed.
const MAX_LISTED: usize = 20;
/// Captures that are offered where nothing has the words.
const MAX_OFFERED: usize = 8;

impl MemoryView<'_> {
    /// Finds what is meant; what is to be struck from history may have been forgotten before. `scope`: where the entry
    /// of a key is.
    pub fn find(
        &self,
        asked: &str,
        scope: Option<Scope>,
        history: History,
    ) -> Result<Found, MemoryViewError> {
        let asked = asked.trim();
        if asked == "last" {
            return self.newest().map(Found::One);
        }
        if let Some(chosen) = self.entry_named(asked, scope)? {
            return Ok(Found::One(chosen));
        }
        let is_key = |word: &str| {
            self.entries
                .all()
                .any(|(_, it)| it.key.as_deref() == Some(word))
        };
        if let Some(names) = names(asked, &is_key) {
            let error = match self.named_all(&names, scope, history) {
                Err(error @ MemoryViewError::NoNumber { .. }) => error,
                named => return named.map(Found::One),
            };
            let candidates = self.candidates(asked)?;
            if candidates.is_empty() {
                return Err(error);
            }
            // A sum or a year that was said, and no number of a capture.
            if !names.iter().all(Name::may_be_number) {
                return self.with_words(asked, history);
            }
            let heading = format!("No note has this number. Messages that contain {asked}:");
            return Ok(Found::Several(self.listed(
                &heading,
                Some(asked),
                &candidates,
            )));
        }
        self.with_words(asked, history)
    }

    fn with_words(&self, asked: &str, history: History) -> Result<Found, MemoryViewError> {
        let (words, pick) = picked(asked);
        let mut candidates = self.candidates(words)?;
        let mut chosen = match (pick, candidates.len()) {
            (_, 0) => match self.forgotten_before(words) {
                chosen if history == History::Redacted && !chosen.is_empty() => chosen,
                _ => return self.nothing_says(words),
            },
            // The beginning of a word may be that of another: it is shown first.
            (Pick::None, 1) if has_whole_words(&candidates[0].text, words) => {
                candidates.remove(0).chosen
            }
            (Pick::All, _) => {
                let chosen = candidates.into_iter().map(|it| it.chosen);
                chosen.fold(Chosen::default(), Chosen::and)
            }
            (Pick::Number(number), count) if (1..=count).contains(&number) => {
                candidates.remove(number - 1).chosen
            }
            (Pick::None | Pick::Number(_), _) => {
                let shown = first_words(words, list::SHOWN);
                let heading = match candidates.len() {
                    1 => format!("One match starting with {shown}:"),
                    _ => format!("Several matches for {shown}:"),
                };
                return Ok(Found::Several(self.listed(
                    &heading,
                    Some(words),
                    &candidates,
                )));
            }
        };
        chosen.statements.ask_as(words);
        // Behind a number others have the words, too: asked for again, they would mean another.
        chosen.asked = (!matches!(pick, Pick::Number(_))).then(|| words.to_owned());
        Ok(Found::One(chosen))
    }

    /// Nothing has the words: what was kept last is offered by number.
    fn nothing_says(&self, words: &str) -> Result<Found, MemoryViewError> {
        let mut newest = self.captures_that(&|_| true)?;
        newest.truncate(MAX_OFFERED);
        let words = first_words(words, list::SHOWN);
        if newest.is_empty() {
            return Err(MemoryViewError::NothingSays { words });
        }
        let heading = format!("No match for {words}. Most recent:");
        Ok(Found::Several(self.listed(&heading, None, &newest)))
    }

    /// What the last turn of the open session kept.
    pub fn kept_last(&self) -> Result<Chosen, MemoryViewError> {
        let session = self.open.ok_or(MemoryViewError::NothingKept)?;
        // What an undone turn kept stays until it is forgotten.
        let turns = [session.turns().last(), session.live_turns().next_back()];
        for turn in turns.into_iter().flatten() {
            let chosen = self.kept_in(session, turn)?;
            if !chosen.is_empty() {
                return Ok(chosen);
            }
        }
        Err(self
            .newest()
            .map_or_else(|error| error, |it| of_newest(&it)))
    }

    fn kept_in(&self, session: &Session, turn: &Turn) -> Result<Chosen, MemoryViewError> {
        let ids: Vec<&str> = session
            .messages_of(turn)
            .iter()
            .map(|message| message.id.as_str())
            .collect();
        let is_of_turn =
            |name: &str, message: &str| name == session.name().as_str() && ids.contains(&message);
        let receipts = self.captures.all()?;
        let receipts = receipts.iter().filter(|it| {
            !it.forgotten
                && it.what.category != Captured::MASKED
                && is_of_turn(&it.what.session, &it.what.message)
        });
        let mut chosen = receipts
            .map(|receipt| self.of_receipt(receipt))
            .fold(Chosen::default(), Chosen::and);
        for (_, entry) in self.entries.all() {
            let from = entry.from.as_ref();
            if from.is_some_and(|from| is_of_turn(&from.session, &from.message)) {
                chosen = chosen.and(self.of_entry_forgotten(entry));
            }
        }
        Ok(chosen)
    }

    fn newest(&self) -> Result<Chosen, MemoryViewError> {
        let receipts = self.captures.all()?;
        let receipt = receipts
            .iter()
            .rfind(|it| !it.forgotten && it.what.category != Captured::MASKED);
        let entry = self
            .entries
            .all()
            .map(|(_, entry)| entry)
            .max_by_key(|it| it.at.unix());
        match (receipt, entry) {
            (None, None) => Err(MemoryViewError::NothingKept),
            (Some(receipt), Some(entry))
                if receipt.at.is_some_and(|at| at.unix() < entry.at.unix()) =>
            {
                Ok(self.of_entry_forgotten(entry))
            }
            (None, Some(entry)) => Ok(self.of_entry_forgotten(entry)),
            (Some(receipt), _) => Ok(self.of_receipt(receipt)),
        }
    }

    /// One that cannot be had keeps no other from being chosen.
    fn named_all(
        &self,
        names: &[Name<'_>],
        scope: Option<Scope>,
        history: History,
    ) -> Result<Chosen, MemoryViewError> {
        let mut chosen = Chosen::default();
        let mut first = None;
        for name in names {
            let found = match name {
                Name::One(digits) => self.numbered(digits, history),
                Name::Range(from, upto) => self.range(*from, *upto),
                Name::Entry(name) => self
                    .entry_named(name, scope)
                    .and_then(|it| it.ok_or_else(|| unknown(name))),
            };
            match found {
                Ok(found) => chosen = chosen.and(found),
                Err(error) => {
                    chosen
                        .problems
                        .push(format!("{name}: not forgotten: {error}"));
                    first = first.or(Some(error));
                }
            }
        }
        match first {
            Some(error) if chosen.is_empty() => Err(error),
            Some(_) | None => Ok(chosen),
        }
    }

    fn range(&self, from: u64, upto: u64) -> Result<Chosen, MemoryViewError> {
        let receipts = self.captures.all()?;
        let inside = |it: &&Receipt| !it.forgotten && (from..=upto).contains(&it.number);
        let mut inside = receipts.iter().filter(inside).peekable();
        if inside.peek().is_none() {
            return Err(MemoryViewError::NoNumber {
                digits: format!("{from}-{upto}"),
            });
        }
        Ok(inside
            .map(|it| self.of_receipt(it))
            .fold(Chosen::default(), Chosen::and))
    }

    fn numbered(&self, digits: &str, history: History) -> Result<Chosen, MemoryViewError> {
        let receipt = self.capture(digits)?;
        let number = receipt.number;
        match (receipt.forgotten, history) {
            (false, _) => Ok(self.of_receipt(&receipt)),
            (true, History::Kept) => Err(MemoryViewError::Already { number }),
            (true, History::Redacted) => Ok(Chosen {
                before: vec![(receipt.what.session, MessageId::new(receipt.what.message))],
                texts: vec![format!("{number}")],
                ..Chosen::default()
            }),
        }
    }

    /// Messages of which something with these words was forgotten before.
    fn forgotten_before(&self, words: &str) -> Chosen {
        let mut chosen = Chosen::default();
        self.each_session(&mut |session| {
            for index in 0..session.messages().len() {
                let said = session.as_said(index);
                let texts = session.forgotten().texts(said);
                let with_words = texts
                    .into_iter()
                    .find(|text| Statement::of(text).is_some_and(|it| it.has_words(words)));
                if let Some(text) = with_words {
                    let name = session.name().as_str().to_owned();
                    chosen.before.push((name, said.id.clone()));
                    if !chosen.texts.iter().any(|known| known == text) {
                        chosen.texts.push(text.to_owned());
                    }
                }
            }
        });
        chosen
    }

    /// By its id, or else its key.
    fn entry_named(
        &self,
        name: &str,
        scope: Option<Scope>,
    ) -> Result<Option<Chosen>, MemoryViewError> {
        let all = || {
            let all = self.entries.all();
            all.filter(|(its, _)| scope.is_none_or(|scope| scope == *its))
        };
        if let Some((_, entry)) = all().find(|(_, entry)| entry.id.as_str() == name) {
            return Ok(Some(self.of_entry_forgotten(entry)));
        }
        let keyed: Vec<(Scope, &Entry)> = all()
            .filter(|(_, entry)| entry.key.as_deref() == Some(name))
            .collect();
        match keyed.as_slice() {
            [] => Ok(None),
            [(_, entry)] => Ok(Some(self.of_entry_forgotten(entry))),
            several => Err(EntriesError::Ambiguous {
                name: name.to_owned(),
                found: several
                    .iter()
                    .map(|(its, it)| (*its, it.id.clone()))
                    .collect(),
            }
            .into()),
        }
    }

    fn of_receipt(&self, receipt: &Receipt) -> Chosen {
        let mut chosen = Chosen {
            numbers: vec![receipt.number],
            statements: self.statements_of(receipt),
            texts: vec![receipt.what.text.clone()],
            is_further: receipt.what.files.iter().any(|file| file == "MEMORY.md"),
            ..Chosen::default()
        };
        if let Some(entry) = self.entry_of(receipt) {
            chosen.entries.push(entry.id.clone());
        }
        chosen
    }

    fn of_entry_forgotten(&self, entry: &Entry) -> Chosen {
        let content = Statement::of(&entry.content).filter(|it| !it.is_vague());
        let keyed = || {
            let key = entry.key.as_deref().unwrap_or_default();
            Statement::of(&format!("{key} {}", entry.content))
        };
        let tied = self.captures.of_entry(entry.id.as_str());
        Chosen {
            entries: vec![entry.id.clone()],
            numbers: tied.iter().map(|it| it.number).collect(),
            statements: content.or_else(keyed).into_iter().collect(),
            texts: vec![entry.content.clone()],
            is_further: true,
            ..Chosen::default()
        }
    }

    /// What a capture says; where its own words are too few to be known elsewhere, the sentence they were said in.
    fn statements_of(&self, receipt: &Receipt) -> Statements {
        let words = receipt.what.words();
        let mut statements: Statements = Statement::of(words).into_iter().collect();
        let mut parts = sentences(words).map(|range| &words[range]).peekable();
        let first = parts.next();
        if parts.peek().is_some() {
            let each = first.into_iter().chain(parts).filter_map(Statement::of);
            each.filter(|it| !it.is_vague())
                .for_each(|it| statements.push(it));
        }
        if statements.iter().any(Statement::is_vague)
            && let Ok((_, message)) = self.message(&Origin::of(receipt))
        {
            let said = message.said();
            let of_message = sentences(&said).map(|range| &said[range]);
            let with_words = of_message.filter(|sentence| {
                statements
                    .iter()
                    .any(|it| Statement::of(sentence).is_some_and(|whole| whole.has_all_of(it)))
            });
            let whole: Vec<Statement> = with_words.filter_map(Statement::of).collect();
            for sentence in whole {
                statements.push(sentence);
            }
        }
        statements
    }

    /// Every session that can be read, the open one first.
    pub(super) fn each_session(&self, look: &mut dyn FnMut(&Session)) {
        if let Some(open) = self.open {
            look(open);
        }
        let listed = self.store.list().unwrap_or_default();
        let closed = listed.into_iter().map(|info| info.name);
        for name in closed.filter(|name| self.open.is_none_or(|open| open.name() != name)) {
            match self.store.read(&name) {
                Ok(session) => look(&session),
                Err(error) => tracing::warn!("session {name} was not searched: {error}"),
            }
        }
    }

    /// `words`: what all of them have.
    fn listed(&self, heading: &str, words: Option<&str>, candidates: &[Candidate]) -> String {
        let mut lines = vec![heading.to_owned()];
        for (number, candidate) in (1..).zip(candidates).take(MAX_LISTED) {
            let name = candidate.name.as_deref();
            let name = name.map_or_else(|| format!("#{number}"), str::to_owned);
            let text = first_words(&candidate.text, list::SHOWN);
            lines.push(format!("  {name:>5}  {text}  [{}]", candidate.place));
        }
        let more = candidates.len().saturating_sub(MAX_LISTED);
        if more > 0 {
            lines.push(format!("  … {more} more; add words to narrow it down"));
        }
        let forget = |what: &str| self.caller.command(&format!("forget {what}"));
        let asked = words.unwrap_or_default();
        let one = match candidates.first().map(|it| &it.name) {
            Some(Some(name)) => forget(name),
            Some(None) | None => forget(&format!("{asked} #1")),
        };
        let all = words.map_or_else(String::new, |words| {
            format!(", {} all of them", forget(&format!("{words} #all")))
        });
        lines.push(format!(
            "Nothing forgotten yet. {one} forgets the first{all}"
        ));
        harmless(&lines.join("\n"))
    }
}

fn has_whole_words(text: &str, words: &str) -> bool {
    let asked = Statement::of(words);
    let said = Statement::of(text);
    asked
        .zip(said)
        .is_none_or(|(asked, said)| said.has_forms_of(&asked))
}

/// The newest of all that is kept, where the last turn kept nothing.
fn of_newest(chosen: &Chosen) -> MemoryViewError {
    let number = chosen.numbers.first().map(ToString::to_string);
    let id = chosen.entries.first().map(|id| id.as_str().to_owned());
    let text = chosen.texts.first().map(String::as_str);
    MemoryViewError::LastKeptNothing {
        name: number.or(id).unwrap_or_default(),
        text: first_words(text.unwrap_or_default(), list::SHOWN),
    }
}
