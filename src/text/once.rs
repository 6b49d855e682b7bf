//! What was told already, so that it is told once. Unit: one text.
//!
//! Invariant: bounded. Texts with paths and numbers in them have no end: what was told long ago is sooner told twice
//! than kept for ever. What is still so is not told again.

use std::collections::HashSet;

/// Texts that are kept beyond those of one round.
const MAX: usize = 1_000;

/// Texts that were told.
#[derive(Debug, Default)]
pub struct Once(HashSet<String>);

impl Once {
    /// Those of some texts that were not told yet.
    pub fn news(&mut self, mut texts: Vec<String>) -> Vec<String> {
        let keys: Vec<String> = texts.iter().map(|text| lasting(text)).collect();
        let is_new = keys.iter().any(|key| !self.0.contains(key));
        if is_new && self.0.len() >= MAX {
            let still: HashSet<&String> = keys.iter().collect();
            self.0.retain(|key| still.contains(key));
        }
        texts.retain(|text| self.0.insert(lasting(text)));
        texts
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// A text without what is another each time: the names of temporary files.
fn lasting(text: &str) -> String {
    const END: &str = ".tmp";
    let mut parts: Vec<&str> = text.split(END).collect();
    let last = parts.pop().unwrap_or_default();
    let is_before = |c: char| c == '/' || c == '\\' || c.is_whitespace() || "\"'`(".contains(c);
    let named = parts.into_iter().map(|part| {
        let begin = part.rfind(is_before).map_or(0, |at| at + 1);
        format!("{}{END}", &part[..begin])
    });
    named.chain([last.to_owned()]).collect()
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
        for n in 0..5 * MAX {
            assert_eq!(once.news(texts(n, n + 1)).len(), 1);
            assert!(once.0.len() <= MAX);
            assert!(once.news(texts(n, n + 1)).is_empty());
        }
    }

    /// A full disk was told with each turn.
    #[test]
    fn a_text_that_differs_in_the_name_of_a_temporary_file_is_told_once() {
        let mut once = Once::default();
        let full = |name: &str| vec![format!("cannot write w/a.md: no room at path \"w/{name}\"")];
        for (name, told) in [
            (".a.md.0Dv1e4.tmp", 1),
            (".a.md.x7Yz01.tmp", 0),
            ("a.md", 1),
            ("b.md", 1),
        ] {
            assert_eq!(once.news(full(name)).len(), told, "{name}");
        }
    }

    #[test]
    fn what_is_still_so_is_told_once_however_much_it_is() {
        let mut once = Once::default();
        assert_eq!(once.news(texts(0, 3 * MAX)).len(), 3 * MAX);
        assert_eq!(once.news(texts(0, 3 * MAX)), Vec::<String>::new());
        assert_eq!(once.news(texts(0, 3 * MAX + 1)).len(), 1);
    }
}
