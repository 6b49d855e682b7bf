//! Reads a conversation: what it is about, names, and facts that people tell about themselves and theirs.
//!
//! What is said is marked by weights that were learned from labelled talk ([`marked`](super::marked)).
//! `config/cues/conversation.yaml` has what is told by its form (`topic: tides`), and what begins the words of others.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::marked::{CONVERSATION, Marking, lines, trimmed};
use super::{BadCue, Cued, Found, Reader};
use crate::memory::texts;
use crate::memory::tracking::cues::{Cues, Language};
use crate::memory::tracking::{Exchange, Finding, Kind, Note, Speaker};
use crate::text::is_function_word;
use crate::text::patterns::{BadPattern, Case, Patterns};
use crate::text::secrets::MASK;

/// Finds topics, names and facts in what a person says.
#[derive(Debug)]
pub struct ConversationReader {
    cues: Cues,
    /// Sentences behind which somebody else speaks.
    fiction: Patterns,
    marking: Marking,
}

/// What the file says of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Words {
    lists: BTreeMap<String, Vec<String>>,
    never: Vec<String>,
    cues: BTreeMap<Kind, Vec<String>>,
    fiction: Vec<String>,
}

impl Cued for ConversationReader {
    const FILE: &'static str = "cues/conversation.yaml";

    fn parse(text: &str) -> Result<Self, BadCue> {
        let languages: BTreeMap<String, Words> = texts::read(text)?;
        let fiction = languages.values().flat_map(|words| words.fiction.clone());
        let fiction = Patterns::new(Case::Ignored, fiction.collect::<Vec<_>>());
        let cues = languages.into_values().map(|words| Language {
            lists: words.lists,
            never: words.never,
            cues: words.cues,
        });
        Ok(Self {
            cues: Cues::new(&cues.collect::<Vec<_>>())?,
            fiction,
            marking: Marking::new(CONVERSATION),
        })
    }

    fn check(&self) -> Result<(), BadPattern> {
        self.cues.check()?;
        self.fiction.check()
    }
}

impl Reader for ConversationReader {
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        let mut found = Found::default();
        for text in exchange.said_by(&[Speaker::User]) {
            self.text(text, &mut found);
        }
        found.findings
    }
}

impl ConversationReader {
    /// With other weights than those of the program.
    #[must_use]
    pub fn marking(mut self, marking: Marking) -> Self {
        self.marking = marking;
        self
    }

    fn text(&self, text: &str, found: &mut Found) {
        let reading = self.marking.read(text);
        let mut is_fiction = false;
        for line in lines(text) {
            is_fiction |= self.fiction.is_match(line.text);
            let told: Vec<_> = self.cues.read(line.text).collect();
            for (kind, parts) in &told {
                if let Some(part) = parts.name("text") {
                    add(found, *kind, part.as_str());
                }
            }
            for said in self.marking.said(&line, &reading) {
                let Some(kind) = said.kind else { continue };
                let is_told = told.iter().any(|it| it.0 == kind);
                if !(is_told || kind == Kind::Fact && is_fiction) {
                    add(found, kind, said.text);
                }
            }
        }
    }
}

fn add(found: &mut Found, kind: Kind, text: &str) {
    let text = trimmed(text);
    let text = match kind {
        // `Tom's house`
        Kind::Entity => {
            let owner = text.strip_suffix("'s").or(text.strip_suffix("’s"));
            owner.unwrap_or(text)
        }
        Kind::Topic => content(text),
        _ => text,
    };
    let hides = text.contains(&MASK[..MASK.len() - 1]);
    let says = text.chars().any(char::is_alphanumeric);
    // The name alone of somebody who was named in full.
    let is_part = kind == Kind::Entity
        && found
            .findings
            .iter()
            .any(|it| it.kind == kind && it.note.text.split(' ').any(|word| word == text));
    if says && !hides && !is_part {
        found.add(Note::new(text).of(kind), text.to_lowercase());
    }
}

/// Without words at the ends that say nothing.
fn content(text: &str) -> &str {
    let mut text = text;
    loop {
        let is_empty = |word: &str| is_function_word(&word.to_lowercase());
        text = match (text.split_once(' '), text.rsplit_once(' ')) {
            (Some((first, rest)), _) if is_empty(first) => rest.trim_start(),
            (_, Some((rest, last))) if is_empty(last) => rest.trim_end(),
            (Some(_), _) => return text,
            (None, _) => return if is_empty(text) { "" } else { text },
        };
    }
}
