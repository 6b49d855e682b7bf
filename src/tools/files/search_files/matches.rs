//! Matching lines of one file after the other, put together as text, up to a bound. What finds no room is counted.

use std::fs::File;
use std::io::{self, Read};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use tokio_util::sync::CancellationToken;

use crate::tools::Failure;

const MATCHES_MAX: u64 = 200;
const LINE_CHARS_MAX: usize = 300;
/// Of a line that is cut, so much is shown before the match.
const BEFORE_CHARS: usize = 100;
/// A file with a longer line than that is not searched to its end.
const HEAP_MAX: usize = 32 << 20;
const REGEX_MAX: usize = 10 << 20;

pub(super) fn matcher(pattern: &str, ignores_case: bool) -> Result<RegexMatcher, Failure> {
    if pattern.is_empty() {
        return Err(Failure::Arguments("pattern must not be empty".to_owned()));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(ignores_case)
        .multi_line(true)
        .crlf(true)
        .size_limit(REGEX_MAX)
        .dfa_size_limit(REGEX_MAX)
        .build(pattern)
        .map_err(|error| Failure::Arguments(format!("bad pattern: {error}")))
}

/// A search and what it has found.
#[derive(Debug)]
pub(super) struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    /// Grouped by file; `12:` is a match, `13-` a line around one.
    pub(super) text: String,
    /// Characters that it may still grow by.
    room: usize,
    pub(super) n_matches: u64,
    /// Those of them that are in the text.
    pub(super) n_shown: u64,
    pub(super) n_files: u64,
    pub(super) n_unread: u64,
    /// Whether it ended before its end.
    pub(super) is_short: bool,
}

impl Search {
    /// At most `room` characters of text.
    pub(super) fn new(matcher: RegexMatcher, context: usize, room: usize) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .before_context(context)
            .after_context(context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP_MAX))
            .build();
        Self {
            matcher,
            searcher,
            text: String::new(),
            room,
            n_matches: 0,
            n_shown: 0,
            n_files: 0,
            n_unread: 0,
            is_short: false,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.n_matches >= MATCHES_MAX
    }

    pub(super) fn is_over(&self, stop: &CancellationToken) -> bool {
        self.is_full() || stop.is_cancelled()
    }

    /// Adds the matches of a file. Of one that turns out to be no text, only what was found before is kept.
    pub(super) fn file(&mut self, name: &str, file: File, stop: &CancellationToken) {
        let space = if self.text.is_empty() { "" } else { "\n" };
        let heading = format!("{space}{name}\n");
        let mut lines = Lines {
            matcher: &self.matcher,
            text: String::new(),
            n_matches: 0,
            n_shown: 0,
            wanted: MATCHES_MAX.saturating_sub(self.n_matches),
            room: self.room.saturating_sub(heading.chars().count()),
        };
        let reader = Stoppable { file, stop };
        let searched = self
            .searcher
            .search_reader(&self.matcher, reader, &mut lines);
        self.n_unread += u64::from(searched.is_err());
        self.is_short |= stop.is_cancelled();
        self.n_matches += lines.n_matches;
        self.n_files += u64::from(lines.n_matches > 0);
        self.n_shown += lines.n_shown;
        self.room = match lines.n_matches {
            0 => self.room,
            found if found == lines.n_shown => lines.room,
            // Where one match finds no room, no later one does: what is shown is the beginning.
            _ => 0,
        };
        if lines.n_shown > 0 {
            self.text.extend([heading, lines.text]);
        }
    }
}

/// A file that ends early when it is told to.
struct Stoppable<'a> {
    file: File,
    stop: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Ok(0);
        }
        self.file.read(buffer)
    }
}

/// The lines of one file.
struct Lines<'a> {
    matcher: &'a RegexMatcher,
    text: String,
    n_matches: u64,
    n_shown: u64,
    /// Matches that are still wanted.
    wanted: u64,
    /// Characters of text that still fit.
    room: usize,
}

impl Lines<'_> {
    fn add(&mut self, number: Option<u64>, mark: char, line: &[u8], around: usize) {
        let number = number.unwrap_or_default();
        let line = cut(line, around);
        self.put(&format!("{number}{mark}{line}\n"));
    }

    /// A line that finds no room ends the text.
    fn put(&mut self, line: &str) {
        let left = self.room.checked_sub(line.chars().count());
        self.room = left.unwrap_or(0);
        if left.is_some() {
            self.text.push_str(line);
        }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let at = self.matcher.find(line).ok().flatten();
        let start = at.map_or(0, |at| at.start());
        let before = self.text.len();
        self.add(found.line_number(), ':', line, start);
        self.n_shown += u64::from(self.text.len() > before);
        self.n_matches += 1;
        Ok(self.n_matches < self.wanted)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        self.add(line.line_number(), '-', line.bytes(), 0);
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.put("--\n");
        Ok(true)
    }
}

/// A line without its end; of a long one, what is near the byte `around`.
fn cut(line: &[u8], around: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let before = String::from_utf8_lossy(&line[..around.min(line.len())]);
    let after = String::from_utf8_lossy(&line[around.min(line.len())..]);
    let n_before = before.chars().count();
    let skipped = match n_before + after.chars().take(LINE_CHARS_MAX + 1).count() {
        length if length <= LINE_CHARS_MAX => 0,
        _ => n_before.saturating_sub(BEFORE_CHARS),
    };
    let mut rest = before.chars().chain(after.chars()).skip(skipped);
    let shown: String = rest.by_ref().take(LINE_CHARS_MAX).collect();
    let start = if skipped > 0 { "…" } else { "" };
    let end = if rest.next().is_some() { "…" } else { "" };
    format!("{start}{shown}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let long = format!("{}#{}", "a".repeat(1000), "b".repeat(1000));
        for (line, around, expected) in [
            ("ab\r\n", 1, "ab".to_owned()),
            ("ab", 9, "ab".to_owned()),
            (&long[1000..], 0, format!("#{}…", "b".repeat(299))),
            (
                &long,
                1000,
                format!("…{}#{}…", "a".repeat(100), "b".repeat(199)),
            ),
            (&long[..1001], 1000, format!("…{}#", "a".repeat(100))),
        ] {
            assert_eq!(cut(line.as_bytes(), around), expected);
        }
    }
}
