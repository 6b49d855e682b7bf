//! What a person says that is worth keeping, found by patterns before a model is asked (Q2). Unit: one sentence.
//!
//! ```text
//!  message -> own words -> masked -> sentences -> cues -> [Capture]
//!  lines of MEMORY.md, Capture -> Verdict
//! ```
//! Pure: it names what is to be kept, the notes write it. Precision comes before recall: what is missed is still in
//! history, what is wrong is told to the model for ever.

mod category;
#[cfg(test)]
mod corpus;
mod extractor;
pub(super) mod own;
mod same;
mod sheet;
mod slots;
mod snippet;

pub use category::{Capture, Category};
pub use extractor::Extractor;
pub use same::Verdict;

use serde::Deserialize;

use crate::declare::settings;

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
