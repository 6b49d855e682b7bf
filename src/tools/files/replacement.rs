//! Replacing a piece of a text: exact, but for the line breaks, which stay the file's own.

use std::fmt;
use std::ops::Range;

use super::words::count;

/// Longest line and most lines that are compared for what was nearly meant.
const COMPARED_CHARS: usize = 200;
const COMPARED_LINES: usize = 20_000;
const NEAREST: usize = 3;
/// Below that two lines have little in common.
const ALIKE: f64 = 0.5;
const PLACES_SHOWN: usize = 20;

/// Which of the places where the old text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// There has to be exactly one.
    TheOne,
    All,
}

/// Why nothing was replaced. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    Empty,
    Same,
    NotThere { nearest: Vec<(usize, String)> },
    Several { lines: Vec<usize> },
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("old must not be empty"),
            Self::Same => f.write_str("old and new are the same"),
            Self::NotThere { nearest } if nearest.is_empty() => f.write_str(
                "old was not found, nor anything like its first line; read the file again",
            ),
            Self::NotThere { nearest } => {
                f.write_str("old was not found; the lines most like its first line are:")?;
                let mut lines = nearest.iter();
                lines.try_for_each(|(number, line)| write!(f, "\n{number}→{line}"))
            }
            Self::Several { lines } => {
                let shown = lines.iter().take(PLACES_SHOWN).map(ToString::to_string);
                write!(
                    f,
                    "old was found {}, starting in lines {}{}; include more surrounding text, or set all",
                    count(lines.len() as u64, "time"),
                    shown.collect::<Vec<_>>().join(", "),
                    if lines.len() > PLACES_SHOWN {
                        ", …"
                    } else {
                        ""
                    }
                )
            }
        }
    }
}

/// The text with `new` in the place of `old`.
pub(super) fn replaced(text: &str, old: &str, new: &str, which: Which) -> Result<String, Miss> {
    if old.is_empty() {
        return Err(Miss::Empty);
    }
    if old == new {
        return Err(Miss::Same);
    }
    let places = places(text, old, which);
    if places.is_empty() {
        return Err(Miss::NotThere {
            nearest: nearest(text, old),
        });
    }
    if which == Which::TheOne && places.len() > 1 {
        return Err(Miss::Several {
            lines: lines_of(text, &places),
        });
    }
    Ok(put(text, &places, new))
}

fn put(text: &str, places: &[Range<usize>], new: &str) -> String {
    let mut result = String::with_capacity(text.len() + new.len());
    let mut end = 0;
    for place in places {
        result.push_str(&text[end..place.start]);
        if has_returns(text, place.start) {
            result.push_str(&new.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            result.push_str(new);
        }
        end = place.end;
    }
    result.push_str(&text[end..]);
    result
}

/// Returns whether lines end in CR LF there: as the line itself does, or the one before it where it is the last.
fn has_returns(text: &str, at: usize) -> bool {
    match text[at..].find('\n') {
        Some(end) => text[..at + end].ends_with('\r'),
        None => text[..at]
            .rfind('\n')
            .is_some_and(|end| text[..end].ends_with('\r')),
    }
}

/// Returns where the old text is. Of places that overlap, all count when there should be one, and the first when all
/// are meant.
fn places(text: &str, old: &str, which: Which) -> Vec<Range<usize>> {
    if !text.contains("\r\n") {
        return found(text, old, which);
    }
    let old = old.replace("\r\n", "\n");
    let (plain, returns) = without_returns(text);
    // As many bytes further as returns were taken out before.
    let moved = |at: usize| at + returns.partition_point(|&taken| taken < at);
    found(&plain, &old, which)
        .into_iter()
        .map(|place| moved_back(&place, moved))
        .collect()
}

fn moved_back(place: &Range<usize>, moved: impl Fn(usize) -> usize) -> Range<usize> {
    moved(place.start)..moved(place.end)
}

/// The text with LF for CR LF, and the places of those LF in it.
fn without_returns(text: &str) -> (String, Vec<usize>) {
    let mut plain = String::with_capacity(text.len());
    let mut returns = Vec::new();
    let mut pieces = text.split("\r\n").peekable();
    while let Some(piece) = pieces.next() {
        plain.push_str(piece);
        if pieces.peek().is_some() {
            returns.push(plain.len());
            plain.push('\n');
        }
    }
    (plain, returns)
}

fn found(text: &str, old: &str, which: Which) -> Vec<Range<usize>> {
    let first = old.chars().next().map_or(1, char::len_utf8);
    let step = match which {
        Which::TheOne => first,
        Which::All => old.len(),
    };
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(old) {
        let start = from + at;
        places.push(start..start + old.len());
        from = start + step;
    }
    places
}

/// The lines in which places begin.
fn lines_of(text: &str, places: &[Range<usize>]) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let count = |place: &Range<usize>| {
        line += text[from..place.start].matches('\n').count();
        from = place.start;
        line
    };
    places.iter().map(count).collect()
}

fn nearest(text: &str, old: &str) -> Vec<(usize, String)> {
    let cut = |line: &str| -> String { line.chars().take(COMPARED_CHARS).collect() };
    let Some(wanted) = old.lines().find(|line| !line.trim().is_empty()) else {
        return Vec::new();
    };
    let wanted = cut(wanted.trim());
    let mut alike: Vec<(f64, usize, String)> = text
        .lines()
        .take(COMPARED_LINES)
        .zip(1..)
        .map(|(line, number)| {
            let line = cut(line);
            (strsim::sorensen_dice(line.trim(), &wanted), number, line)
        })
        .filter(|(alike, ..)| *alike >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let nearest = alike.into_iter().take(NEAREST);
    nearest.map(|(_, number, line)| (number, line)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_there_once_is_replaced_and_line_breaks_stay_as_they_are() {
        for (text, old, new, expected) in [
            ("a b c", "b", "x", "a x c"),
            ("a\nb\n", "a\nb", "x\ny", "x\ny\n"),
            ("a\r\nb\r\nc", "a\nb", "x\ny", "x\r\ny\r\nc"),
            ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
            ("a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
            ("a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n"),
            ("a\r\nb\nc\n", "a\nb\nc", "x\ny", "x\r\ny\n"),
            ("a\r\n", "\n", "", "a"),
            ("ü\r\nß", "ß", "s", "ü\r\ns"),
            ("a", "a", "", ""),
        ] {
            let found = replaced(text, old, new, Which::TheOne);
            assert_eq!(found.as_deref(), Ok(expected), "{old:?} in {text:?}");
        }
        let all = replaced("aaa b aa\r\n", "aa", "x\n", Which::All);
        assert_eq!(all.as_deref(), Ok("x\r\na b x\r\n\r\n"));
    }

    #[test]
    fn a_miss_says_where_to_look() {
        for (text, old, new, expected) in [
            ("a", "", "b", "old must not be empty"),
            ("a", "a", "a", "old and new are the same"),
            (
                "a\nb\na\n",
                "a",
                "c",
                "old was found 2 times, starting in lines 1, 3; include more surrounding text, or set all",
            ),
            (
                "aaa",
                "aa",
                "c",
                "old was found 2 times, starting in lines 1, 1; include more surrounding text, or set all",
            ),
            (
                "fn one() {\n    let x = 1;\n}\n",
                "  let x = 2;\n}",
                "",
                "old was not found; the lines most like its first line are:\n2→    let x = 1;",
            ),
            (
                "zzz",
                "fn one()",
                "",
                "old was not found, nor anything like its first line; read the file again",
            ),
        ] {
            let miss = replaced(text, old, new, Which::TheOne).unwrap_err();
            assert_eq!(miss.to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn an_edit_changes_its_fragment_and_nothing_else(
            before in "[a-cü\n\r]{0,20}",
            old in "[a-cü\n]{0,8}#[a-cü\n]{0,8}",
            after in "[a-cü\n\r]{0,20}",
            new in "[a-c\n]{0,8}",
            has_returns in any::<bool>(),
        ) {
            // A lone return beside a line break would make another one of it.
            let plain = |text: &str| text.replace('\r', "");
            let ending = |text: &str| if has_returns { plain(text).replace('\n', "\r\n") } else { plain(text) };
            let text = ending(&format!("{before}{old}{after}"));
            let expected = if text.contains('\n') {
                ending(&format!("{before}{new}{after}"))
            } else {
                plain(&format!("{before}{new}{after}"))
            };
            prop_assert_eq!(replaced(&text, &old, &new, Which::TheOne), Ok(expected));
        }
    }
}
