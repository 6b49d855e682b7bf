//! The file of patterns: `config/cues/capture.yaml` or a person's own. Unit: one language.
//!
//! ```yaml
//! en:
//!   lists: {opening: ['^', ', ']}        # what patterns name as {opening}
//!   never: ['^if i\b']                    # sentences that say nothing
//!   cues:
//!     preference:
//!       - cues: ['\bi prefer \S']
//!         after: ['{opening}$']           # what has to stand before a match
//!         but: ['^i prefer not to say']   # what a match may not go on as
//! ```
//! Patterns ignore case and are linear in the length of the text. A cue with a group `name` finds only words that
//! can be a name.

use std::collections::BTreeMap;

use regex::{Regex, RegexSet, RegexSetBuilder};
use serde::Deserialize;

use super::Category;
use crate::memory::tracking::cues::{BadPattern, bad, filled, one};
use crate::memory::tracking::readers::BadCues;

/// What the file says of one language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sheet {
    pub(super) lists: BTreeMap<String, Vec<String>>,
    /// Beginnings of what somebody else wrote; the rest of the message is not read.
    pub(super) quoting: Vec<String>,
    /// Sentences that say nothing.
    pub(super) never: Vec<String>,
    /// Questions that are none: `…, ok?`
    pub(super) tags: Vec<String>,
    /// Words that are no names although they are written as such.
    pub(super) not_names: String,
    pub(super) cues: BTreeMap<Category, Vec<RuleSheet>>,
    pub(super) slots: Slots,
}

/// Patterns that find a category under the same conditions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RuleSheet {
    pub(super) cues: Vec<String>,
    pub(super) after: Vec<String>,
    pub(super) but: Vec<String>,
    /// Whether questions are read, too.
    pub(super) asked: Asked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Asked {
    #[default]
    Not,
    Too,
}

/// How statements are told to be about the same thing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Slots {
    /// Patterns with a `value`, of which only the newest holds (`my name is …`); with a `subject`, one for each; with a
    /// `kind`, one for each last word of it (`dark mode`, `light mode`).
    pub(super) cues: BTreeMap<Category, Vec<String>>,
    /// Patterns of what says that the old is no longer so, with the old in `old` if it is named.
    pub(super) instead: Vec<String>,
    /// Patterns with the thing in `kind` that is liked, and that is not.
    pub(super) liked: Vec<String>,
    pub(super) disliked: Vec<String>,
    /// Words that end the name of a thing …
    pub(super) breaks: String,
    /// … that say nothing, and that turn a sentence round.
    pub(super) fillers: String,
    pub(super) negations: String,
    /// Words between what is spoken of and what is said of it.
    pub(super) copulas: String,
}

/// A pattern that is compiled when it is first needed, with its place in the file.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    place: String,
}

impl Pattern {
    pub(super) fn new(
        text: &str,
        lists: &BTreeMap<String, Vec<String>>,
        place: &str,
    ) -> Result<Self, (String, BadPattern)> {
        let text = filled(text, lists).map_err(|error| (place.to_owned(), error))?;
        Ok(Self {
            text,
            place: place.to_owned(),
        })
    }

    pub(super) fn compiled(&self) -> Result<Regex, (String, BadPattern)> {
        one(&self.text).map_err(|error| (self.place.clone(), error))
    }
}

/// Patterns of one place, any of which counts.
pub(super) fn patterns(
    texts: &[String],
    lists: &BTreeMap<String, Vec<String>>,
    place: &str,
) -> Result<Vec<Pattern>, (String, BadPattern)> {
    let patterns = texts.iter().map(|text| Pattern::new(text, lists, place));
    patterns.collect()
}

/// All of them at once; each has been tried alone before.
pub(super) fn set(patterns: &[&Pattern]) -> Result<RegexSet, (String, BadPattern)> {
    const MOST_COMPILED: usize = 64 << 20;
    RegexSetBuilder::new(patterns.iter().map(|pattern| &pattern.text))
        .case_insensitive(true)
        .size_limit(MOST_COMPILED)
        .build()
        .map_err(|error| {
            let place = patterns.first().map(|pattern| pattern.place.clone());
            (place.unwrap_or_default(), bad("all together", &error))
        })
}

pub(super) fn parse(text: &str, file: &str) -> Result<BTreeMap<String, Sheet>, BadCues> {
    serde_yaml::from_str(text).map_err(|error| BadCues {
        file: file.to_owned(),
        what: error.to_string(),
    })
}

/// With file, language and category, for the person who has to mend it.
pub(super) fn named(file: &str) -> impl Fn((String, BadPattern)) -> BadCues + '_ {
    move |(place, error)| BadCues {
        file: file.to_owned(),
        what: format!("{place}: {error}"),
    }
}
