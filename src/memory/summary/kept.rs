//! What a merge must not lose: names, numbers, dates and paths of the old summary, unless their subject is spoken of anew:
//! then the old value may have been let go for a reason.

use std::collections::HashSet;

use super::length::{MAX_WORDS, cut, words};
use crate::text::statement::sentences;

const HEADING: &str = "Kept from before:";
/// Stands behind each line that was put back: what follows may know better.
const OLDER: &str = " (older)";
/// Words of the list of what was lost.
const MAX_KEPT: usize = 100;

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

/// Words that say the same of somebody or something, each group a line.
const ATTRIBUTES: &str = "\
lives live living lived home hometown city town resides residence based moved moves moving relocated settled
works work working worked job employer employed company position profession career hired joined
deadline due launch release ships shipping submission
prefers prefer preferred likes like loves favourite favorite
meeting meets appointment call scheduled
budget cost costs price limit
name named called renamed nickname
dentist doctor physician
version runs upgraded";

/// The new summary within its length, and at its end those lines of the old one, marked as older, that hold something of
/// whose subject neither the new summary nor the new messages speak. Where the new one has to be cut, lines of what is cut
/// off count as lines of the old one.
pub(super) fn with_what_was_lost(old: &str, new: &str, material: &str) -> String {
    let mut spoken = Spoken::default();
    spoken.add(new);
    spoken.add(material);
    let mut lost = Lost::default();
    lost.add(old, &spoken);
    if lost.lines.is_empty() && words(new) <= MAX_WORDS {
        return new.to_owned();
    }
    let min = cut(new, MAX_WORDS - MAX_KEPT - words(HEADING));
    let mut said = Spoken::default();
    said.add(min);
    lost.add(&new[min.len()..], &said);
    let new = cut(new, MAX_WORDS - lost.words - words(HEADING));
    lost.lines.retain(|line| !new.contains(line));
    if lost.lines.is_empty() {
        return new.to_owned();
    }
    let lines = lost.lines.iter().map(|line| format!("\n{line}{OLDER}"));
    format!("{new}\n\n{HEADING}{}", lines.collect::<String>())
}

/// Lines to be kept, as many as there is room for.
#[derive(Default)]
struct Lost<'a> {
    lines: Vec<&'a str>,
    words: usize,
}

impl<'a> Lost<'a> {
    fn add(&mut self, text: &'a str, spoken: &Spoken) {
        let lines = text.lines().map(|line| line.trim().trim_end_matches(OLDER));
        for line in lines.filter(|line| *line != HEADING) {
            let is_lost = kept_words(line).any(|word| spoken.lacks(&word));
            let count = words(line) + words(OLDER);
            if is_lost && !spoken.is_about(line) && self.words + count <= MAX_KEPT {
                self.words += count;
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
    sentences: Vec<Subject>,
}

/// What a sentence is about, and what it says of that.
#[derive(Default)]
struct Subject {
    /// In the first form of their attribute.
    words: HashSet<String>,
    items: HashSet<String>,
    /// The item that the sentence begins with.
    begins_with: Option<String>,
    /// Items before the verb: "shelf 40 has" is not "shelf 60 has".
    qualifiers: HashSet<String>,
}

impl Subject {
    fn of(sentence: &str) -> Self {
        let mut subject = Self::default();
        let mut is_behind_verb = false;
        for word in kept_words(sentence) {
            let is_first = subject.words.is_empty() && subject.items.is_empty();
            let may_be_verb = is_opener(&word.text) || attribute(&word.text).is_some();
            is_behind_verb |= !is_first && may_be_verb;
            // A capital letter may be that of any first word.
            if let Some(attribute) = attribute(&word.text) {
                subject.words.insert(attribute.to_owned());
                continue;
            }
            if word.kind == Kind::Common || (word.kind == Kind::Opener && !is_first) {
                if !is_opener(&word.text) {
                    subject.words.insert(singular(&word.text).to_owned());
                }
                continue;
            }
            if is_first {
                subject.begins_with = Some(word.text.clone());
            } else if !is_behind_verb && (subject.begins_with.is_none() || has_digit(&word.text)) {
                subject.qualifiers.insert(word.text.clone());
            }
            subject.items.insert(word.text);
        }
        subject
    }

    /// Whether it says something new of what another sentence is about.
    fn replaces(&self, old: &Self) -> bool {
        let is_same = old.words.is_subset(&self.words) && old.qualifiers.is_subset(&self.items);
        if old.words.is_empty() || !is_same {
            return false;
        }
        let has_another_name = self.items.iter().any(|item| !old.items.contains(item));
        match &old.begins_with {
            // Of whom it is said counts, too, unless another one has taken the place.
            Some(who) => has_another_name && (self.items.contains(who) || old.words.len() > 1),
            None => has_another_name || self.words.len() > old.words.len(),
        }
    }
}

/// The word that stands for an attribute, of a word that says it.
fn attribute(word: &str) -> Option<&'static str> {
    let mut groups = ATTRIBUTES.lines();
    let group = groups.find(|group| group.split_whitespace().any(|it| it == word))?;
    group.split_whitespace().next()
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

fn singular(word: &str) -> &str {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 3);
    stem.unwrap_or(word)
}

impl Spoken {
    fn add(&mut self, text: &str) {
        for word in kept_words(text) {
            if word.kind == Kind::Item {
                self.items.insert(word.text.clone());
            }
            self.words.insert(word.text);
        }
        let sentences = sentences(text).map(|range| &text[range]);
        // A question tells nothing.
        let told = sentences.filter(|sentence| !sentence.ends_with('?'));
        self.sentences.extend(told.map(Subject::of));
    }

    /// Whether something new is said of what a line is about.
    fn is_about(&self, line: &str) -> bool {
        let old = Subject::of(line);
        self.sentences
            .iter()
            .any(|sentence| sentence.replaces(&old))
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
    let is_marked =
        has_digit(word) || word.contains(['/', '\\', '_', '@']) || is_spelt_as_a_name(word);
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
            "- Work on src/tide.rs goes on.\n\nKept from before:\n- The harbour master is Edith Quill. (older)\n- The budget is $50k. (older)"
        );
    }

    #[test]
    fn an_old_value_does_not_come_back_where_something_new_is_said_of_its_subject() {
        for (old, new, material) in [
            (
                "User lives in Graz.",
                "They talk.",
                "User: I moved to Vienna last week",
            ),
            (
                "- The user lives in Graz",
                "- The user lives in Vienna since May",
                "",
            ),
            (
                "- Works at Siemens",
                "- They talk.",
                "User: my new job is at Bosch",
            ),
            (
                "- The meeting is on 3 May at 10:00",
                "- The meeting is on 7 May",
                "",
            ),
            (
                "- The dog is called Rex",
                "- They talk.",
                "User: our dog's name is Bello now",
            ),
            (
                "- Edith Quill is the harbour master",
                "- Tom Pike is the harbour master",
                "",
            ),
            (
                "- The deadline is 12 March",
                "- They talk.",
                "User: it is due on 1 April",
            ),
            (
                "- The project uses Postgres version 14",
                "- The project uses Postgres 16, a newer version",
                "",
            ),
        ] {
            assert_eq!(with_what_was_lost(old, new, material), new, "{old}");
        }
    }

    #[test]
    fn what_nobody_speaks_of_comes_back_marked_as_older_and_once() {
        for old in [
            "- The user lives in Graz",
            "- Marta is allergic to nuts",
            "- The code word is KX-4471",
            "- The train leaves from platform 9",
            "- Shelf 40 has the book KX-5240",
        ] {
            for new in [
                "- They talk about tea and a train.",
                "- Tom lives for music. Shelf 60 has the book KX-1.",
            ] {
                let merged = with_what_was_lost(old, new, "User: who lives there? And the code?");
                if old.contains("Graz") && new.contains("lives") {
                    continue;
                }
                assert_eq!(merged, format!("{new}\n\nKept from before:\n{old} (older)"));
                let again = with_what_was_lost(&merged, new, "User: fine");
                assert_eq!(again, merged, "{old}");
            }
        }
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
            "- They are rowing, and talk of allergies.\n\nKept from before:\n- Marta is allergic to nuts. (older)\n\
             * If it rains, nobody rows. Quill does. (older)\n- OK was said. (older)\nAllergies: Ines has none. (older)\n- iPhone is the word. (older)"
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
        assert!(words(&merged) <= MAX_WORDS, "{}", words(&merged));
        assert!(
            merged.ends_with(
                "Kept from before:\n- The pier is in Ostend. (older)\n- The key is KX-4471. (older)"
            ),
            "{merged}"
        );
        let merged = with_what_was_lost("", &new, "");
        assert!(
            merged.ends_with("- The key is KX-4471. (older)"),
            "{merged}"
        );
    }

    #[test]
    fn the_whole_stays_within_its_length_however_much_was_lost() {
        let old: Vec<String> = (0..300)
            .map(|n| format!("- fact number {n} of many"))
            .collect();
        let old = old.join("\n");
        let new = "- word. ".repeat(500);
        let merged = with_what_was_lost(&old, &new, "");
        assert!(words(&merged) <= MAX_WORDS, "{}", words(&merged));
        assert!(merged.contains("fact number 0 of many"));
        let again = with_what_was_lost(&merged, "- short", "");
        assert_eq!(again.matches(HEADING).count(), 1);
    }
}
