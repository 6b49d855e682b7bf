//! The words that tell a request from a thing done: `config/cues/facts.yaml` or a person's own file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::FactsSettings;
use crate::memory::overlay::{added, laid_over};
use crate::memory::patterns::{BadPattern, Checked, Patterns};
use crate::memory::tracking::cues::filled;
use crate::memory::tracking::readers::BadCues;
use crate::memory::{Prompt, texts};

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
        match own(Self::FILE) {
            None => Self::parse(&texts::embedded(Self::FILE), settings, Checked::ByTests),
            Some(file) => Self::parse(&file, settings, Checked::Now),
        }
    }

    fn parse(file: &Prompt, settings: &FactsSettings, checked: Checked) -> Result<Self, BadCues> {
        let bad = |what: String| BadCues {
            file: file.file.clone(),
            what,
        };
        let embedded = texts::embedded(Self::FILE).text;
        let mut all: BTreeMap<String, Sheet> =
            laid_over(&embedded, &file.text).map_err(|error| bad(error.to_string()))?;
        let added = added(&embedded, &file.text).map_err(|error| bad(error.to_string()))?;
        let known = all.keys().cloned().collect::<Vec<_>>().join(", ");
        let mut heard: Vec<&str> = Vec::new();
        let mut languages = Vec::new();
        for name in settings.cues.iter().chain(&added) {
            if let Some(sheet) = all.remove(name) {
                heard.push(name);
                let language = sheet.language(checked);
                languages.push(
                    language.map_err(|(place, error)| bad(format!("{name}: {place}: {error}")))?,
                );
            } else if !heard.contains(&name.as_str()) {
                return Err(bad(format!(
                    "has no language {name:?} (set in memory.facts.cues); available: {known}"
                )));
            }
        }
        Ok(Self { languages })
    }

    pub(super) fn languages(&self) -> &[Language] {
        &self.languages
    }
}

impl Sheet {
    fn language(self, checked: Checked) -> Result<Language, (&'static str, BadPattern)> {
        let patterns = |place, cues: &[String]| {
            let filled = cues.iter().map(|cue| filled(cue, &BTreeMap::new()));
            let filled: Result<Vec<String>, BadPattern> = filled.collect();
            let patterns = filled.and_then(|cues| Patterns::read(cues, checked));
            patterns.map_err(|error| (place, error))
        };
        let cues = |place, kind: Kind| {
            Ok(Cues {
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
