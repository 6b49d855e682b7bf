//! A page of lines out of a reader, in memory that does not grow with the file or its lines.

use std::io::{self, BufRead, Read};

use super::range::Range;
use crate::tools::files::words::count;

const LINES_MAX: u64 = 2000;
const BYTES_MAX: usize = 256 << 10;
const LINE_CHARS_MAX: usize = 2000;
/// Lines are counted to here; further on only what is asked for is looked for.
const COUNTED_MAX: u64 = 256 << 20;

/// Whether lines come with their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tools::files) enum Numbers {
    #[default]
    Shown,
    Left,
}

impl Numbers {
    /// Characters of one line: a model reads a numbered line on in a call of its own, one that stands in a message it
    /// cannot.
    fn line_chars_max(self) -> usize {
        match self {
            Self::Shown => LINE_CHARS_MAX,
            Self::Left => BYTES_MAX,
        }
    }
}

/// Lines, and what is to be said of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::tools::files) struct Page {
    /// `12→text` each, with its line break.
    pub(in crate::tools::files) text: String,
    numbers: Numbers,
    /// Characters that the text may have, and those it has.
    most: usize,
    n_chars: usize,
    /// The first line asked for.
    pub(in crate::tools::files) first: u64,
    n_taken: u64,
    /// As far as they were counted.
    pub(in crate::tools::files) n_lines: u64,
    /// Whether the file was read to its end.
    pub(in crate::tools::files) is_counted: bool,
    /// Whether lines of the range are left.
    pub(in crate::tools::files) is_cut: bool,
    /// Lines with bytes that are not UTF-8.
    pub(in crate::tools::files) n_bad: u64,
    /// Bytes left out of lines that are too long.
    pub(in crate::tools::files) left_out: u64,
    /// Whether the last line is shown and has no line break.
    pub(in crate::tools::files) lacks_end: bool,
}

impl Page {
    pub(in crate::tools::files) fn n_taken(&self) -> u64 {
        self.n_taken
    }

    fn is_full(&self, range: Range) -> bool {
        (self.n_taken > 0 && self.n_chars >= self.most)
            || self.n_taken == LINES_MAX
            || self.text.len() >= BYTES_MAX
            || self.first + self.n_taken > range.last
    }
}

/// Lines of at most `most` characters in all, but at least one. Reads on behind a page that is full, to know how many
/// lines there are, until `stop`.
pub(in crate::tools::files) fn page(
    reader: &mut impl BufRead,
    range: Range,
    numbers: Numbers,
    most: usize,
    stop: impl Fn() -> bool,
) -> io::Result<Page> {
    let mut page = Page {
        first: range.first,
        numbers,
        most,
        ..Page::default()
    };
    let mut at = 0;
    while !stop() {
        let number = page.n_lines + 1;
        let is_wanted = number >= range.first && !page.is_full(range);
        let is_enough = number > range.last || (number >= range.first && at >= COUNTED_MAX);
        if !is_wanted && is_enough {
            break;
        }
        let read = if is_wanted {
            take(reader, &mut page, number)?
        } else {
            reader.skip_until(b'\n')? as u64
        };
        if read == 0 {
            page.is_counted = true;
            break;
        }
        page.n_lines = number;
        page.is_cut |= !is_wanted && number >= range.first;
        at += read;
    }
    Ok(page)
}

/// One line more on the page; how many bytes it had.
fn take(reader: &mut impl BufRead, page: &mut Page, number: u64) -> io::Result<u64> {
    let mut line = Vec::new();
    // Enough for that many characters of any length, and the start of one more.
    let bytes_max = 4 * page.numbers.line_chars_max() as u64 + 4;
    let mut read = reader
        .by_ref()
        .take(bytes_max)
        .read_until(b'\n', &mut line)? as u64;
    if read == 0 {
        return Ok(0);
    }
    let is_whole = line.ends_with(b"\n") || read < bytes_max;
    let mut lacks_end = is_whole && !line.ends_with(b"\n");
    let mut left_out = 0;
    if !is_whole {
        let skipped = skip(reader)?;
        lacks_end = !skipped.has_end;
        left_out = skipped.bytes - u64::from(skipped.has_end);
        read += skipped.bytes;
    }
    let n_before = page.n_taken;
    page.add(number, &line, left_out);
    page.lacks_end = lacks_end && page.n_taken > n_before;
    Ok(read)
}

struct Skipped {
    bytes: u64,
    has_end: bool,
}

fn skip(reader: &mut impl BufRead) -> io::Result<Skipped> {
    let mut skipped = Skipped {
        bytes: 0,
        has_end: false,
    };
    while !skipped.has_end {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let n_read = buffer.len();
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(n_read, |end| end + 1);
        skipped.has_end = end.is_some();
        skipped.bytes += used as u64;
        reader.consume(used);
    }
    Ok(skipped)
}

impl Page {
    fn add(&mut self, number: u64, line: &[u8], left_out: u64) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // A character that was cut at the end is no bad byte.
        let is_bad =
            str::from_utf8(line).is_err_and(|error| left_out == 0 || error.error_len().is_some());
        let line = String::from_utf8_lossy(line);
        let chars_max = self.numbers.line_chars_max().min(self.most);
        let shown: String = line.chars().take(chars_max).collect();
        let cut = (line.len() - shown.len()) as u64 + left_out;
        let mark = match cut {
            0 => String::new(),
            cut => format!(" […{} more]", count(cut, "byte")),
        };
        let number = match self.numbers {
            Numbers::Shown => format!("{number}→"),
            Numbers::Left => String::new(),
        };
        let line = format!("{number}{shown}{mark}\n");
        let n_chars = self.n_chars + line.chars().count();
        if self.n_taken > 0 && n_chars > self.most {
            (self.n_chars, self.is_cut) = (self.most, true);
            return;
        }
        self.text.push_str(&line);
        self.n_chars = n_chars;
        self.n_bad += u64::from(is_bad);
        self.left_out += cut;
        self.n_taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &[u8], range: &str) -> Page {
        within(text, range, usize::MAX)
    }

    fn within(text: &[u8], range: &str, most: usize) -> Page {
        page(
            &mut io::BufReader::with_capacity(7, text),
            Range::parse(range).unwrap(),
            Numbers::Shown,
            most,
            || false,
        )
        .unwrap()
    }

    #[test]
    fn the_lines_asked_for_come_with_their_numbers() {
        for (text, range, lines, n_lines, is_cut, lacks_end) in [
            ("a\nb\nc\n", "1-", "1→a\n2→b\n3→c\n", 3, false, false),
            ("a\nb\nc", "2-", "2→b\n3→c\n", 3, false, true),
            ("a\r\nb\r\n", "2", "2→b\n", 2, false, false),
            ("a\nb\nc\n", "-2", "1→a\n2→b\n", 2, false, false),
            ("a\n\nc\n", "2-3", "2→\n3→c\n", 3, false, false),
            ("a\n", "2-", "", 1, false, false),
            ("", "1-", "", 0, false, false),
        ] {
            let page = of(text.as_bytes(), range);
            let found = (
                page.text.as_str(),
                page.n_lines,
                page.is_cut,
                page.lacks_end,
            );
            assert_eq!(
                found,
                (lines, n_lines, is_cut, lacks_end),
                "{text:?} {range}"
            );
            assert_eq!(page.n_bad, 0);
        }
    }

    #[test]
    fn a_page_has_an_end_and_so_has_a_line() {
        let many = "x\n".repeat(5000);
        let page = of(many.as_bytes(), "11-");
        assert_eq!(
            (page.n_taken, page.n_lines, page.is_cut),
            (LINES_MAX, 5000, true)
        );
        let wide = format!("{}\n", "y".repeat(1000)).repeat(1000);
        let page = of(wide.as_bytes(), "1-");
        assert!(page.is_cut && page.text.len() < BYTES_MAX + 2000);
        for (line, shown, rest) in [
            ("z".repeat(2000), 2000, None),
            ("z".repeat(2001), 2000, Some(" […1 byte more]")),
            ("ü".repeat(100_000), 4000, Some(" […196000 bytes more]")),
        ] {
            let page = of(format!("{line}\nnext").as_bytes(), "1-");
            let expected = format!("1→{}{}\n2→next\n", &line[..shown], rest.unwrap_or(""));
            assert!(page.text == expected && page.n_bad == 0, "{shown} {rest:?}");
        }
    }

    #[test]
    fn a_page_ends_with_a_whole_line_where_its_room_does() {
        for (text, range, most, lines, n_lines, is_cut, lacks_end) in [
            ("a\nb\nc", "1-", 8, "1→a\n2→b\n", 3, true, false),
            ("a\nb\nc", "1-", 11, "1→a\n2→b\n", 3, true, false),
            ("a\nb\nc", "1-", 12, "1→a\n2→b\n3→c\n", 3, false, true),
            ("a\nb\nc\n", "-2", 8, "1→a\n2→b\n", 2, false, false),
            (
                "aaaaaa\nb\n",
                "1-",
                4,
                "1→aaaa […2 bytes more]\n",
                2,
                true,
                false,
            ),
        ] {
            let page = within(text.as_bytes(), range, most);
            let found = (
                page.text.as_str(),
                page.n_lines,
                page.is_cut,
                page.lacks_end,
            );
            assert_eq!(
                found,
                (lines, n_lines, is_cut, lacks_end),
                "{text:?} {most}"
            );
        }
    }

    #[test]
    fn other_bytes_are_shown_as_such_and_counted() {
        let page = of(b"a\n\xff\xfe\nb\n", "1-");
        assert_eq!(
            (page.text.as_str(), page.n_bad),
            ("1→a\n2→\u{fffd}\u{fffd}\n3→b\n", 1)
        );
    }
}
