//! What a person changes on a board by hand, and a model by a call.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;

use super::board::{Board, Entry, Noted, Why};
use super::exchange::Exchange;
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

/// The name under which a model calls it.
pub const TRACK: &str = "track";

/// The arguments of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrackCall {
    /// Code mode: task, step, progress, blocker, file, error, change. Reasoning mode: objective, goal, phase,
    /// constraint, decision, alternative, assumption, question, chain. Conversation mode: topic, entity, fact.
    pub kind: String,
    /// What to note, in one short line. May be left out where `id` and `status` say which note changes how.
    #[serde(default)]
    pub text: String,
    /// Of a decision or an alternative: why.
    #[serde(default)]
    pub rationale: Option<String>,
    /// Of a decision: the options it was preferred to.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// Of a goal or an alternative: pending, `in_progress`, completed, blocked, rejected or chosen.
    #[serde(default)]
    pub status: Option<String>,
    /// Of a goal: the number of the goal above it.
    #[serde(default)]
    pub parent: Option<u32>,
    /// The number of a note that is there already.
    #[serde(default)]
    pub id: Option<u32>,
    /// Of a constraint: what it limits, such as Budget.
    #[serde(default)]
    pub label: Option<String>,
}

/// A call that says nothing to be noted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    #[error("unknown kind {kind:?}")]
    Kind { kind: String },
    #[error(
        "unknown status {status:?}; use pending, in_progress, completed, blocked, rejected or chosen"
    )]
    Status { status: String },
    #[error("text is missing: say what to note in one line")]
    Empty,
    #[error("an id needs a status")]
    NoStatus,
}

impl TrackCall {
    /// The change it means.
    pub fn edit(&self) -> Result<Edit, BadCall> {
        let kind = Kind::parse(self.kind.trim()).ok_or_else(|| BadCall::Kind {
            kind: self.kind.clone(),
        })?;
        let status = self.status.as_deref().map(|status| {
            Status::parse(&status.replace('_', " ")).ok_or_else(|| BadCall::Status {
                status: status.to_owned(),
            })
        });
        let status = status.transpose()?;
        match (self.id, status) {
            (Some(number), Some(status)) => {
                return Ok(Edit::Status {
                    kind,
                    number,
                    status,
                });
            }
            (Some(_), None) => return Err(BadCall::NoStatus),
            (None, _) if self.text.trim().is_empty() => return Err(BadCall::Empty),
            (None, _) => {}
        }
        let usual = (kind == Kind::Goal).then_some(Status::Pending);
        let note = Note {
            label: self.label.clone(),
            why: self.rationale.clone(),
            instead_of: self.rejected.clone(),
            status: status.or(usual),
            parent: self.parent,
            ..Note::new(self.text.as_str())
        };
        Ok(Edit::Note(note.of(kind)))
    }
}

/// Changes that the model made in a turn, in order: calls that were done.
pub fn called(exchange: &Exchange<'_>) -> Vec<Edit> {
    let calls = exchange.calls.iter();
    let done = calls.filter(|call| call.name == TRACK && !call.failed);
    done.filter_map(|call| {
        let read: TrackCall = serde_json::from_str(call.arguments).ok()?;
        read.edit().ok()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::{CallId, Message, MessageId, Part, Role, ToolCall};

    fn edit(arguments: &serde_json::Value) -> Result<Edit, BadCall> {
        serde_json::from_value::<TrackCall>(arguments.clone())
            .unwrap()
            .edit()
    }

    #[test]
    fn a_call_becomes_the_note_it_speaks_of() {
        let decision = json!({"kind": "decision", "text": "Use Postgres", "rationale": "known", "rejected": ["Mongo"]});
        let expected = Note {
            why: Some("known".into()),
            instead_of: vec!["Mongo".into()],
            ..Note::new("Use Postgres")
        };
        assert_eq!(edit(&decision), Ok(Edit::Note(expected.of(Kind::Decision))));
        let done = json!({"kind": "goal", "id": 2, "status": "in_progress"});
        let expected = Edit::Status {
            kind: Kind::Goal,
            number: 2,
            status: Status::InProgress,
        };
        assert_eq!(edit(&done), Ok(expected));
    }

    #[test]
    fn a_call_that_says_nothing_is_told_what_is_missing() {
        for (arguments, expected) in [
            (
                json!({"kind": "wish", "text": "x"}),
                "unknown kind \"wish\"",
            ),
            (json!({"kind": "task"}), "text is missing"),
            (json!({"kind": "goal", "id": 1}), "an id needs a status"),
            (
                json!({"kind": "goal", "text": "x", "status": "soon"}),
                "unknown status \"soon\"",
            ),
        ] {
            let error = edit(&arguments).unwrap_err().to_string();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }

    #[test]
    fn only_calls_that_were_done_count() {
        let mut calling = Message::text(MessageId::numbered(1), Role::Assistant, "", None);
        let call = |id: &str, text: &str| {
            let arguments = json!({"kind": "task", "text": text}).to_string();
            Part::ToolCall(ToolCall::new(id, TRACK, arguments))
        };
        calling.parts = vec![call("a", "one"), call("b", "two"), call("c", "three")];
        let mut results = Message::text(MessageId::numbered(2), Role::Tool, "", None);
        let result = |id: &str, failed| Part::ToolResult {
            call: CallId::new(id),
            name: TRACK.into(),
            output: String::new(),
            failed,
        };
        results.parts = vec![result("a", false), result("b", true)];
        let expected = Edit::Note(Note::new("one").of(Kind::Task));
        assert_eq!(called(&Exchange::of(&[calling, results])), [expected]);
    }
}
