//! Which facts of a conversation are still to be written to MEMORY.md: none that stands there. Unit: one turn.

use super::Parts;
use super::capturing::statement;
use crate::memory::facts::Fact;

/// A shorter line says too little to be found again in another one.
const TELLING: usize = 10;

impl Parts {
    /// Those facts that MEMORY.md does not have in other words of the same sentence.
    pub(super) fn not_in_memory(&self, facts: &[Fact]) -> Vec<Fact> {
        let lines = self.workspace.long_term().lines().unwrap_or_default();
        let known: Vec<String> = lines
            .iter()
            .map(|line| folded(&line.text))
            .filter(|known| known.chars().count() >= TELLING)
            .collect();
        let is_new = |fact: &&Fact| {
            let fact = folded(&fact.text);
            !known
                .iter()
                .any(|known| fact.contains(known.as_str()) || known.contains(&fact))
        };
        let new = facts.iter().filter(is_new);
        new.cloned().collect()
    }
}

/// What a text says, whatever ends it.
pub(super) fn folded(text: &str) -> String {
    let text = statement(text);
    text.trim_end_matches(['.', '!', '?']).to_owned()
}
