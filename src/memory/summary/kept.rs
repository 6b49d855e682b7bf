//! What a merge must not lose: names, numbers, dates and paths of the old summary.

use std::collections::HashSet;

use super::length::{MOST_WORDS, cut, words};

const HEADING: &str = "Kept from before:";
/// Words of the list of what was lost.
const MOST_KEPT: usize = 100;

/// The new summary within its length, and at its end those lines of the old one that hold something which
/// neither the new summary nor the new messages speak of. What the messages speak of may have been let go
/// for a reason. Where the new one has to be cut, lines of what is cut off count as lines of the old one.
pub(super) fn with_what_was_lost(old: &str, new: &str, material: &str) -> String {
    let spoken: HashSet<String> = items(new).chain(items(material)).collect();
    let mut lost = Lost::default();
    lost.add(old, &spoken);
    if lost.lines.is_empty() && words(new) <= MOST_WORDS {
        return new.to_owned();
    }
    let least = cut(new, MOST_WORDS - MOST_KEPT - words(HEADING));
    lost.add(&new[least.len()..], &items(least).collect());
    let new = cut(new, MOST_WORDS - lost.words - words(HEADING));
    lost.lines.retain(|line| !new.contains(line));
    if lost.lines.is_empty() {
        return new.to_owned();
    }
    format!("{new}\n\n{HEADING}\n{}", lost.lines.join("\n"))
}

/// Lines to be kept, as many as there is room for.
#[derive(Default)]
struct Lost<'a> {
    lines: Vec<&'a str>,
    words: usize,
}

impl<'a> Lost<'a> {
    fn add(&mut self, text: &'a str, spoken: &HashSet<String>) {
        for line in text.lines().map(str::trim).filter(|line| *line != HEADING) {
            let is_lost = items(line).any(|item| !spoken.contains(&item));
            if is_lost && self.words + words(line) <= MOST_KEPT {
                self.words += words(line);
                self.lines.push(line);
            }
        }
    }
}

/// What a line cannot do without: words with a digit, paths, and names, in lower case.
fn items(text: &str) -> impl Iterator<Item = String> {
    text.lines().flat_map(|line| {
        let mut begins = true;
        let words = line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'));
        words.filter_map(move |word| {
            let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '$' | '€' | '£' | '%');
            let ends = word.ends_with(['.', ':', '!', '?']);
            let word = word.trim_matches(is_edge);
            if word.is_empty() {
                return None;
            }
            let first = std::mem::replace(&mut begins, ends);
            let is_name = word.starts_with(char::is_uppercase) && !first && word.len() > 1;
            let is_item = word.contains(|c: char| c.is_ascii_digit())
                || word.contains(['/', '\\', '_', '@'])
                || is_name;
            let word = word
                .strip_suffix("'s")
                .or(word.strip_suffix("’s"))
                .unwrap_or(word);
            is_item.then(|| word.to_lowercase())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_names_numbers_dates_or_paths_that_vanish_come_back() {
        let old = "- The harbour master is Edith Quill.\n- The budget is $50k.\n- They chat about tea.\n- The code is in src/tide.rs.";
        let new = "- Work on src/tide.rs goes on.";
        let merged = with_what_was_lost(old, new, "User: the tests pass");
        assert_eq!(
            merged,
            "- Work on src/tide.rs goes on.\n\nKept from before:\n- The harbour master is Edith Quill.\n- The budget is $50k."
        );
    }

    #[test]
    fn what_the_new_messages_speak_of_may_go() {
        let old = "- The budget is $50k.";
        let merged = with_what_was_lost(old, "- The budget is open.", "User: forget the $50k");
        assert_eq!(merged, "- The budget is open.");
    }

    #[test]
    fn facts_at_the_end_of_one_that_is_too_long_survive_the_cut() {
        let new = format!(
            "{}\n- The key is KX-4471.",
            "- They talk of this and that.\n".repeat(80)
        );
        let merged = with_what_was_lost("- The pier is in Ostend.", &new, "");
        assert!(words(&merged) <= MOST_WORDS, "{}", words(&merged));
        assert!(
            merged.ends_with("Kept from before:\n- The pier is in Ostend.\n- The key is KX-4471."),
            "{merged}"
        );
        let merged = with_what_was_lost("", &new, "");
        assert!(merged.ends_with("- The key is KX-4471."), "{merged}");
    }

    #[test]
    fn the_whole_stays_within_its_length_however_much_was_lost() {
        let old: Vec<String> = (0..300)
            .map(|n| format!("- fact number {n} of many"))
            .collect();
        let old = old.join("\n");
        let new = "- word. ".repeat(500);
        let merged = with_what_was_lost(&old, &new, "");
        assert!(words(&merged) <= MOST_WORDS, "{}", words(&merged));
        assert!(merged.contains("fact number 0 of many"));
        let again = with_what_was_lost(&merged, "- short", "");
        assert_eq!(again.matches(HEADING).count(), 1);
    }
}
