//! What was asked for and what was done, as short lines for the day's notes (X5-X9). Unit: one fact.
//!
//! Pure: read from the last messages of a session by cues, without a model. Secrets are masked; what a model thought
//! is never read.

mod compacted;
mod cues;
mod fact;

pub use compacted::{HEADING, compacted};
pub use cues::FactCues;
pub use fact::{Fact, facts, without_thoughts};

use serde::Deserialize;

use crate::declare::settings;

settings! {
    /// `memory.facts`: what a person may set about facts.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FactsSettings {
        pub enabled: bool = true,
        /// Exchanges before anything is read (X6).
        pub min_chat_turns: usize = 3,
        /// New facts of one turn (X9).
        pub max_facts: usize = 8,
        /// Messages that are read, the newest of them (X7).
        pub scan_messages: usize = 20,
        /// Characters of the facts of one day (X11).
        pub daily_max_chars: usize = 8_000,
        /// Characters of them from which on repeated lines are dropped (X14).
        pub daily_compact_chars: usize = 2_000,
        /// Characters of MEMORY.md from which on no facts are added to it (X12).
        pub memory_md_max_chars: usize = 0,
        /// Languages of `cues/facts.yaml` that are listened for.
        pub cues: Vec<String> = vec!["zh".to_owned(), "en".to_owned()],
    }
}
