//! What a person says that is worth keeping, found by patterns before a model is asked (Q2).
//!
//! ```text
//!  message -> own words -> masked -> sentences -> cues -> [Capture]
//!  lines of MEMORY.md, Capture -> Verdict
//! ```
//! Pure: it names what is to be kept, the notes write it. Precision comes before recall: what is missed is still in
//! history, what is wrong is told to the model for ever.

#[cfg(test)]
mod corpus;
mod extractor;
pub(super) mod own;
mod same;
mod sheet;
mod slots;
mod snippet;

use serde::Deserialize;

use crate::declare::{named, settings};
use crate::text::classify::{Judged, Kind, Scope};
pub use extractor::Extractor;
pub use same::Verdict;

/// Whether anything is kept for the long term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capturing {
    #[default]
    On,
    Off,
}

/// `memory.learn`: who reads what you say for what is worth keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learning {
    /// This program, before the model is asked.
    Local,
    /// The model, at the end of a chat.
    Model,
    #[default]
    Both,
}

settings! {
    /// `memory.wal`: what is written down before the model is asked.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct WalSettings {
        /// Categories that are kept in MEMORY.md, too (Q13).
        pub durable: Vec<String> = words([
                    "proper_noun",
                    "preference",
                    "decision",
                    "remember",
                    "profile",
                    "project",
                    "goal",
                    "constraint",
                    "deadline",
                    "task",
                ]),
        /// Languages of `cues/capture.yaml` that are listened for.
        pub languages: Vec<String> = words(["en", "uz"]),
        /// Bytes of a session's SESSION-STATE.md; beyond it the oldest lines leave (Q11).
        pub max_bytes: usize = 100_000,
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}

named! {
    /// In the order in which one sentence is written down that says several of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Category {
        Correction = "correction",
        ProperNoun = "proper_noun",
        Preference = "preference",
        Decision = "decision",
        SpecificValue = "specific_value",
        Remember = "remember",
        // What only the classifier tells.
        Profile = "profile",
        Project = "project",
        Goal = "goal",
        Constraint = "constraint",
        Deadline = "deadline",
        Task = "task",
    }
}

impl Category {
    /// Returns the category of something that the classifier tells.
    pub(super) fn of(judged: &Judged) -> Self {
        match judged.kind {
            Kind::Preference | Kind::StandingInstruction => Self::Preference,
            Kind::Decision => Self::Decision,
            Kind::Goal => Self::Goal,
            Kind::Constraint => Self::Constraint,
            Kind::Deadline => Self::Deadline,
            Kind::Task => Self::Task,
            Kind::RememberRequest => Self::Remember,
            _ => Self::fact(judged),
        }
    }

    /// Returns the category of something that patterns gave a name already, or that corrects what may stand nowhere.
    pub(super) fn fact(judged: &Judged) -> Self {
        match judged.scope {
            Scope::Project => Self::Project,
            _ => Self::Profile,
        }
    }
}

/// One thing worth keeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    pub category: Category,
    /// One line: the sentence, or what is near the match of a long one; secrets masked (Q10).
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_name_that_reads_back() {
        for category in Category::ALL {
            assert_eq!(Category::parse(category.as_str()), Some(category));
            let read: Category = serde_yaml::from_str(category.as_str()).unwrap();
            assert_eq!(read, category);
        }
        assert_eq!(Category::parse("Preference"), None);
    }
}
