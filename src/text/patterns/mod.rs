//! Patterns by the hundred, of which each is compiled when a text first has words that it cannot match without.
//!
//! ```text
//!  patterns --needed words--> one automaton      a text --automaton--> the few that may match --> Regex, compiled once
//! ```
//! Compiling all of them costs more than reading a year of talk, and in one talk few ever match. Of those that may
//! match a short text most do not, which regex-lite tells: it matches slower and compiles eight times faster.
//! Invariant: what comes out is what every pattern would say alone, in their order; matching is linear in the length of
//! the text.

mod fold;
mod needed;
mod sieve;
pub mod stored;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use regex::{Captures, Regex, RegexBuilder};

use sieve::Sieve;

/// Memory that one compiled pattern may take, in bytes; a person's files cannot ask for more.
const MAX_COMPILED: usize = 4 << 20;

/// Bytes of a text up to which regex-lite costs less than compiling, and how many such texts.
const MAX_SHORT: usize = 1_024;
const MAX_LIGHT: u8 = 64;

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} {why}")]
pub struct BadPattern {
    pub pattern: String,
    pub why: String,
}

/// Whether capital letters are small ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    #[default]
    Ignored,
    Counts,
}

/// Who sees to it that every pattern can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Those that come with the program.
    ByTests,
    /// A person's own, when they are read.
    Now,
}

/// Patterns in an order, numbered from 0.
#[derive(Debug, Default)]
pub struct Patterns {
    case: Case,
    each: Vec<Lazy>,
    sieve: OnceLock<Sieve>,
}

#[derive(Debug)]
struct Lazy {
    text: String,
    case: Case,
    /// `None`: it cannot be used. Those of the program are held by tests, a person's own are checked when they are
    /// read.
    compiled: OnceLock<Option<Regex>>,
    /// For short texts in ASCII, about which both agree. `None`: regex-lite does not know its syntax.
    light: OnceLock<Option<regex_lite::Regex>>,
    n_light: AtomicU8,
}

impl Lazy {
    fn new(text: String, case: Case) -> Self {
        Self {
            text,
            case,
            compiled: OnceLock::new(),
            light: OnceLock::new(),
            n_light: AtomicU8::new(0),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = || compile(&self.text, self.case).ok();
        self.compiled.get_or_init(compiled).as_ref()
    }

    fn is_match(&self, text: &str) -> bool {
        let is_light = self.compiled.get().is_none()
            && text.len() <= MAX_SHORT
            && text.is_ascii()
            && self.n_light.load(Ordering::Relaxed) < MAX_LIGHT;
        if let Some(light) = is_light.then(|| self.light()).flatten() {
            self.n_light.fetch_add(1, Ordering::Relaxed);
            return light.is_match(text);
        }
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    fn light(&self) -> Option<&regex_lite::Regex> {
        let light = || {
            regex_lite::RegexBuilder::new(&self.text)
                .case_insensitive(self.case == Case::Ignored)
                .size_limit(MAX_COMPILED)
                .build()
                .ok()
        };
        self.light.get_or_init(light).as_ref()
    }
}

impl Patterns {
    pub fn new(case: Case, texts: impl IntoIterator<Item = String>) -> Self {
        let texts = texts.into_iter();
        let patterns = Self {
            case,
            each: texts.map(|text| Lazy::new(text, case)).collect(),
            sieve: OnceLock::new(),
        };
        #[cfg(any(test, feature = "testing"))]
        stored::note(&patterns);
        patterns
    }

    /// Ignoring case, from a file.
    pub fn read(
        texts: impl IntoIterator<Item = String>,
        checked: Checked,
    ) -> Result<Self, BadPattern> {
        let patterns = Self::new(Case::Ignored, texts);
        if checked == Checked::Now {
            patterns.check()?;
        }
        Ok(patterns)
    }

    /// Compiles each now, to learn whether it can be used.
    pub fn check(&self) -> Result<(), BadPattern> {
        for lazy in &self.each {
            let compiled = compile(&lazy.text, self.case)?;
            lazy.compiled.get_or_init(|| Some(compiled));
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    pub fn is_match(&self, text: &str) -> bool {
        // To match a compiled one costs less than to look for what it needs.
        if let [only] = &self.each[..]
            && let Some(Some(regex)) = only.compiled.get()
        {
            return regex.is_match(text);
        }
        let mut places = self.sieve().places(text).into_iter();
        places.any(|place| self.each[place].is_match(text))
    }

    /// Those that match, in their order.
    pub fn matching(&self, text: &str) -> impl Iterator<Item = (usize, &Regex)> {
        let places = self.sieve().places(text).into_iter();
        let matching = places.filter(move |&place| self.each[place].is_match(text));
        matching.filter_map(|place| Some((place, self.get(place)?)))
    }

    /// What those that match have captured, in their order.
    pub fn captures<'t>(&self, text: &'t str) -> impl Iterator<Item = (usize, Captures<'t>)> {
        self.matching(text)
            .filter_map(move |(place, regex)| Some((place, regex.captures(text)?)))
    }

    /// One of them.
    pub fn get(&self, place: usize) -> Option<&Regex> {
        self.each.get(place)?.regex()
    }

    fn sieve(&self) -> &Sieve {
        self.sieve.get_or_init(|| {
            stored::sieve(self).unwrap_or_else(|| Sieve::new(self.case, self.texts()))
        })
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.each.iter().map(|lazy| lazy.text.as_str())
    }
}

/// One pattern.
pub fn compile(pattern: &str, case: Case) -> Result<Regex, BadPattern> {
    RegexBuilder::new(pattern)
        .case_insensitive(case == Case::Ignored)
        .size_limit(MAX_COMPILED)
        .build()
        .map_err(|error| bad(pattern, &error))
}

fn bad(pattern: &str, error: &regex::Error) -> BadPattern {
    let text = error.to_string();
    let why = text.lines().last().unwrap_or_default();
    BadPattern {
        pattern: pattern.to_owned(),
        why: format!("cannot be used: {}", why.trim_start_matches("error: ")),
    }
}

#[cfg(test)]
mod tests;
