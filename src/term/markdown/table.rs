//! Tables that fit the width: aligned columns, their cells wrapped where that is enough, else one record for each row.

use pulldown_cmark::Alignment;

use super::line::{Line, TextStyle};
use super::wrap::Flow;

const GAP: usize = 2;
/// A column is not made narrower than this to make the table fit.
const MIN_COLUMN: usize = 10;

/// How a table is laid out: settled with its first rows when it goes on below them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Columns by their widths.
    Columns(Vec<usize>),
    Records,
}

/// The cells of a table.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    /// Where its line begins in the source.
    at: usize,
    cells: Vec<Flow>,
}

/// A table in lines.
#[derive(Debug)]
pub(super) struct LaidTable {
    pub(super) lines: Vec<Line>,
    /// The first line of each row but the first two, and where the row begins in the source.
    pub(super) rows: Vec<(usize, usize)>,
    pub(super) shape: Shape,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
        }
    }

    pub(super) fn begin_row(&mut self, at: usize) {
        self.rows.push(Row {
            at,
            cells: Vec::new(),
        });
    }

    pub(super) fn cell(&mut self, cell: Flow) {
        if let Some(row) = self.rows.last_mut() {
            row.cells.push(cell);
        }
    }

    /// Lays the table out in so many columns; one that goes on keeps its shape and does not repeat its header.
    pub(super) fn layout(&self, room: usize, resumed: Option<&Shape>) -> LaidTable {
        let shape = match resumed {
            Some(shape) => shape.clone(),
            None => self.shape(room),
        };
        let mut lines = Vec::new();
        let mut rows = Vec::new();
        let skipped = usize::from(resumed.is_some() || shape == Shape::Records);
        for (index, row) in self.rows.iter().enumerate().skip(skipped) {
            if index > 1 {
                rows.push((lines.len(), row.at));
            }
            match &shape {
                Shape::Columns(widths) => self.in_columns(row, index == 0, widths, &mut lines),
                Shape::Records => {
                    if index > 1 || resumed.is_some() {
                        lines.push(Line::default());
                    }
                    self.as_record(row, room, &mut lines);
                }
            }
        }
        // A table without rows still has its header to show.
        if shape == Shape::Records && self.rows.len() == 1 && resumed.is_none() {
            self.as_record(&self.rows[0], room, &mut lines);
        }
        LaidTable { lines, rows, shape }
    }

    fn shape(&self, room: usize) -> Shape {
        let count = self.alignments.len();
        let mut natural = vec![1; count];
        let mut least = vec![1; count];
        for row in &self.rows {
            for (index, cell) in row.cells.iter().enumerate().take(count) {
                let (line, word) = cell.widths();
                natural[index] = natural[index].max(line);
                least[index] = least[index].max(word.max(line.min(MIN_COLUMN)));
            }
        }
        let Some(room) = room.checked_sub(GAP * count.saturating_sub(1)) else {
            return Shape::Records;
        };
        if natural.iter().sum::<usize>() <= room {
            return Shape::Columns(natural);
        }
        if least.iter().sum::<usize>() > room {
            return Shape::Records;
        }
        // The widest columns give way first: none is wider than `limit` unless it has to be.
        let widths_at = |limit: usize| -> Vec<usize> {
            let columns = natural.iter().zip(&least);
            columns
                .map(|(natural, least)| (*natural).min(limit).max(*least))
                .collect()
        };
        let (mut fits, mut over) = (0, room + 1);
        while over - fits > 1 {
            let limit = usize::midpoint(fits, over);
            if widths_at(limit).iter().sum::<usize>() <= room {
                fits = limit;
            } else {
                over = limit;
            }
        }
        Shape::Columns(widths_at(fits))
    }

    fn in_columns(&self, row: &Row, is_head: bool, widths: &[usize], lines: &mut Vec<Line>) {
        let empty = Flow::default();
        let cell = |index: usize| row.cells.get(index).unwrap_or(&empty);
        let wrapped: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(index, width)| {
                let cell = cell(index);
                let ranges = cell.wrap(*width).into_iter();
                ranges.map(|range| cell.line(range)).collect()
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for number in 0..height {
            let mut line = Line::default();
            for (index, width) in widths.iter().enumerate() {
                if index > 0 {
                    line.push(&" ".repeat(GAP), TextStyle::default());
                }
                let text = wrapped[index].get(number).cloned().unwrap_or_default();
                let room = width.saturating_sub(text.width());
                let before = match self.alignments[index] {
                    Alignment::None | Alignment::Left => 0,
                    Alignment::Center => room / 2,
                    Alignment::Right => room,
                };
                line.push(&" ".repeat(before), TextStyle::default());
                let bold = if is_head { TextStyle::BOLD } else { 0 };
                line.append(text.with(bold));
                line.push(&" ".repeat(room - before), TextStyle::default());
            }
            lines.push(line.trimmed());
        }
        if is_head {
            let mut rule = Line::default();
            for (index, width) in widths.iter().enumerate() {
                let gap = if index > 0 {
                    " ".repeat(GAP)
                } else {
                    String::new()
                };
                rule.push(
                    &format!("{gap}{}", "─".repeat(*width)),
                    TextStyle::of(TextStyle::DIM),
                );
            }
            lines.push(rule);
        }
    }

    /// `Header: cell`, each on lines of its own.
    fn as_record(&self, row: &Row, room: usize, lines: &mut Vec<Line>) {
        const HANGING: usize = 2;
        for (index, cell) in row.cells.iter().enumerate() {
            let head = self.rows.first().and_then(|head| head.cells.get(index));
            let head = head.map_or("", Flow::text).trim();
            if cell.is_empty() {
                continue;
            }
            let mut flow = Flow::default();
            if !head.is_empty() && !std::ptr::eq(row, &raw const self.rows[0]) {
                flow.push(&format!("{head}: "), TextStyle::of(TextStyle::BOLD), None);
            }
            flow.append(cell);
            let narrow = room.saturating_sub(HANGING).max(1);
            for (number, range) in flow.wrap(narrow).into_iter().enumerate() {
                let mut line = Line::default();
                if number > 0 && room > HANGING {
                    line.push(&" ".repeat(HANGING), TextStyle::default());
                }
                line.append(flow.line(range));
                lines.push(line);
            }
        }
    }
}
