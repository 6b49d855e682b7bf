//! A text in chunks: stretches of whole lines that belong together (X37). Unit: lines, counted from 1. Pure.
//!
//! A heading begins a section; a long section is parted at blank lines, a text without headings after so many lines.
//! Invariant: every line is in exactly one chunk, and the chunks come in the order of the text.

use std::ops::Range;

use crate::text::lines::single_spaced;

/// Lines of a section that stay together.
const OF_SECTION: usize = 60;
/// Lines that stay together where there are no headings.
const OF_PLAIN: usize = 40;

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The number of its first line.
    pub(super) line: usize,
    pub(super) bytes: Range<usize>,
}

/// The chunks of a text, of about so many bytes at most; a longer line is a chunk of its own.
pub(super) fn chunks(text: &str, max: usize) -> Vec<Chunk> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let starts = headings(&lines);
    let together = if starts.is_empty() {
        OF_PLAIN
    } else {
        OF_SECTION
    };
    let mut chunks = Vec::new();
    let (mut at, mut byte) = (0, 0);
    for end in starts.into_iter().chain([lines.len()]) {
        while at < end {
            let taken = taken(&lines[at..end], together, max);
            let bytes = lines[at..at + taken]
                .iter()
                .map(|line| line.len())
                .sum::<usize>();
            chunks.push(Chunk {
                line: at + 1,
                bytes: byte..byte + bytes,
            });
            at += taken;
            byte += bytes;
        }
    }
    chunks
}

/// A chunk item by item: what the bullets of a list or the paragraphs of a text say has little to do with each other.
/// What stands before the second one, such as a heading, is with the first.
pub(super) fn items(text: &str, chunk: &Chunk) -> Vec<Chunk> {
    let mut items = vec![Chunk {
        line: chunk.line,
        bytes: chunk.bytes.start..chunk.bytes.start,
    }];
    let (mut says, mut is_apart) = (false, false);
    for (at, line) in text[chunk.bytes.clone()].split_inclusive('\n').enumerate() {
        let last = items.len() - 1;
        let is_blank = line.trim().is_empty();
        if says && !is_blank && (is_apart || is_item(line)) {
            let end = items[last].bytes.end;
            items.push(Chunk {
                line: chunk.line + at,
                bytes: end..end + line.len(),
            });
        } else {
            items[last].bytes.end += line.len();
        }
        says |= !is_blank && !is_heading(line);
        is_apart = is_blank;
    }
    items
}

/// Whether a line begins an item of a list that stands in no other.
fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < line.len() && digits.starts_with(". ");
    numbered || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Whether a line is a heading of Markdown.
pub fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// The lines that are headings, but for those in code.
fn headings(lines: &[&str]) -> Vec<usize> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if is_heading(line) => found.push(at),
            (Some(_), _) | (None, None) => {}
        }
    }
    found
}

/// How many of the lines make the next chunk; at least one.
fn taken(lines: &[&str], together: usize, max: usize) -> usize {
    let mut bytes = 0;
    let fitting = lines.iter().take(together).take_while(|line| {
        bytes += line.len();
        bytes <= max
    });
    let fitting = fitting.count().max(1);
    if fitting == lines.len() {
        return fitting;
    }
    let blank = lines[..fitting]
        .iter()
        .rposition(|line| line.trim().is_empty());
    blank.map_or(fitting, |blank| blank + 1)
}

/// A longer line stands at several places.
const LONG_LINE: usize = 900;
const PART: usize = 600;

/// A text, whole or cut at a letter; `None` of what is none.
pub(super) fn text_of(mut bytes: Vec<u8>, size: u64) -> Option<String> {
    if size > bytes.len() as u64
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// The parts of a line, which they tile.
pub(super) fn parts(line: &str) -> impl Iterator<Item = Range<usize>> {
    let part = if line.len() > LONG_LINE {
        PART
    } else {
        LONG_LINE
    };
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = line.get(start..).filter(|rest| !rest.is_empty())?;
        let end = if rest.len() <= part {
            rest.len()
        } else {
            let max = rest.ceil_char_boundary(part);
            let blank = rest[..max].rfind(char::is_whitespace);
            blank.filter(|blank| *blank > 0).unwrap_or(max)
        };
        let range = start..start + end;
        start += end;
        Some(range)
    })
}

/// A text as exact words are compared: in lower case, every run of blanks one space.
pub fn folded(text: &str) -> String {
    let mut folded = single_spaced(text);
    if folded.is_ascii() {
        folded.make_ascii_lowercase();
        return folded;
    }
    folded.to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(text: &str) -> Vec<(usize, usize)> {
        let count = |chunk: &Chunk| text[chunk.bytes.clone()].split_inclusive('\n').count();
        let chunks = chunks(text, 1 << 20);
        chunks
            .iter()
            .map(|chunk| (chunk.line, count(chunk)))
            .collect()
    }

    #[test]
    fn headings_begin_chunks_and_long_sections_are_parted_at_blank_lines() {
        let plain = "word\n".repeat(100);
        assert_eq!(lines_of(&plain), [(1, 40), (41, 40), (81, 20)]);
        let sections = "intro\n# One\na\n\n## Two\n```\n# no heading\n```\n#hash\n";
        assert_eq!(lines_of(sections), [(1, 1), (2, 3), (5, 5)]);
        let long = format!("# One\n{}\n{}", "a\n".repeat(49), "b\n".repeat(30));
        assert_eq!(lines_of(&long), [(1, 51), (52, 30)]);
        let endless = format!("# One\n{}", "a\n".repeat(79));
        assert_eq!(lines_of(&endless), [(1, 60), (61, 20)]);
        assert_eq!(lines_of(""), []);
    }

    #[test]
    fn a_chunk_is_no_longer_than_wanted_but_for_a_line_that_is() {
        let text = format!("short\n{}\nshort\nshort\n", "x".repeat(50));
        let lengths = chunks(&text, 20).into_iter().map(|chunk| chunk.bytes.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [6, 51, 12]);
    }

    #[test]
    fn a_chunk_is_parted_by_items_and_paragraphs_and_keeps_what_stands_below_an_item() {
        let text = "## House\n\n- grout: grey\n  more of it\n- valve\n1. one\nplain\n";
        let whole = &chunks(text, 1_000)[0];
        let found: Vec<(usize, &str)> = items(text, whole)
            .into_iter()
            .map(|item| (item.line, &text[item.bytes]))
            .collect();
        let first = "## House\n\n- grout: grey\n  more of it\n";
        assert_eq!(
            found,
            [(1, first), (5, "- valve\n"), (6, "1. one\nplain\n")]
        );
        let prose = "# Site\n\nOne.\nMore.\n\nTwo.\n- a\n";
        let parted = items(prose, &chunks(prose, 1_000)[0]);
        let parted: Vec<&str> = parted.into_iter().map(|item| &prose[item.bytes]).collect();
        assert_eq!(parted, ["# Site\n\nOne.\nMore.\n\n", "Two.\n", "- a\n"]);
        let plain = "no list\nat all\n";
        let whole = &chunks(plain, 1_000)[0];
        assert_eq!(items(plain, whole), std::slice::from_ref(whole));
    }

    proptest! {
        #[test]
        fn every_line_is_in_exactly_one_chunk(
            text in "(#{0,3} ?[a-é]{0,5}(\n|\r\n|\n\n|```\n)){0,200}[a-z]{0,3}",
            max in 1..500_usize,
        ) {
            let chunks = chunks(&text, max);
            let (mut byte, mut line) = (0, 1);
            for chunk in chunks {
                prop_assert_eq!(chunk.bytes.start, byte);
                prop_assert_eq!(chunk.line, line);
                let lines = text[chunk.bytes.clone()].split_inclusive('\n').count();
                prop_assert!((1..=OF_SECTION).contains(&lines));
                prop_assert!(lines == 1 || chunk.bytes.len() <= max);
                byte = chunk.bytes.end;
                line += lines;
            }
            prop_assert_eq!(byte, text.len());
            prop_assert_eq!(line, text.split_inclusive('\n').count() + 1);
        }
    }
}
