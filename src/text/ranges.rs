//! Ranges of a text.

use std::ops::Range;

/// Returns the ranges in order, those that overlap or touch as one.
pub fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

/// Returns the text with a mark in the place of each range; they are in order and do not overlap.
pub fn replaced(text: &str, ranges: impl IntoIterator<Item = Range<usize>>, mark: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        replaced.push_str(&text[from..range.start]);
        replaced.push_str(mark);
        from = range.end;
    }
    replaced.push_str(&text[from..]);
    replaced
}
