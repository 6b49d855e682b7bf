//! Marks: patterns of which only the place in a text is wanted.
//!
//! The patterns of one list become one expression; an empty list is found nowhere.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;

use crate::memory::tracking::cues::filled;
use crate::text::patterns::{BadPattern, Case, Patterns};

/// One list of patterns.
#[derive(Debug, Default)]
pub(super) struct Marks {
    each: Vec<String>,
    /// All of them in one.
    joined: Patterns,
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
            self.each.push(filled(pattern, lists)?);
        }
        let joined = (!self.each.is_empty()).then(|| format!("(?:{})", self.each.join(")|(?:")));
        self.joined = Patterns::new(Case::Ignored, joined);
        Ok(())
    }

    /// Compiles each pattern now, to name the one that cannot be used.
    pub(super) fn check(&self) -> Result<(), BadPattern> {
        Patterns::new(Case::Ignored, self.each.iter().cloned()).check()?;
        self.joined.check()
    }

    /// The expression, where it may match.
    fn regex(&self, text: &str) -> Option<&Regex> {
        let (_, regex) = self.joined.matching(text).next()?;
        Some(regex)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.joined.is_match(text)
    }

    /// Where the first one stands; the group of a pattern that has one, else the whole.
    pub(super) fn first(&self, text: &str) -> Option<Range<usize>> {
        let regex = self.regex(text)?;
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
        let regex = self.regex(text);
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
