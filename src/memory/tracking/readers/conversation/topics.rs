//! Topics: what the talk is to be about, as the person announces it.
//!
//! A topic is what a cue's `text` (and `and`, for the second of two) holds, up to the first pattern of `cut`,
//! without articles before and empty words after, at most [`MAX`] words.

use std::ops::Range;

use serde::Deserialize;

use super::plain::{Forms, Plain};
use super::words::{Lexicon, Role};
use super::{Lists, Spoken, language};
use crate::memory::tracking::Kind;
use crate::memory::tracking::cues::Cues;
use crate::text::patterns::{BadPattern, Case, Patterns};

/// Words of a topic.
const MAX: usize = 5;

/// What the cue file says of topics.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TopicCues {
    /// A sentence without any of these has no topic.
    words: String,
    /// Patterns of sentences that announce nothing.
    never: Vec<String>,
    cues: Vec<String>,
    /// Patterns of what no longer belongs to the topic.
    cut: Vec<String>,
    /// Words dropped at the beginning and at the end.
    before: String,
    after: String,
    /// A topic that begins with one of these is none.
    empty: String,
}

impl TopicCues {
    pub(super) fn words(&self, lexicon: &mut Lexicon) {
        for (role, list) in [
            (Role::Topic, &self.words),
            (Role::Before, &self.before),
            (Role::After, &self.after),
            (Role::Empty, &self.empty),
        ] {
            lexicon.add(role, list);
        }
    }
}

/// Finds topics.
#[derive(Debug)]
pub(super) struct Topics {
    cues: Cues,
    cut: Ending,
}

impl Topics {
    pub(super) fn new<'a>(
        sheets: impl Iterator<Item = (&'a TopicCues, &'a Lists)>,
    ) -> Result<Self, BadPattern> {
        let mut languages = Vec::new();
        let mut cuts = Vec::new();
        for (cues, lists) in sheets {
            cuts.extend(cues.cut.iter().cloned());
            languages.push(language(&cues.cues, &cues.never, lists, Kind::Topic));
        }
        Ok(Self {
            cues: Cues::new(&languages)?,
            cut: Ending::new(&cuts),
        })
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.cut.check()?;
        self.cues.check()
    }

    /// Tells each topic of a sentence and where it begins.
    pub(super) fn read<'a>(
        &self,
        spoken: &Spoken<'a>,
        forms: &Forms,
        mut found: impl FnMut(usize, &'a str),
    ) {
        let words = &spoken.words;
        if !words.iter().any(|word| word.is(Role::Topic)) {
            return;
        }
        let plain = Plain::of(words, 0..words.len(), forms);
        let mut told: Vec<Range<usize>> = Vec::new();
        for (_, captures) in self.cues.read(&plain.text) {
            let parts = ["text", "and"].map(|group| captures.name(group));
            // Two cues may point at the same words; the first in the file has them.
            let clashes = |part: &Range<usize>| {
                let mut told = told.iter();
                told.any(|told| told.start < part.end && part.start < told.end)
            };
            let parts = parts.into_iter().flatten().map(|part| part.range());
            let fresh: Vec<_> = parts.filter(|part| !clashes(part)).collect();
            for part in fresh {
                let said = &plain.text[part.clone()];
                let kept = part.start..part.start + self.cut.of(said);
                if let Some(places) = topic(spoken, plain.places(kept)) {
                    let stretch = words[places.start].start..words[places.end - 1].end;
                    let at = spoken.at + stretch.start;
                    found(at, &spoken.sentence.text[stretch]);
                    told.push(part);
                }
            }
        }
    }
}

/// The words of a topic among these.
fn topic(spoken: &Spoken<'_>, places: Range<usize>) -> Option<Range<usize>> {
    let words = &spoken.words[places.clone()];
    let before = words.iter().take_while(|word| word.is(Role::Before));
    let words = &words[before.count()..];
    if words.first()?.is(Role::Empty) {
        return None;
    }
    let from = places.end - words.len();
    let words = &words[..words.len().min(MAX)];
    let after = words.iter().rev().take_while(|word| word.is(Role::After));
    let length = words.len() - after.count();
    (length > 0).then_some(from..from + length)
}

/// Patterns of what no longer belongs to a stretch of text.
#[derive(Debug)]
pub(super) struct Ending(Patterns);

impl Ending {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self(Patterns::new(Case::Ignored, patterns.iter().cloned()))
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.0.check()
    }

    /// How much of a text comes before the first of the patterns.
    pub(super) fn of(&self, text: &str) -> usize {
        let matching = self.0.matching(text);
        let starts = matching.filter_map(|(_, pattern)| Some(pattern.find(text)?.start()));
        starts.min().unwrap_or(text.len())
    }
}
