//! What the words of a sentence say, as `text/classify` marks them by weights that were learned from labelled talk.

use std::ops::Range;

use crate::memory::tracking::Kind;
use crate::memory::tracking::prose::{End, sentences};
use crate::text::classify::spans::{Features, Line, Table};
use crate::text::classify::{Classifier, Reading};

/// What a span is, in the order of the labels of the table; a reason is no kind of its own.
pub const REASONING: [Option<Kind>; 10] = [
    None,
    Some(Kind::Objective),
    Some(Kind::Goal),
    Some(Kind::Phase),
    Some(Kind::Decision),
    Some(Kind::Alternative),
    Some(Kind::Constraint),
    Some(Kind::Assumption),
    Some(Kind::Chain),
    Some(Kind::Question),
];

/// What a note has to say more than nothing would. Below nothing: strangers say things in ways that nobody used before.
pub const RESERVE: f32 = -1.5;

/// Words that say something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'t> {
    pub(super) kind: Option<Kind>,
    pub(super) text: &'t str,
}

/// Marks sentences by learned weights.
#[derive(Debug)]
pub struct Marking {
    classifier: Classifier,
    table: Table<'static>,
    reserve: f32,
}

impl Marking {
    pub(super) fn embedded() -> Self {
        Self::new(include_bytes!("../reasoning.weights"), RESERVE)
    }

    /// With the weights of a file.
    pub fn new(file: &'static [u8], reserve: f32) -> Self {
        Self {
            classifier: Classifier::default(),
            table: Table::new(file),
            reserve,
        }
    }

    pub(super) fn read(&self, text: &str) -> Reading {
        self.classifier.read(text, "")
    }

    /// Takes a sentence apart, as the weights know it.
    pub fn features(&self, line: &Line<'_>, reading: &Reading) -> Features {
        self.classifier.features(line, reading)
    }

    pub(super) fn said<'t>(&self, line: &Line<'t>, reading: &Reading) -> Vec<Said<'t>> {
        let features = self.features(line, reading);
        let spans = self.table.mark(&features, self.reserve).into_iter();
        let said = spans.map(|span| Said {
            kind: REASONING.get(span.label).copied().flatten(),
            text: &line.text[span.place],
        });
        said.collect()
    }
}

/// The sentences of a text that are the person's own.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let quoted = quoted(text);
    let at = |slice: &str| slice.as_ptr().addr() - text.as_ptr().addr();
    let sentences = sentences(text).into_iter();
    let own = sentences.filter(|it| !is_inside(&quoted, at(it.text)));
    own.map(|it| Line {
        text: it.text,
        at: at(it.text),
        asks: it.end == End::Question,
        item: it.item,
        heading: it.heading,
    })
    .collect()
}

/// Where words stand in double quotation marks; a mark that no other closes in its paragraph quotes nothing.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    let mut line_is_empty = true;
    for (at, c) in text.char_indices() {
        match (open, c) {
            (_, '\n') if line_is_empty => open = None,
            (Some((from, close)), c) if c == close => {
                ranges.push(from..at);
                open = None;
            }
            (None, '"') if before.is_whitespace() || "([—–".contains(before) => {
                open = Some((at, '"'));
            }
            (None, '“') => open = Some((at, '”')),
            (None, '„') => open = Some((at, '“')),
            (None, '«') => open = Some((at, '»')),
            _ => {}
        }
        line_is_empty = c == '\n' || (line_is_empty && c.is_whitespace());
        before = c;
    }
    ranges
}

/// Whether a place lies in one of these ranges, which stand in order.
fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.start <= at)
}
