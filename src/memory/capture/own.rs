//! What of a message is a person's own words, as far as its lines and quotation marks tell. Pure.
//!
//! Unit: one line; what is left out leaves an empty one, so that sentences do not grow together. Code in fences, quotes
//! of others (`>`) and diffs are left to [`crate::memory::tracking::prose`].

use std::borrow::Cow;
use std::ops::Range;

/// The text without lines of logs, code, tables and transcripts; nothing of a command.
pub(in crate::memory) fn own_words(text: &str) -> Cow<'_, str> {
    if is_command(text) {
        return Cow::Borrowed("");
    }
    if !text.lines().any(is_pasted) {
        return Cow::Borrowed(text);
    }
    let mut own = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        own.push_str(if is_pasted(line) { "\n" } else { line });
    }
    Cow::Owned(own)
}

/// `/mode code`, and not `/etc/hosts is …`.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('/') else {
        return false;
    };
    let word = rest.split_whitespace().next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains('/')
}

/// Beginnings of lines that people paste and do not write.
const BEGINS: [&str; 34] = [
    "# ",
    "## ",
    "### ",
    "//",
    "/*",
    "$ ",
    ">>> ",
    "--> ",
    "|",
    "<",
    "}",
    "{",
    "@@",
    "#!",
    "#[",
    "Traceback",
    "File \"",
    "error[",
    "error: ",
    "warning: ",
    "note: -",
    "User: ",
    "Assistant: ",
    "Human: ",
    "AI: ",
    "System: ",
    "Customer: ",
    "Agent: ",
    "From: ",
    "Subject: ",
    "fn ",
    "def ",
    "pub ",
    "class ",
];

const LEVELS: [&str; 9] = [
    "INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "CRITICAL", "NOTICE",
];

fn is_pasted(line: &str) -> bool {
    let line = line.trim();
    BEGINS.iter().any(|begin| line.starts_with(begin))
        || line.ends_with(['{', '}', ';', '\\'])
        || line.ends_with("()")
        || line.contains("♪")
        || [" = \"", " => ", "();", " := ", "==", "&&", " -> "]
            .iter()
            .any(|sign| line.contains(sign))
        || has_level(line)
        || has_time(line)
}

/// `[INFO] …`, `2025-01-15 ERROR …`.
fn has_level(line: &str) -> bool {
    let words = line.split_whitespace().take(4);
    let mut words = words.map(|word| word.trim_matches(['[', ']', ':', '<', '>', '(', ')']));
    words.any(|word| LEVELS.contains(&word))
}

/// `2025-01-15 10:30:00 …`, `10:30:00 …`, `[10:30] …`.
fn has_time(line: &str) -> bool {
    let line = line.trim_start_matches('[');
    let digits = |from: usize| {
        let digits = line.get(from..from + 2);
        digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let sign = |at: usize| line.as_bytes().get(at).copied();
    let is_clock = |at: usize| digits(at) && sign(at + 2) == Some(b':') && digits(at + 3);
    let is_date = digits(0) && digits(2) && sign(4) == Some(b'-') && digits(5) && digits(8);
    (is_clock(0) && matches!(sign(5), Some(b':' | b']'))) || (is_date && is_clock(11))
}

/// Where words stand in quotation marks or between marks of code; a mark that no other closes in its paragraph quotes
/// nothing.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, next)| *next);
        match open {
            _ if c == '\n' && before == '\n' => open = None,
            Some((from, close)) if c == close && !(close == '\'' && next.is_alphanumeric()) => {
                ranges.push(from..at);
                open = None;
            }
            None => open = closing(c, before, next).map(|close| (at, close)),
            Some(_) => {}
        }
        before = c;
    }
    ranges
}

/// What closes the quote that this mark opens, if it opens one.
fn closing(mark: char, before: char, next: char) -> Option<char> {
    let begins_word = !before.is_alphanumeric() && !next.is_whitespace();
    match mark {
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '‘' if begins_word => Some('’'),
        '"' | '`' if begins_word => Some(mark),
        '\'' if begins_word => Some('\''),
        _ => None,
    }
}

/// Whether a place lies in one of these ranges, which stand in order.
pub(super) fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    after > 0 && at < ranges[after - 1].end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_paste_is_not_their_own_words() {
        for line in [
            "2025-01-15T10:30:00Z I prefer dark mode",
            "[10:30:00] my name is Bobur",
            "10:30:00 remember this",
            "[INFO] call me Bobur",
            "worker 3 ERROR I like crashes",
            "// don't forget this",
            "# remember this",
            "let x = \"I like tea\";",
            "$ use postgres",
            "| I like | tea |",
            "User: I prefer tea",
            "if (actually) {",
        ] {
            assert_eq!(own_words(line), "\n", "{line}");
        }
        for text in [
            "I prefer tea",
            "- I prefer tea",
            "At 10:30 I like tea",
            "/etc/hosts is mine, remember that",
        ] {
            assert_eq!(own_words(text), text);
        }
        assert_eq!(own_words("/mode code I prefer tea"), "");
    }

    #[test]
    fn quotes_of_every_kind_are_seen_and_apostrophes_are_none() {
        for (text, quotes) in [
            ("say \"I like tea\" now", vec!["\"I like tea"]),
            ("say 'I'm Bob' now", vec!["'I'm Bob"]),
            ("I'm fond of Bob's tea", vec![]),
            ("say “I like” and «I want»", vec!["“I like", "«I want"]),
            ("use `my name` here", vec!["`my name"]),
            ("\"open\n\nI like tea\"", vec![]),
        ] {
            let found: Vec<_> = quoted(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, quotes, "{text}");
        }
    }
}
