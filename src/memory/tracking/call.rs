//! What a model notes itself, by a call: the arguments of `track`, and their reading as a change of a board.
//!
//! Calls stand in history, so a board that is made again has them too: [`called`] finds them in a turn.

use schemars::JsonSchema;
use serde::Deserialize;

use super::edit::Edit;
use super::exchange::Exchange;
use super::note::{Kind, Note, Status};

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
