//! Which facts of a conversation are still to be written: none that a person took back, and to MEMORY.md none that stands
//! there. Unit: one turn.

use super::Parts;
use super::capturing::statement;
use crate::memory::facts::Fact;
use crate::notes::Receipt;

/// A shorter line says too little to be found again in another one.
const TELLING: usize = 10;

impl Parts {
    /// Facts that hold nothing of what was captured and then taken back.
    pub(super) fn not_taken_back(&self, mut facts: Vec<Fact>) -> Vec<Fact> {
        if facts.is_empty() {
            return facts;
        }
        // Without receipts nobody took anything back.
        let receipts = self.receipts.all().unwrap_or_default();
        let forgotten = receipts.iter().filter(|receipt| receipt.forgotten);
        let forgotten: Vec<String> = forgotten
            .filter(|receipt| !is_said_again(receipt, &receipts))
            .map(|receipt| folded(receipt.what.words()))
            .collect();
        facts.retain(|fact| {
            let text = folded(&fact.text);
            !forgotten.iter().any(|gone| text.contains(gone.as_str()))
        });
        facts
    }

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

/// Whether the same was said once more after it was taken back, and that was not taken back.
fn is_said_again(gone: &Receipt, receipts: &[Receipt]) -> bool {
    let words = folded(gone.what.words());
    let mut later = receipts.iter().filter(|it| it.number > gone.number);
    later.any(|it| !it.forgotten && folded(it.what.words()) == words)
}

/// What a text says, whatever ends it.
pub(super) fn folded(text: &str) -> String {
    let text = statement(text);
    text.trim_end_matches(['.', '!', '?']).to_owned()
}
