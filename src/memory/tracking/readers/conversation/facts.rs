//! Facts: what a person states about themselves and theirs that will still hold tomorrow.
//!
//! A sentence is cut into clauses where a subject follows a comma or a joining word. A clause is a fact when a
//! cue matches it from its subject on; when a habit matches it and nothing says that it is passing; or when it
//! goes on about somebody of whom a fact was just told (`she`, `Rex`).

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;

use super::names::Name;
use super::plain::{Forms, Plain};
use super::topics::Ending;
use super::words::{Lexicon, Role, Word, holding};
use super::{Lists, Spoken, language};
use crate::memory::tracking::Kind;
use crate::memory::tracking::cues::Cues;
use crate::memory::tracking::prose::End;
use crate::text::patterns::BadPattern;
use crate::text::secrets::MASK;

/// Words between the beginning of a clause and its subject: `on paper I'm …`.
const ADJUNCT: usize = 8;

/// Words of something that is only named.
const NAMED: usize = 4;

/// What the cue file says of facts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FactCues {
    subjects: String,
    starts: String,
    joiners: String,
    askers: String,
    imagined: String,
    openers: String,
    adjuncts: String,
    beings: String,
    verbs: String,
    elders: String,
    owners: String,
    fiction: String,
    /// Patterns of clauses that are no facts, whatever else they say.
    never: Vec<String>,
    cues: Vec<String>,
    /// Wide patterns, for clauses that no pattern of `passing` matches.
    habits: Vec<String>,
    passing: Vec<String>,
    /// What is told of somebody who was spoken of, with the name in `who` if it is one.
    follow: Vec<String>,
    /// Patterns of what no longer belongs to the clause.
    tails: Vec<String>,
}

impl FactCues {
    pub(super) fn words(&self, lexicon: &mut Lexicon) {
        for (role, list) in [
            (Role::Subject, &self.subjects),
            (Role::Start, &self.starts),
            (Role::Joiner, &self.joiners),
            (Role::Asker, &self.askers),
            (Role::Imagined, &self.imagined),
            (Role::Opener, &self.openers),
            (Role::Adjunct, &self.adjuncts),
            (Role::Being, &self.beings),
            (Role::Verb, &self.verbs),
            (Role::Elder, &self.elders),
            (Role::Owner, &self.owners),
            (Role::Fiction, &self.fiction),
        ] {
            lexicon.add(role, list);
        }
    }
}

/// Finds facts.
#[derive(Debug)]
pub(super) struct Facts {
    cues: Cues,
    habits: Cues,
    follow: Cues,
    tails: Ending,
}

/// Places among the words of a sentence: where a clause begins, its subject, and where it ends.
#[derive(Clone, Copy, Debug)]
struct Clause {
    first: usize,
    subject: usize,
    end: usize,
}

/// Of whom the text has told something.
#[derive(Debug, Default)]
struct Told<'a> {
    names: HashSet<&'a str>,
    /// The sentence before was about somebody.
    just_now: bool,
}

impl Facts {
    pub(super) fn new<'a>(
        sheets: impl Iterator<Item = (&'a FactCues, &'a Lists)>,
    ) -> Result<Self, BadPattern> {
        let (mut cues, mut habits, mut follow) = (Vec::new(), Vec::new(), Vec::new());
        let mut tails = Vec::new();
        for (sheet, lists) in sheets {
            let passing: Vec<_> = sheet.never.iter().chain(&sheet.passing).cloned().collect();
            cues.push(language(&sheet.cues, &sheet.never, lists, Kind::Fact));
            habits.push(language(&sheet.habits, &passing, lists, Kind::Fact));
            follow.push(language(&sheet.follow, &passing, lists, Kind::Fact));
            tails.extend(sheet.tails.iter().cloned());
        }
        Ok(Self {
            cues: Cues::new(&cues)?,
            habits: Cues::new(&habits)?,
            follow: Cues::new(&follow)?,
            tails: Ending::new(&tails),
        })
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.tails.check()?;
        self.cues.check()?;
        self.habits.check()?;
        self.follow.check()
    }

    /// Tells each fact of a text and where it begins.
    pub(super) fn read<'a>(
        &self,
        text: &[Spoken<'a>],
        quotes: &[Range<usize>],
        names: &[Name<'a>],
        forms: &Forms,
        mut found: impl FnMut(usize, &'a str),
    ) {
        let mut told = Told::default();
        let is_own = |spoken: &&Spoken<'_>| !spoken.words.iter().any(|w| w.is(Role::Fiction));
        for spoken in text.iter().take_while(is_own) {
            let facts = self.of_sentence(spoken, quotes, names, forms, &mut told);
            for fact in facts {
                found(spoken.at + fact.start, &spoken.sentence.text[fact]);
            }
        }
    }

    fn of_sentence<'a>(
        &self,
        spoken: &Spoken<'a>,
        quotes: &[Range<usize>],
        names: &[Name<'a>],
        forms: &Forms,
        told: &mut Told<'a>,
    ) -> Vec<Range<usize>> {
        let words = &spoken.words;
        let asks = spoken.sentence.end == End::Question;
        let mut facts: Vec<Range<usize>> = Vec::new();
        let mut goes_on = false;
        let mut is_about = false;
        for clause in clauses(words) {
            let first = &words[clause.first];
            let subject = &words[clause.subject];
            let is_last = clause.end == words.len();
            if first.is(Role::Imagined) || (asks && (is_last || first.is(Role::Asker))) {
                break;
            }
            let is_quoted = holding(quotes, spoken.at + subject.start).is_some();
            let told_now = told.just_now || is_about;
            let fact = (!is_quoted)
                .then(|| self.fact(spoken, clause, forms, told, told_now))
                .flatten()
                .filter(|fact| {
                    !spoken.sentence.text[fact.clone()].contains(&MASK[..MASK.len() - 1])
                });
            let went_on = std::mem::replace(&mut goes_on, fact.is_some());
            let beings = words[clause.subject..clause.end].iter();
            let speaks_of_own = goes_on || subject.is(Role::Owner);
            is_about |= speaks_of_own && beings.take(8).any(|word| word.is(Role::Being));
            is_about |= goes_on && told_now;
            if let Some(fact) = fact {
                let inside = within(names, spoken.at + fact.start..spoken.at + fact.end);
                is_about |= !inside.is_empty();
                let words = inside.iter().flat_map(|name| name.text.split_whitespace());
                told.names.extend(words);
                facts.push(fact);
            } else if went_on
                && first.is(Role::Owner)
                && clause.end - clause.first <= NAMED
                && let Some(last) = facts.last_mut()
            {
                // `… with my wife and my dog`
                last.end = end_of(&words[clause.end - 1]);
            }
        }
        told.just_now = is_about;
        facts
    }

    /// The fact that a clause states.
    fn fact(
        &self,
        spoken: &Spoken<'_>,
        clause: Clause,
        forms: &Forms,
        told: &Told<'_>,
        told_now: bool,
    ) -> Option<Range<usize>> {
        let words = &spoken.words;
        let subject = &words[clause.subject];
        let is_known = told.names.contains(subject.text);
        let may_begin = subject.is(Role::Subject)
            || subject.is(Role::Start)
            || is_known
            || words
                .get(clause.subject + 1)
                .is_some_and(|next| next.is(Role::Elder));
        if !may_begin {
            return None;
        }
        let plain = Plain::of(words, clause.subject..clause.end, forms);
        // A cue ends with the blank after its last word.
        let length = (self.tails.of(&plain.text) + 1).min(plain.text.len());
        let said = plain.text.get(..length)?;
        let last = plain.places(0..length).end.checked_sub(1)?;
        let from = if let Some((_, captures)) = self.cues.read(said).next() {
            let part = captures.name("text");
            part.map_or(clause.first, |part| plain.places(part.range()).start)
        } else {
            let follow = (told_now || is_known).then(|| self.follow.read(said));
            let mut follow = follow.into_iter().flatten();
            let is_fact = self.habits.read(said).next().is_some()
                || follow.any(|(_, captures)| {
                    let has_name = captures.name("who").is_some();
                    if has_name { is_known } else { told_now }
                });
            is_fact.then_some(clause.first)?
        };
        let start = words[from].start;
        let end = end_of(&words[last]);
        let closing = [('"', '"'), ('(', ')'), ('“', '”')]
            .into_iter()
            .find(|(open, close)| {
                let said = &spoken.sentence.text[start..end];
                words[last].after.starts_with(*close) && said.contains(*open)
            });
        Some(start..end + closing.map_or(0, |(_, close)| close.len_utf8()))
    }
}

/// Names that stand in this stretch of the text.
fn within<'n, 'a>(names: &'n [Name<'a>], range: Range<usize>) -> &'n [Name<'a>] {
    let from = names.partition_point(|name| name.at < range.start);
    let to = names.partition_point(|name| name.at < range.end);
    &names[from..to.max(from)]
}

/// Where a word ends, its `'s` counted.
fn end_of(word: &Word<'_>) -> usize {
    let owner = if word.owns() {
        word.after.find('s').map_or(0, |s| s + 1)
    } else {
        0
    };
    word.end + owner
}

/// The clauses of a sentence, bare of the words that open and join them.
fn clauses(words: &[Word<'_>]) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut from = 0;
    for place in 1..words.len() {
        let begins = words[place].is(Role::Subject)
            || words[place].is(Role::Asker)
            || words[place].is(Role::Imagined)
            || words
                .get(place + 1)
                .is_some_and(|next| next.is(Role::Elder))
            || is_told_of(words, place);
        if !begins {
            continue;
        }
        let joiners = words[from..place].iter().rev();
        let joined = joiners
            .take_while(|word| word.is(Role::Joiner) && !word.pauses())
            .count();
        let end = place - joined;
        if is_company(&words[from..end], &words[place]) {
            continue;
        }
        if joined > 0 || words[place - 1].pauses() {
            push(words, from, end, &mut clauses);
            from = place;
        }
    }
    push(words, from, words.len(), &mut clauses);
    clauses
}

/// `my brother Kwame`, before `and I`.
fn is_company(before: &[Word<'_>], subject: &Word<'_>) -> bool {
    let before = before.iter().skip_while(|word| word.is(Role::Opener));
    let mut before = before.take(4);
    subject.text == "I"
        && before.next().is_some_and(|word| word.is(Role::Owner))
        && before.next().is_some_and(|word| word.is(Role::Being))
        && before.all(|word| word.text.starts_with(char::is_uppercase) && word.after.is_empty())
}

/// A name and what it does.
fn is_told_of(words: &[Word<'_>], place: usize) -> bool {
    words[place].text.starts_with(char::is_uppercase)
        && words.get(place + 1).is_some_and(|next| next.is(Role::Verb))
}

fn push(words: &[Word<'_>], from: usize, end: usize, clauses: &mut Vec<Clause>) {
    let opened = words[from..end].iter();
    let first = from + opened.take_while(|word| word.is(Role::Opener)).count();
    if first >= end {
        return;
    }
    let subject = if words[first].is(Role::Adjunct) {
        let near = words[first + 1..end].iter().take(ADJUNCT);
        let subject = near.skip(1).position(|word| word.is(Role::Subject));
        subject.map_or(first, |place| first + 2 + place)
    } else {
        first
    };
    clauses.push(Clause {
        first,
        subject,
        end,
    });
}
