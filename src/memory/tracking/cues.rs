//! Cues: patterns that tell what a sentence says, as data.
//!
//! A cue file is YAML, by language and kind; `{name}` in a pattern stands for any of that list, whose words
//! are patterns too:
//! ```yaml
//! en:
//!   lists: {work: [fix, add, write]}
//!   never: ['^(?:if|when)\b']
//!   cues:
//!     task: ['^(?:please )?(?P<text>{work}\b.+)']
//! ```
//! Patterns are matched against one sentence, ignoring case, in time linear in its length. Named groups
//! carry the parts of a note: `text`, `label`, `why`, `not`. A sentence that a `never` pattern matches says
//! nothing. All languages of a file count at once.

use std::collections::BTreeMap;

use regex::Captures;
use serde::Deserialize;

use super::note::Kind;
use crate::text::patterns::{BadPattern, Case, Patterns};

/// What a cue file says of one language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Language {
    /// Words or patterns that patterns name.
    pub lists: BTreeMap<String, Vec<String>>,
    /// Patterns of sentences that are not to be read.
    pub never: Vec<String>,
    pub cues: BTreeMap<Kind, Vec<String>>,
}

/// Patterns by kind.
#[derive(Debug)]
pub struct Cues {
    never: Patterns,
    any: Patterns,
    /// What each of them says.
    kinds: Vec<Kind>,
}

impl Cues {
    /// The cues of all languages of a file.
    pub fn new<'a>(languages: impl IntoIterator<Item = &'a Language>) -> Result<Self, BadPattern> {
        let (mut never, mut any, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        for language in languages {
            for pattern in &language.never {
                never.push(filled(pattern, &language.lists)?);
            }
            for (kind, cues) in &language.cues {
                for pattern in cues {
                    any.push(filled(pattern, &language.lists)?);
                    kinds.push(*kind);
                }
            }
        }
        Ok(Self {
            never: Patterns::new(Case::Ignored, never),
            any: Patterns::new(Case::Ignored, any),
            kinds,
        })
    }

    /// Compiles now, to learn whether every pattern can be used.
    pub fn check(&self) -> Result<(), BadPattern> {
        self.any.check()?;
        self.never.check()
    }

    /// What a sentence says: kind and parts, for each pattern that matches, in the order of the file.
    pub fn read<'p, 's: 'p>(
        &'p self,
        sentence: &'s str,
    ) -> impl Iterator<Item = (Kind, Captures<'s>)> + 'p {
        let mut read = self.any.captures(sentence).peekable();
        // Few sentences say anything: what never does is asked of these alone.
        let says = read.peek().is_some() && !self.never.is_match(sentence);
        let read = says.then_some(read).into_iter().flatten();
        read.map(|(place, parts)| (self.kinds[place], parts))
    }
}

/// A pattern with its lists filled in, longest word first so that no word hides a longer one.
///
/// In a pattern written in ASCII `\b` looks at ASCII alone: the Unicode one takes the automaton off its fast
/// path at the first `é`.
pub(in crate::memory) fn filled(
    pattern: &str,
    lists: &BTreeMap<String, Vec<String>>,
) -> Result<String, BadPattern> {
    let mut filled = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let name = from[1..].split('}').next().unwrap_or_default();
        // `{2,5}`, `\p{L}` and `\x{e9}` are the pattern's own.
        let is_escape = [r"\p", r"\P", r"\x", r"\u", r"\U"];
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '{')
            || is_escape.iter().any(|escape| before.ends_with(escape))
        {
            filled.push('{');
            rest = &from[1..];
            continue;
        }
        let words = lists.get(name).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| BadPattern {
            pattern: pattern.to_owned(),
            why: format!("names a list {name:?} that does not exist or is empty"),
        })?;
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        filled.push_str("(?:");
        filled.push_str(&words.join("|"));
        filled.push(')');
        rest = from.get(name.len() + 2..).unwrap_or_default();
    }
    filled.push_str(rest);
    Ok(if filled.is_ascii() {
        ascii_boundaries(&filled)
    } else {
        filled
    })
}

fn ascii_boundaries(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len() + pattern.len() / 4);
    let mut rest = pattern;
    while let Some((before, escaped)) = rest.split_once('\\') {
        written.push_str(before);
        let length = escaped.chars().next().map_or(0, char::len_utf8);
        let (escaped, behind) = escaped.split_at(length);
        match escaped {
            "b" => written.push_str(r"(?-u:\b)"),
            escaped => written.extend(["\\", escaped]),
        }
        rest = behind;
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> BTreeMap<String, Vec<String>> {
        let list = |name: &str, words: &[&str]| {
            (
                name.to_owned(),
                words.iter().map(|word| (*word).to_owned()).collect(),
            )
        };
        [list("work", &["fix", "fix up"]), list("none", &[])].into()
    }

    #[test]
    fn lists_are_filled_in_and_what_is_a_patterns_own_stays() {
        for (pattern, expected) in [
            ("^{work} it", "^(?:fix up|fix) it"),
            ("help{work}", "help(?:fix up|fix)"),
            (r"\p{L}{2,5}\x{e9}", r"\p{L}{2,5}\x{e9}"),
            (r"\bfix\b", r"(?-u:\b)fix(?-u:\b)"),
            (r"\büber", r"\büber"),
        ] {
            assert_eq!(
                filled(pattern, &lists()).as_deref(),
                Ok(expected),
                "{pattern}"
            );
        }
        for pattern in ["{wrok}", "{none} x"] {
            let error = filled(pattern, &lists()).unwrap_err();
            assert!(error.to_string().contains("a list"), "{error}");
        }
    }

    #[test]
    fn a_sentence_says_what_its_cues_match_unless_it_never_does() {
        let language = Language {
            lists: lists(),
            never: vec!["^if ".into()],
            cues: [(Kind::Task, vec!["(?P<text>{work} .+)".into()])].into(),
        };
        let cues = Cues::new([&language]).unwrap();
        cues.check().unwrap();
        let said = |sentence| -> Vec<String> {
            let read = cues.read(sentence);
            read.map(|(kind, parts)| format!("{kind:?}: {}", &parts["text"]))
                .collect()
        };
        assert_eq!(said("Please FIX the bug"), ["Task: FIX the bug"]);
        assert_eq!(said("If I fix the bug"), Vec::<String>::new());
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_named_with_the_reason() {
        let language = Language {
            cues: [(Kind::Goal, vec!["(open".into()])].into(),
            ..Language::default()
        };
        let error = Cues::new([&language]).unwrap().check().unwrap_err();
        assert_eq!(error.pattern, "(open");
        assert!(error.why.contains("unclosed group"), "{error}");
    }
}
