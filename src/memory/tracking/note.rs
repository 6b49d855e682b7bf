//! What can be kept about the work: a [`Note`] of a [`Kind`].
//!
//! Readers find notes in what is said, tools report them, a person sets them by hand; all three go the same
//! way from here. Invariant: the texts of a note are one clean line each (see [`Note::cleaned`]).

use anstream::adapter::strip_str;
use serde::{Deserialize, Serialize};

/// What a note is about. One row of [`Kind::row`] for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    // code
    Task,
    Step,
    Progress,
    Blocker,
    File,
    Error,
    Change,
    // reasoning
    Objective,
    Goal,
    Phase,
    Constraint,
    Decision,
    Alternative,
    Assumption,
    Chain,
    Question,
    // conversation
    Topic,
    Entity,
    Fact,
}

/// How far a goal or an option has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Completed,
    Blocked,
    Rejected,
    Chosen,
}

/// Who says so, weakest first: a heuristic never overwrites what a person set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    Heuristic,
    Tool,
    Person,
}

/// The content of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub text: String,
    /// What a constraint is about: `Budget`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The reason of a decision or of a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What a decision was preferred to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead_of: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Where an error stands: `src/main.rs:4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Number of the goal above this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
}

/// A note and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub note: Note,
}

impl Note {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// This note of a kind.
    pub fn of(self, kind: Kind) -> Finding {
        Finding { kind, note: self }
    }

    /// The note as it is kept: each text one line without control characters, the main one at most
    /// `max` characters long.
    #[must_use]
    pub fn cleaned(self, max: usize) -> Self {
        let short = |text: Option<String>, max| {
            let text = text.map(|text| line(&text, max));
            text.filter(|text| !text.is_empty())
        };
        let instead_of = self.instead_of.iter().map(|text| line(text, SHORT));
        Self {
            text: line(&self.text, max),
            label: short(self.label, LABEL),
            why: short(self.why, WHY),
            instead_of: instead_of
                .filter(|text| !text.is_empty())
                .take(MAX_REJECTED)
                .collect(),
            place: short(self.place, WHY),
            status: self.status,
            parent: self.parent,
        }
    }

    /// Takes over what another note about the same says more, or newer.
    pub(super) fn take(&mut self, newer: Self) {
        self.text = newer.text;
        self.label = newer.label.or(self.label.take());
        self.why = newer.why.or(self.why.take());
        self.place = newer.place.or(self.place.take());
        self.status = newer.status.or(self.status);
        self.parent = newer.parent.or(self.parent);
        for rejected in newer.instead_of {
            if !self.instead_of.contains(&rejected) && self.instead_of.len() < MAX_REJECTED {
                self.instead_of.push(rejected);
            }
        }
    }
}

/// Characters of a label.
const LABEL: usize = 40;
/// Characters of a reason (C51).
const WHY: usize = 160;
/// Characters of a rejected option.
const SHORT: usize = 80;
/// Rejected options of one decision.
const MAX_REJECTED: usize = 5;

/// A text as one line of at most `max` characters: blanks folded, control characters and sequences, and marks
/// that turn the direction of writing, taken out.
pub(in crate::memory) fn line(text: &str, max: usize) -> String {
    let text = strip_str(text).to_string();
    let mut line = String::new();
    let mut chars = 0;
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            blank = chars > 0;
            continue;
        }
        if is_invisible(c) {
            continue;
        }
        if chars + 1 + usize::from(blank) > max {
            if line.pop().is_some() {
                line.push('…');
            }
            break;
        }
        if blank {
            line.push(' ');
            chars += 1;
            blank = false;
        }
        line.push(c);
        chars += 1;
    }
    line
}

/// Marks without a glyph: those that turn the direction of writing, blanks without width, the byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200b}' | '\u{2060}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

impl Status {
    const NAMES: [(Self, &'static str); 6] = [
        (Self::Pending, "pending"),
        (Self::InProgress, "in progress"),
        (Self::Completed, "completed"),
        (Self::Blocked, "blocked"),
        (Self::Rejected, "rejected"),
        (Self::Chosen, "chosen"),
    ];

    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Other words for some.
    const ALSO: [(Self, &'static str); 5] = [
        (Self::Pending, "open"),
        (Self::InProgress, "started"),
        (Self::Completed, "done"),
        (Self::Completed, "finished"),
        (Self::Completed, "complete"),
    ];

    /// Reads `in progress`, `in_progress`, `done`, …
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace(['_', '-'], " ");
        let mut names = Self::NAMES.into_iter().chain(Self::ALSO);
        let known = names.find(|(_, known)| *known == name);
        known.map(|(status, _)| status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_one_clean_line_of_limited_length() {
        for (text, max, expected) in [
            ("  a\n\tb  ", 10, "a b"),
            ("\u{1b}[31mred\u{202e}", 20, "red"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("añ 日本語", 4, "añ …"),
            ("\0\u{feff}\u{061c}\u{200b}", 5, ""),
            ("abc", 0, ""),
        ] {
            let cleaned = line(text, max);
            assert_eq!(cleaned, expected, "{text:?}");
            assert!(cleaned.chars().count() <= max);
        }
    }

    #[test]
    fn every_status_reads_back() {
        for (status, name) in Status::NAMES {
            assert_eq!((status.as_str(), Status::parse(name)), (name, Some(status)));
        }
        assert_eq!(Status::parse("In_Progress"), Some(Status::InProgress));
        assert_eq!(Status::parse("nearly"), None);
    }
}
