//! The words that patterns need, in one automaton: a text -> the few patterns that may match it. Unit: a list of patterns.
//!
//! Invariant: a pattern that matches is among those that may. Linear in the length of the text.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::fold::Fold;
use super::{Case, needed};

/// Tells by their words which patterns may match.
#[derive(Debug)]
pub(super) struct Sieve {
    fold: Fold,
    words: Option<AhoCorasick>,
    /// For each word the patterns that one of such words is needed by.
    needed_by: Vec<Vec<usize>>,
    /// Patterns that need no word.
    always: Vec<usize>,
}

impl Sieve {
    pub(super) fn new<'p>(case: Case, patterns: impl Iterator<Item = &'p str>) -> Self {
        let needed: Vec<_> = patterns.map(needed::by).collect();
        let words = needed.iter().flatten().flatten();
        let count = needed.len();
        let fold = Fold::of(case, words.map(String::as_str));
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut needed_by: Vec<Vec<usize>> = Vec::new();
        let mut always = Vec::new();
        for (place, words) in needed.into_iter().enumerate() {
            let Some(words) = words else {
                always.push(place);
                continue;
            };
            for word in words {
                let number = *numbers
                    .entry(fold.fold(&word).into_owned())
                    .or_insert(needed_by.len());
                if number == needed_by.len() {
                    needed_by.push(Vec::new());
                }
                needed_by[number].push(place);
            }
        }
        let mut ordered = vec![""; needed_by.len()];
        for (word, number) in &numbers {
            ordered[*number] = word;
        }
        let built = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            // It is made in each process, and reads a sentence at a time.
            .dense_depth(1)
            .prefilter(false)
            .build(ordered);
        let words = built.ok();
        if words.is_none() {
            // No automaton is so large: then all of them are tried.
            always = (0..count).collect();
        }
        Self {
            fold,
            words,
            needed_by,
            always,
        }
    }

    /// Patterns that may match, in their order.
    pub(super) fn places(&self, text: &str) -> Vec<usize> {
        let mut places = self.always.clone();
        if let Some(words) = &self.words {
            let text = self.fold.fold(text);
            let mut seen = vec![false; self.needed_by.len()];
            for found in words.find_overlapping_iter(text.as_ref()) {
                let number = found.pattern().as_usize();
                if !std::mem::replace(&mut seen[number], true) {
                    places.extend(&self.needed_by[number]);
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}
