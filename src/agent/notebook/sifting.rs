//! Which facts of a conversation are still to be written: none that a person took back, and to MEMORY.md none that stands
//! there. Unit: one turn.

use std::collections::HashMap;

use super::Parts;
use super::capturing::statement;
use crate::memory::facts::Fact;
use crate::notes::{Captured, Receipt};

/// A shorter line says too little to be found again in another one.
const TELLING: usize = 10;

impl Parts {
    /// Facts that hold nothing of what was captured and then taken back.
    pub(super) fn not_taken_back(&self, mut facts: Vec<Fact>) -> Vec<Fact> {
        if facts.is_empty() {
            return facts;
        }
        // Without receipts nobody took anything back.
        let gone = taken_back(&self.receipts.all().unwrap_or_default());
        facts.retain(|fact| {
            let text = folded(&fact.text);
            !gone.iter().any(|gone| text.contains(gone.as_str()))
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

/// What was taken back and not said once more since, for comparing.
fn taken_back(receipts: &[Receipt]) -> Vec<String> {
    let words: Vec<String> = receipts.iter().map(|it| folded(it.what.words())).collect();
    let read = || receipts.iter().zip(&words);
    // A fact is drawn from what was said, and is not said by anybody.
    let is_said = |it: &Receipt| !it.forgotten && it.what.category != Captured::FACT;
    let said: HashMap<&str, u64> = read()
        .filter(|(it, _)| is_said(it))
        .map(|(it, words)| (words.as_str(), it.number))
        .collect();
    let mut drawn_from: HashMap<_, Vec<&String>> = HashMap::new();
    let captures = read().filter(|(it, _)| it.forgotten && !it.what.is_bare());
    for (it, words) in captures {
        drawn_from.entry(message(it)).or_default().push(words);
    }
    // What was said with more around it counts by what was captured of it.
    let is_drawn = |it: &Receipt, words: &str| {
        let captures = drawn_from.get(&message(it));
        let mut captures = captures.into_iter().flatten();
        it.what.category == Captured::FACT && captures.any(|it| words.contains(it.as_str()))
    };
    let is_said_again = |it: &Receipt, words: &str| said.get(words) > Some(&it.number);
    let gone = read().filter(|(it, words)| {
        it.forgotten && !is_said_again(it, words.as_str()) && !is_drawn(it, words.as_str())
    });
    gone.map(|(_, words)| words.clone()).collect()
}

fn message(receipt: &Receipt) -> (&str, &str) {
    (&receipt.what.session, &receipt.what.message)
}

/// What a text says, whatever ends it.
pub(super) fn folded(text: &str) -> String {
    let text = statement(text);
    text.trim_end_matches(['.', '!', '?']).to_owned()
}
