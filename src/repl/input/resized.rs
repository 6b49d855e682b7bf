//! A line on a terminal whose width changed: what to print before the editor draws it anew. The editor goes back as many
//! rows as the line took at the old width; most terminals have broken it anew by then, and it takes others. Unit: one
//! redraw.

use rustix::termios::tcgetwinsize;
use unicode_segmentation::UnicodeSegmentation;

use crate::term::width;

/// Columns and rows of the terminal.
pub(super) fn size() -> (usize, usize) {
    let size = tcgetwinsize(std::io::stdout()).or_else(|_| tcgetwinsize(std::io::stdin()));
    match size {
        Ok(size) if size.ws_col > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

/// A line as the editor drew it last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) prompt: String,
    pub(super) line: String,
    /// What was suggested behind it.
    pub(super) hint: String,
    /// Columns of the terminal.
    pub(super) columns: usize,
}

/// A cell of the screen, counted from the beginning of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) row: usize,
    column: usize,
}

impl Position {
    /// Returns where a text ends, counted as the editor does: a full row is followed by an empty one.
    pub(super) fn behind(text: &str, columns: usize) -> Self {
        let edge = Self::edge(text, columns);
        if edge.column < columns {
            return edge;
        }
        Self {
            row: edge.row + 1,
            column: 0,
        }
    }

    /// The same, but for that empty row: a terminal stays on the full one until more is written.
    fn edge(text: &str, columns: usize) -> Self {
        const TAB: usize = 8;
        let (mut row, mut column) = (0, 0);
        for grapheme in text.graphemes(true) {
            let cells = match grapheme {
                "\n" => {
                    (row, column) = (row + 1, 0);
                    continue;
                }
                "\t" => TAB - column % TAB,
                other => width(other),
            };
            column += cells;
            if column > columns {
                (row, column) = (row + 1, cells);
            }
        }
        Self { row, column }
    }
}

/// Clears the line that was drawn, as a terminal shows it that broke it anew at `columns`, and puts the cursor where the
/// editor goes back from to the row where it began.
pub(super) fn clear(drawn: &Drawn, cursor: usize, columns: usize) -> String {
    let Drawn { prompt, line, .. } = drawn;
    let before = format!("{prompt}{}", &line[..cursor]);
    let all = format!("{prompt}{line}{}", drawn.hint);
    let is_at_end = before.len() == all.len();
    let old = Position::behind(&before, drawn.columns);
    let end = Position::behind(&all, drawn.columns);
    // Behind a full row the editor broke the line itself.
    let is_broken = is_at_end && old.column == 0 && !before.ends_with('\n');
    let row = if is_at_end {
        Position::edge(&before, columns).row + usize::from(is_broken && old.row > 0)
    } else {
        Position::behind(&before, columns).row
    };
    let up = |rows: usize| match rows {
        0 => String::new(),
        rows => format!("\x1b[{rows}A"),
    };
    let breaks = "\n".repeat(end.row);
    format!(
        "\r{}\x1b[J{breaks}{}",
        up(row),
        up(end.row.saturating_sub(old.row))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_the_new_width_are_left_and_those_of_the_old_one_made() {
        let check = |line: &str, cursor, (from, to), expected: &str| {
            let drawn = Drawn {
                prompt: "> ".to_owned(),
                line: line.to_owned(),
                hint: String::new(),
                columns: from,
            };
            assert_eq!(clear(&drawn, cursor, to), expected, "{line} {from} {to}");
        };
        // One row that became five, with the cursor in the last one or in the second.
        check("abcdefgh", 8, (80, 2), "\r\x1b[4A\x1b[J");
        check("abcdefgh", 1, (80, 2), "\r\x1b[1A\x1b[J");
        check("abcdefg", 7, (80, 2), "\r\x1b[4A\x1b[J");
        check("日本", 6, (80, 2), "\r\x1b[2A\x1b[J");
        // Rows that became one.
        check("abcdefg", 7, (2, 80), "\r\x1b[J\n\n\n\n");
        check("abcdefg", 4, (2, 80), "\r\x1b[J\n\n\n\n\x1b[1A");
        // Full ones, behind which the editor broke the line.
        check("abcdefgh", 8, (10, 20), "\r\x1b[1A\x1b[J\n");
        check("a\nb", 3, (10, 20), "\r\x1b[1A\x1b[J\n");
    }
}
