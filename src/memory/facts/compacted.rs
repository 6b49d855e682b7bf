//! Facts of a day without those that stand there twice (X14). Pure.
//!
//! Invariant: only lines of lists under [`HEADING`] leave, every other byte stays in its order; doing it twice is doing
//! it once.

use std::collections::HashSet;

use crate::text::lines::single_spaced;

/// Begins the heading of each section of facts; the date follows.
pub const HEADING: &str = "## Session Facts";

/// Characters that tell one fact from another.
const KEY: usize = 80;

/// The file of a day with each fact once, the first of its kind.
pub fn compacted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut seen = HashSet::new();
    let mut is_facts = false;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("# ") || line.starts_with("## ") {
            is_facts = line.starts_with(HEADING);
        }
        // What somebody added below a fact by hand would lose what it belongs to.
        let goes_on = lines
            .peek()
            .is_some_and(|next| next.starts_with([' ', '\t']));
        let is_again = is_facts && key(line).is_some_and(|key| !seen.insert(key));
        if !is_again || goes_on {
            kept.push_str(line);
        }
    }
    kept
}

/// What tells a line of a list from another, case and blanks apart.
pub(super) fn key(line: &str) -> Option<String> {
    let text = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))?;
    let key = single_spaced(text).to_lowercase();
    let key: String = key.chars().take(KEY).collect();
    (!key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn facts_stand_once_and_everything_else_stays() {
        let text = "# 2025-01-15\n- a\n- a\n\n## Session Facts (2025-01-15)\n- User request: Tea\n- user request:  tea\n  by hand\n- USER REQUEST: TEA\n- b\n\n## [10:00:00]\n- b\n## Session Facts (2025-01-15)\n- b\n- c";
        let expected = "# 2025-01-15\n- a\n- a\n\n## Session Facts (2025-01-15)\n- User request: Tea\n- user request:  tea\n  by hand\n- b\n\n## [10:00:00]\n- b\n## Session Facts (2025-01-15)\n- c";
        assert_eq!(compacted(text), expected);
    }

    proptest! {
        #[test]
        fn twice_is_once_and_order_is_kept(text in "((## Session Facts\n)|(## x\n)|(- [ab]{1,2}\r?\n)|( - a\n)|(\n)|(é)){0,30}") {
            let once = compacted(&text);
            prop_assert_eq!(compacted(&once), once.as_str());
            let mut rest = text.split_inclusive('\n');
            for line in once.split_inclusive('\n') {
                prop_assert!(rest.any(|other| other == line), "{:?}", line);
            }
        }
    }
}
