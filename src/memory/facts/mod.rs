//! What was asked for and what was done, as short lines for the day's notes (X5-X9). Unit: one fact.
//!
//! Pure: read from the last messages of a session by cues, without a model.

mod settings;

pub use settings::FactsSettings;
