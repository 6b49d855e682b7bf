//! What was asked for and what was done, as short lines for the day's notes (X5-X9).
//!
//! Pure: read from the last messages of a session by cues, without a model. Secrets are masked; what a model thought
//! is never read.

mod fact;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use fact::{Fact, HEADING, compacted, facts, without_thoughts};

use super::Prompt;
use super::cue_files::{BadCues, CueFile, Filling};
use crate::declare::settings;
use crate::text::patterns::{Checked, Patterns};

settings! {
    /// `memory.facts`: what a person may set about facts.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FactsSettings {
        pub enabled: bool = true,
        /// Exchanges before anything is read (X6).
        pub min_chat_turns: usize = 3,
        /// New facts of one turn (X9).
        pub max_facts: usize = 8,
        /// Messages that are read, the newest of them (X7).
        pub scan_messages: usize = 20,
        /// Characters of the facts of one day (X11).
        pub daily_max_chars: usize = 8_000,
        /// Characters of them from which on repeated lines are dropped (X14).
        pub daily_compact_chars: usize = 2_000,
        /// Characters of MEMORY.md from which on no facts are added to it (X12).
        pub memory_md_max_chars: usize = 0,
        /// Languages of `cues/facts.yaml` that are listened for.
        pub cues: Vec<String> = vec!["zh".to_owned(), "en".to_owned()],
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sheet {
    remember: Kind,
    request: Kind,
    completed: Kind,
    information: Kind,
    never: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Kind {
    label: String,
    cues: Vec<String>,
}

/// Patterns of the languages that are listened for, in the order of the settings.
#[derive(Debug)]
pub struct FactCues {
    languages: Vec<Language>,
}

#[derive(Debug)]
pub(super) struct Language {
    pub(super) remember: Cues,
    pub(super) request: Cues,
    pub(super) completed: Cues,
    pub(super) information: Cues,
    pub(super) never: Patterns,
}

#[derive(Debug)]
pub(super) struct Cues {
    pub(super) label: String,
    patterns: Patterns,
}

impl FactCues {
    /// Name of the file under `config/`.
    pub const FILE: &'static str = "cues/facts.yaml";

    /// With the person's own file, if `own` has one, laid over the embedded one by language and key; every pattern is
    /// checked, and the languages that it adds are heard.
    pub fn with(
        own: impl Fn(&str) -> Option<Prompt>,
        settings: &FactsSettings,
    ) -> Result<Self, BadCues> {
        let mut file: CueFile<Sheet> = CueFile::read(Self::FILE, own)?;
        let heard = file.heard(None, &settings.cues, "memory.facts.cues")?;
        let languages = heard.into_iter().map(|heard| {
            let language = heard.sheet.language(&heard.language, file.checked);
            language.map_err(|what| file.bad(what))
        });
        Ok(Self {
            languages: languages.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn languages(&self) -> &[Language] {
        &self.languages
    }
}

impl Sheet {
    fn language(self, name: &str, checked: Checked) -> Result<Language, String> {
        let lists = &BTreeMap::new();
        let filling = Filling { lists, checked };
        let patterns = |place, cues: &[String]| filling.patterns(cues, &format!("{name}: {place}"));
        let cues = |place, kind: Kind| {
            Ok::<_, String>(Cues {
                patterns: patterns(place, &kind.cues)?,
                label: kind.label,
            })
        };
        Ok(Language {
            remember: cues("remember", self.remember)?,
            request: cues("request", self.request)?,
            completed: cues("completed", self.completed)?,
            information: cues("information", self.information)?,
            never: patterns("never", &self.never)?,
        })
    }
}

impl Cues {
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.patterns.is_match(text)
    }
}
