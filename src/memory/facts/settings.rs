//! What a person may set about facts: `memory.facts`.

use serde::Deserialize;

/// The block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactsSettings {
    pub enabled: bool,
    /// Exchanges before anything is read (X6).
    pub min_chat_turns: usize,
    /// New facts of one turn (X9).
    pub max_facts: usize,
    /// Messages that are read, the newest of them (X7).
    pub scan_messages: usize,
    /// Characters of the facts of one day (X11).
    pub daily_max_chars: usize,
    /// Characters of them from which on repeated lines are dropped (X14).
    pub daily_compact_chars: usize,
    /// Characters of MEMORY.md from which on no facts are added to it (X12).
    pub memory_md_max_chars: usize,
    /// Languages of `cues/facts.yaml` that are listened for.
    pub cues: Vec<String>,
}

impl Default for FactsSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            min_chat_turns: 3,
            max_facts: 8,
            scan_messages: 20,
            daily_max_chars: 8_000,
            daily_compact_chars: 2_000,
            memory_md_max_chars: 0,
            cues: vec!["zh".to_owned(), "en".to_owned()],
        }
    }
}
