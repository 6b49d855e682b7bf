//! `config/cues/reasoning.yaml`: by language, the cues and everything that is told by words.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::marks::Marks;
use super::parts::Separators;
use super::{Group, ReasoningReader, Sentences};
use crate::memory::texts;
use crate::memory::tracking::Kind;
use crate::memory::tracking::cues::{Cues, Language};
use crate::memory::tracking::readers::{BadCue, Cued};
use crate::text::patterns::BadPattern;

/// What the file says of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Words {
    /// Words that patterns name.
    lists: BTreeMap<String, Vec<String>>,
    /// Texts of which nothing is read.
    fiction: Vec<String>,
    /// Sentences of which nothing is read.
    unreal: Vec<String>,
    story: Vec<String>,
    present: Vec<String>,
    leads: Vec<String>,
    breaks: Vec<String>,
    openers: Vec<String>,
    /// `why` before `text`.
    fronted: Vec<String>,
    headings: BTreeMap<Kind, Vec<String>>,
    labels: Vec<Label>,
    reasons: Vec<String>,
    objections: Vec<String>,
    preferred: Vec<String>,
    either: Vec<String>,
    asides: Vec<String>,
    clauses: Vec<Clauses>,
}

/// A group of cues.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Clauses {
    needs: Vec<String>,
    elliptic: bool,
    /// Clauses that say nothing.
    never: Vec<String>,
    cues: BTreeMap<Kind, Vec<String>>,
}

/// What a constraint is about, and the words that tell it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    label: String,
    words: Vec<String>,
}

impl Cued for ReasoningReader {
    const FILE: &'static str = "cues/reasoning.yaml";

    fn parse(text: &str) -> Result<Self, BadCue> {
        let languages: BTreeMap<String, Words> = texts::read(text)?;
        let languages: Vec<Words> = languages.into_values().collect();
        let mut reader = Self {
            groups: Vec::new(),
            fronted: fronted(&languages)?,
            marks: Sentences::default(),
            headings: Vec::new(),
            labels: Vec::new(),
            separators: Separators::default(),
        };
        for words in &languages {
            reader.add(words)?;
        }
        Ok(reader)
    }

    fn check(&self) -> Result<(), BadPattern> {
        for cues in self.groups.iter().map(|group| &group.cues) {
            cues.check()?;
        }
        self.fronted.check()?;
        let (marks, separators) = (&self.marks, &self.separators);
        let headings = self.headings.iter().map(|(_, marks)| marks);
        let labels = self.labels.iter().map(|(_, marks)| marks);
        [
            &marks.fiction,
            &marks.unreal,
            &marks.story,
            &marks.present,
            &marks.leads,
            &marks.breaks,
            &marks.openers,
            &separators.reasons,
            &separators.objections,
            &separators.preferred,
            &separators.either,
            &separators.asides,
        ]
        .into_iter()
        .chain(self.groups.iter().map(|group| &group.needs))
        .chain(headings)
        .chain(labels)
        .try_for_each(Marks::check)
    }
}

impl ReasoningReader {
    fn add(&mut self, words: &Words) -> Result<(), BadPattern> {
        let (marks, separators) = (&mut self.marks, &mut self.separators);
        for (into, patterns) in [
            (&mut marks.fiction, &words.fiction),
            (&mut marks.unreal, &words.unreal),
            (&mut marks.story, &words.story),
            (&mut marks.present, &words.present),
            (&mut marks.leads, &words.leads),
            (&mut marks.breaks, &words.breaks),
            (&mut marks.openers, &words.openers),
            (&mut separators.reasons, &words.reasons),
            (&mut separators.objections, &words.objections),
            (&mut separators.preferred, &words.preferred),
            (&mut separators.either, &words.either),
            (&mut separators.asides, &words.asides),
        ] {
            into.add(patterns, &words.lists)?;
        }
        for clauses in &words.clauses {
            self.groups.push(group(clauses, words)?);
        }
        for (kind, patterns) in &words.headings {
            self.headings
                .push((*kind, Marks::new(patterns, &words.lists)?));
        }
        for Label { label, words: told } in &words.labels {
            self.labels
                .push((label.clone(), Marks::new(told, &words.lists)?));
        }
        Ok(())
    }
}

fn group(clauses: &Clauses, words: &Words) -> Result<Group, BadPattern> {
    let language = Language {
        lists: words.lists.clone(),
        never: clauses.never.clone(),
        cues: clauses.cues.clone(),
    };
    Ok(Group {
        needs: Marks::new(&clauses.needs, &words.lists)?,
        is_elliptic: clauses.elliptic,
        cues: Cues::new([&language])?,
    })
}

/// What may stand before the clause that matters, as cues of a decision, which it mostly is.
fn fronted(languages: &[Words]) -> Result<Cues, BadPattern> {
    let languages: Vec<Language> = languages
        .iter()
        .map(|words| Language {
            lists: words.lists.clone(),
            cues: BTreeMap::from([(Kind::Decision, words.fronted.clone())]),
            ..Language::default()
        })
        .collect();
    Cues::new(&languages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_pattern_can_be_used() {
        assert_eq!(ReasoningReader::embedded().check(), Ok(()));
    }
}
