//! Reads plans and decisions: objective, goals, phase, decisions with what they were preferred to,
//! constraints, assumptions, conclusions and open questions, from what the person says.
//!
//! ```text
//!  text -> sentences (no quotes, no stories) -> a label, a heading | learned spans -> findings
//! ```
//! What is said by its form (`Budget: 5k`, a list of goals) is told by `config/cues/reasoning.yaml`, everything else
//! by weights that were learned from labelled talk ([`marked`](super::marked)).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::marked::{Marking, REASONING, Said, lines, trimmed};
use super::{BadCue, Cued, Found, Reader};
use crate::memory::texts;
use crate::memory::tracking::cues::{Cues, Language, filled};
use crate::memory::tracking::prose::is_title;
use crate::memory::tracking::{Exchange, Finding, Kind, Note, Speaker, Status};
use crate::text::classify::spans::Line;
use crate::text::patterns::{BadPattern, Case, Patterns};

/// Words of each of several things behind a label, at most.
const LISTED: usize = 8;

/// The label that only a date or a duration has.
const DEADLINE: &str = "Deadline";

/// Finds what a person plans and decides.
#[derive(Debug)]
pub struct ReasoningReader {
    cues: Cues,
    /// Texts of which nothing is read.
    fiction: Patterns,
    /// Conditions and questions, whatever their words say.
    unreal: Patterns,
    /// Begins a story of the past, which goes on to the end of its paragraph …
    story: Patterns,
    /// … or to one of these.
    present: Patterns,
    headings: Vec<(Kind, Patterns)>,
    /// What a constraint is about, told by its words; the first one counts.
    labels: Vec<(String, Patterns)>,
    /// A date or a duration.
    due: Patterns,
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
    unreal: Vec<String>,
    story: Vec<String>,
    present: Vec<String>,
    headings: BTreeMap<Kind, Vec<String>>,
    labels: Vec<Label>,
    due: Vec<String>,
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
        let cues = languages.values().map(|words| Language {
            lists: words.lists.clone(),
            never: words.never.clone(),
            cues: words.cues.clone(),
        });
        let all = |of: fn(&Words) -> &Vec<String>| {
            let lists = languages.values().map(|words| (of(words), words));
            patterns(lists)
        };
        let mut reader = Self {
            cues: Cues::new(&cues.collect::<Vec<_>>())?,
            fiction: all(|words| &words.fiction)?,
            unreal: all(|words| &words.unreal)?,
            story: all(|words| &words.story)?,
            present: all(|words| &words.present)?,
            headings: Vec::new(),
            labels: Vec::new(),
            due: all(|words| &words.due)?,
            marking: Marking::new(REASONING),
        };
        for words in languages.values() {
            for (kind, of) in &words.headings {
                reader.headings.push((*kind, patterns([(of, words)])?));
            }
            for Label { label, words: of } in &words.labels {
                let of = patterns([(of, words)])?;
                reader.labels.push((label.clone(), of));
            }
        }
        Ok(reader)
    }

    fn check(&self) -> Result<(), BadPattern> {
        self.cues.check()?;
        let headings = self.headings.iter().map(|(_, patterns)| patterns);
        let labels = self.labels.iter().map(|(_, patterns)| patterns);
        [&self.fiction, &self.unreal, &self.story, &self.present]
            .into_iter()
            .chain([&self.due])
            .chain(headings)
            .chain(labels)
            .try_for_each(Patterns::check)
    }
}

fn patterns<'w>(
    lists: impl IntoIterator<Item = (&'w Vec<String>, &'w Words)>,
) -> Result<Patterns, BadPattern> {
    let mut all = Vec::new();
    for (list, words) in lists {
        for pattern in list {
            all.push(filled(pattern, &words.lists)?);
        }
    }
    Ok(Patterns::new(Case::Ignored, all))
}

/// Adds what says something; of objectives and phases the first.
fn add(found: &mut Found, mut finding: Finding) {
    let says = |text: &str| text.chars().any(char::is_alphanumeric);
    finding.note.why = finding.note.why.filter(|why| says(why));
    let key = match finding.kind {
        Kind::Objective | Kind::Phase => String::new(),
        _ => finding.note.text.to_lowercase(),
    };
    if says(&finding.note.text) {
        found.add(finding, key);
    }
}

impl Reader for ReasoningReader {
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        let mut found = Found::default();
        for text in exchange.said_by(&[Speaker::User]) {
            if !self.fiction.is_match(text) {
                self.text(text, &mut found);
            }
        }
        found.findings
    }
}

impl ReasoningReader {
    /// With other weights than those of the program.
    #[must_use]
    pub fn marking(mut self, marking: Marking) -> Self {
        self.marking = marking;
        self
    }

    fn text(&self, text: &str, found: &mut Found) {
        let reading = self.marking.read(text);
        let mut is_story = false;
        let mut before = 0;
        // What the line before says of this one.
        let mut heading = None;
        for line in lines(text) {
            let gap = text.get(before..line.at).unwrap_or_default();
            before = line.at + line.text.len();
            let goes_on = || gap.matches('\n').count() < 2;
            is_story = is_story && goes_on() && !self.present.is_match(line.text);
            is_story = is_story || self.story.is_match(line.text);
            if is_story {
                continue;
            }
            let words = plain(line.text);
            let is_line = gap.contains('\n');
            let below = heading.take().filter(|_| is_line && !line.item);
            let listed = line.heading.and_then(|heading| self.headed(heading));
            let is_heading = gap.trim_end().ends_with('#') || is_title(line.text);
            heading = is_heading.then(|| self.headed(&words)).flatten();
            if heading.is_some() {
                continue;
            }
            let headed = below.or(listed.filter(|_| is_line));
            let labelled = self.cues.read(&words).next();
            if headed.is_none() && labelled.is_none() && self.unreal.is_match(&words) {
                continue;
            }
            let kind = labelled.as_ref().map(|it| it.0).or(headed);
            // A word by itself is a title, and what stands behind the sentence of an item an aside.
            let is_title = line.text.is_ascii() && !words.contains(' ');
            if kind.is_none() && (is_title || listed.is_some()) {
                continue;
            }
            let said = self.marking.said(&line, &reading);
            let part = |name| {
                let part = labelled.as_ref().and_then(|(_, parts)| parts.name(name));
                part.map(|part| trimmed(part.as_str()))
            };
            let text = part("text").unwrap_or(&words);
            let known = found.findings.len();
            if let Some(label) = part("label") {
                self.labelled(label, text, found);
            } else if let Some(kind) = kind
                && let listed = each(kind, text)
                && (listed.len() > 1 || !said.iter().any(|it| it.kind == Some(kind)))
            {
                for text in listed {
                    add(found, self.note(kind, text).of(kind));
                }
            } else {
                self.learned(&line, &said, found);
            }
            // `- [x] sort out the permits`, `done: sort out the permits`
            if gap.ends_with("[x] ") || part("done").is_some() {
                let goals = found.findings[known..].iter_mut();
                for goal in goals.filter(|it| it.kind == Kind::Goal) {
                    goal.note.status = Some(Status::Completed);
                }
            }
        }
    }

    /// What a heading makes of the items, or of the one line, under it.
    fn headed(&self, heading: &str) -> Option<Kind> {
        let heading = plain(heading);
        let heading = heading.trim_end_matches(':').trim();
        let mut headings = self.headings.iter();
        let heading = headings.find(|(_, patterns)| patterns.is_match(heading));
        heading.map(|(kind, _)| *kind)
    }

    /// A reason belongs to what was decided or rejected before it, else behind it; what is rejected in the sentence of a
    /// decision is what it was preferred to, and has no reason of its own.
    fn learned(&self, line: &Line<'_>, said: &[Said<'_>], found: &mut Found) {
        let is =
            |place: usize, kind: Option<Kind>| said.get(place).is_some_and(|it| it.kind == kind);
        let is_rejected = |place: usize| is(place, Some(Kind::Alternative));
        let has_decision = said.iter().any(|it| it.kind == Some(Kind::Decision));
        for (i, it) in said.iter().enumerate() {
            let Some(kind) = it.kind else { continue };
            if line.asks && kind != Kind::Question {
                continue;
            }
            let mut note = self.note(kind, it.text);
            let reason = match kind {
                Kind::Decision => (i + 1..said.len()).find(|next| !is_rejected(*next)),
                Kind::Alternative if !has_decision => Some(i + 1),
                _ => None,
            };
            let reason = reason.filter(|next| is(*next, None));
            let before = i.checked_sub(1).filter(|first| *first == 0 && is(0, None));
            if let Some(why) = reason.or(before.filter(|_| is_choice(kind) && note.why.is_none())) {
                note.why = Some(trimmed(said[why].text).to_owned());
            }
            if kind == Kind::Decision {
                let others = said.iter().filter(|it| it.kind == Some(Kind::Alternative));
                note.instead_of = others.map(|it| trimmed(it.text).to_owned()).collect();
            }
            add(found, note.of(kind));
        }
    }

    /// A constraint under its own label, which takes the place of an older one.
    fn labelled(&self, label: &str, text: &str, found: &mut Found) {
        let label = capitalised(label);
        if !self.may_be(&label, text) {
            return;
        }
        let note = Note {
            label: Some(label),
            ..Note::new(text)
        };
        add(found, note.of(Kind::Constraint));
    }

    /// Whether a text can be what a label says: a deadline has a date or a duration, unless nobody told what those are.
    fn may_be(&self, label: &str, text: &str) -> bool {
        label != DEADLINE || self.due.is_empty() || self.due.is_match(text)
    }

    /// A constraint without a label of its own says by its words what it is about, and takes no other's place.
    fn note(&self, kind: Kind, text: &str) -> Note {
        let text = trimmed(text);
        // `Kafka (too heavy)`
        let bracket = text.strip_suffix(')').filter(|_| is_choice(kind));
        let (text, why) = match bracket.and_then(|text| text.split_once(" (")) {
            Some((text, why)) => (text, Some(why.to_owned())),
            None => (text, None),
        };
        let text = match kind {
            Kind::Constraint => {
                let mut labels = self.labels.iter();
                let label =
                    labels.find(|(label, words)| words.is_match(text) && self.may_be(label, text));
                label.map_or(text.to_owned(), |(label, _)| format!("{label}: {text}"))
            }
            _ => text.to_owned(),
        };
        let status = (kind == Kind::Alternative).then_some(Status::Rejected);
        Note {
            why,
            status,
            ..Note::new(text)
        }
    }
}

/// What is listed behind a label: `rejected: tea (cold), milk`.
fn each(kind: Kind, text: &str) -> Vec<&str> {
    let is_list = matches!(kind, Kind::Alternative | Kind::Goal);
    let is_short = |part: &&str| part.split(' ').count() <= LISTED;
    let mut depth = 0_usize;
    let parts = text.split(|c| {
        depth = match c {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        c == ',' && depth == 0
    });
    let parts: Vec<&str> = parts.map(trimmed).collect();
    if is_list && parts.iter().all(is_short) {
        parts
    } else {
        vec![text]
    }
}

fn is_choice(kind: Kind) -> bool {
    matches!(kind, Kind::Decision | Kind::Alternative)
}

/// A sentence in one line, with single blanks, straight apostrophes and without marks of emphasis.
fn plain(sentence: &str) -> Cow<'_, str> {
    let is_other = |c: char| c.is_control() || matches!(c, '’' | '*' | '\u{a0}');
    if !sentence.contains("  ") && !sentence.contains(is_other) {
        return sentence.into();
    }
    let straight = sentence.replace('’', "'").replace("**", "");
    let words = straight.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").into()
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

#[cfg(test)]
mod tests;
