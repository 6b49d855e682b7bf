//! Whether a person asks where the conversation was (Q29), by the patterns of `cues/recovery.yaml`: only a short text
//! does, a long one has such words by chance. And what a request has of what was recovered: of each file the newest
//! exchanges or lines, each from its beginning (Q30).

use std::collections::BTreeMap;
use std::ops::Range;

use super::Prompt;
use super::cue_files::laid_over;
use super::long_term_context::{KeptFile, level};
use super::texts::embedded;
use crate::text::patterns::{BadPattern, Checked, Patterns};

/// A longer message is not read.
const MAX_CHARS: usize = 200;

/// The patterns.
#[derive(Debug, Default)]
pub struct RecoveryCues(Vec<Patterns>);

/// Patterns that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadRecoveryCues {
    #[error("{file} is not a list of patterns by language: {what}")]
    Malformed { file: String, what: String },
    #[error("{file}: {language}: {pattern}")]
    Pattern {
        file: String,
        language: String,
        pattern: BadPattern,
    },
}

impl RecoveryCues {
    /// The patterns of a file, over the embedded ones: a language that it does not name is heard as it was.
    pub fn parse(file: &Prompt, checked: Checked) -> Result<Self, BadRecoveryCues> {
        let languages: BTreeMap<String, Vec<String>> =
            laid_over(&embedded("cues/recovery.yaml").text, &file.text).map_err(|error| {
                BadRecoveryCues::Malformed {
                    file: file.file.clone(),
                    what: error.to_string(),
                }
            })?;
        let patterns = languages.into_iter().map(|(language, patterns)| {
            Patterns::read(patterns, checked).map_err(|pattern| BadRecoveryCues::Pattern {
                file: file.file.clone(),
                language,
                pattern,
            })
        });
        Ok(Self(patterns.collect::<Result<_, _>>()?))
    }

    /// Whether a message asks where the conversation was.
    pub fn ask(&self, said: &str) -> bool {
        let said = said.trim();
        said.chars().count() <= MAX_CHARS && self.0.iter().any(|cue| cue.is_match(said))
    }
}

/// Stands in front of the newest, where older ones were left out.
const EARLIER: &str = "[…earlier left out…]";
/// Stands where the rest of an exchange was left out.
const REST: &str = " […]";
/// Characters that an exchange or a line is worth: with less room for each, the older ones go instead.
const WORTH: usize = 200;
/// A reply in the working buffer belongs to what was said before it.
const REPLY: &str = "Agent (summary)";

/// The files under their names, in `max` characters, shared evenly; `None` where there is no room to speak of.
pub(super) fn told(files: &[KeptFile], max: usize) -> Option<String> {
    let heads = files.iter().map(|file| file.name.chars().count() + 4);
    let room = max.checked_sub(heads.sum())?;
    let costs: Vec<usize> = files.iter().map(|file| file.text.chars().count()).collect();
    let share = level(costs, room);
    if files.is_empty() || share < WORTH.min(longest(files)) {
        return None;
    }
    let told: Vec<String> = files
        .iter()
        .map(|file| format!("{}:\n{}", file.name, newest(&file.text, share)))
        .collect();
    Some(told.join("\n\n"))
}

fn longest(files: &[KeptFile]) -> usize {
    let lengths = files.iter().map(|file| file.text.chars().count());
    lengths.max().unwrap_or(0)
}

/// The newest pieces of a text in so many characters.
fn newest(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let pieces = pieces(text);
    let room = max.saturating_sub(EARLIER.chars().count() + 1);
    let begins = begins(&pieces, room);
    let kept: Vec<&str> = pieces[begins..].iter().map(|piece| piece.text).collect();
    // Each has a line break behind it.
    let ends = kept.len() * (1 + REST.chars().count());
    let costs = kept.iter().map(|piece| piece.chars().count()).collect();
    let each = level(costs, room.saturating_sub(ends));
    let lines = kept.iter().map(|piece| beginning(piece, each));
    let earlier = (begins > 0).then(|| EARLIER.to_owned());
    earlier
        .into_iter()
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

/// What goes or stays as one.
struct Piece<'a> {
    text: &'a str,
    /// Whether what is told may begin with it.
    is_first: bool,
}

/// Sections where a text has some, else lines.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut starts: Vec<usize> = heads(text).collect();
    if starts.is_empty() {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let piece = |text| Piece {
            text,
            is_first: true,
        };
        return lines.map(piece).collect();
    }
    starts.push(text.len());
    let ranges = starts.windows(2).map(|pair| Range {
        start: pair[0],
        end: pair[1],
    });
    let pieces = ranges.map(|range| {
        let text = text[range].trim_end();
        let title = text.lines().next().unwrap_or_default();
        Piece {
            text,
            is_first: !title.ends_with(REPLY),
        }
    });
    pieces.collect()
}

/// Where the headings of exchanges stand.
fn heads(text: &str) -> impl Iterator<Item = usize> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        line.starts_with("## [").then_some(start)
    })
}

/// The oldest piece that there is room for with all behind it, each at what it is worth; never beyond the last one.
fn begins(pieces: &[Piece<'_>], room: usize) -> usize {
    let first = |at: &usize| pieces[*at].is_first;
    let mut begins = (0..pieces.len()).rfind(first).unwrap_or(0);
    let mut taken = 0;
    for (at, piece) in pieces.iter().enumerate().rev() {
        taken += piece.text.chars().count().min(WORTH) + 1 + REST.chars().count();
        if taken > room {
            break;
        }
        if piece.is_first {
            begins = at;
        }
    }
    begins
}

/// A text from its beginning, parted between words where there is a space near.
fn beginning(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else {
        return text.to_owned();
    };
    let part = &text[..end];
    let is_between = text[end..].starts_with(char::is_whitespace);
    let space = part.rfind(char::is_whitespace);
    let whole = match space.filter(|at| !is_between && *at * 2 > end) {
        Some(at) => &part[..at],
        None => part,
    };
    format!("{}{REST}", whole.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn who_asks_where_we_were_is_understood_and_nobody_else() {
        let cues = RecoveryCues::parse(&embedded("cues/recovery.yaml"), Checked::Now).unwrap();
        for asks in [
            "where were we?",
            "OK, so where were we",
            "What were we doing before lunch?",
            "continue where we left off",
            "Remind me what we decided",
            "Where did we leave off?",
            "Qayerda to'xtadik?",
            "nima qilayotgan edik?",
            "我们刚才说到哪了?",
            "继续上次的",
        ] {
            assert!(cues.ask(asks), "{asks}");
        }
        for other in [
            "Where were the Vikings from?",
            "where were we supposed to meet Anna on Friday for the show",
            "What were you doing in Rome?",
            "Continue the story",
            "remind me to call Anna",
            "go on",
            "继续",
        ] {
            assert!(!cues.ask(other), "{other}");
        }
        assert!(!cues.ask(&format!("{} where were we?", "x ".repeat(200))));
    }

    #[test]
    fn a_language_of_the_persons_own_is_heard_beside_the_embedded_ones() {
        let own = Prompt::new("mine.yaml", "de: ['\\bwo waren wir\\b']");
        let cues = RecoveryCues::parse(&own, Checked::Now).unwrap();
        assert!(cues.ask("Wo waren wir?") && cues.ask("where were we?"));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_names_its_file_and_language() {
        let bad =
            RecoveryCues::parse(&Prompt::new("mine.yaml", "en: ['(']"), Checked::Now).unwrap_err();
        let bad = bad.to_string();
        assert!(
            bad.starts_with("mine.yaml: en: the pattern \"(\" cannot be used"),
            "{bad}"
        );
        let bad =
            RecoveryCues::parse(&Prompt::new("mine.yaml", "[1, 2]"), Checked::Now).unwrap_err();
        assert!(
            bad.to_string().starts_with("mine.yaml is not a list"),
            "{bad}"
        );
    }

    fn file(name: &str, text: impl Into<String>) -> KeptFile {
        KeptFile {
            name: name.into(),
            text: text.into(),
        }
    }

    fn exchange(n: usize, said: &str) -> String {
        format!(
            "## [10:{n:02}] Human\n\nQuestion {n} {said}\n\n## [10:{n:02}] Agent (summary)\n\nReply {n}.\n\n"
        )
    }

    #[test]
    fn each_of_the_newest_exchanges_gives_its_beginning() {
        let long = "and a further word ".repeat(100);
        let buffer: String = (1..=9).map(|n| exchange(n, &long)).collect();
        let told = told(&[file("b.md", buffer)], 1_200).unwrap();
        let mut lines = told.lines();
        assert_eq!(lines.next(), Some("b.md:"));
        assert_eq!(lines.next(), Some(EARLIER));
        assert!(lines.next().unwrap().ends_with("] Human"), "{told}");
        for n in 7..=9 {
            assert!(told.contains(&format!("Question {n} and a")), "{told}");
            assert!(told.contains(&format!("Reply {n}.")), "{told}");
        }
        assert!(told.matches(REST).count() >= 3, "{told}");
        assert!(!told.contains("Question 1 "), "{told}");
    }

    #[test]
    fn of_lines_the_newest_stay_whole() {
        let state: Vec<String> = (1..=50)
            .map(|n| format!("- **remember**: thing number {n}"))
            .collect();
        let told = told(&[file("s.md", state.join("\n"))], 300).unwrap();
        for line in told.lines().skip(2) {
            assert!(line.starts_with("- **remember**: thing number "), "{told}");
        }
        assert!(told.ends_with("thing number 50"), "{told}");
    }

    #[test]
    fn what_is_short_is_told_whole_and_leaves_its_room_to_the_others() {
        let long = "word ".repeat(400);
        let files = [file("a.md", "short"), file("b.md", long.trim())];
        let both = told(&files, 2_500).unwrap();
        assert_eq!(both, format!("a.md:\nshort\n\nb.md:\n{}", long.trim()));
        assert_eq!(told(&files, 100), None, "no room to speak of");
        assert_eq!(told(&[], 1_000), None);
    }

    proptest! {
        #[test]
        fn it_takes_no_more_than_it_may(
            texts in prop::collection::vec("(## \\[|[a-zé \n]){0,900}", 0..4),
            max in 0_usize..2_000,
        ) {
            let files: Vec<KeptFile> = texts.iter().map(|text| file("f.md", text.clone())).collect();
            if let Some(told) = told(&files, max) {
                prop_assert!(told.chars().count() <= max.max(1), "{}", told.chars().count());
            }
        }
    }
}
