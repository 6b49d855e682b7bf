//! What was drawn from the words of a capture, and is to go with it: facts, and the words themselves in an exchange. Pure.
//!
//! Unit: one line. Invariant: a line goes only as it was written here: what it says was said in the session, word for word.
//! One that a person edited stays, and so do those that stand twice in a file.

use super::sifting::folded;
use crate::chat::{Session, Timestamp};
use crate::notes::{EXTRACTED, FACTS, Line, Revision};
use crate::text::secrets::Known;

/// What stands where the words stood.
const GONE: &str = "[forgotten]";
/// A shorter beginning of the words is not looked for at the end of a text that was cut.
const TELLING: usize = 10;
/// Scripts from here on put no spaces between words.
const WIDE: char = '\u{2e80}';

/// The words of a capture.
pub(super) struct Words<'a> {
    text: &'a str,
    folded: String,
    /// All that was said where it was said, for comparing.
    said: Option<&'a str>,
}

impl<'a> Words<'a> {
    /// `said`: all that was said where they were said; without it only a fact that says nothing else is known.
    pub(super) fn new(text: &'a str, said: Option<&'a str>) -> Self {
        Self {
            text,
            folded: folded(text),
            said,
        }
    }

    /// Whether a line is a fact that has the words: `- User request: …`.
    pub(super) fn are_fact(&self, line: &str) -> bool {
        let bullet = line.trim().strip_prefix("- ");
        let Some((_, fact)) = bullet.and_then(|bullet| bullet.split_once(": ")) else {
            return false;
        };
        let fact = folded(fact.trim_end().trim_end_matches('…'));
        // A session may be long, and most facts have other words.
        holds(&fact, &self.folded).is_some()
            && match &self.said {
                Some(said) => said.contains(fact.as_str()),
                None => fact == self.folded,
            }
    }

    /// Facts that go, wherever facts are kept.
    pub(super) fn facts(&self, lines: &[Line]) -> Vec<Revision> {
        let is_ours = |line: &Line| {
            let section = line.section.as_deref().unwrap_or_default();
            section.starts_with(FACTS) || section.starts_with(EXTRACTED)
        };
        let facts = lines.iter().filter(|line| is_ours(line));
        let facts: Vec<&Line> = facts.filter(|line| self.are_fact(&line.text)).collect();
        let is_one = |line: &&&Line| facts.iter().filter(|it| it.text == line.text).count() == 1;
        let gone = facts.iter().filter(is_one);
        gone.map(|line| Revision {
            number: line.number,
            text: None,
        })
        .collect()
    }

    /// The lines of the first exchange of a day at or after a moment that has the words, without them.
    pub(super) fn exchange(&self, lines: &[Line], date: &str, from: Timestamp) -> Vec<Revision> {
        let ended = |line: &Line| {
            let section = line.section.as_deref()?;
            let time = section.strip_prefix('[')?.strip_suffix(']')?;
            Timestamp::parse(&format!("{date}T{time}Z"))
        };
        let is_later = |line: &&Line| ended(line).is_some_and(|ended| ended >= from);
        let later: Vec<&Line> = lines.iter().filter(is_later).collect();
        let first = later.iter().find(|line| self.without(&line.text).is_some());
        let Some(first) = first else {
            return Vec::new();
        };
        let same = later.iter().filter(|line| line.section == first.section);
        same.filter_map(|line| self.revision(line)).collect()
    }

    /// All lines that have the words, without them.
    pub(super) fn everywhere(&self, lines: &[Line]) -> Vec<Revision> {
        lines.iter().filter_map(|it| self.revision(it)).collect()
    }

    fn revision(&self, line: &Line) -> Option<Revision> {
        let text = self.without(&line.text)?;
        Some(Revision {
            number: line.number,
            text: Some(text),
        })
    }

    /// A line without the words; `None` where it does not have them.
    fn without(&self, line: &str) -> Option<String> {
        let mut left = String::new();
        let mut rest = line;
        while let Some(at) = holds(rest, self.text) {
            left.push_str(&rest[..at]);
            left.push_str(GONE);
            rest = &rest[at + self.text.len()..];
        }
        if left.is_empty() {
            return self.without_beginning(line);
        }
        Some(left + rest)
    }

    /// Of a line that was cut within the words.
    fn without_beginning(&self, line: &str) -> Option<String> {
        let kept = line.strip_suffix('…')?;
        let ends = self.text.char_indices().map(|(at, _)| at).skip(TELLING);
        let cut = ends
            .map(|end| self.text[..end].trim_end())
            .filter(|begin| kept.ends_with(begin))
            .last()?;
        Some(format!("{}{GONE}", &kept[..kept.len() - cut.len()]))
    }
}

/// All that was said in a session, for comparing.
pub(super) fn all_said(session: &Session) -> String {
    let mut known = Known::default();
    let said = session.messages().iter();
    let said: Vec<String> = said
        .map(|message| known.take_in(&message.said()).to_lowercase())
        .collect();
    let said = said.join("\n");
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where words stand in a text, as whole words.
fn holds(text: &str, words: &str) -> Option<usize> {
    let parts = |one: Option<char>, other: Option<char>| {
        let is_of_word = |c: char| c.is_alphanumeric() && c < WIDE;
        !(one.is_some_and(is_of_word) && other.is_some_and(is_of_word))
    };
    let (first, last) = (words.chars().next()?, words.chars().next_back());
    text.match_indices(words).map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        parts(before, Some(first)) && parts(last, after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(section: &str, text: &str) -> Line {
        Line {
            number: 1,
            section: Some(section.to_owned()),
            text: text.to_owned(),
        }
    }

    #[test]
    fn words_are_found_whole_and_a_cut_text_by_their_beginning() {
        let words = Words::new("I'm Bo", None);
        for (text, left) in [
            ("Hi, I'm Bo, hello", Some("Hi, [forgotten], hello")),
            ("I'm Bo and I'm Bo", Some("[forgotten] and [forgotten]")),
            ("I'm Bob", None),
            ("我叫I'm Bo小", Some("我叫[forgotten]小")),
        ] {
            assert_eq!(words.without(text).as_deref(), left, "{text}");
        }
        let words = Words::new("I prefer tea over coffee", None);
        let left = words.without("**User:** Well, I prefer tea…");
        assert_eq!(left.as_deref(), Some("**User:** Well, [forgotten]"));
        assert_eq!(words.without("**User:** I pre…"), None);
    }

    #[test]
    fn a_fact_that_stands_twice_stays_and_so_does_one_in_another_section() {
        let words = Words::new("I prefer tea", None);
        let fact = line(
            "Session Facts (2026-02-14)",
            "- User request: I prefer tea.",
        );
        assert_eq!(words.facts(std::slice::from_ref(&fact)).len(), 1);
        assert_eq!(words.facts(&[fact.clone(), fact.clone()]), []);
        let elsewhere = line("Mine", &fact.text);
        assert_eq!(words.facts(&[elsewhere]), []);
        let edited = line("Session Facts (x)", "- User request: I prefer tea, at five");
        assert_eq!(words.facts(&[edited]), []);
    }

    #[test]
    fn the_first_exchange_behind_a_moment_is_the_one() {
        let words = Words::new("I prefer tea", None);
        let lines = ["[11:00:00]", "[12:00:05]", "[13:00:00]"];
        let lines = lines.map(|section| line(section, "**User:** I prefer tea"));
        let mut lines = lines.to_vec();
        for (line, number) in lines.iter_mut().zip(1..) {
            line.number = number;
        }
        let noon = Timestamp::parse("2026-02-14T12:00:00Z").unwrap();
        let revised = words.exchange(&lines, "2026-02-14", noon);
        let expected = Revision {
            number: 2,
            text: Some("**User:** [forgotten]".to_owned()),
        };
        assert_eq!(revised, [expected]);
    }
}
