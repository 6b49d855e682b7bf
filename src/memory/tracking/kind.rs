//! The table of kinds: how notes of each are named, kept, told apart and shown.

use super::note::{Kind, Note};

/// How many entries a section keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A new one takes the place of the old one.
    One,
    /// So many; the oldest leaves. A mode's settings may say another number.
    Most(usize),
}

/// When two notes are about the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Their texts differ at most in case, quotes and final punctuation.
    Text,
    /// Their texts are equal: on some systems two files differ in case alone.
    Exact,
    /// The same, addresses and long numbers apart: the same error in another run.
    Message,
    /// They have the same label; the new text replaces the old one (C53).
    Label,
}

/// Where an entry goes that is mentioned again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// To the newest: what is kept is what was mentioned last (C44, C45).
    Newest,
    Stays,
}

/// How entries stand in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One line each, oldest first.
    Lines,
    /// In one line, newest first.
    Listed,
    /// One line each with its number (C51).
    Numbered,
    /// One line each with its time of day (C47).
    Timed,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub kind: Kind,
    /// Of one note, as commands and tools name it: `file`.
    pub name: &'static str,
    /// Of all of them, on disk, in `/drop` and in prompts: `files`.
    pub section: &'static str,
    pub heading: &'static str,
    pub holds: Holds,
    pub same: Same,
    pub again: Again,
    pub shape: Shape,
    /// Newest entries that stand in a prompt.
    pub shown: usize,
    /// Characters of a text.
    pub max_chars: usize,
}

impl Kind {
    /// Every kind, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.kind)
    }

    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The kind of a name or a section: `file`, `Files`.
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let row = ROWS
            .iter()
            .find(|row| row.name == name || row.section == name);
        row.map(|row| row.kind)
    }
}

const LINE: Row = Row {
    kind: Kind::Step,
    name: "",
    section: "",
    heading: "",
    holds: Holds::Most(10),
    same: Same::Text,
    again: Again::Stays,
    shape: Shape::Lines,
    shown: 5,
    max_chars: 200,
};

const ONE: Row = Row {
    holds: Holds::One,
    shape: Shape::Listed,
    shown: 1,
    ..LINE
};

const RECENT: Row = Row {
    again: Again::Newest,
    holds: Holds::Most(20),
    shape: Shape::Listed,
    ..LINE
};

const fn row(
    template: Row,
    kind: Kind,
    name: &'static str,
    section: &'static str,
    heading: &'static str,
) -> Row {
    Row {
        kind,
        name,
        section,
        heading,
        ..template
    }
}

/// In the order of [`Kind`]'s variants.
const ROWS: [Row; 19] = [
    Row {
        max_chars: 120,
        ..row(ONE, Kind::Task, "task", "task", "Task")
    },
    row(ONE, Kind::Step, "step", "step", "Current step"),
    Row {
        again: Again::Newest,
        ..row(LINE, Kind::Progress, "progress", "progress", "Done so far")
    },
    row(LINE, Kind::Blocker, "blocker", "blockers", "Blockers"),
    Row {
        same: Same::Exact,
        ..row(RECENT, Kind::File, "file", "files", "Files touched")
    },
    Row {
        same: Same::Message,
        again: Again::Newest,
        holds: Holds::Most(5),
        ..row(LINE, Kind::Error, "error", "errors", "Recent errors")
    },
    Row {
        again: Again::Newest,
        shape: Shape::Timed,
        ..row(LINE, Kind::Change, "change", "changes", "Changes")
    },
    row(ONE, Kind::Objective, "objective", "objective", "Objective"),
    Row {
        holds: Holds::Most(20),
        shape: Shape::Numbered,
        ..row(LINE, Kind::Goal, "goal", "goals", "Goals")
    },
    row(ONE, Kind::Phase, "phase", "phase", "Phase"),
    Row {
        same: Same::Label,
        holds: Holds::Most(20),
        shown: 8,
        ..row(
            LINE,
            Kind::Constraint,
            "constraint",
            "constraints",
            "Constraints",
        )
    },
    Row {
        holds: Holds::Most(20),
        shape: Shape::Numbered,
        ..row(LINE, Kind::Decision, "decision", "decisions", "Decisions")
    },
    row(
        LINE,
        Kind::Alternative,
        "alternative",
        "alternatives",
        "Alternatives",
    ),
    row(
        LINE,
        Kind::Assumption,
        "assumption",
        "assumptions",
        "Assumptions",
    ),
    row(LINE, Kind::Chain, "chain", "chain", "Chain of reasoning"),
    row(
        LINE,
        Kind::Question,
        "question",
        "questions",
        "Open questions",
    ),
    row(RECENT, Kind::Topic, "topic", "topics", "Topics"),
    row(RECENT, Kind::Entity, "entity", "entities", "Names"),
    row(RECENT, Kind::Fact, "fact", "facts", "Facts"),
];

/// Equal for notes that are about the same thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn kept(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// What is remembered of a note that a person took off: another value under the same label is another thing.
    pub(super) fn of_dropped(kind: Kind, note: &Note) -> Self {
        match (kind.row().same, &note.label) {
            (Same::Label, Some(label)) => Self(folded(&format!("{label}: {}", note.text))),
            (Same::Label | Same::Text | Same::Exact | Same::Message, _) => key(kind, note),
        }
    }
}

pub(super) fn key(kind: Kind, note: &Note) -> Key {
    Key(match kind.row().same {
        Same::Exact => note.text.clone(),
        Same::Text => folded(&note.text),
        Same::Label => folded(note.label.as_ref().unwrap_or(&note.text)),
        Same::Message => without_addresses(&folded(&note.text)),
    })
}

/// Case, quotes and final punctuation apart.
fn folded(text: &str) -> String {
    let is_edge =
        |c: char| c.is_whitespace() || matches!(c, '.' | '!' | '`' | '"' | '\'' | ':' | ',');
    text.trim_matches(is_edge).to_lowercase()
}

/// Numbers that differ from run to run as one sign: addresses, those behind a colon, and those of four
/// digits and more. A status or an exit code tells errors apart.
fn without_addresses(text: &str) -> String {
    let mut without = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        without.push_str(before);
        let is_digit: fn(char) -> bool = if from.starts_with("0x") {
            |c| c.is_ascii_hexdigit() || c == 'x'
        } else {
            |c| c.is_ascii_digit()
        };
        let end = from.find(|c| !is_digit(c)).unwrap_or(from.len());
        let differs = end >= 4 || from.starts_with("0x") || before.ends_with(':');
        without.push_str(if differs { "#" } else { &from[..end] });
        rest = &from[end..];
    }
    without.push_str(rest);
    without
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_is_its_own_row_and_no_name_means_two_things() {
        let mut names = HashSet::new();
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, place, "{}", row.name);
            assert_eq!(row.kind.row().name, row.name);
            assert!(names.insert(row.name), "{}", row.name);
            if row.section != row.name {
                assert!(names.insert(row.section), "{}", row.section);
            }
        }
    }

    #[test]
    fn errors_of_two_runs_are_alike_and_two_codes_are_not() {
        let key = |text: &str| key(Kind::Error, &Note::new(text));
        for (one, other, alike) in [
            ("KeyError: 'a'", "keyerror: 'a'.", true),
            ("at 0x7ffa", "at 0x7FFB", true),
            ("pid 12345 died", "pid 54321 died", true),
            ("main.c:10 failed", "main.c:12 failed", true),
            ("status 404", "status 500", false),
            ("exit code 1", "exit code 2", false),
        ] {
            assert_eq!(key(one) == key(other), alike, "{one} | {other}");
        }
    }

    #[test]
    fn files_differ_in_case() {
        let key = |text: &str| key(Kind::File, &Note::new(text));
        assert_ne!(key("README.md"), key("readme.md"));
    }
}
