//! Where a text mentions files: `@src/a.rs`, `@src/a.rs:10-40`, `@"with spaces.md"`.
//!
//! By the letters alone a mention has several readings: a mark behind it may end the sentence or the name. Which of
//! them names a file is for the disk to say. Pure; linear in the text.

use crate::chat::Lines;

/// Behind a whole word at most so many marks are taken off one by one.
const MARKS_MAX: usize = 4;

/// Something behind an `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mention<'a> {
    word: &'a str,
    quoting: Quoting<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoting<'a> {
    Plain,
    /// What follows the closing quote directly.
    Quoted {
        behind: &'a str,
    },
}

/// One way to read a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading<'a> {
    pub(super) path: &'a str,
    /// To the end where `last` is the greatest number.
    pub(super) lines: Option<Lines>,
}

/// Every place that may be one: at the start, or behind a blank or an opening bracket.
pub(super) fn mentions(text: &str) -> impl Iterator<Item = Mention<'_>> {
    places(text).filter_map(|at| Mention::read(&text[at..]))
}

/// The mention that is being typed at the end of a text: where what follows its `@` begins, and the path so far.
pub(super) fn begun(text: &str) -> Option<(usize, &str)> {
    let mut begun = places(text).filter_map(|at| {
        let rest = &text[at..];
        let path = match rest.strip_prefix('"') {
            Some(path) => (!path.contains(['"', '\n'])).then_some(path),
            None => (!rest.contains(char::is_whitespace)).then_some(rest),
        };
        Some((at, path?))
    });
    begun.next()
}

/// Returns where something may be mentioned, just behind each `@`.
fn places(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('@')
        .filter(|(at, _)| {
            let before = text[..*at].chars().next_back();
            before.is_none_or(|c| c.is_whitespace() || "([{<".contains(c))
        })
        .map(|(at, sign)| at + sign.len())
}

impl<'a> Mention<'a> {
    fn read(rest: &'a str) -> Option<Self> {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find(['"', '\n']).filter(|end| *end > 0)?;
            let behind = quoted[end..].strip_prefix('"')?;
            let behind = &behind[..word_end(behind)];
            let (word, quoting) = (&quoted[..end], Quoting::Quoted { behind });
            return Some(Self { word, quoting });
        }
        let word = &rest[..word_end(rest)];
        (!word.is_empty()).then_some(Self {
            word,
            quoting: Quoting::Plain,
        })
    }

    /// Likeliest first: with every mark that stands behind it, then with fewer; whole, then without its lines.
    pub(super) fn readings(&self) -> Vec<Reading<'a>> {
        match self.quoting {
            Quoting::Plain => {
                let words = endings(self.word);
                words
                    .into_iter()
                    .flat_map(|word| [Some(whole(word)), with_lines(word)])
                    .flatten()
                    .collect()
            }
            Quoting::Quoted { behind } => {
                let mut lines = endings(behind)
                    .into_iter()
                    .filter_map(|behind| lines(behind.strip_prefix(':')?));
                vec![Reading {
                    path: self.word,
                    lines: lines.next(),
                }]
            }
        }
    }

    /// The name without lines and marks, to be spoken of.
    pub(super) fn name(&self) -> &'a str {
        let readings = self.readings();
        readings.last().map_or(self.word, |reading| reading.path)
    }

    /// Returns whether it is meant as a file even where there is none: it has a folder or an extension, or is quoted.
    pub(super) fn looks_like_a_path(&self) -> bool {
        let name = self.name();
        let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            let is_short = (1..=8).contains(&extension.len());
            let letters = |c: char| c.is_ascii_alphanumeric();
            !stem.is_empty() && is_short && extension.chars().all(letters)
        });
        name.contains('/') || has_extension || matches!(self.quoting, Quoting::Quoted { .. })
    }
}

fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// A word, and what is left of it as the marks behind it go.
fn endings(word: &str) -> Vec<&str> {
    let bare = word.trim_end_matches(is_mark);
    let marks = word[bare.len()..].char_indices().rev();
    let fewer = marks.map(|(at, _)| &word[..bare.len() + at]);
    let mut endings: Vec<&str> = std::iter::once(word).chain(fewer).take(MARKS_MAX).collect();
    if endings.last() != Some(&bare) {
        endings.push(bare);
    }
    // Dots name a folder only where nothing was taken off.
    endings
        .retain(|ending| !ending.is_empty() && (*ending == word || !matches!(*ending, "." | "..")));
    endings
}

fn is_mark(c: char) -> bool {
    ".,;:!?)]}>".contains(c)
}

fn whole(path: &str) -> Reading<'_> {
    Reading { path, lines: None }
}

fn with_lines(word: &str) -> Option<Reading<'_>> {
    let (path, range) = word.rsplit_once(':')?;
    let lines = Some(lines(range)?);
    (!path.is_empty()).then_some(Reading { path, lines })
}

/// `10`, `10-40`, `10-`.
fn lines(text: &str) -> Option<Lines> {
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| digits)
    };
    let (first, last) = match text.split_once('-') {
        None => (number(text)?, number(text)?),
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
    };
    (1 <= first && first <= last).then_some(Lines { first, last })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The last reading of each mention: the barest.
    fn found(text: &str) -> Vec<(&str, Option<(u64, u64)>)> {
        let barest = mentions(text).map(|mention| *mention.readings().last().unwrap());
        barest
            .map(|reading| {
                let lines = reading.lines.map(|lines| (lines.first, lines.last));
                (reading.path, lines)
            })
            .collect()
    }

    #[test]
    fn mentions_are_found_and_other_signs_left_alone() {
        for (text, expected) in [
            ("Explain @src/main.rs", vec![("src/main.rs", None)]),
            ("@a.rs and @b.rs", vec![("a.rs", None), ("b.rs", None)]),
            (
                "see (@a.rs), [@b.rs]!",
                vec![("a.rs", None), ("b.rs", None)],
            ),
            ("is it @a.rs?", vec![("a.rs", None)]),
            ("@a.rs:10", vec![("a.rs", Some((10, 10)))]),
            ("@a.rs:10-40.", vec![("a.rs", Some((10, 40)))]),
            ("@a.rs:10-", vec![("a.rs", Some((10, u64::MAX)))]),
            ("@a.rs:40-10", vec![("a.rs:40-10", None)]),
            ("@a.rs:0", vec![("a.rs:0", None)]),
            ("@a.rs:+1", vec![("a.rs:+1", None)]),
            ("@a.rs:", vec![("a.rs", None)]),
            ("@\"my notes.md\", ok", vec![("my notes.md", None)]),
            ("@\"my notes.md\":3-4,", vec![("my notes.md", Some((3, 4)))]),
            ("@\"never closed", vec![]),
            ("@\"\"", vec![]),
            ("a\n@ü/ö.txt\tb", vec![("ü/ö.txt", None)]),
            ("me@example.com", vec![]),
            ("a @ b", vec![]),
            ("@", vec![]),
            ("@...", vec![("...", None)]),
            ("`@Override`", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn marks_are_taken_off_one_by_one_and_lines_after_the_whole() {
        let mention = mentions("@a:1).").next().unwrap();
        let readings = mention.readings();
        let paths: Vec<&str> = readings.iter().map(|reading| reading.path).collect();
        assert_eq!(paths, ["a:1).", "a:1)", "a:1", "a"]);
        assert_eq!(mention.name(), "a");
    }

    #[test]
    fn a_name_alone_is_no_path() {
        for (text, expected) in [
            ("@src/x", true),
            ("@notes.md.", true),
            ("@notes.md:3", true),
            ("@\"notes\"", true),
            ("@alice", false),
            ("@alice.", false),
            ("@...", false),
            ("@.env", false),
            ("@v1.2.3-beta+4", false),
        ] {
            let mention = mentions(text).next().unwrap();
            assert_eq!(mention.looks_like_a_path(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[@a.:\"()\\- 0-9/ü\n]{0,40}") {
            for mention in mentions(&text) {
                let readings = mention.readings();
                prop_assert!(readings.iter().all(|reading| !reading.path.is_empty()));
                mention.looks_like_a_path();
            }
        }
    }
}
