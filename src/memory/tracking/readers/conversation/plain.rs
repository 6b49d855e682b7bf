//! A stretch of words as the patterns of the cue file see it.
//!
//! ```text
//!  "I'm really from Porto, but" -> " i am from Porto , but "        (short forms spelled out, fillers dropped)
//! ```
//! Every word and every pause has a blank before and after it, so that patterns need no word boundaries and no
//! classes of letters. Small letters, but for words with a capital after the first.

use std::collections::HashMap;
use std::ops::Range;

use super::words::{Role, Word};

/// Short forms (`i'm`) and what they stand for (`i am`).
pub(super) type Forms = HashMap<String, String>;

/// The words in plain form, and which word stands where.
#[derive(Debug)]
pub(super) struct Plain {
    pub(super) text: String,
    /// Where in the text each word begins, and its place among the words.
    marks: Vec<(usize, usize)>,
}

impl Plain {
    /// The words of a range.
    pub(super) fn of(words: &[Word<'_>], range: Range<usize>, forms: &Forms) -> Self {
        let end = range.end;
        let first = range.start;
        let mut plain = Self {
            text: String::from(" "),
            marks: Vec::with_capacity(range.len()),
        };
        for place in range {
            let word = &words[place];
            if word.before.contains('(') {
                plain.text.push_str("( ");
            }
            if !word.is(Role::Filler) {
                plain.marks.push((plain.text.len(), place));
                plain.word(word, place == first, forms);
            }
            if place + 1 < end
                && !is_abbreviation(word)
                && let Some(pause) = word.after.chars().find_map(pause)
            {
                plain.text.push(pause);
                plain.text.push(' ');
            }
        }
        plain
    }

    fn word(&mut self, word: &Word<'_>, is_first: bool, forms: &Forms) {
        let small = word.text.to_lowercase().replace('’', "'");
        let owner = if word.owns() { " 's" } else { "" };
        let small = if word.is_named {
            capital(&small)
        } else {
            small
        };
        let long = (!forms.is_empty()).then(|| {
            let short = if word.owns() {
                format!("{small}'s")
            } else {
                small.clone()
            };
            forms.get(&short)
        });
        match long.flatten() {
            Some(long) => self.text.push_str(long),
            None if is_first || word.is_named || word.is(Role::Subject) => {
                self.text.push_str(&small);
                self.text.push_str(owner);
            }
            None => {
                self.text.push_str(word.text);
                self.text.push_str(owner);
            }
        }
        self.text.push(' ');
    }

    /// The places of the words in a stretch of the text.
    pub(super) fn places(&self, stretch: Range<usize>) -> Range<usize> {
        let from = self.marks.partition_point(|(at, _)| *at < stretch.start);
        let to = self.marks.partition_point(|(at, _)| *at < stretch.end);
        let place = |mark: usize| self.marks.get(mark).map(|(_, place)| *place);
        match (place(from), to.checked_sub(1).and_then(place)) {
            (Some(first), Some(last)) if first <= last => first..last + 1,
            _ => 0..0,
        }
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// `Mrs.`, `K.`
fn is_abbreviation(word: &Word<'_>) -> bool {
    word.after == "." && (word.is(Role::Honorific) || word.text.len() <= 2)
}

/// What is heard of a sign.
fn pause(c: char) -> Option<char> {
    match c {
        ',' | ':' | '(' => Some(c),
        ';' | '.' | '!' | '…' | ')' | '?' => Some(','),
        '-' | '–' | '—' => Some('-'),
        _ => None,
    }
}
