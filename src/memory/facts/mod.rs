//! What was asked for and what was done, as short lines for the day's notes (X5-X9). Unit: one fact.
//!
//! Pure: read from the last messages of a session by cues, without a model. Secrets are masked; what a model thought
//! is never read.

mod compacted;
mod cues;
mod fact;
mod settings;

pub use compacted::{HEADING, compacted};
pub use cues::FactCues;
pub use fact::{Fact, facts, without_thoughts};
pub use settings::FactsSettings;
