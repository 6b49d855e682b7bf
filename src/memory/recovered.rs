//! What was recovered, as one request sees it: of each file the newest exchanges or lines, each from its beginning
//! (Q30).
//!
//! Unit: one text of the files. Pure: the files are read elsewhere. Invariant: it begins at a whole exchange or line,
//! no word is parted where a space is near, and it has no more characters than it may have.

use std::ops::Range;

use super::long_term_context::{KeptFile, level};

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
    use proptest::prelude::*;

    use super::*;

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
