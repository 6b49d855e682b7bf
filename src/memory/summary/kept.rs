//! What a merge must not lose: names, numbers, dates and paths of the old summary.

use std::collections::HashSet;

use super::length::{MOST_WORDS, cut, words};

const HEADING: &str = "Kept from before:";
/// Words of the list of what was lost.
const MOST_KEPT: usize = 100;

/// Words that begin a sentence, or a line of a summary, with a capital letter and are no names.
const OPENERS: &str = "\
a about after again all already also although always an and another any anyone are as asked assistant at because \
before being both but by can could currently date decided decision decisions details did do does done during each \
either else even every everyone everything fact facts finally first following for from further goal goals had has \
have he her here his how however i if in instead into is it its just key last later let like main many may maybe me \
might most much must my name names need needs neither never new next no nobody none nor not note notes nothing now of \
old on once one only open or other others our ours out over people perhaps person please plan plans possibly preference \
preferences question questions rather same second several shall she should since so some someone something sometimes \
soon still such summary task tasks than that the their theirs them then there these they third this those though \
through thus to today tomorrow too two under unless until up us use used user using very wants was we were what when \
where whether which while who whose why will with within without work would yes yesterday yet you your yours";

/// The new summary within its length, and at its end those lines of the old one that hold something which
/// neither the new summary nor the new messages speak of. What the messages speak of may have been let go
/// for a reason. Where the new one has to be cut, lines of what is cut off count as lines of the old one.
pub(super) fn with_what_was_lost(old: &str, new: &str, material: &str) -> String {
    let mut spoken = Spoken::default();
    spoken.add(new);
    spoken.add(material);
    let mut lost = Lost::default();
    lost.add(old, &spoken);
    if lost.lines.is_empty() && words(new) <= MOST_WORDS {
        return new.to_owned();
    }
    let least = cut(new, MOST_WORDS - MOST_KEPT - words(HEADING));
    let mut said = Spoken::default();
    said.add(least);
    lost.add(&new[least.len()..], &said);
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
    fn add(&mut self, text: &'a str, spoken: &Spoken) {
        for line in text.lines().map(str::trim).filter(|line| *line != HEADING) {
            let is_lost = kept_words(line).any(|word| spoken.lacks(&word));
            if is_lost && self.words + words(line) <= MOST_KEPT {
                self.words += words(line);
                self.lines.push(line);
            }
        }
    }
}

/// A word of a line, in lower case.
struct Word {
    text: String,
    kind: Kind,
}

/// What a word is to its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The line cannot do without it: a digit, a path, a name.
    Item,
    /// It begins a sentence, with a capital letter as a name does: perhaps one.
    Opener,
    Common,
}

/// What some texts speak of.
#[derive(Default)]
struct Spoken {
    items: HashSet<String>,
    words: HashSet<String>,
}

impl Spoken {
    fn add(&mut self, text: &str) {
        for word in kept_words(text) {
            if word.kind == Kind::Item {
                self.items.insert(word.text.clone());
            }
            self.words.insert(word.text);
        }
    }

    /// Whether a word must be kept that is not spoken of. A verb that begins a line is mostly spoken of in some way,
    /// a name that does not come up again is not.
    fn lacks(&self, word: &Word) -> bool {
        match word.kind {
            Kind::Item => !self.items.contains(&word.text),
            Kind::Opener => !self.words.contains(&word.text),
            Kind::Common => false,
        }
    }
}

/// The words of a text.
fn kept_words(text: &str) -> impl Iterator<Item = Word> {
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
            let kind = kind(word, first);
            let word = word
                .strip_suffix("'s")
                .or(word.strip_suffix("’s"))
                .unwrap_or(word);
            Some(Word {
                text: word.to_lowercase(),
                kind,
            })
        })
    })
}

fn kind(word: &str, first: bool) -> Kind {
    let is_marked = word.contains(|c: char| c.is_ascii_digit())
        || word.contains(['/', '\\', '_', '@'])
        || is_spelt_as_a_name(word);
    let is_capitalised = word.starts_with(char::is_uppercase) && word.len() > 1;
    if is_marked || (is_capitalised && !first) {
        Kind::Item
    } else if is_capitalised && !is_opener(word) {
        Kind::Opener
    } else {
        Kind::Common
    }
}

/// `KX`, `OpenAI`, `iPhone`: capital letters behind the first.
fn is_spelt_as_a_name(word: &str) -> bool {
    let stem = word.split(['\'', '’', '-']).next().unwrap_or(word);
    stem.chars().skip(1).any(char::is_uppercase) && !is_opener(stem)
}

fn is_opener(word: &str) -> bool {
    let stem = word.split(['\'', '’', '-']).next().unwrap_or(word);
    OPENERS
        .split_whitespace()
        .any(|opener| opener == stem.to_lowercase())
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
    fn a_name_that_begins_a_line_comes_back_and_other_words_that_do_so_do_not() {
        let old = "- Marta is allergic to nuts.\n- They chat about tea.\n* If it rains, nobody rows. Quill does.\n\
                   - OK was said.\n- Rowing goes on.\nAllergies: Ines has none.\n- NOT now.\n- iPhone is the word.";
        let new = "- They are rowing, and talk of allergies.";
        assert_eq!(
            with_what_was_lost(old, new, "User: let us go"),
            "- They are rowing, and talk of allergies.\n\nKept from before:\n- Marta is allergic to nuts.\n\
             * If it rains, nobody rows. Quill does.\n- OK was said.\nAllergies: Ines has none.\n- iPhone is the word."
        );
        let spoken = with_what_was_lost(old, new, "User: marta, quill, ok, ines and an iPhone");
        assert!(!spoken.contains("Marta is"), "{spoken}");
    }

    #[test]
    fn lines_of_plain_words_do_not_come_back() {
        let lines = [
            "The weather was fine.",
            "They'd go again.",
            "It's late.",
            "Decided to go on.",
            "User wants tea.",
            "Assistant is helpful.",
            "Before that, nothing.",
            "Next: more of it.",
        ];
        for line in lines {
            let old = format!("- {line}");
            assert_eq!(with_what_was_lost(&old, "- tea", ""), "- tea", "{line}");
        }
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
