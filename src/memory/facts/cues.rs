//! The words that tell a request from a thing done: `config/cues/facts.yaml` or a person's own file.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use super::FactsSettings;
use crate::memory::overlay::{added, laid_over};
use crate::memory::tracking::cues::{BadPattern, filled, one};
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

/// Patterns of the languages that are listened for, in the order of the settings; compiled when first needed.
#[derive(Debug)]
pub struct FactCues {
    sheets: Vec<(String, Sheet)>,
    compiled: OnceLock<Vec<Language>>,
    file: String,
}

#[derive(Debug)]
pub(super) struct Language {
    pub(super) remember: Cues,
    pub(super) request: Cues,
    pub(super) completed: Cues,
    pub(super) information: Cues,
    pub(super) never: Vec<Regex>,
}

#[derive(Debug)]
pub(super) struct Cues {
    pub(super) label: String,
    patterns: Vec<Regex>,
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
        let own = own(Self::FILE);
        let is_own = own.is_some();
        let file = own.unwrap_or_else(|| texts::embedded(Self::FILE));
        let cues = Self::parse(&file, settings)?;
        if is_own {
            let compiled = cues.compile()?;
            cues.compiled.get_or_init(|| compiled);
        }
        Ok(cues)
    }

    fn parse(file: &Prompt, settings: &FactsSettings) -> Result<Self, BadCues> {
        let bad = |what: String| BadCues {
            file: file.file.clone(),
            what,
        };
        let embedded = texts::embedded(Self::FILE).text;
        let mut all: BTreeMap<String, Sheet> =
            laid_over(&embedded, &file.text).map_err(|error| bad(error.to_string()))?;
        let added = added(&embedded, &file.text).map_err(|error| bad(error.to_string()))?;
        let known = all.keys().cloned().collect::<Vec<_>>().join(", ");
        let mut sheets: Vec<(String, Sheet)> = Vec::new();
        for name in settings.cues.iter().chain(&added) {
            if let Some(sheet) = all.remove(name) {
                sheets.push((name.clone(), sheet));
            } else if sheets.iter().all(|(heard, _)| heard != name) {
                return Err(bad(format!(
                    "has no language {name:?}, which memory.facts.cues names; it has: {known}"
                )));
            }
        }
        Ok(Self {
            sheets,
            compiled: OnceLock::new(),
            file: file.file.clone(),
        })
    }

    pub(super) fn languages(&self) -> &[Language] {
        self.compiled.get_or_init(|| {
            self.compile()
                .expect("a test compiles the embedded patterns, a person's own are compiled when they are read")
        })
    }

    fn compile(&self) -> Result<Vec<Language>, BadCues> {
        let sheets = self.sheets.iter();
        sheets
            .map(|(name, sheet)| self.language(name, sheet))
            .collect()
    }

    fn language(&self, name: &str, sheet: &Sheet) -> Result<Language, BadCues> {
        let regexes = |place: &str, cues: &[String]| {
            let regexes = cues.iter().map(|cue| one(&filled(cue, &BTreeMap::new())?));
            let regexes: Result<Vec<Regex>, BadPattern> = regexes.collect();
            regexes.map_err(|error| BadCues {
                file: self.file.clone(),
                what: format!("{name}: {place}: {error}"),
            })
        };
        let cues = |place: &str, kind: &Kind| {
            Ok(Cues {
                label: kind.label.clone(),
                patterns: regexes(place, &kind.cues)?,
            })
        };
        Ok(Language {
            remember: cues("remember", &sheet.remember)?,
            request: cues("request", &sheet.request)?,
            completed: cues("completed", &sheet.completed)?,
            information: cues("information", &sheet.information)?,
            never: regexes("never", &sheet.never)?,
        })
    }
}

impl Cues {
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(text))
    }
}
