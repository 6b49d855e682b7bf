//! Running text cut into lines: at blanks, and between wide characters, whose scripts have none.
//!
//! Unit: the grapheme, measured in columns. A word that is wider than a line keeps a line of its own and is left to the
//! terminal to wrap; only one that is absurdly long is cut.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::line::{Line, Target, TextStyle, text_width};
use crate::term::escape::harmless;
use crate::term::text::{max_width, wrap};

/// Text with its styles and where it comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    text: String,
    runs: Vec<Run>,
    /// Where a link leads whose text is being pushed.
    target: Option<Target>,
    /// Where text begins that stands in the source as it is, and where that is; `None` for what does not.
    sources: Vec<(usize, Option<usize>)>,
}

/// A part of one style; it begins where the one before ends.
#[derive(Clone, Debug)]
struct Run {
    end: usize,
    style: TextStyle,
    target: Option<Target>,
}

impl Flow {
    /// Makes a link of what is pushed from now on, or ends it.
    pub(super) fn link(&mut self, target: Option<Target>) {
        self.target = target;
    }

    /// Appends text; `source` says where it stands outside all markup.
    pub(super) fn push(&mut self, text: &str, style: TextStyle, source: Option<usize>) {
        if text.is_empty() {
            return;
        }
        let shown = harmless(text).replace(['\n', '\t'], " ");
        let source = source.filter(|_| shown == text);
        self.sources.push((self.text.len(), source));
        self.text.push_str(&shown);
        let end = self.text.len();
        match self.runs.last_mut() {
            Some(last) if last.style == style && last.target == self.target => last.end = end,
            Some(_) | None => self.runs.push(Run {
                end,
                style,
                target: self.target.clone(),
            }),
        }
    }

    /// Ends the line whatever room is left.
    pub(super) fn break_line(&mut self) {
        self.sources.push((self.text.len(), None));
        self.text.push('\n');
        let end = self.text.len();
        match self.runs.last_mut() {
            Some(run) => run.end = end,
            None => self.runs.push(Run {
                end,
                style: TextStyle::default(),
                target: None,
            }),
        }
    }

    pub(super) fn append(&mut self, other: &Self) {
        let mut at = 0;
        for run in &other.runs {
            self.link(run.target.clone());
            for (index, part) in other.text[at..run.end].split('\n').enumerate() {
                if index > 0 {
                    self.break_line();
                }
                self.push(part, run.style, None);
            }
            at = run.end;
        }
        self.link(None);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Columns of the longest line and of the longest word.
    pub(super) fn widths(&self) -> (usize, usize) {
        let lines = self.text.split('\n').map(|line| text_width(line.trim()));
        let words = self.text.split_whitespace().map(|word| {
            let is_wide = word.graphemes(true).any(|grapheme| max_width(grapheme) > 1);
            if is_wide { 2 } else { text_width(word) }
        });
        (lines.max().unwrap_or(0), words.max().unwrap_or(0))
    }

    /// The lines of at most so many columns, as ranges of the text.
    pub(super) fn wrap(&self, columns: usize) -> Vec<Range<usize>> {
        wrap(&self.text, columns)
    }

    /// A part of the text in its styles.
    pub(super) fn line(&self, range: Range<usize>) -> Line {
        let mut line = Line::default();
        let first = self.runs.partition_point(|run| run.end <= range.start);
        let mut at = range.start;
        for run in &self.runs[first..] {
            let end = run.end.min(range.end);
            if at >= end {
                break;
            }
            line.push_linked(&self.text[at..end], run.style, run.target.clone());
            at = end;
        }
        line.trimmed()
    }

    /// Where a place of the text stands in the source, if a line may begin there.
    pub(super) fn source_of(&self, place: usize) -> Option<usize> {
        let first = self.text[place..].chars().next()?;
        let index = self
            .sources
            .partition_point(|(begin, _)| *begin <= place)
            .checked_sub(1)?;
        let (begin, source) = self.sources[index];
        // Anything else could be taken for markup where it begins a line.
        (first.is_alphabetic()).then_some(source? + place - begin)
    }
}
