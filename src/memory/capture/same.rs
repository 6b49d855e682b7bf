//! Whether something is kept already, or takes the place of what is (Q14). Pure.
//!
//! The newest line that has to do with a statement decides. Only lines that were captured are superseded; what a person
//! wrote by hand stands.

use super::slots::{Relation, Slots, plain, words};
use super::{Capture, Category};

/// What a capture is beside what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    AlreadyThere,
    New,
    /// It says something else of what the line at this place speaks of.
    Supersedes(usize),
}

/// Characters of a statement that are looked for in a line.
const KEY: usize = 80;

/// A shorter key counts only if it is a good part of the line.
const SHORT: usize = 10;
const PART_OF_LINE: (usize, usize) = (3, 10);

/// Words that two statements have in common, of all words of both.
const ALIKE: (usize, usize) = (9, 10);

/// A line that is kept.
struct Entry<'a> {
    category: Option<Category>,
    text: &'a str,
}

pub(super) fn written(slots: &Slots, lines: &[&str], new: &Capture) -> Verdict {
    let new = &Capture {
        category: new.category,
        detail: plain(&new.detail),
    };
    if new.category == Category::Correction {
        return correcting(slots, lines, &new.detail);
    }
    let mut replaceable = Vec::new();
    for (index, line) in lines.iter().enumerate().rev() {
        let line = plain(line);
        let Some(entry) = Entry::read(&line) else {
            continue;
        };
        let relation = if entry.category == Some(new.category) {
            slots.relation(new.category, &new.detail, entry.text)
        } else {
            Relation::Unrelated
        };
        match relation {
            Relation::Changed => return Verdict::Supersedes(index),
            Relation::Same => return Verdict::AlreadyThere,
            Relation::Unrelated if is_there(slots, entry.text, &new.detail) => {
                return Verdict::AlreadyThere;
            }
            Relation::Unrelated => {}
        }
        if entry.category == Some(new.category)
            && slots.may_replace(new.category, &new.detail, entry.text)
        {
            replaceable.push(index);
        }
    }
    // Of several, nobody knows which is meant.
    match replaceable[..] {
        [index] => Verdict::Supersedes(index),
        _ => Verdict::New,
    }
}

/// A correction is about a line of any category: the only one that holds what it denies, or another value of the same.
fn correcting(slots: &Slots, lines: &[&str], new: &str) -> Verdict {
    let mut corrected = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let line = plain(line);
        let Some(entry) = Entry::read(&line) else {
            continue;
        };
        if holds(slots, entry.text, new) {
            return Verdict::AlreadyThere;
        }
        let Some(category) = entry.category else {
            continue;
        };
        let relations =
            [category, Category::Correction].map(|of| slots.relation(of, new, entry.text));
        if relations.contains(&Relation::Changed) || slots.corrects(new, entry.text) {
            corrected.push(index);
        }
    }
    match corrected[..] {
        [index] => Verdict::Supersedes(index),
        _ => Verdict::New,
    }
}

impl<'a> Entry<'a> {
    /// A line of prose or of a list; no heading, nothing that was superseded.
    fn read(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let text = ["- ", "* "]
            .iter()
            .find_map(|bullet| line.strip_prefix(bullet))
            .unwrap_or(line)
            .trim_start();
        if text.starts_with("(superseded") {
            return None;
        }
        let captured = text
            .strip_prefix("**")
            .and_then(|rest| rest.split_once("**:"));
        let captured = captured.and_then(|(name, text)| Some((Category::parse(name)?, text)));
        Some(match captured {
            Some((category, text)) => Self {
                category: Some(category),
                text: text.trim(),
            },
            None => Self {
                category: None,
                text,
            },
        })
    }
}

fn is_there(slots: &Slots, line: &str, new: &str) -> bool {
    holds(slots, line, new) || is_alike(&slots.said(line), &slots.said(new), slots)
}

/// Whether the beginning of a statement stands in a line, and is not denied there.
fn holds(slots: &Slots, line: &str, new: &str) -> bool {
    let line = words(line).collect::<Vec<_>>().join(" ");
    let new = words(new).collect::<Vec<_>>().join(" ");
    let is_cut = new.chars().count() > KEY;
    let key: String = new.chars().take(KEY).collect();
    let length = key.chars().count();
    let (part, whole) = PART_OF_LINE;
    if length < SHORT && length * whole < line.chars().count() * part {
        return false;
    }
    !key.is_empty()
        && line.match_indices(&key).any(|(at, _)| {
            let begins = at == 0 || line[..at].ends_with(' ');
            let after = &line[at + key.len()..];
            let ends = is_cut || after.is_empty() || after.starts_with(' ');
            begins && ends && !line[..at].split(' ').any(|word| slots.is_negation(word))
        })
}

/// The same words in the same order, but for a few that one has more; a word in place of another makes it another
/// statement.
fn is_alike(one: &[String], other: &[String], slots: &Slots) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let (part, whole) = ALIKE;
    if short.is_empty() || short.len() * whole < long.len() * part {
        return false;
    }
    let mut rest = short.iter().peekable();
    for word in long {
        if rest.peek() == Some(&word) {
            rest.next();
        } else if slots.is_negation(word) {
            return false;
        }
    }
    rest.next().is_none()
}

#[cfg(test)]
mod tests;
