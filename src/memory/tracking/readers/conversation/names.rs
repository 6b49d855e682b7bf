//! Entities: names of people, places, organisations, products and works, told by their capitals.
//!
//! A name is a run of words with a capital, joined by particles (`van`, `of the`). At the beginning of a sentence
//! a capital says nothing, so a single word there counts only when the text has it as a name elsewhere. Quoted
//! titles count as written. Shouting, title case, other scripts, and languages that write every noun with a
//! capital say nothing.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;

use super::plain::{Forms, Plain};
use super::words::{Lexicon, Role, Word, holding};
use super::{Lists, Spoken, language};
use crate::memory::tracking::Kind;
use crate::memory::tracking::cues::{BadPattern, Cues};

/// Words of a name; a longer run is a heading.
const MOST: usize = 8;

/// Letters of an acronym.
const ACRONYM: usize = 6;

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
    links: String,
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
            (Role::Link, &self.links),
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
enum Sure {
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
    ) -> Vec<Name<'a>> {
        let mut found = Vec::new();
        let tongue = Tongue::of(sentences.iter().flat_map(|spoken| &spoken.words));
        let has_capitals = text.chars().any(char::is_uppercase);
        for spoken in sentences {
            if !has_capitals {
                self.introductions(spoken, forms, &mut found);
            } else if may_name(spoken, tongue) {
                Runs {
                    text,
                    spoken,
                    quotes,
                }
                .read(&mut found);
            }
        }
        known(found)
    }

    fn introductions<'a>(
        &self,
        spoken: &Spoken<'a>,
        forms: &Forms,
        found: &mut Vec<(Name<'a>, Sure)>,
    ) {
        let words = &spoken.words;
        let plain = Plain::of(words, 0..words.len(), forms);
        let from = found.len();
        for (_, captures) in self.introduced.read(&plain.text) {
            let name = captures.name("text").map(|name| plain.places(name.range()));
            let word = name.and_then(|places| words[places].first());
            if let Some(word) = word.filter(|word| !is_ordinary(word)) {
                let at = spoken.at + word.start;
                found.push((
                    Name {
                        at,
                        text: word.text,
                    },
                    Sure::Yes,
                ));
            }
        }
        found[from..].sort_by_key(|(name, _)| name.at);
    }
}

/// Drops what is not known elsewhere, and short forms of names already told in full.
fn known(found: Vec<(Name<'_>, Sure)>) -> Vec<Name<'_>> {
    let sure = found.iter().filter(|(_, sure)| *sure == Sure::Yes);
    let sure: HashSet<&str> = sure
        .flat_map(|(name, _)| name.text.split_whitespace())
        .collect();
    let mut parts: HashSet<&str> = HashSet::new();
    let mut names = Vec::new();
    for (name, how) in found {
        if how == Sure::IfKnown && !sure.contains(name.text) {
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

/// The runs of capitals of one sentence.
struct Runs<'r, 'a> {
    text: &'a str,
    spoken: &'r Spoken<'a>,
    quotes: &'r [Range<usize>],
}

impl<'a> Runs<'_, 'a> {
    fn read(&self, found: &mut Vec<(Name<'a>, Sure)>) {
        let words = &self.spoken.words;
        let mut place = 0;
        while place < words.len() {
            if let Some(after) = self.title(place, found) {
                place = after;
            } else if looks_like_name(&words[place]) {
                let end = run_end(words, place);
                self.run(place, end, found);
                place = end;
            } else {
                place += 1;
            }
        }
    }

    /// A quoted title that begins here, and the place after it.
    fn title(&self, place: usize, found: &mut Vec<(Name<'a>, Sure)>) -> Option<usize> {
        let words = &self.spoken.words;
        let from = self.spoken.at + words[place].start;
        let quote = holding(self.quotes, from).filter(|quote| quote.start == from)?;
        let rest = words[place..].iter();
        let inside = rest
            .take_while(|word| self.spoken.at + word.start < quote.end)
            .count();
        let inside = &words[place..place + inside];
        let after = place + inside.len();
        let capitals = inside.iter().filter(|word| is_capital(word.text)).count();
        let small = inside.iter().filter(|word| {
            !is_capital(word.text) && (word.text.len() > 3 && !word.is(Role::Particle))
        });
        let is_work = words[place.saturating_sub(3)..place]
            .iter()
            .any(|word| word.is(Role::Work));
        let is_title = inside.len() <= MOST
            && is_capital(inside[0].text)
            && self
                .text
                .get(quote.clone())
                .is_some_and(|said| !said.ends_with(['.', '!', ',']))
            && ((capitals > 1 && small.count() == 0) || is_work);
        if !is_title {
            return None;
        }
        let text = self.text.get(quote.clone())?.trim();
        found.push((Name { at: from, text }, Sure::Yes));
        Some(after)
    }

    /// Tells the names in a run of words.
    fn run(&self, from: usize, end: usize, found: &mut Vec<(Name<'a>, Sure)>) {
        let words = &self.spoken.words;
        let opens = self.opens(from, end);
        let (mut from, mut end) = (from, end);
        let whole = from;
        while from < end && is_dropped(&words[from], from == whole && opens) {
            from += 1;
        }
        while from < end && (words[end - 1].is(Role::Particle) || words[end - 1].is(Role::NotName))
        {
            end -= 1;
        }
        let begins_small = from > 0
            && words[from - 1].is(Role::Prefix)
            && words[from - 1].after.is_empty()
            && words[from].before.is_empty();
        if begins_small
            && words[..from]
                .iter()
                .rev()
                .take(4)
                .any(|word| word.is(Role::Common))
        {
            from -= 1;
        }
        let run = &words[from..end];
        let named = run.iter().filter(|word| !word.is(Role::Particle));
        if run.is_empty() || run.len() > MOST || named.clone().all(|w| w.is(Role::Adjective)) {
            return;
        }
        if self.is_greeted(from, end) {
            return;
        }
        let last = &run[run.len() - 1];
        let end_at = numbered(words, end).unwrap_or(last.end);
        let text = &self.spoken.sentence.text[run[0].start..end_at];
        let at = self.spoken.at + run[0].start;
        let sure = if let [word] = run {
            match self.single(word, from, opens && from == whole) {
                Some(sure) => sure,
                None => return,
            }
        } else {
            Sure::Yes
        };
        found.push((Name { at, text }, sure));
    }

    /// Whether a capital here says nothing: a sentence, a quote or a list begins.
    fn opens(&self, from: usize, end: usize) -> bool {
        let words = &self.spoken.words;
        let Some(before) = from.checked_sub(1).and_then(|before| words.get(before)) else {
            return true;
        };
        // `my sister (Ana)`
        let is_aside = words[from].before == "(" && words[end - 1].after.starts_with(')');
        if !is_aside
            && words[from]
                .before
                .contains(['"', '“', '«', '„', '‘', '(', '['])
        {
            return true;
        }
        let introduces = |word: &Word<'_>| word.is(Role::Being) || word.is(Role::Work);
        if before.after.ends_with(':') {
            return !words[..from].iter().rev().take(3).any(introduces);
        }
        before.after.ends_with(['.', '!', '?', '"', '”']) && !joins(before)
    }

    /// How sure a name of one word is.
    fn single(&self, word: &Word<'_>, place: usize, opens: bool) -> Option<Sure> {
        let words = &self.spoken.words;
        let letters = word.text.chars().filter(|c| c.is_alphabetic()).count();
        let is_acronym = is_shouted(word.text);
        if letters < 2 || (is_acronym && (word.is(Role::Starter) || letters > ACRONYM)) {
            return None;
        }
        let is_odd = word.text.chars().skip(1).any(char::is_uppercase);
        if is_odd {
            // Two words in capitals side by side are shouted.
            let shouts = |other: Option<&Word<'_>>| {
                other.is_some_and(|w| is_shouted(w.text) && w.text.len() > 1 && w.is(Role::Common))
            };
            let before = place.checked_sub(1).and_then(|before| words.get(before));
            let is_loud = is_acronym && (shouts(before) || shouts(words.get(place + 1)));
            return (!is_loud).then_some(Sure::Yes);
        }
        if !opens {
            let is_aside = place > 0 && words[place - 1].pauses();
            return (!(is_aside && word.is(Role::Starter))).then_some(Sure::Yes);
        }
        if word.is(Role::Starter) {
            return None;
        }
        let acts = words.get(place + 1).is_some_and(|next| next.is(Role::Acts));
        let is_name =
            |next: &Word<'_>| next.before.is_empty() && is_capital(next.text) && !is_ordinary(next);
        let joiner = words.get(place + 1).filter(|next| {
            word.after.is_empty()
                && next.after.is_empty()
                && matches!(next.text, "and" | "or" | "vs")
        });
        let next = place + if joiner.is_some() { 2 } else { 1 };
        let is_listed = (joiner.is_some() || word.after.starts_with(','))
            && words.get(next).is_some_and(is_name);
        let is_sure = (acts && word.after.is_empty()) || is_listed;
        Some(if is_sure { Sure::Yes } else { Sure::IfKnown })
    }

    /// Somebody who is greeted is most often the assistant.
    fn is_greeted(&self, from: usize, end: usize) -> bool {
        let words = &self.spoken.words;
        let ends = end == words.len() || words[end - 1].pauses();
        (1..=2).contains(&from) && ends && words[..from].iter().all(|word| word.is(Role::Greeting))
    }
}

/// Where the run that begins here ends.
fn run_end(words: &[Word<'_>], from: usize) -> usize {
    let mut end = from + 1;
    let is_title = from > 0 && matches!(words[from].text, "The" | "A" | "An");
    loop {
        let last = &words[end - 1];
        let next = words.get(end);
        let is_place = last.owns() && next.is_some_and(|next| next.is(Role::Institution));
        if !joins(last) && !is_place {
            return end;
        }
        let particles = words[end..].iter().take(3).take_while(|word| {
            let links = is_title && word.is(Role::Link);
            (word.is(Role::Particle) || is_number(word) || links)
                && !is_capital(word.text)
                && word.before.is_empty()
                && word.after.is_empty()
        });
        let particles = particles.count();
        // `The Old Man and the Sea`, but `The Beatles and Queen`.
        if particles == 1 && words[end].text == "and" {
            return end;
        }
        let next = end + particles;
        match words.get(next) {
            Some(word)
                if particles < 3
                    && looks_like_name(word)
                    && word.before.is_empty()
                    && !word.is(Role::NotName)
                    && !(particles > 0 && last.is(Role::NotName)) =>
            {
                end = next + 1;
            }
            _ => return end,
        }
    }
}

/// The next word may belong to the same name: an initial, `St.`, `Thomas'`.
fn joins(word: &Word<'_>) -> bool {
    let after = word.after;
    let is_short = word.text.chars().count() <= 2 || word.is(Role::Title);
    after.is_empty()
        || (after == "." && is_short)
        || (matches!(after, "'" | "’") && word.text.ends_with('s'))
}

/// A number right after a name belongs to it: `iPhone 15`.
fn numbered(words: &[Word<'_>], end: usize) -> Option<usize> {
    let last = words.get(end.checked_sub(1)?)?;
    let number = words.get(end)?;
    let joins = last.after.is_empty() && number.before.is_empty();
    let counts = number.after.is_empty()
        && words.get(end + 1).is_some_and(|next| {
            next.text.starts_with(char::is_lowercase) && !next.is(Role::Common)
        });
    (is_number(number) && joins && !counts).then_some(number.end)
}

fn is_number(word: &Word<'_>) -> bool {
    word.text.len() <= 3 && word.text.bytes().all(|b| b.is_ascii_digit())
}

/// A word that may stand at the beginning of a run and yet is not part of the name.
fn is_dropped(word: &Word<'_>, opens: bool) -> bool {
    word.is(Role::NotName)
        || word.is(Role::Title)
        || (word.is(Role::Particle) && !is_capital(word.text))
        || (opens && (word.is(Role::Starter) || word.is(Role::Greeting) || is_derived(word.text)))
}

/// `Honestly Porto …`, `Visiting Porto …`
fn is_derived(word: &str) -> bool {
    word.len() > 5 && (word.ends_with("ly") || word.ends_with("ing"))
}

fn is_ordinary(word: &Word<'_>) -> bool {
    word.is(Role::Starter) || word.is(Role::NotName) || word.is(Role::Common)
}

fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

fn is_shouted(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.contains(char::is_lowercase)
}

/// Latin letters with a capital first or second (`iPhone`), without the signs of code and addresses.
fn looks_like_name(word: &Word<'_>) -> bool {
    let mut characters = word.text.chars();
    let (first, second) = (characters.next(), characters.next());
    let is_upper = |c: Option<char>| c.is_some_and(char::is_uppercase);
    let begins = is_upper(first) || (matches!(first, Some('i' | 'e')) && is_upper(second));
    let is_address = word.after.starts_with(['(', '_', '=', '@', '\\']);
    // `T-shirt`, `A-levels`
    let is_shape = second == Some('-');
    begins
        && !is_shape
        && !is_address
        && word.text.chars().all(is_of_name)
        && !word.before.contains('`')
}

fn is_of_name(c: char) -> bool {
    let is_latin = c < '\u{250}' || ('\u{1e00}'..'\u{1f00}').contains(&c);
    (c.is_alphanumeric() && is_latin) || matches!(c, '-' | '\'' | '’' | '&' | '!')
}
