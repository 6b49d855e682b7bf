//! Entities: names of people, places, organisations, products and works, told by their capitals.
//!
//! A name is a run of words with a capital, joined by particles (`van`, `of the`). At the beginning of a sentence
//! a capital says nothing, so a single word there counts only when the text has it as a name elsewhere. Quoted
//! titles count as written. Shouting, title case, other scripts, and languages that write every noun with a
//! capital say nothing.

use std::collections::HashSet;
use std::ops::{Deref, Range};

use serde::Deserialize;

use super::plain::{Forms, Plain};
use super::runs::{Runs, is_capital, is_ordinary, looks_like_name};
use super::words::{Lexicon, Role, Word};
use super::{Lists, Spoken, language};
use crate::memory::tracking::Kind;
use crate::memory::tracking::cues::Cues;
use crate::text::patterns::BadPattern;

/// What the cue file says of names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NameCues {
    starters: String,
    not_names: String,
    adjectives: String,
    titles: String,
    particles: String,
    works: String,
    acts: String,
    common: String,
    foreign: String,
    greetings: String,
    prefixes: String,
    places: String,
    whole: String,
    acronyms: String,
    honorifics: String,
    /// Patterns of introductions, for texts without any capital; the name is `text`.
    introduced: Vec<String>,
}

impl NameCues {
    pub(super) fn words(&self, lexicon: &mut Lexicon) {
        for (role, list) in [
            (Role::Starter, &self.starters),
            (Role::NotName, &self.not_names),
            (Role::Adjective, &self.adjectives),
            (Role::Title, &self.titles),
            (Role::Particle, &self.particles),
            (Role::Work, &self.works),
            (Role::Acts, &self.acts),
            (Role::Common, &self.common),
            (Role::Foreign, &self.foreign),
            (Role::Greeting, &self.greetings),
            (Role::Prefix, &self.prefixes),
            (Role::Institution, &self.places),
            (Role::Whole, &self.whole),
            (Role::Acronym, &self.acronyms),
            (Role::Honorific, &self.honorifics),
        ] {
            lexicon.add(role, list);
        }
    }
}

/// A name and where it stands in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) at: usize,
    pub(super) text: &'a str,
}

/// Finds names.
#[derive(Debug)]
pub(super) struct Names {
    introduced: Cues,
}

/// How sure a name is of being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    Yes,
    /// If the text has it elsewhere.
    IfKnown,
}

impl Names {
    pub(super) fn new<'a>(
        sheets: impl Iterator<Item = (&'a NameCues, &'a Lists)>,
    ) -> Result<Self, BadPattern> {
        let languages: Vec<_> = sheets
            .map(|(cues, lists)| language(&cues.introduced, &[], lists, Kind::Entity))
            .collect();
        Ok(Self {
            introduced: Cues::new(&languages)?,
        })
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.introduced.check()
    }

    /// The names of a text in order.
    pub(super) fn read<'a>(
        &self,
        text: &'a str,
        sentences: &[Spoken<'a>],
        quotes: &[Range<usize>],
        forms: &Forms,
        reply: &impl Deref<Target = Reply>,
    ) -> Vec<Name<'a>> {
        let mut found = Vec::new();
        let tongue = Tongue::of(sentences.iter().flat_map(|spoken| &spoken.words));
        let has_capitals = text.chars().any(char::is_uppercase);
        for spoken in sentences {
            if !has_capitals {
                self.introductions(spoken, forms, reply, &mut found);
            } else if may_name(spoken, tongue) {
                Runs {
                    text,
                    spoken,
                    quotes,
                }
                .read(&mut found);
            }
        }
        known(found, reply)
    }

    fn introductions<'a>(
        &self,
        spoken: &Spoken<'a>,
        forms: &Forms,
        reply: &impl Deref<Target = Reply>,
        found: &mut Vec<(Name<'a>, Sure)>,
    ) {
        let words = &spoken.words;
        let plain = Plain::of(words, 0..words.len(), forms);
        let name_of = |word: &Word<'a>| Name {
            at: spoken.at + word.start,
            text: word.text,
        };
        let from = found.len();
        for (_, captures) in self.introduced.read(&plain.text) {
            let name = captures.name("text").map(|name| plain.places(name.range()));
            let word = name.and_then(|places| words[places].first());
            if let Some(word) = word.filter(|word| !is_ordinary(word) && !word.is(Role::Adjective))
            {
                found.push((name_of(word), Sure::Yes));
            }
        }
        for word in words {
            let is_people = word.is(Role::Adjective) || word.is(Role::Title);
            if !is_ordinary(word) && !is_people && reply.names(word.text) {
                found.push((name_of(word), Sure::Yes));
            }
        }
        found[from..].sort_by_key(|(name, _)| name.at);
        found.dedup_by_key(|(name, _)| name.at);
    }
}

/// What the answer writes with a capital within a sentence, and nowhere without.
///
/// It tells no names by itself; it tells how to take words of the person that could be names.
#[derive(Debug, Default)]
pub(super) struct Reply {
    names: HashSet<String>,
    words: HashSet<String>,
}

impl Reply {
    pub(super) fn add(&mut self, words: &[Word<'_>]) {
        for (place, word) in words.iter().enumerate() {
            let is_part = |other: Option<&Word<'_>>| other.is_some_and(|w| is_capital(w.text));
            let before = place.checked_sub(1).and_then(|before| words.get(before));
            let greets = before.is_some_and(|before| before.is(Role::Greeting));
            let joins_before = is_part(before) && !greets;
            let joins_after = word.after.is_empty() && is_part(words.get(place + 1));
            if !is_capital(word.text) {
                self.words.insert(word.text.to_owned());
            } else if place > 0
                && !joins_before
                && !joins_after
                && !is_ordinary(word)
                && looks_like_name(word)
            {
                self.names.insert(word.text.to_lowercase());
            }
        }
    }

    fn names(&self, word: &str) -> bool {
        let small = word.to_lowercase();
        self.names.contains(&small) && !self.words.contains(&small)
    }
}

/// Drops what is not known elsewhere, and short forms of names already told in full.
fn known<'a>(found: Vec<(Name<'a>, Sure)>, reply: &impl Deref<Target = Reply>) -> Vec<Name<'a>> {
    let sure = found.iter().filter(|(_, sure)| *sure == Sure::Yes);
    let sure: HashSet<&str> = sure
        .flat_map(|(name, _)| name.text.split_whitespace())
        .collect();
    let mut parts: HashSet<&str> = HashSet::new();
    let mut names = Vec::new();
    for (name, how) in found {
        if how == Sure::IfKnown && !sure.contains(name.text) && !reply.names(name.text) {
            continue;
        }
        let words: Vec<&str> = name.text.split_whitespace().collect();
        if words.len() == 1 && parts.contains(name.text) {
            continue;
        }
        if words.len() > 1 && words.len() <= 3 {
            parts.extend(words);
        }
        names.push(name);
    }
    names
}

/// Words of two kinds of languages in a text.
#[derive(Clone, Copy, Debug, Default)]
struct Tongue {
    common: usize,
    foreign: usize,
}

impl Tongue {
    fn of<'w>(words: impl IntoIterator<Item = &'w Word<'w>>) -> Self {
        let mut tongue = Self::default();
        for word in words {
            tongue.common += usize::from(word.is(Role::Common));
            tongue.foreign += usize::from(word.is(Role::Foreign));
        }
        tongue
    }

    fn is_foreign(self) -> bool {
        self.foreign >= 2 && self.foreign > self.common
    }
}

/// Neither shouted nor in title case nor in a language that writes nouns with a capital.
fn may_name(spoken: &Spoken<'_>, text: Tongue) -> bool {
    let own = Tongue::of(&spoken.words);
    if own.is_foreign() || (text.is_foreign() && own.common == 0) {
        return false;
    }
    let words = spoken.words.iter();
    let (mut all, mut shouted, mut titled) = (0, 0, 0);
    for (place, word) in words.enumerate() {
        let letters = word.text.chars().filter(|c| c.is_alphabetic()).count();
        if letters < 2 {
            continue;
        }
        all += 1;
        shouted += usize::from(!word.text.contains(char::is_lowercase));
        let is_capital = word.text.starts_with(char::is_uppercase);
        titled += usize::from(place > 0 && is_capital && word.is(Role::Common));
    }
    !(shouted >= 3 && shouted * 2 > all) && titled < 3
}
