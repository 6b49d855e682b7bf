//! Blocks that are laid out whole when they end: code and tables.

use std::ops::Range;

use super::{Cuts, Layouter, line_start};

/// A block of code that is open.
pub(super) struct Code {
    pub(super) language: String,
    pub(super) text: String,
    /// Where each of its lines begins in the source, if it stands there as it is.
    pub(super) lines: Vec<Option<usize>>,
    /// The line that opens it, where it is fenced.
    pub(super) opener: Option<String>,
}

impl Layouter<'_> {
    pub(super) fn end_code(&mut self) {
        let Some(code) = self.code.take() else {
            return;
        };
        let lines = self.highlighter.block(&code.language, &code.text);
        let first = self.laid.lines.len();
        for line in lines {
            self.push_line(line);
        }
        if self.cuts == Cuts::Unwanted {
            return;
        }
        let Some(opener) = code.opener else {
            return;
        };
        let lines = code.lines.iter().enumerate().skip(1);
        for (index, at) in lines.filter_map(|(index, at)| Some((index, (*at)?))) {
            let at = line_start(self.source, at);
            self.cut(first + index, at, &format!("{opener}\n"), None);
        }
    }

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

/// The language that a fence names: `rust` of `rust,ignore` and of `{.rust}`.
pub(in crate::term::markdown) fn language_of(info: &str) -> &str {
    let info = info.trim().trim_start_matches(['{', '.']);
    let end = info.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | '{' | ':'));
    &info[..end.unwrap_or(info.len())]
}
