//! A sentence as the clauses that cues are looked for in.
//!
//! ```text
//!  we picked Nomad over Kubernetes, so we need new boxes and it's unclear who pays
//!  |_____________________________|  |__________________|     |___________________|
//! ```
//! A clause begins where the words behind a comma, an "and" or the like begin a cue; everything else stays
//! with the clause before. Unit: bytes. Each place is looked at through a window of fixed length, so the
//! whole is linear in the sentence.

use std::borrow::Cow;
use std::ops::Range;

use super::Subject;

/// Bytes that tell whether a cue begins; a longer way to the words that matter is none.
const WINDOW: usize = 160;

/// Bytes of a clause that are read; what is kept of it is shorter still.
const LONGEST: usize = 800;

/// A sentence in one line, with single blanks, straight apostrophes and without marks of emphasis.
pub(super) fn plain(sentence: &str) -> Cow<'_, str> {
    let is_other = |c: char| c.is_control() || matches!(c, '’' | '*' | '\u{a0}');
    if !sentence.contains("  ") && !sentence.contains(is_other) {
        return sentence.into();
    }
    let mut plain = String::with_capacity(sentence.len());
    let mut characters = sentence.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '’' => plain.push('\''),
            '*' if characters.peek() == Some(&'*') => {
                characters.next();
            }
            c if c.is_control() || c.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            c => plain.push(c),
        }
    }
    plain.into()
}

/// Where words stand in double quotation marks; a mark that no other closes in its paragraph quotes nothing.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    let mut line_is_empty = true;
    for (at, c) in text.char_indices() {
        match (open, c) {
            (_, '\n') if line_is_empty => open = None,
            (Some((from, close)), c) if c == close => {
                ranges.push(from..at);
                open = None;
            }
            (None, '"') if before.is_whitespace() || "([—–".contains(before) => {
                open = Some((at, '"'));
            }
            (None, '“') => open = Some((at, '”')),
            (None, '„') => open = Some((at, '“')),
            (None, '«') => open = Some((at, '»')),
            _ => {}
        }
        line_is_empty = c == '\n' || (line_is_empty && c.is_whitespace());
        before = c;
    }
    ranges
}

/// Whether a place lies in one of these ranges, which stand in order.
pub(super) fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.start <= at)
}

/// The clauses of a sentence. `breaks` are the places between clauses, in order: where the one may end and
/// the next begin. `begins` tells whether a cue begins these words.
pub(super) fn clauses(
    sentence: &str,
    breaks: Vec<Range<usize>>,
    begins: impl Fn(&str, Subject) -> bool,
) -> Vec<&str> {
    let mut clauses = Vec::new();
    let mut from = 0;
    let mut before = says(begins(window(sentence, 0, WINDOW), Subject::Understood));
    let quoted = quoted(sentence);
    for Range { start, end } in breaks {
        let is_next = start >= from && !is_inside(&quoted, end);
        if !is_next || !begins(window(sentence, end, WINDOW), before) {
            continue;
        }
        let clause = window(&sentence[..start], from, LONGEST);
        // "First, we need …": the cue lies on both sides.
        if before == Subject::Understood && !begins(window(clause, 0, WINDOW), before) {
            continue;
        }
        before = Subject::Understood;
        clauses.push(clause);
        from = end;
    }
    clauses.push(window(sentence, from, LONGEST));
    clauses
}

fn says(is_cue: bool) -> Subject {
    if is_cue {
        Subject::Understood
    } else {
        Subject::Needed
    }
}

/// As much of a text as is read of a clause.
pub(super) fn head(text: &str) -> &str {
    window(text, 0, LONGEST)
}

fn window(text: &str, from: usize, length: usize) -> &str {
    let rest = &text[from..];
    &rest[..rest.floor_char_boundary(length)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_end_with_their_paragraph() {
        let text = "\"a\" “b” \"c\n\nd\" 5\" e «f»";
        let texts: Vec<_> = quoted(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(texts, ["\"a", "“b", "«f"]);
        assert!(is_inside(&quoted(text), 1) && !is_inside(&quoted(text), 3));
    }

    #[test]
    fn a_sentence_is_made_plain() {
        for (sentence, expected) in [
            ("as it is", "as it is"),
            ("**let’s**\r\n go *on*", "let's go *on*"),
            ("a\u{a0}b\u{0}c", "a b c"),
        ] {
            assert_eq!(plain(sentence), expected);
        }
    }

    #[test]
    fn a_clause_begins_where_a_cue_does_and_no_quote_is_cut() {
        let sentence = "cue a, b, cue c, \"x, cue d\", cue, e";
        let breaks = sentence
            .match_indices(", ")
            .map(|(at, comma)| at..at + comma.len());
        let found = clauses(sentence, breaks.collect(), |text, _| {
            text.starts_with("cue")
        });
        assert_eq!(found, ["cue a, b", "cue c, \"x, cue d\"", "cue, e"]);
    }
}
