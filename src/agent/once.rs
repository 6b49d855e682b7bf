//! What was told already, so that it is told once. Unit: one text.
//!
//! Invariant: bounded. Texts with paths and numbers in them have no end: what was told long ago is sooner told twice than
//! kept for ever. What is still so is not told again.

use std::collections::HashSet;

/// Texts that are kept beyond those of one round.
const MOST: usize = 1_000;

/// Texts that were told.
#[derive(Debug, Default)]
pub(super) struct Once(HashSet<String>);

impl Once {
    /// Those of some texts that were not told yet.
    pub(super) fn news(&mut self, mut texts: Vec<String>) -> Vec<String> {
        let is_new = texts.iter().any(|text| !self.0.contains(text));
        if is_new && self.0.len() >= MOST {
            let still: HashSet<&String> = texts.iter().collect();
            self.0.retain(|text| still.contains(text));
        }
        texts.retain(|text| self.0.insert(text.clone()));
        texts
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(from: usize, to: usize) -> Vec<String> {
        (from..to).map(|n| format!("no {n}")).collect()
    }

    #[test]
    fn texts_without_end_are_told_and_not_kept() {
        let mut once = Once::default();
        for n in 0..5 * MOST {
            assert_eq!(once.news(texts(n, n + 1)).len(), 1);
            assert!(once.0.len() <= MOST);
            assert!(once.news(texts(n, n + 1)).is_empty());
        }
    }

    #[test]
    fn what_is_still_so_is_told_once_however_much_it_is() {
        let mut once = Once::default();
        assert_eq!(once.news(texts(0, 3 * MOST)).len(), 3 * MOST);
        assert_eq!(once.news(texts(0, 3 * MOST)), Vec::<String>::new());
        assert_eq!(once.news(texts(0, 3 * MOST + 1)).len(), 1);
    }
}
