//! What is pasted, and long texts folded to a marker while a line is edited: `[pasted 300 lines]`.
//!
//! A marker holds characters of no width that number its text, so that the same words typed by hand are just words, and
//! so is a marker that was changed by hand.

use std::borrow::Cow;
use std::ops::Range;

use rustyline::{Cmd, Event, KeyCode, KeyEvent, Modifiers};

use super::shared::{Shared, event_keys};
use crate::term::thousands;

/// A text with more of either is folded.
const LINES: usize = 10;
const CHARS: usize = 1_000;

/// Variation selectors, as the sixteen digits of a number.
const DIGITS: Range<u32> = 0xE0100..0xE0110;

/// How a text came to be on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Pasted,
    /// Out of the editor.
    Edited,
}

/// The texts behind the markers of this process.
#[derive(Debug, Default)]
pub(super) struct Folded(Vec<Fold>);

#[derive(Debug)]
struct Fold {
    marker: String,
    text: String,
}

impl Folded {
    /// Returns what stands on the line for a text: a marker where it is long.
    pub(super) fn fold(&mut self, text: String, came: Came) -> String {
        let Some(label) = label(&text, came) else {
            return text;
        };
        let marker = format!("[{label}{}]", digits(self.0.len()));
        self.0.push(Fold {
            marker: marker.clone(),
            text,
        });
        marker
    }

    /// Returns a line with the texts in place of their markers. A text at the beginning is never a command.
    pub(super) fn unfold<'l>(&self, line: &'l str) -> Cow<'l, str> {
        let mut whole = String::new();
        let mut rest = line;
        while let Some((range, text)) = self.next_marker(rest) {
            let is_first = whole.is_empty() && range.start == 0;
            if is_first && text.starts_with(['/', '!']) {
                whole.push(' ');
            }
            whole.push_str(&rest[..range.start]);
            whole.push_str(text);
            rest = &rest[range.end..];
        }
        if rest.len() == line.len() {
            return Cow::Borrowed(line);
        }
        whole.push_str(rest);
        Cow::Owned(whole)
    }

    /// Returns whether a marker was changed by hand: its text is not sent.
    pub(super) fn is_damaged(&self, line: &str) -> bool {
        let left = self.unfold_to(line, "");
        self.0.iter().any(|fold| {
            let number: String = fold.marker.chars().filter(|c| is_digit(*c)).collect();
            left.contains(&number) && left.contains('[')
        })
    }

    /// Returns the marker that a line up to the cursor ends with.
    pub(super) fn before(&self, line: &str) -> Option<&str> {
        let start = line.strip_suffix(']')?.rfind('[')?;
        let (range, _) = self.next_marker(&line[start..])?;
        (range == (0..line.len() - start)).then(|| self.marker_of(&line[start..]))?
    }

    /// Returns the marker that a line from the cursor begins with.
    pub(super) fn behind(&self, line: &str) -> Option<&str> {
        let (range, _) = self
            .next_marker(line)
            .filter(|(range, _)| range.start == 0)?;
        self.marker_of(&line[range])
    }

    /// Returns a range with all of each marker that it has a part of.
    pub(super) fn whole(&self, line: &str, range: &Range<usize>) -> Range<usize> {
        let mut whole = range.clone();
        let mut from = 0;
        while let Some((marker, _)) = self.next_marker(&line[from..]) {
            let (start, end) = (from + marker.start, from + marker.end);
            if start < range.end && range.start < end {
                whole = whole.start.min(start)..whole.end.max(end);
            }
            from = end;
        }
        whole
    }

    fn marker_of(&self, text: &str) -> Option<&str> {
        let fold = self.0.iter().find(|fold| fold.marker == text)?;
        Some(&fold.marker)
    }

    fn unfold_to(&self, line: &str, stands: &str) -> String {
        let mut whole = String::new();
        let mut rest = line;
        while let Some((range, _)) = self.next_marker(rest) {
            whole.push_str(&rest[..range.start]);
            whole.push_str(stands);
            rest = &rest[range.end..];
        }
        whole + rest
    }

    /// Where the first marker is, and its text.
    fn next_marker(&self, line: &str) -> Option<(Range<usize>, &str)> {
        let ends = line.match_indices(']').map(|(at, _)| at + 1);
        ends.into_iter().find_map(|end| {
            let start = line[..end].rfind('[')?;
            let number = number(&line[start..end])?;
            let fold = self.0.get(number)?;
            (fold.marker == line[start..end]).then_some((start..end, fold.text.as_str()))
        })
    }
}

impl Shared {
    /// Takes a key that belongs to a paste; `None` where nothing is being pasted.
    pub(super) fn paste(&self, event: &Event) -> Option<Cmd> {
        let mut pasting = self.pasting();
        let text = pasting.as_mut()?;
        for KeyEvent(code, modifiers) in event_keys(event) {
            match (code, *modifiers) {
                (KeyCode::BracketedPasteEnd, _) => {
                    let text = pasting.take()?;
                    let text = text.replace("\r\n", "\n").replace('\r', "\n");
                    let text = self.folded().fold(text, Came::Pasted);
                    return Some(Cmd::Insert(1, text));
                }
                (KeyCode::Char(letter), Modifiers::NONE) => text.push(*letter),
                (KeyCode::Enter, _) => text.push('\r'),
                (KeyCode::Char('J'), Modifiers::CTRL) => text.push('\n'),
                (KeyCode::Tab, _) => text.push('\t'),
                // Other control characters have no place in a line.
                _ => {}
            }
        }
        Some(Cmd::Noop)
    }
}

/// Returns a text as it is shown in one line: folded where it is long.
pub(super) fn brief(text: &str, came: Came) -> Cow<'_, str> {
    match label(text, came) {
        Some(label) => Cow::Owned(format!("[{label}]")),
        None => Cow::Borrowed(text),
    }
}

/// Returns a line with its markers dim, and without what only numbers them.
pub(super) fn highlighted(line: &str) -> Cow<'_, str> {
    if !line.contains(is_digit) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len());
    for part in line.split_inclusive(']') {
        let start = part.rfind('[');
        let (before, marker) = part.split_at(start.unwrap_or(0));
        if number(marker).is_some() {
            shown.push_str(before);
            shown.push_str("\x1b[2m");
            shown.extend(marker.chars().filter(|c| !is_digit(*c)));
            shown.push_str("\x1b[22m");
        } else {
            shown.push_str(part);
        }
    }
    Cow::Owned(shown)
}

/// `pasted 300 lines`, where a text is long.
fn label(text: &str, came: Came) -> Option<String> {
    let came = match came {
        Came::Pasted => "pasted",
        Came::Edited => "edited",
    };
    long(text).map(|length| format!("{came} {length}"))
}

/// Returns the length of a text that is folded, in words.
pub fn long(text: &str) -> Option<String> {
    let lines = text.lines().count();
    if lines > LINES {
        return Some(format!("{} lines", thousands(lines)));
    }
    let chars = text.chars().count();
    (chars > CHARS).then(|| format!("{} characters", thousands(chars)))
}

fn is_digit(character: char) -> bool {
    DIGITS.contains(&u32::from(character))
}

fn digits(number: usize) -> String {
    let digits = format!("{number:x}");
    let digits = digits.chars().filter_map(|digit| digit.to_digit(16));
    digits
        .filter_map(|digit| char::from_u32(DIGITS.start + digit))
        .collect()
}

/// The number in what may be a marker.
fn number(marker: &str) -> Option<usize> {
    let label = marker.strip_prefix('[')?.strip_suffix(']')?;
    let label_end = label.trim_end_matches(is_digit).len();
    let digits = label[label_end..].chars();
    let digits = digits.filter_map(|c| char::from_digit(u32::from(c) - DIGITS.start, 16));
    usize::from_str_radix(&digits.collect::<String>(), 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::term::width;

    fn lines(n: usize) -> String {
        let lines: Vec<String> = (0..n).map(|n| format!("line {n}\n")).collect();
        lines.concat()
    }

    /// `x` within a mark left a damaged one, and the text was not sent.
    #[test]
    fn a_part_of_a_marker_is_all_of_it() {
        let mut folded = Folded::default();
        let marker = folded.fold(lines(300), Came::Pasted);
        let line = format!("a {marker} b");
        let all = 2..2 + marker.len();
        for (range, expected) in [
            (4..5, all.clone()),
            (0..3, 0..all.end),
            (0..2, 0..2),
            (all.end..all.end + 2, all.end..all.end + 2),
        ] {
            assert_eq!(folded.whole(&line, &range), expected, "{range:?}");
        }
    }

    #[test]
    fn a_long_text_is_folded_and_a_short_one_is_not() {
        for (text, expected) in [
            (lines(300), "[pasted 300 lines]"),
            (lines(11), "[pasted 11 lines]"),
            ("x".repeat(1_001), "[pasted 1,001 characters]"),
        ] {
            assert_eq!(brief(&text, Came::Pasted), expected);
            let mut folded = Folded::default();
            let marker = folded.fold(text.clone(), Came::Pasted);
            assert_eq!(width(&marker), expected.len());
            assert_eq!(folded.unfold(&marker), text);
        }
        for text in [lines(10), "x".repeat(1_000), String::new()] {
            assert_eq!(Folded::default().fold(text.clone(), Came::Pasted), text);
        }
    }

    #[test]
    fn several_texts_of_one_size_are_told_apart_from_each_other_and_from_typed_words() {
        let mut folded = Folded::default();
        let texts: Vec<String> = (0..20).map(|n| format!("{n}\n{}", lines(12))).collect();
        let markers = texts
            .iter()
            .map(|text| folded.fold(text.clone(), Came::Pasted));
        let markers: Vec<String> = markers.collect();
        for (marker, text) in markers.iter().zip(&texts) {
            let line = format!("[a] [pasted 13 lines]{marker}{marker} b]");
            let whole = format!("[a] [pasted 13 lines]{text}{text} b]");
            assert_eq!(folded.unfold(&line), whole);
            assert!(!folded.is_damaged(&line));
        }
    }

    #[test]
    fn a_marker_that_was_changed_is_just_words_and_that_is_noticed() {
        let mut folded = Folded::default();
        let marker = folded.fold(lines(300), Came::Pasted);
        let changed = marker.replace("300", "30");
        assert_eq!(folded.unfold(&changed), changed);
        assert!(folded.is_damaged(&changed));
        assert!(!folded.is_damaged(&marker));
        assert!(!folded.is_damaged("nothing of it"));
    }

    #[test]
    fn the_marker_beside_the_cursor_is_found() {
        let mut folded = Folded::default();
        let marker = folded.fold(lines(20), Came::Edited);
        assert_eq!(
            folded.before(&format!("see {marker}")),
            Some(marker.as_str())
        );
        assert_eq!(
            folded.behind(&format!("{marker} see")),
            Some(marker.as_str())
        );
        for line in [
            "see [edited 20 lines]",
            "",
            "]",
            &marker[..marker.len() - 1],
        ] {
            assert_eq!(folded.before(line), None, "{line:?}");
            assert_eq!(folded.behind(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_folded_text_is_never_a_command() {
        let mut folded = Folded::default();
        let text = format!("!rm -r .\n{}", lines(20));
        let marker = folded.fold(text.clone(), Came::Pasted);
        assert_eq!(folded.unfold(&marker), format!(" {text}"));
        assert_eq!(folded.unfold(&format!("!{marker}")), format!("!{text}"));
    }

    proptest! {
        #[test]
        fn a_line_without_markers_stays_as_it_is(
            line in "(\\[|pasted 20 lines|edited 20 lines|2 lines|\\]|a| |\u{e0100}|\u{e0101}){0,12}"
        ) {
            let mut folded = Folded::default();
            let marker = folded.fold(lines(20), Came::Pasted);
            prop_assume!(!line.contains(&marker));
            prop_assert_eq!(folded.unfold(&line), line.as_str());
            let shown = highlighted(&line);
            prop_assert_eq!(width(&anstream::adapter::strip_str(&shown).to_string()), width(&line));
        }
    }
}
