//! Text measured in terminal columns: widths, cutting, tables, bars. Pure; the unit is the column, the
//! border is the grapheme, so that nothing is cut through an accent or an emoji.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const ELLIPSIS: &str = "…";
const GAP: &str = "  ";
/// A word of more columns than this is cut.
const MAX_WORD: usize = 4096;
/// What no line begins with, and what none ends with, in scripts without blanks.
const NOT_FIRST: &str = "、。，．・：；！？）」』】〉》〕｝］ー々…,.:;!?)]}%\"'”’";
const NOT_LAST: &str = "（「『【〈《〔｛［([{“‘";
/// A terminal of fewer columns has no room for columns side by side.
pub const NARROW: usize = 70;
/// Narrower than this a cell says nothing, so a table rather runs over the edge of a tiny terminal.
const MIN_CELL: usize = 4;

/// Columns that a text takes on one line.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Columns that a grapheme takes at most: terminals do not agree on emoji that are joined of several.
pub(super) fn max_width(grapheme: &str) -> usize {
    let apart: usize = grapheme.chars().filter_map(UnicodeWidthChar::width).sum();
    apart.max(width(grapheme))
}

/// A text in at most `columns`, with `…` where something was cut.
pub fn fit_to(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(width(ELLIPSIS));
    let mut used = 0;
    let mut kept = String::new();
    for grapheme in text.graphemes(true) {
        used += width(grapheme);
        if used > room {
            break;
        }
        kept.push_str(grapheme);
    }
    if columns > 0 {
        kept.push_str(ELLIPSIS);
    }
    Cow::Owned(kept)
}

/// The end of a text in at most `columns`, with `…` where its beginning was cut: of a path the name is what tells.
pub fn fit_end(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(width(ELLIPSIS));
    let starts = text.grapheme_indices(true).map(|(at, _)| at);
    let start = starts
        .chain([text.len()])
        .find(|at| width(&text[*at..]) <= room);
    let mark = if columns > 0 { ELLIPSIS } else { "" };
    Cow::Owned(format!("{mark}{}", &text[start.unwrap_or(text.len())..]))
}

/// Cuts a text into lines of at most so many columns.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut start = 0;
    let mut used = 0;
    // Where the line could end, where the next one would begin then, and the columns used up to there.
    let mut break_at: Option<(usize, usize, usize)> = None;
    let mut before: Option<(&str, usize)> = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        let next = at + grapheme.len();
        if grapheme == "\n" {
            lines.push(start..at);
            (start, used, break_at, before) = (next, 0, None, None);
            continue;
        }
        let wide = max_width(grapheme);
        if grapheme == " " {
            let end = match break_at {
                // Several blanks are one place to break at.
                Some((end, next, _)) if next == at => end,
                Some(_) | None => at,
            };
            used += wide;
            break_at = Some((end, next, used));
            before = None;
            continue;
        }
        if let Some(before) = before
            && may_break(before, (grapheme, wide))
        {
            break_at = Some((at, at, used));
        }
        before = Some((grapheme, wide));
        if used + wide > columns {
            match break_at.take() {
                Some((end, next, at_break)) if end > start => {
                    lines.push(start..end);
                    start = next;
                    used -= at_break;
                }
                // The terminal wraps it: only whole rows are cut off.
                Some(_) | None if used + wide > (MAX_WORD / columns.max(1)).max(1) * columns => {
                    lines.push(start..at);
                    (start, used) = (at, 0);
                }
                Some(_) | None => {}
            }
        }
        used += wide;
    }
    lines.push(start..text.len());
    lines
}

/// Whether a line may end between two neighbours that are no blanks.
fn may_break(before: (&str, usize), after: (&str, usize)) -> bool {
    let is_one_of = |set: &str, grapheme: &str| grapheme.chars().all(|c| set.contains(c));
    (before.1 > 1 || after.1 > 1)
        && !is_one_of(NOT_FIRST, after.0)
        && !is_one_of(NOT_LAST, before.0)
}

/// Text of our own for a terminal: lines that do not fit wrap at blanks, and hang below the text they belong to.
pub fn wrap_prose(text: &str, columns: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            wrapped.push('\n');
        }
        if width(line) <= columns {
            wrapped.push_str(line);
            continue;
        }
        let hanging = hanging(line, columns);
        let (head, rest) = line.split_at(hanging);
        let indent = " ".repeat(width(head));
        for (index, range) in wrap(rest, columns - indent.len()).into_iter().enumerate() {
            let (begin, before) = if index == 0 {
                ("", head)
            } else {
                ("\n", indent.as_str())
            };
            wrapped.push_str(begin);
            wrapped.push_str(before);
            wrapped.push_str(rest[range].trim_end());
        }
    }
    wrapped
}

/// Where the text of a line begins below which the next ones hang: behind its indent, or behind the last gap of a table
/// that leaves half of the line, and room for every word that a whole line has room for.
fn hanging(line: &str, columns: usize) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let gaps = line[indent..].match_indices(GAP).map(|(gap, _)| {
        let gap = indent + gap;
        gap + line[gap..].len() - line[gap..].trim_start_matches(' ').len()
    });
    let fits = |at: &usize| {
        let before = width(&line[..*at]);
        // Paths are broken anywhere.
        let words = line[*at..].split(' ').filter(|word| !word.contains('/'));
        let mut widths = words.map(width);
        before <= columns / 2 && widths.all(|word| word <= columns - before || word > columns)
    };
    let begins = [indent].into_iter().chain(gaps);
    begins.take_while(fits).last().unwrap_or(0)
}

/// A share between 0 and 1 as a bar of `columns`: `█████░░░`. Something that is not nothing shows.
pub fn bar(share: f64, columns: usize) -> String {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "between 0 and a number of columns"
    )]
    let rounded = (share * columns as f64).round() as usize;
    let full = rounded.max(usize::from(share > 0.0)).min(columns);
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full))
}

/// A number for people: `1,234,567`.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// On which side of its cell a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of cells in columns as wide as their widest cell. When they do not fit, cells are cut: of left-aligned columns
/// wider than a third first, then of the last one.
#[derive(Clone, Debug)]
pub struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
    /// The first column holds names, which are never cut.
    has_names: bool,
}

impl Table {
    pub fn new(align: impl Into<Vec<Align>>) -> Self {
        Self {
            align: align.into(),
            rows: Vec::new(),
            has_names: false,
        }
    }

    /// The first column holds names, which are told apart by their ends: they are never cut, even where lines get too
    /// long.
    #[must_use]
    pub fn with_names(self) -> Self {
        Self {
            has_names: true,
            ..self
        }
    }

    /// Adds a row; missing cells are empty, those too many are left out, a line break is a space.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        let mut row: Vec<String> = cells
            .into_iter()
            .take(self.align.len())
            .map(|cell| cell.into().replace(['\n', '\r', '\t'], " "))
            .collect();
        row.resize(self.align.len(), String::new());
        self.rows.push(row);
        self
    }

    /// The table in lines of at most `columns`, each ended by a newline.
    pub fn render(&self, columns: usize) -> String {
        let widths = self.widths(columns);
        let mut lines = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (at, (cell, &wide)) in row.iter().zip(&widths).enumerate() {
                if at > 0 {
                    line.push_str(GAP);
                }
                line.push_str(&padded(cell, wide, self.align[at]));
            }
            lines.push_str(line.trim_end());
            lines.push('\n');
        }
        lines
    }

    /// The table with nothing cut. Where that is wider than `columns`, what stands beside the first cell of a row is
    /// told below it, by the words of the first row, which is the heading.
    pub fn render_whole(&self, columns: usize) -> String {
        let gaps = GAP.len() * self.align.len().saturating_sub(1);
        if self.whole().iter().sum::<usize>() + gaps <= columns {
            return self.render(columns);
        }
        let Some((heading, rows)) = self.rows.split_first() else {
            return String::new();
        };
        let mut lines = String::new();
        for row in rows {
            let beside = heading.iter().zip(row).skip(1);
            let told = beside.filter(|(_, cell)| !cell.is_empty());
            let told = told.map(|(heading, cell)| format!("{} {cell}", heading.to_lowercase()));
            let told = told.collect::<Vec<_>>().join(", ");
            lines.push_str(row.first().map_or("", String::as_str));
            if !told.is_empty() {
                lines.push_str("\n    ");
                lines.push_str(&told);
            }
            lines.push('\n');
        }
        lines
    }

    /// The widest cell of each column.
    fn whole(&self) -> Vec<usize> {
        let widest = |at: usize| self.rows.iter().map(|row| width(&row[at])).max();
        let columns = 0..self.align.len();
        columns.map(|at| widest(at).unwrap_or(0)).collect()
    }

    fn widths(&self, columns: usize) -> Vec<usize> {
        let mut widths = self.whole();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
        let is_left = |at: &usize| self.align[*at] == Align::Left;
        let Some(last) = (0..widths.len()).rev().find(is_left) else {
            return widths;
        };
        let others = (usize::from(self.has_names)..last)
            .filter(is_left)
            .map(|at| (at, columns / 3));
        for (at, least) in others.chain([(last, MIN_CELL)]) {
            let cut = over.min(widths[at].saturating_sub(least));
            widths[at] -= cut;
            over -= cut;
        }
        widths
    }
}

fn padded(cell: &str, columns: usize, align: Align) -> String {
    let cell = fit_to(cell, columns);
    let space = " ".repeat(columns.saturating_sub(width(&cell)));
    match align {
        Align::Left => format!("{cell}{space}"),
        Align::Right => format!("{space}{cell}"),
    }
}

/// Returns a text that stands by itself with a capital at its beginning.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cutting_keeps_to_columns_and_to_whole_characters() {
        for (text, columns, expected) in [
            ("short", 10, "short"),
            ("exactly", 7, "exactly"),
            ("longer text", 7, "longer…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("anything", 1, "…"),
            ("anything", 0, ""),
        ] {
            assert_eq!(fit_to(text, columns), expected, "{text:?} in {columns}");
        }
    }

    #[test]
    fn prose_wraps_at_blanks_and_hangs_below_its_text() {
        for (text, columns, expected) in [
            ("one two three", 8, "one two\nthree"),
            ("one two", 7, "one two"),
            ("  one two three", 9, "  one two\n  three"),
            (
                "/help   lists all commands",
                18,
                "/help   lists all\n        commands",
            ),
            (
                "ok  disk  free and writable",
                20,
                "ok  disk  free and\n          writable",
            ),
            (
                "mode      conversation (window)",
                21,
                "mode\nconversation (window)",
            ),
            ("a\n\nb c", 2, "a\n\nb\nc"),
            ("anything", 1, "anything"),
            ("a b", 0, "a\nb"),
        ] {
            assert_eq!(wrap_prose(text, columns), expected, "{text:?} in {columns}");
        }
    }

    #[test]
    fn a_bar_shows_its_share_and_never_hides_a_small_one() {
        for (share, columns, expected) in [
            (0.0, 8, "░░░░░░░░"),
            (0.001, 8, "█░░░░░░░"),
            (0.625, 8, "█████░░░"),
            (1.0, 8, "████████"),
            (7.5, 4, "████"),
            (f64::NAN, 4, "░░░░"),
            (0.5, 0, ""),
        ] {
            assert_eq!(bar(share, columns), expected, "{share} of {columns}");
        }
    }

    #[test]
    fn a_table_aligns_its_cells_and_cuts_the_last_text_column() {
        let mut table = Table::new([Align::Left, Align::Right, Align::Left]);
        table.row(["code", "7", "first words of a long session"]);
        table.row(["日本", "120", "x\ny"]);
        assert_eq!(
            table.render(80),
            "code    7  first words of a long session\n日本  120  x y\n"
        );
        assert_eq!(table.render(20), "code    7  first wo…\n日本  120  x y\n");
        let mut names = Table::new([Align::Left; 3]).with_names();
        names.row(["a_long_server_name__one", "active", "Does one thing"]);
        assert_eq!(
            names.render(40),
            "a_long_server_name__one  active  Does o…\n"
        );
    }

    #[test]
    fn a_long_name_leaves_room_for_what_stands_beside_it() {
        let mut table = Table::new([Align::Left, Align::Left, Align::Left]);
        table.row(["n".repeat(64).as_str(), "2 h ago", "first words"]);
        table.row(["short", "just now", "hello there"]);
        assert_eq!(
            table.render(40),
            "nnnnnnnnnnnnnnnn…  2 h ago   first words\nshort              just now  hello there\n"
        );
    }

    #[test]
    fn a_table_of_which_nothing_may_be_cut_is_told_row_by_row_where_it_does_not_fit() {
        let mut table = Table::new([Align::Left, Align::Right, Align::Left]);
        table.row(["MODEL", "WINDOW", "PRICE"]);
        table.row(["there/org/large", "200k", "$3 in"]);
        table.row(["there/small", "", ""]);
        assert_eq!(
            table.render_whole(80),
            "MODEL            WINDOW  PRICE\nthere/org/large    200k  $3 in\nthere/small\n"
        );
        assert_eq!(
            table.render_whole(20),
            "there/org/large\n    window 200k, price $3 in\nthere/small\n"
        );
    }

    #[test]
    fn the_end_of_a_path_is_what_is_kept_of_it() {
        for (columns, expected) in [
            (22, "config/prompts/base.md"),
            (10, "…s/base.md"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(fit_end("config/prompts/base.md", columns), expected);
        }
    }

    proptest! {
        #[test]
        fn no_width_is_too_small_and_no_text_too_odd(
            cells in prop::collection::vec("\\PC{0,20}", 0..5), columns in 0usize..40, share: f64
        ) {
            let mut table = Table::new([Align::Left, Align::Right, Align::Left]);
            for cell in &cells {
                table.row([cell.as_str(), "1", cell.as_str()]);
                prop_assert!(width(&fit_to(cell, columns)) <= columns);
                prop_assert!(width(&fit_end(cell, columns)) <= columns);
            }
            prop_assert_eq!(table.render(columns).lines().count(), cells.len());
            prop_assert_eq!(width(&bar(share, columns)), columns);
            let text = cells.join("  ");
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&wrap_prose(&text, columns)), words(&text));
        }
    }
}
