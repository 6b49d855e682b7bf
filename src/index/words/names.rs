//! Who a question speaks of: speakers by their names, the two sides of the conversation as "I" and "you".
//!
//! "What did Rosalind repair?" is answered by what Rosalind said, while the messages that say "Rosalind" are the other
//! speaker's. So a name counts for who said a message, and for a sentence encoder it is replaced by "I".

use std::collections::HashSet;

use super::exact::{Word, words};
use super::lists::Lists;
use crate::index::words::Voice;

/// A name of so many letters or more is also known by its first [`SHORT`].
const LONG: usize = 6;
const SHORT: usize = 3;

/// What the question says of one speaker or side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// It names this one and not all.
    This,
    /// It names others only.
    Other,
    /// It names nobody, or all.
    Nobody,
}

/// For each speaker what the question says of them.
pub(super) fn named(lists: &Lists, speakers: &[String], question: &str) -> Vec<Named> {
    let words = words(question);
    let is_named: Vec<bool> = speakers
        .iter()
        .map(|speaker| Name::of(speaker))
        .map(|name| words.iter().any(|word| name.is_meant(lists, *word)))
        .collect();
    let n_named = is_named.iter().filter(|named| **named).count();
    let some = n_named > 0 && n_named < speakers.len();
    is_named
        .into_iter()
        .map(|named| match (some, named) {
            (false, _) => Named::Nobody,
            (true, true) => Named::This,
            (true, false) => Named::Other,
        })
        .collect()
}

/// The side of the conversation a question speaks of, if it is one alone.
pub(super) fn voice(lists: &Lists, question: &str) -> Option<Voice> {
    let words = words(question);
    let speaks_as = |pronouns: &HashSet<String>| {
        let is_one = |word: &Word<'_>| pronouns.contains(&word.beginning().to_lowercase());
        words.iter().any(is_one)
    };
    match (speaks_as(&lists.user), speaks_as(&lists.assistant)) {
        (true, false) => Some(Voice::User),
        (false, true) => Some(Voice::Assistant),
        (true, true) | (false, false) => None,
    }
}

/// The question with each speaker's name replaced by "I", and "Name's" by "my".
pub(super) fn in_first_person(lists: &Lists, speakers: &[String], question: &str) -> String {
    let names: Vec<Name> = speakers.iter().map(|speaker| Name::of(speaker)).collect();
    let mut said = String::with_capacity(question.len());
    let mut from = 0;
    for word in words(question) {
        if names.iter().any(|name| name.is_meant(lists, word)) {
            said.push_str(&question[from..word.at]);
            said.push_str(if word.is_possessive() { "my" } else { "I" });
            from = word.range().end;
        }
    }
    said.push_str(&question[from..]);
    said
}

/// The words of a speaker's name, in lower case.
struct Name(Vec<String>);

impl Name {
    fn of(speaker: &str) -> Self {
        let words = words(speaker).into_iter();
        Self(words.map(|word| word.text.to_lowercase()).collect())
    }

    /// Whether the word is this name: one of its words, or the beginning of a long one.
    fn is_meant(&self, lists: &Lists, word: Word<'_>) -> bool {
        let stem = word.stem().to_lowercase();
        let says_nothing = lists.stop.contains(&stem);
        // "Will", "Mark" and "Joy" are words too; those that say nothing are names only with a capital.
        if says_nothing && !word.is_capital() {
            return false;
        }
        self.0.iter().any(|name| {
            let is_long = name.chars().count() >= LONG;
            let short = name.char_indices().nth(SHORT).map(|(at, _)| &name[..at]);
            let is_short = is_long && word.is_capital() && !says_nothing;
            *name == stem || is_short && short == Some(stem.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speakers() -> Vec<String> {
        vec!["Rosalind".to_owned(), "Will Young".to_owned()]
    }

    #[test]
    fn a_question_names_one_speaker_both_or_none() {
        use Named::{Nobody, Other, This};
        let rows = [
            ("What did rosalind repair?", [This, Other]),
            ("Is it Ros’s?", [This, Other]),
            ("is it the ros?", [Nobody, Nobody]),
            ("What will it be?", [Nobody, Nobody]),
            ("What did Will say?", [Other, This]),
            ("Did Rosalind meet Will?", [Nobody, Nobody]),
            ("", [Nobody, Nobody]),
        ];
        for (question, expected) in rows {
            assert_eq!(
                named(&Lists::embedded(), &speakers(), question),
                expected,
                "{question}"
            );
        }
    }

    #[test]
    fn the_only_speaker_is_nobody_in_particular() {
        let one = ["Rosalind".to_owned()];
        assert_eq!(
            named(&Lists::embedded(), &one, "Rosalind?"),
            [Named::Nobody]
        );
        assert!(named(&Lists::embedded(), &[], "Rosalind?").is_empty());
    }

    #[test]
    fn a_question_speaks_of_one_side_or_of_none() {
        let rows = [
            ("I’m asking what it was", Some(Voice::User)),
            ("What did you suggest?", Some(Voice::Assistant)),
            ("Can you remind me of it?", None),
            ("Where is it?", None),
        ];
        for (question, expected) in rows {
            assert_eq!(voice(&Lists::embedded(), question), expected, "{question}");
        }
    }

    #[test]
    fn names_become_the_first_person() {
        let said = in_first_person(
            &Lists::embedded(),
            &speakers(),
            "When did Ros show Will’s dog to ROSALIND?",
        );
        assert_eq!(said, "When did I show my dog to I?");
    }
}
