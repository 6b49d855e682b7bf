//! A table, laid out once all of it has come.

use std::ops::Range;

use super::{Cuts, Layouter, line_start};

impl Layouter<'_> {
    pub(super) fn end_table(&mut self, range: &Range<usize>) {
        let Some(table) = self.table.take() else {
            return;
        };
        let is_outermost = self.containers.is_empty();
        let resumed = self
            .context
            .shape
            .as_ref()
            .filter(|_| is_outermost && self.laid.lines.is_empty());
        let laid = table.layout(self.room(), resumed);
        let first = self.laid.lines.len();
        for line in laid.lines {
            self.push_line(line);
        }
        if self.cuts == Cuts::Wanted && is_outermost {
            let head: String = self.source[line_start(self.source, range.start)..]
                .split_inclusive('\n')
                .take(2)
                .collect();
            for (line, at) in laid.rows {
                self.cut(first + line, at, &head, Some(laid.shape.clone()));
            }
        }
    }
}
