//! The line that is kept of a sentence: what was matched, with a little of what stands around it (Q10). Pure.

use std::ops::Range;

/// Characters before a match, and after it, at most.
const BEFORE: usize = 50;
const AFTER: usize = 150;

/// Characters of the match itself; an address may have thousands.
const MATCH: usize = 200;

/// The part of a line around a match, cut between words.
pub(super) fn around(line: &str, found: Range<usize>) -> Range<usize> {
    let matched = nth_or_end(&line[found.clone()], MATCH);
    let end = found.start + matched;
    let start = start(line, found.start);
    start..end_of(line, end)
}

fn start(line: &str, at: usize) -> usize {
    let before = &line[..at];
    let Some((cut, _)) = before
        .char_indices()
        .rev()
        .nth(BEFORE - 1)
        .filter(|(cut, _)| *cut > 0)
    else {
        return 0;
    };
    let begins_word = line[..cut].ends_with(char::is_whitespace);
    let next = before[cut..]
        .find(char::is_whitespace)
        .map(|blank| cut + blank);
    match next {
        _ if begins_word => cut,
        // A blank is one byte here: whitespace has been folded.
        Some(blank) => (blank + 1).min(at),
        None => at,
    }
}

fn end_of(line: &str, at: usize) -> usize {
    let after = &line[at..];
    let cut = nth_or_end(after, AFTER);
    let ends_word = after[cut..].chars().next().is_none_or(char::is_whitespace);
    let cut = if ends_word {
        cut
    } else {
        after[..cut].rfind(char::is_whitespace).unwrap_or(cut)
    };
    at + after[..cut].trim_end().len()
}

fn nth_or_end(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_sentence_stays_whole_and_a_long_one_is_cut_between_words() {
        let line = format!(
            "{}I prefer dark mode{}",
            "word ".repeat(30),
            " more".repeat(60)
        );
        let at = line.find("I prefer").unwrap();
        let cut = &line[around(&line, at..at + 8)];
        assert!(
            cut.starts_with("word word") && cut.ends_with(" more"),
            "{cut}"
        );
        assert!(cut.chars().count() <= 50 + 8 + 150);
        assert_eq!(around("I prefer tea", 0..8), 0..12);
    }

    proptest! {
        #[test]
        fn no_more_than_fifty_before_and_a_hundred_and_fifty_after(
            before in "[a-zé]{0,9}( [a-zé]{1,70}){0,12} ?", found in "[a-z]{1,9}", after in "( [a-zé]{1,170}){0,12}"
        ) {
            let line = format!("{before}{found}{after}");
            let range = before.len()..before.len() + found.len();
            let cut = around(&line, range.clone());
            prop_assert!(cut.start <= range.start && cut.end >= range.end);
            prop_assert!(line[cut.start..range.start].chars().count() <= BEFORE);
            prop_assert!(line[range.end..cut.end].chars().count() <= AFTER);
        }
    }
}
