//! Marks: patterns of which only the place in a text is wanted.
//!
//! The patterns of one list become one expression, compiled when it is first needed; an empty list is
//! found nowhere.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use crate::memory::tracking::cues::{BadPattern, filled, one};

/// One list of patterns.
#[derive(Debug, Default)]
pub(super) struct Marks {
    patterns: Vec<String>,
    compiled: OnceLock<Option<Regex>>,
}

impl Marks {
    pub(super) fn new(
        patterns: &[String],
        lists: &BTreeMap<String, Vec<String>>,
    ) -> Result<Self, BadPattern> {
        let mut marks = Self::default();
        marks.add(patterns, lists)?;
        Ok(marks)
    }

    /// Adds the patterns of one language.
    pub(super) fn add(
        &mut self,
        patterns: &[String],
        lists: &BTreeMap<String, Vec<String>>,
    ) -> Result<(), BadPattern> {
        for pattern in patterns {
            self.patterns.push(filled(pattern, lists)?);
        }
        Ok(())
    }

    /// Compiles each pattern now, to name the one that cannot be used.
    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.patterns
            .iter()
            .try_for_each(|pattern| one(pattern).map(drop))?;
        let compiled = self.compile()?;
        self.compiled.get_or_init(|| compiled);
        Ok(())
    }

    fn compile(&self) -> Result<Option<Regex>, BadPattern> {
        let joined = self.patterns.join(")|(?:");
        let some = !self.patterns.is_empty();
        some.then(|| one(&format!("(?:{joined})"))).transpose()
    }

    fn regex(&self) -> Option<&Regex> {
        // The embedded ones are held by a test, a person's own are checked when they are read.
        let compiled = self
            .compiled
            .get_or_init(|| self.compile().unwrap_or_default());
        compiled.as_ref()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Where the first one stands; the group of a pattern that has one, else the whole.
    pub(super) fn first(&self, text: &str) -> Option<Range<usize>> {
        let regex = self.regex()?;
        let whole = regex.find(text)?;
        let groups = (regex.captures_len() > 1).then(|| regex.captures_at(text, whole.start()));
        let group = groups
            .flatten()
            .and_then(|groups| groups.iter().skip(1).flatten().next());
        Some(group.unwrap_or(whole).range())
    }

    /// Where they stand, none inside another.
    pub(super) fn all<'t>(
        &self,
        text: &'t str,
    ) -> impl Iterator<Item = Range<usize>> + use<'_, 't> {
        let regex = self.regex();
        regex
            .into_iter()
            .flat_map(|regex| regex.find_iter(text).map(|found| found.range()))
    }

    /// The text behind a mark that it begins with.
    pub(super) fn stripped<'t>(&self, text: &'t str) -> &'t str {
        match self.first(text) {
            Some(mark) if mark.start == 0 => &text[mark.end..],
            _ => text,
        }
    }
}
