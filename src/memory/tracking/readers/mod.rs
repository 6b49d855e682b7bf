//! Readers: what is said in, findings out. Pure, total, linear in the length of the text; one for each
//! standard mode, its words and patterns in `config/cues/`.

pub mod reasoning;

use std::borrow::Cow;
use std::fmt;

use super::exchange::Exchange;
use super::note::Finding;
use crate::hint::Hint;

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
