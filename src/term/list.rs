//! A list to choose from, below the line that filters it. The cursor stays on that line, so that a frame can be drawn
//! over the last one whatever the terminal made of its rows when it was resized.

use unicode_segmentation::UnicodeSegmentation;

use super::escape::harmless;
use super::policy::{Device, Paint, Style};
use super::text::{Align, Table, fit_to, max_width, width};

/// Rows of the screen that are left to what stood there.
const LEFT: usize = 4;
/// More rows than this are no easier to read.
const MAX_ROWS: usize = 20;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    pub label: &'a str,
    /// What was typed.
    pub query: &'a str,
    /// Cells from left to right.
    pub rows: &'a [[String; 3]],
    pub selected: usize,
    /// The last line.
    pub status: &'a str,
}

impl List<'_> {
    /// Rows that a screen shows at once.
    pub fn page(screen_rows: usize) -> usize {
        screen_rows.saturating_sub(LEFT + 2).clamp(1, MAX_ROWS)
    }

    /// Returns the bytes of one frame, for a cursor that stands on the first of its lines.
    pub(super) fn frame(&self, columns: usize, screen_rows: usize, paint: Paint) -> String {
        // A full line would wrap in some terminals.
        let columns = columns.saturating_sub(1).max(1);
        let plain = |text: &str| harmless(text).replace(['\n', '\t'], " ");
        let label = fit_to(self.label, columns / 2).into_owned();
        let query = plain(self.query);
        let typed = last_columns(&query, columns - width(&label));
        let first = format!("{label}{typed}");
        let mut lines = vec![first.clone()];

        let page = Self::page(screen_rows);
        let from = (self.selected + 1).saturating_sub(page);
        let shown = &self.rows[from.min(self.rows.len())..];
        let shown = &shown[..shown.len().min(page)];
        let mut table = Table::new([Align::Left, Align::Left, Align::Left]);
        for (index, [name, when, words]) in shown.iter().enumerate() {
            let mark = if from + index == self.selected {
                ">"
            } else {
                " "
            };
            table.row([plain(&format!("{mark} {name}")), plain(when), plain(words)]);
        }
        if !shown.is_empty() {
            let table = table.render(columns);
            lines.extend(table.lines().enumerate().map(|(index, line)| {
                let line = fit(line.trim_end(), columns);
                let style = if from + index == self.selected {
                    Style::Notice
                } else {
                    Style::Plain
                };
                style.paint(&line, Device::Terminal, paint)
            }));
        }
        let status = fit_to(self.status, columns);
        lines.push(Style::Dim.paint(&status, Device::Terminal, paint));
        lines.truncate(screen_rows.max(1));

        let up = match lines.len() - 1 {
            0 => String::new(),
            up => format!("\x1b[{up}A"),
        };
        let lines = lines.join("\r\n");
        format!("\x1b[?2026h\r\x1b[J{lines}{up}\r{first}\x1b[?2026l")
    }
}

/// A line that takes no second row on any terminal: they do not agree on the width of joined emoji.
fn fit(line: &str, columns: usize) -> String {
    let widest = |text: &str| text.graphemes(true).map(max_width).sum::<usize>();
    let mut kept = line.to_owned();
    while widest(&kept) > columns {
        kept = fit_to(&kept, width(&kept).saturating_sub(1)).into_owned();
    }
    kept
}

/// The end of a text that fits.
fn last_columns(text: &str, columns: usize) -> &str {
    let mut starts = text.char_indices().map(|(at, _)| at);
    let start = starts.find(|at| width(&text[*at..]) <= columns);
    start.map_or("", |start| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Vec<[String; 3]> {
        let row = |n| {
            [
                format!("session-{n}"),
                "3 days ago".to_owned(),
                "日本語 \u{1b}[2J words\nof 👩‍👧 the person ".repeat(9),
            ]
        };
        (0..count).map(row).collect()
    }

    /// What a screen shows of two frames, the second over the first, its bytes, and the row of the cursor.
    fn drawn(columns: u16, screen_rows: u16, selected: usize) -> (String, String, u16) {
        let rows = rows(50);
        let list = List {
            label: "Session: ",
            query: "wor",
            rows: &rows,
            selected,
            status: "50 of 50",
        };
        let mut screen = vt100::Parser::new(
            screen_rows.try_into().unwrap(),
            columns.try_into().unwrap(),
            100,
        );
        screen.process(b"before\r\n");
        let frame = list.frame(columns.into(), screen_rows.into(), Paint::Full);
        screen.process(frame.repeat(2).as_bytes());
        let screen = screen.screen();
        (screen.contents(), frame, screen.cursor_position().0)
    }

    #[test]
    fn a_frame_fits_the_screen_and_is_drawn_over_the_last_one() {
        for (columns, screen_rows) in [(80, 24), (40, 12), (200, 50), (10, 3), (1, 1), (2, 2)] {
            for selected in [0, 7, 49] {
                let (screen, bytes, _) = drawn(columns, screen_rows, selected);
                assert!(screen.matches("50 of 50").count() <= 1, "{screen}");
                assert!(!bytes.contains("\u{1b}[2J"), "{bytes:?}");
                if columns >= 40 {
                    assert!(screen.contains("before\nSession: wor\n"), "{screen}");
                    let chosen = format!("> session-{selected} ");
                    assert!(screen.contains(&chosen), "{screen}");
                    let height = screen.trim_end().lines().count() - 1;
                    assert!(height + 4 <= usize::from(screen_rows), "{screen}");
                }
            }
        }
    }

    #[test]
    fn the_cursor_stands_behind_what_was_typed() {
        assert_eq!(drawn(40, 12, 3).2, 1);
    }
}
