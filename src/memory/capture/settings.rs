//! What a person may set about capturing: `memory.capture` and `memory.wal`.

use serde::Deserialize;

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

/// `memory.wal`: what is written down before the model is asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WalSettings {
    /// Categories that are kept in MEMORY.md, too (Q13).
    pub durable: Vec<String>,
    /// Languages of `cues/capture.yaml` that are listened for.
    pub languages: Vec<String>,
    /// Bytes of a session's SESSION-STATE.md; beyond it the oldest lines leave (Q11).
    pub max_bytes: usize,
}

impl Default for WalSettings {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Self {
            durable: words(&[
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
            languages: words(&["en", "uz"]),
            max_bytes: 100_000,
        }
    }
}
