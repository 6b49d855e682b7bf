//! What the operations do to a text: numbered lines, a piece replaced, lines inserted. Pure. Lines count from 1 and end
//! as the text has them.

use crate::long_term::notes::markdown::line_end;

/// Lines that a message names.
const MAX_NAMED: usize = 20;

/// Why a text was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Miss {
    #[error("old_str must not be empty")]
    Empty,
    #[error("old_str was not found; view the file again")]
    NotThere,
    #[error("old_str occurs {} times, on lines {}; include more of the surrounding text", lines.len(), named(lines))]
    Several { lines: Vec<usize> },
    #[error("insert_line must be from 0 to {n_lines}")]
    Line { n_lines: usize },
    #[error(
        "view_range must be [first, last] within 1 to {n_lines}, with first not after last; -1 as last means the end"
    )]
    Range { n_lines: usize },
}

fn named(lines: &[usize]) -> String {
    let named = lines.iter().take(MAX_NAMED).map(ToString::to_string);
    let more = (lines.len() > MAX_NAMED).then(|| "…".to_owned());
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// Lines with their numbers, as they are wanted.
pub(super) fn numbered(text: &str, range: Option<(i64, i64)>) -> Result<String, Miss> {
    let lines: Vec<&str> = text.lines().collect();
    let n_lines = lines.len();
    let (first, last) = match range {
        None => (1, n_lines),
        Some((first, last)) => {
            let miss = |_| Miss::Range { n_lines };
            let first = usize::try_from(first).map_err(miss)?;
            let last = if last == -1 {
                n_lines
            } else {
                usize::try_from(last).map_err(miss)?
            };
            if first < 1 || first > last || last > n_lines {
                return Err(Miss::Range { n_lines });
            }
            (first, last)
        }
    };
    if n_lines == 0 {
        return Ok("(empty)".to_owned());
    }
    let shown = lines.iter().zip(1..).take(last).skip(first - 1);
    let shown: Vec<String> = shown
        .map(|(line, number)| format!("{number:>6}\t{line}"))
        .collect();
    Ok(shown.join("\n"))
}

/// The text with `new` in the place of `old`, which is in it once.
pub(super) fn replaced(text: &str, old: &str, new: &str) -> Result<String, Miss> {
    if old.is_empty() {
        return Err(Miss::Empty);
    }
    // A model does not see how lines end.
    let (old, new) = if text.contains("\r\n") && !old.contains('\r') {
        (
            old.replace('\n', "\r\n"),
            new.replace("\r\n", "\n").replace('\n', "\r\n"),
        )
    } else {
        (old.to_owned(), new.to_owned())
    };
    let offsets = offsets(text, &old);
    match offsets[..] {
        [] => Err(Miss::NotThere),
        [at] => Ok([&text[..at], &new, &text[at + old.len()..]].concat()),
        _ => {
            let line_of = |at: &usize| text[..*at].matches('\n').count() + 1;
            let lines = offsets.iter().map(line_of).collect();
            Err(Miss::Several { lines })
        }
    }
}

/// Where it begins, those that overlap too: which of them is meant nobody can say.
fn offsets(text: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut offsets = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..].find(old) {
        offsets.push(from + found);
        from += found + step;
    }
    offsets
}

/// The text with more lines behind line `line`; 0: before the first.
pub(super) fn inserted(text: &str, line: usize, more: &str) -> Result<String, Miss> {
    let mut lines = text.split_inclusive('\n');
    let n_lines = lines.clone().count();
    if line > n_lines {
        return Err(Miss::Line { n_lines });
    }
    let end = line_end(text);
    let before: String = lines.by_ref().take(line).collect();
    let after: String = lines.collect();
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        end
    };
    let more = more.replace("\r\n", "\n");
    let close = if more.ends_with('\n') { "" } else { "\n" };
    let more = format!("{more}{close}").replace('\n', end);
    Ok([&before, gap, &more, &after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_within_a_range() {
        let text = "a\r\nb\nc";
        for (range, expected) in [
            (None, Ok("     1\ta\n     2\tb\n     3\tc")),
            (Some((2, -1)), Ok("     2\tb\n     3\tc")),
            (Some((2, 2)), Ok("     2\tb")),
            (Some((0, 2)), Err(())),
            (Some((3, 2)), Err(())),
            (Some((1, 4)), Err(())),
            (Some((4, -1)), Err(())),
            (Some((1, -2)), Err(())),
        ] {
            let found = numbered(text, range).map_err(drop);
            assert_eq!(
                found.as_deref(),
                expected.as_deref().map_err(|()| &()),
                "{range:?}"
            );
        }
        assert_eq!(numbered("", None).as_deref(), Ok("(empty)"));
    }

    #[test]
    fn a_piece_is_replaced_where_it_is_there_once() {
        assert_eq!(
            replaced("a\r\nb\r\n", "a\nb", "x\ny").as_deref(),
            Ok("x\r\ny\r\n")
        );
        assert_eq!(replaced("a b", "b", "").as_deref(), Ok("a "));
        assert_eq!(replaced("a", "", "x"), Err(Miss::Empty));
        assert_eq!(replaced("a", "b", "x"), Err(Miss::NotThere));
        let several = replaced("b\na b\n", "b", "x").unwrap_err();
        assert!(several.to_string().contains("lines 1, 2"), "{several}");
        assert_eq!(
            replaced("aaa", "aa", "x"),
            Err(Miss::Several { lines: vec![1, 1] })
        );
    }

    #[test]
    fn lines_are_inserted_from_the_start_to_the_end() {
        for (text, line, more, expected) in [
            ("a\nb\n", 0, "x", "x\na\nb\n"),
            ("a\nb\n", 1, "x\ny\n", "a\nx\ny\nb\n"),
            ("a\nb", 2, "x", "a\nb\nx\n"),
            ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
            ("", 0, "x", "x\n"),
        ] {
            assert_eq!(
                inserted(text, line, more).as_deref(),
                Ok(expected),
                "{text:?}"
            );
        }
        assert_eq!(inserted("a\n", 2, "x"), Err(Miss::Line { n_lines: 1 }));
    }
}
