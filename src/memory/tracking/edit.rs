//! What a person changes on a board by hand, and a model by a call.

use std::borrow::Cow;

use super::board::{Board, Entry, Noted, Why};
use super::note::{By, Finding, Kind, Note, Status};
use crate::chat::Timestamp;
use crate::hint::Hint;

/// One change. It counts as the coming turn's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Note(Finding),
    /// Sets how far the entry of this number has come.
    Status {
        kind: Kind,
        number: u32,
        status: Status,
    },
    Drop {
        kind: Kind,
        number: u32,
    },
    DropAll(Kind),
}

impl Edit {
    /// What it is about.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Note(finding) => finding.kind,
            Self::Status { kind, .. } | Self::Drop { kind, .. } | Self::DropAll(kind) => *kind,
        }
    }
}

/// What was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Edited {
    /// The entry as it stands now.
    Set(Box<Entry>),
    Dropped(Vec<Entry>),
}

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotEdit {
    #[error("nothing to note: no usable text")]
    Empty,
    #[error("{}: turned off", kind.row().section)]
    Off { kind: Kind },
    #[error("nothing under {}", kind.row().section)]
    Nothing { kind: Kind },
    #[error("no {} {number}", kind.row().name)]
    NoSuch {
        kind: Kind,
        number: u32,
        known: Vec<u32>,
    },
    #[error("the user set or dropped this {} by hand", kind.row().name)]
    ByHand { kind: Kind },
    #[error("no mode tracks a {}", kind.row().name)]
    Foreign { kind: Kind },
}

impl Hint for CannotEdit {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Off { kind } => Some(
                format!(
                    "the config file limits {} to 0; raise that limit",
                    kind.row().section
                )
                .into(),
            ),
            Self::NoSuch { known, .. } => {
                let known: Vec<String> = known.iter().map(u32::to_string).collect();
                Some(format!("available: {}; `/memory` shows them", known.join(", ")).into())
            }
            Self::Empty | Self::Nothing { .. } | Self::ByHand { .. } | Self::Foreign { .. } => None,
        }
    }
}

impl Board {
    /// Changes one thing.
    pub fn edit(
        &mut self,
        edit: &Edit,
        by: By,
        at: Option<Timestamp>,
    ) -> Result<Edited, CannotEdit> {
        match edit {
            Edit::Note(finding) => self.set(finding.clone(), by, at),
            Edit::Status {
                kind,
                number,
                status,
            } => {
                let entry = self.numbered(*kind, *number)?;
                let note = Note {
                    status: Some(*status),
                    ..entry.note.clone()
                };
                self.set(note.of(*kind), by, at)
            }
            Edit::Drop { kind, number } => {
                self.numbered(*kind, *number)?;
                let dropped = self.drop(*kind, *number, at).into_iter();
                Ok(Edited::Dropped(dropped.collect()))
            }
            Edit::DropAll(kind) => {
                let section = self
                    .section(*kind)
                    .ok_or(CannotEdit::Foreign { kind: *kind })?;
                let entries = section.entries.iter();
                let numbers: Vec<u32> = entries.map(|entry| entry.number).collect();
                if numbers.is_empty() {
                    return Err(CannotEdit::Nothing { kind: *kind });
                }
                let numbers = numbers.into_iter();
                let dropped = numbers.filter_map(|number| self.drop(*kind, number, at));
                Ok(Edited::Dropped(dropped.collect()))
            }
        }
    }

    fn set(
        &mut self,
        finding: Finding,
        by: By,
        at: Option<Timestamp>,
    ) -> Result<Edited, CannotEdit> {
        let kind = finding.kind;
        match self.note(finding, by, at) {
            Noted::Added(number) | Noted::Again(number) => {
                let entry = self.numbered(kind, number)?;
                Ok(Edited::Set(Box::new(entry.clone())))
            }
            Noted::Ignored(Why::Empty) => Err(CannotEdit::Empty),
            Noted::Ignored(Why::Off) => Err(CannotEdit::Off { kind }),
            Noted::Ignored(Why::ByHand) => Err(CannotEdit::ByHand { kind }),
            Noted::Ignored(Why::Foreign) => Err(CannotEdit::Foreign { kind }),
        }
    }

    fn numbered(&self, kind: Kind, number: u32) -> Result<&Entry, CannotEdit> {
        let section = self.section(kind).ok_or(CannotEdit::Foreign { kind })?;
        let entries = section.entries();
        if entries.is_empty() {
            return Err(CannotEdit::Nothing { kind });
        }
        let known = || entries.iter().map(|entry| entry.number).collect();
        entries
            .iter()
            .find(|entry| entry.number == number)
            .ok_or_else(|| CannotEdit::NoSuch {
                kind,
                number,
                known: known(),
            })
    }
}
