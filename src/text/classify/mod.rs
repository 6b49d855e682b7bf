//! What kind of sentences a person typed, and whether any of them is worth keeping for months. Unit: one message.
//!
//! ```text
//!  message, what was said before -> tokens -> concepts -> features of the message and of each sentence -> [Judged]
//! ```
//! Linear models over hashed features, learned from `benches/corpus/kinds` and `benches/corpus/mixed` by `cargo bench --bench train_kinds`. Pure,
//! deterministic, and linear in the length of the text.

mod concepts;
mod features;
pub mod off_record;
pub mod spans;
mod tokens;
#[cfg(any(test, feature = "testing"))]
pub mod training;

use std::collections::HashSet;
use std::ops::Range;

use super::linear::{Feature, Model};
use crate::declare::named;
use concepts::Concepts;
use features::{Group, Read, Sums};
use tokens::Tokens;

named! {
    /// What a sentence, or a message, is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Kind {
        Preference = "preference",
        PersonFact = "person_fact",
        ProjectFact = "project_fact",
        Decision = "decision",
        Correction = "correction",
        StandingInstruction = "standing_instruction",
        Goal = "goal",
        Constraint = "constraint",
        Deadline = "deadline",
        Task = "task",
        RememberRequest = "remember_request",
        // Nothing to keep.
        Request = "request",
        AnswerOnly = "answer_only",
        Question = "question",
        Hypothetical = "hypothetical",
        Roleplay = "roleplay",
        Fiction = "fiction",
        Quoted = "quoted",
        Pasted = "pasted",
        Reported = "reported",
        TestData = "test_data",
        Sarcasm = "sarcasm",
        Smalltalk = "smalltalk",
        DoNotRemember = "do_not_remember",
        Withdrawn = "withdrawn",
    }
}

/// For how long, and for what, it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Person,
    Project,
    Session,
    Answer,
    None,
}

impl Kind {
    /// How many of them, from the first on, are worth keeping.
    pub const KEPT: usize = 11;

    pub const fn is_kept(self) -> bool {
        (self as usize) < Self::KEPT
    }

    /// Whether it may read like something to keep and is none: made up, somebody else's, taken back.
    pub const fn is_trap(self) -> bool {
        !self.is_kept()
            && !matches!(
                self,
                Self::Request | Self::AnswerOnly | Self::Question | Self::Smalltalk
            )
    }
}

/// A sentence that is worth keeping.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Where it stands in the message.
    pub place: Range<usize>,
    pub kind: Kind,
    pub scope: Scope,
    /// Above 0; what is surer has more.
    pub score: f32,
}

/// What is to be made of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What the message is: what is surest to be worth keeping, or why nothing is.
    pub kind: Kind,
    /// What is worth keeping, in the order of saying.
    pub kept: Vec<Judged>,
    /// Each sentence with its score.
    sentences: Vec<(Range<usize>, f32)>,
}

impl Reading {
    /// How long a message holds of which nothing is kept.
    pub fn scope(&self) -> Scope {
        match self.kind {
            Kind::AnswerOnly => Scope::Answer,
            Kind::Request => Scope::Session,
            _ => Scope::None,
        }
    }

    /// Returns what of a part of the message is worth keeping.
    pub fn kept_in(&self, place: &Range<usize>) -> Option<&Judged> {
        let kept = self.kept.iter().filter(|it| meet(&it.place, place));
        kept.max_by(|one, other| one.score.total_cmp(&other.score))
    }

    /// Returns how much a part of the message is worth keeping; more than 0 is more likely than not.
    pub fn score(&self, place: &Range<usize>) -> f32 {
        let sentences = self.sentences.iter().filter(|(it, _)| meet(it, place));
        sentences
            .map(|(_, score)| *score)
            .fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Whether a text is the same few words over and over: nobody talks so.
fn is_monotonous(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let distinct: HashSet<&str> = words.iter().copied().collect();
    words.len() >= MONOTONOUS && distinct.len() * 3 < words.len()
}

/// Whether a text is a word or two without a contraction (`I'm`, `name's`): an answer to something, nothing by itself.
/// In other scripts a word may be a sentence.
fn is_fragment(text: &str) -> bool {
    let words = text.split_whitespace().count();
    text.is_ascii() && (words < 2 || words == 2 && !text.contains('\''))
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Which score a message of one sentence needs: with the mistakes of strangers in sight, set so that nine of ten that
/// are kept are worth it.
const MIN: f32 = 1.0;
/// What counts for one sentence of several: its score in the message, and that there are few, both divided by how many
/// there are; its score as a message of its own; that of its best clause; and that of the message as a trap. Fitted on
/// messages of strangers.
const SENTENCE_COUNTS: f32 = 1.2;
const ALONE_COUNTS: f32 = 0.39;
const CLAUSE_COUNTS: f32 = 0.35;
const TRAP_COUNTS: f32 = -0.46;
const OF_FEW: f32 = 1.2;
const MIN_OF_SEVERAL: f32 = 1.45;
/// Bytes of a message that are read.
const MAX: usize = 8_000;
/// Words from which on it can be told that a text repeats itself.
const MONOTONOUS: usize = 12;

/// Models, and the lists of concepts. Nothing of it is made at run time: there may be many.
#[derive(Clone, Debug)]
pub struct Classifier {
    keep: Model<'static>,
    kinds: Model<'static>,
    concepts: Concepts,
    leads: Concepts,
}

impl Default for Classifier {
    fn default() -> Self {
        Self::with(
            Model::new(include_bytes!("keep.weights")),
            Model::new(include_bytes!("kinds.weights")),
        )
    }
}

impl Classifier {
    fn with(keep: Model<'static>, kinds: Model<'static>) -> Self {
        Self {
            keep,
            kinds,
            concepts: Concepts::general(),
            leads: Concepts::leads(),
        }
    }

    /// Reads a message of a person, and what was said just before it.
    pub fn read(&self, text: &str, before: &str) -> Reading {
        let text = &text[..text.floor_char_boundary(MAX)];
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(LAST))..];
        let read = Read::new(text, before, &self.concepts);
        let labels = self.sums(&read, None);
        let message = self.worth(|add| read.of_message(add));
        let scores: Vec<f32> = (0..read.sentences.len())
            .map(|number| self.worth(|add| read.of_sentence(number, add)))
            .collect();
        let mut kept = Vec::new();
        if !is_monotonous(text) && !is_fragment(text) {
            for (number, score) in scores.iter().enumerate() {
                let worth = if scores.len() == 1 {
                    message + score - MIN
                } else {
                    self.of_several(&read, number, *score) + TRAP_COUNTS * labels[TRAP]
                };
                if worth > 0.0 {
                    let (kind, scope) = self.kind_of(&read, number);
                    kept.push(Judged {
                        place: read.sentences[number].clone(),
                        kind,
                        scope,
                        score: worth,
                    });
                }
            }
        }
        let kind = if kept.is_empty() {
            best_of(&labels[Kind::KEPT..Kind::ALL.len()], Kind::KEPT)
        } else {
            kept.iter()
                .max_by(|one, other| one.score.total_cmp(&other.score))
                .map_or(Kind::Question, |it| it.kind)
        };
        let scores = scores.into_iter().map(|score| message + score);
        let sentences = read.sentences.into_iter().zip(scores).collect();
        Reading {
            kind,
            kept,
            sentences,
        }
    }

    /// How much one sentence of several is worth keeping, unless the message is a trap.
    fn of_several(&self, read: &Read<'_>, number: usize, score: f32) -> f32 {
        let place = &read.sentences[number];
        let alone = self.worth(|add| read.of_part(place, add));
        // What stands beside it in the sentence shall not hide it.
        let clauses = read.clauses(place).into_iter();
        let clause = clauses
            .map(|clause| self.worth(|add| read.of_clause(&clause, add)))
            .fold(f32::NEG_INFINITY, f32::max);
        #[expect(clippy::cast_precision_loss, reason = "sentences are few")]
        let sentences = read.sentences.len() as f32;
        (SENTENCE_COUNTS * score + OF_FEW) / sentences
            + ALONE_COUNTS * alone
            + CLAUSE_COUNTS * clause
            - MIN_OF_SEVERAL
    }

    /// How much a message, or a part of it, with such features is worth keeping.
    fn worth(&self, features: impl FnOnce(&mut dyn FnMut(Group, Feature))) -> f32 {
        let mut sums = Sums::default();
        features(&mut |group, feature| sums.add(group, self.keep.weight(feature)));
        sums.score(&self.keep)
    }

    /// Whether a sentence only announces what is to be kept: `Remember this`, `Let me correct that:`.
    pub fn announces(&self, sentence: &str) -> bool {
        self.concepts.announces(&Tokens::of(sentence))
    }

    /// Whether a word was typed by the people whose messages this has learned from.
    fn has_read(&self, word: u64) -> bool {
        self.keep.weight(features::of_word(word)) != 0
    }

    /// Kind and scope of a sentence that is kept.
    fn kind_of(&self, read: &Read<'_>, sentence: usize) -> (Kind, Scope) {
        let sums = self.sums(read, Some(sentence));
        let kind = best_of(&sums[..Kind::KEPT], 0);
        let scope = if sums[PROJECT] > 0.0 {
            Scope::Project
        } else {
            Scope::Person
        };
        (kind, scope)
    }

    /// The score of each label.
    fn sums(&self, read: &Read<'_>, sentence: Option<usize>) -> [f32; LABELS] {
        let mut sums: [Sums; LABELS] = Default::default();
        read.of_kind(sentence, |group, feature| {
            for (label, sums) in sums.iter_mut().enumerate() {
                sums.add(group, self.kinds.weight(labelled(feature, label)));
            }
        });
        sums.map(|it| it.score(&self.kinds))
    }
}

/// Bytes of what was said before that are read, from its end.
const LAST: usize = 400;
/// Labels of the second model: each kind, whether it is of a project, and whether the message is a trap.
const LABELS: usize = Kind::ALL.len() + 2;
const PROJECT: usize = Kind::ALL.len();
const TRAP: usize = PROJECT + 1;

fn labelled(feature: Feature, label: usize) -> Feature {
    feature.and(label as u64)
}

fn best_of(scores: &[f32], first: usize) -> Kind {
    let best = scores
        .iter()
        .enumerate()
        .max_by(|one, other| one.1.total_cmp(other.1));
    Kind::ALL[first + best.map_or(0, |(number, _)| number)]
}

#[cfg(test)]
mod tests;
