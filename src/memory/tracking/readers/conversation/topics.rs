//! Topics: what the talk is to be about, as the person announces it.
//!
//! A topic is what a cue's `text` (and `and`, for the second of two) holds, up to the first pattern of `cut`,
//! without articles before and empty words after, at most [`MOST`] words.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use super::words::{Lexicon, Role};
use super::{Spoken, spelled, spelled_lists};
use crate::memory::tracking::Kind;
use crate::memory::tracking::cues::{BadPattern, Cues, Language};

/// Words of a topic.
const MOST: usize = 5;

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
        lexicon.add(Role::Topic, &self.words);
    }
}

/// Finds topics.
#[derive(Debug)]
pub(super) struct Topics {
    cues: Cues,
    cut: Option<String>,
    compiled_cut: OnceLock<Option<Regex>>,
    before: Lexicon,
    after: Lexicon,
    empty: Lexicon,
}

type Lists = BTreeMap<String, Vec<String>>;

impl Topics {
    pub(super) fn new<'a>(
        sheets: impl Iterator<Item = (&'a TopicCues, &'a Lists)>,
    ) -> Result<Self, BadPattern> {
        let (mut before, mut after, mut empty) =
            (Lexicon::default(), Lexicon::default(), Lexicon::default());
        let mut languages = Vec::new();
        let mut cuts = Vec::new();
        for (cues, lists) in sheets {
            before.add(Role::Topic, &cues.before);
            after.add(Role::Topic, &cues.after);
            empty.add(Role::Topic, &cues.empty);
            cuts.extend(cues.cut.iter().map(|cut| spelled(cut)));
            languages.push(language(&cues.cues, &cues.never, lists, Kind::Topic));
        }
        Ok(Self {
            cues: Cues::new(&languages)?,
            cut: (!cuts.is_empty()).then(|| cuts.join("|")),
            compiled_cut: OnceLock::new(),
            before,
            after,
            empty,
        })
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        if let Some(cut) = &self.cut {
            crate::memory::tracking::cues::one(cut)?;
        }
        self.cues.check()
    }

    /// Tells each topic of a sentence and where it begins.
    pub(super) fn read(&self, spoken: &Spoken<'_>, mut found: impl FnMut(usize, &str)) {
        if !spoken.words.iter().any(|word| word.is(Role::Topic)) {
            return;
        }
        let sentence = spoken.sentence.text;
        let mut told: Vec<Range<usize>> = Vec::new();
        for (_, captures) in self.cues.read(sentence) {
            let parts = ["text", "and"].map(|group| captures.name(group));
            let parts = parts.into_iter().flatten();
            // Two cues may point at the same words; the first in the file has them.
            let fresh: Vec<_> = parts
                .filter(|part| {
                    let clashes =
                        |told: &Range<usize>| told.start < part.end() && part.start() < told.end;
                    !told.iter().any(clashes)
                })
                .collect();
            for part in fresh {
                if let Some(topic) = self.cleaned(part.as_str()) {
                    found(spoken.at + part.start(), topic);
                    told.push(part.range());
                }
            }
        }
    }

    fn cleaned<'a>(&self, said: &'a str) -> Option<&'a str> {
        let end = self.cut().and_then(|cut| cut.find(said));
        let mut topic = bare(&said[..end.map_or(said.len(), |end| end.start())]);
        while let Some((first, rest)) = topic.split_once(char::is_whitespace)
            && is_in(&self.before, first)
        {
            topic = bare(rest);
        }
        let first = topic.split(char::is_whitespace).next()?;
        if topic.is_empty() || is_in(&self.empty, bare(first)) {
            return None;
        }
        topic = first_words(topic);
        while let Some((rest, last)) = topic.rsplit_once(char::is_whitespace)
            && is_in(&self.after, last)
        {
            topic = bare(rest);
        }
        (!is_in(&self.before, topic)).then_some(topic)
    }

    fn cut(&self) -> Option<&Regex> {
        let compiled = self.compiled_cut.get_or_init(|| {
            let cut = self.cut.as_ref()?;
            crate::memory::tracking::cues::one(cut).ok()
        });
        compiled.as_ref()
    }
}

/// Cues of one language and kind, with blanks and apostrophes spelled out.
pub(super) fn language(cues: &[String], never: &[String], lists: &Lists, kind: Kind) -> Language {
    Language {
        lists: spelled_lists(lists),
        never: never.iter().map(|pattern| spelled(pattern)).collect(),
        cues: [(kind, cues.iter().map(|pattern| spelled(pattern)).collect())].into(),
    }
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | ')' | '('))
}

fn is_in(lexicon: &Lexicon, word: &str) -> bool {
    lexicon.roles(word).has(Role::Topic)
}

/// The first [`MOST`] words.
fn first_words(text: &str) -> &str {
    let mut end = text.len();
    let ends = text
        .char_indices()
        .filter(|(_, c)| c.is_whitespace())
        .map(|(at, _)| at);
    if let Some(place) = ends.skip(MOST - 1).next() {
        end = place;
    }
    &text[..end]
}
