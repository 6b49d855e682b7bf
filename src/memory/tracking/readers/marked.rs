//! What the words of a sentence say, as `text/classify` marks them by weights that were learned from labelled talk.

use std::ops::Range;

use crate::memory::tracking::Kind;
use crate::memory::tracking::prose::{End, sentences};
use crate::text::classify::spans::{Features, Line, Seen, Table};
use crate::text::classify::{Classifier, Reading};

/// What some weights tell. What may stand within each other has weights of its own.
#[derive(Clone, Copy, Debug)]
pub struct Labels {
    pub name: &'static str,
    /// What a span is, in the order of the labels of the table; a reason is no kind of its own.
    pub kinds: &'static [Option<Kind>],
    /// What a note has to say more than nothing would. Below nothing: strangers say things in ways that nobody used
    /// before.
    pub reserve: f32,
    pub seen: Seen,
    pub weights: &'static [u8],
}

macro_rules! labels {
    ($name:literal, $seen:ident, $reserve:literal, $kinds:expr) => {
        Labels {
            name: $name,
            kinds: $kinds,
            reserve: $reserve,
            seen: Seen::$seen,
            weights: include_bytes!(concat!($name, ".weights")),
        }
    };
}

pub const CONVERSATION: &[Labels] = &[
    labels!("topics", Letters, -0.7, &[Some(Kind::Topic)]),
    labels!("names", Letters, -0.1, &[Some(Kind::Entity)]),
    labels!("facts", Letters, -1.0, &[Some(Kind::Fact)]),
];

pub const CODE: &[Labels] = &[labels!(
    "code",
    Words,
    -0.5,
    &[Some(Kind::Task), Some(Kind::Progress), Some(Kind::Change),]
)];

pub const REASONING: &[Labels] = &[labels!(
    "reasoning",
    Words,
    -1.5,
    &[
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
    ]
)];

/// Words that say something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'t> {
    pub(super) kind: Option<Kind>,
    pub(super) text: &'t str,
}

/// Marks sentences by learned weights.
#[derive(Clone, Debug)]
pub struct Marking {
    classifier: Classifier,
    tables: Vec<(Labels, Table<'static>)>,
}

impl Marking {
    pub fn new(labels: &[Labels]) -> Self {
        let tables = labels.iter().map(|it| (*it, Table::new(it.weights)));
        Self {
            classifier: Classifier::default(),
            tables: tables.collect(),
        }
    }

    /// Tells what kind of sentences a message has.
    pub(super) fn read(&self, text: &str) -> Reading {
        self.classifier.read(text, "")
    }

    /// In the order of saying.
    pub(super) fn said<'t>(&self, line: &Line<'t>, reading: &Reading) -> Vec<Said<'t>> {
        let mut said = Vec::new();
        if is_numbered(line.text) {
            return said;
        }
        let mut features: Option<(Seen, Features)> = None;
        for (labels, table) in &self.tables {
            let known = features.take().filter(|(seen, _)| *seen == labels.seen);
            let (_, of_line) = features.insert(known.unwrap_or_else(|| {
                let features = self.classifier.features(line, reading, labels.seen);
                (labels.seen, features)
            }));
            for span in table.mark(of_line, labels.reserve) {
                said.push(Said {
                    kind: labels.kinds.get(span.label).copied().flatten(),
                    text: closed(line.text, span.place),
                });
            }
        }
        said.sort_by_key(|it: &Said<'_>| it.text.as_ptr().addr());
        said
    }
}

/// Whether a line is a name with its number, which says nothing by itself: `message number 7`.
fn is_numbered(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
    };
    (2..=3).contains(&words.len()) && words.last().is_some_and(is_number)
}

/// The words of a place, with what closes a bracket or a quotation that opens in them.
fn closed(line: &str, place: Range<usize>) -> &str {
    let mut end = place.end;
    while let Some(sign) = line[end..].chars().next() {
        let count = |sign: char| line[place.start..end].matches(sign).count();
        let closes = match sign {
            ')' => count('(') > count(')'),
            ']' => count('[') > count(']'),
            '”' => count('“') > count('”'),
            '`' | '"' => count(sign) % 2 == 1,
            _ => false,
        };
        if !closes {
            break;
        }
        end += sign.len_utf8();
    }
    &line[place.start..end]
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

/// Without blanks, punctuation and lonely brackets around.
pub(super) fn trimmed(text: &str) -> &str {
    let is_around = |c: char| c.is_whitespace() || ",;:.!?–—*".contains(c);
    let text = text.trim_matches(is_around);
    let closed = text.strip_suffix(')').filter(|rest| !rest.contains('('));
    closed.unwrap_or(text).trim_matches(is_around)
}
