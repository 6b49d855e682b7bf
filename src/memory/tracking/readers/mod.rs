//! Readers: what is said in, findings out. Pure, total, linear in the length of the text; one for each
//! standard mode, its words and patterns in `config/cues/`.

pub mod code;
pub mod conversation;
pub mod reasoning;

use std::borrow::Cow;
use std::fmt;

use super::exchange::Exchange;
use super::note::Finding;
use crate::hint::Hint;
use crate::memory::Prompt;

/// Finds what a mode wants to know in what is said.
pub trait Reader: Send + Sync + fmt::Debug {
    /// Findings in the order in which they were said. The same text gives the same findings.
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding>;
}

/// A cue file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct BadCues {
    /// `config/cues/…` or the path of the person's own.
    pub file: String,
    pub what: String,
}

impl Hint for BadCues {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("mend the file, or move it away to use the built-in cues".into())
    }
}

/// The readers of the standard modes.
#[derive(Debug)]
pub struct Readers {
    pub conversation: Box<dyn Reader>,
    pub code: Box<dyn Reader>,
    pub reasoning: Box<dyn Reader>,
}

#[derive(Debug)]
struct Deaf;

impl Reader for Deaf {
    fn read(&self, _: &Exchange<'_>) -> Vec<Finding> {
        Vec::new()
    }
}

impl Readers {
    /// With what `own` has in place of embedded cues (`cues/code.yaml`).
    pub fn with(_own: impl Fn(&str) -> Option<Prompt>) -> Result<Self, BadCues> {
        Ok(Self::embedded())
    }

    /// With the embedded cues.
    pub fn embedded() -> Self {
        Self {
            conversation: Box::new(Deaf),
            code: Box::new(Deaf),
            reasoning: Box::new(Deaf),
        }
    }
}
