//! What can be kept about the work: a [`Note`] of a [`Kind`].
//!
//! Readers find notes in what is said, tools report them, a person sets them by hand; all three go the same
//! way from here. Invariant: the texts of a note are one clean line each (see [`Note::cleaned`]).

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
}
