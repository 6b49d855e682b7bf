//! Blocks that are laid out whole when they end: code and tables.

use std::ops::Range;

use super::{Cuts, DIM, Layouter, line_start};

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

    pub(super) fn html(&mut self, text: &str, range: &Range<usize>) {
        let source = (self.source.get(range.clone()) == Some(text)).then_some(range.start);
        self.flow
            .push(text.trim_end_matches(['\n', '\r']), DIM, source);
        self.flow.break_line();
        self.flush();
    }
}

/// The language that a fence names: `rust` of `rust,ignore` and of `{.rust}`.
pub(in crate::term::markdown) fn language_of(info: &str) -> &str {
    let info = info.trim().trim_start_matches(['{', '.']);
    let end = info.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | '{' | ':'));
    &info[..end.unwrap_or(info.len())]
}
