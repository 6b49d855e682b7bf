//! What counts as read: labelled exchanges, and the score of a reader on them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use cogtrix::memory::tracking::readers::Reader;
use cogtrix::memory::tracking::{Exchange, Finding, Kind, Piece, Speaker};
use serde::Deserialize;

/// One labelled exchange.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Labelled {
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) assistant: String,
    pub(crate) expect: BTreeMap<String, Vec<String>>,
}

pub(crate) fn corpus(path: &Path) -> Vec<Labelled> {
    let text = std::fs::read_to_string(path).unwrap();
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How a field is named in a corpus, and how like two of its texts have to be.
pub(crate) const FIELDS: [(Kind, &str, Like); 17] = [
    (Kind::Task, "task", Like::Words),
    (Kind::Progress, "progress", Like::Words),
    (Kind::File, "files", Like::Exactly),
    (Kind::Error, "errors", Like::Error),
    (Kind::Change, "changes", Like::Exactly),
    (Kind::Objective, "objective", Like::Words),
    (Kind::Goal, "goals", Like::Words),
    (Kind::Phase, "phase", Like::Words),
    (Kind::Decision, "decisions", Like::Words),
    (Kind::Alternative, "alternatives", Like::Words),
    (Kind::Constraint, "constraints", Like::Words),
    (Kind::Assumption, "assumptions", Like::Words),
    (Kind::Chain, "chain", Like::Words),
    (Kind::Question, "questions", Like::Words),
    (Kind::Topic, "topics", Like::Words),
    (Kind::Entity, "entities", Like::Exactly),
    (Kind::Fact, "facts", Like::Words),
];

/// What counts as found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Like {
    /// The same text, case apart.
    Exactly,
    /// The same place, and one text holds the other.
    Error,
    /// At least six tenths of the words in common (F1).
    Words,
}

impl Like {
    fn is(self, expected: &str, found: &str) -> bool {
        match self {
            Self::Exactly => expected.to_lowercase() == found.to_lowercase(),
            Self::Error => {
                let (expected, place) = halves(expected, " @ ");
                let (found, found_at) = halves(found, " @ ");
                let (expected, found) = (words(expected).join(" "), words(found).join(" "));
                let alike = expected.contains(&found) || found.contains(&expected);
                alike && !found.is_empty() && place == found_at
            }
            Self::Words => {
                let (expected, why) = halves(expected, " :: ");
                let (found, found_why) = halves(found, " :: ");
                let said_why = why.is_none_or(|why| found_why.is_some_and(|f| f1(why, f) >= 0.5));
                f1(expected, found) >= 0.6 && said_why
            }
        }
    }
}

fn halves<'a>(text: &'a str, between: &str) -> (&'a str, Option<&'a str>) {
    text.split_once(between)
        .map_or((text, None), |(first, second)| (first, Some(second)))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words")]
fn f1(expected: &str, found: &str) -> f64 {
    let (expected, mut found) = (words(expected), words(found));
    let sum = expected.len() + found.len();
    let mut common = 0;
    for word in expected {
        if let Some(place) = found.iter().position(|other| *other == word) {
            found.swap_remove(place);
            common += 1;
        }
    }
    2.0 * f64::from(common) / (sum.max(1) as f64)
}

/// A finding as a corpus writes it.
fn written(finding: &Finding) -> String {
    let note = &finding.note;
    let mut text = String::new();
    if let Some(label) = &note.label {
        write!(text, "{label}: ").unwrap();
    }
    text.push_str(&note.text);
    if let Some(why) = &note.why {
        write!(text, " :: {why}").unwrap();
    }
    if let Some(place) = &note.place {
        write!(text, " @ {place}").unwrap();
    }
    text
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) right: u32,
    pub(crate) wrong: u32,
    pub(crate) missed: u32,
}

impl Score {
    pub(crate) fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub(crate) fn recall(self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        1.0
    } else {
        f64::from(part) / f64::from(whole)
    }
}

/// Whether misses are told: never of what is held out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misses {
    Told,
    Kept,
}

#[expect(clippy::print_stdout, reason = "misses are told to who tunes the cues")]
pub(crate) fn score(
    reader: &dyn Reader,
    corpus: &[Labelled],
    told: Misses,
) -> BTreeMap<&'static str, Score> {
    let mut scores: BTreeMap<&'static str, Score> = BTreeMap::new();
    for labelled in corpus {
        let pieces = [
            (Speaker::User, &labelled.user),
            (Speaker::Assistant, &labelled.assistant),
        ];
        let pieces = pieces.map(|(by, text)| Piece {
            by,
            text: text.as_str().into(),
        });
        let exchange = Exchange {
            pieces: pieces.into(),
            ..Exchange::default()
        };
        let findings = reader.read(&exchange);
        for (kind, field, like) in FIELDS {
            let expected = labelled.expect.get(field).cloned().unwrap_or_default();
            let found = findings.iter().filter(|finding| finding.kind == kind);
            let mut found: Vec<String> = found.map(written).collect();
            found.dedup();
            let score = scores.entry(field).or_default();
            let mut missed = Vec::new();
            for expected in expected {
                match found.iter().position(|found| like.is(&expected, found)) {
                    Some(place) => {
                        found.remove(place);
                        score.right += 1;
                    }
                    None => missed.push(expected),
                }
            }
            score.missed += u32::try_from(missed.len()).unwrap();
            score.wrong += u32::try_from(found.len()).unwrap();
            if told == Misses::Told && !(missed.is_empty() && found.is_empty()) {
                println!(
                    "{}: {field}: missed {missed:?}, wrong {found:?}",
                    labelled.name
                );
            }
        }
    }
    scores.retain(|_, score| score.right + score.wrong + score.missed > 0);
    scores
}
