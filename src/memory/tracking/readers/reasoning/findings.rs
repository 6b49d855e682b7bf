//! The findings of one exchange: each once, one objective and one phase.

use std::collections::HashSet;

use crate::memory::tracking::{Finding, Kind, Note, Status};

/// What counts if a clause says two things, the least first.
pub(super) fn weight(kind: Kind) -> usize {
    const ORDER: [Kind; 9] = [
        Kind::Question,
        Kind::Chain,
        Kind::Assumption,
        Kind::Goal,
        Kind::Objective,
        Kind::Phase,
        Kind::Decision,
        Kind::Alternative,
        Kind::Constraint,
    ];
    let place = ORDER.iter().position(|other| *other == kind);
    place.unwrap_or(ORDER.len())
}

/// What was found, in the order in which it was said.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: Vec<Finding>,
    seen: HashSet<(Kind, Option<String>, String)>,
}

impl Findings {
    /// Adds a note unless it says nothing or was said; after a decision, what it was preferred to.
    pub(super) fn add(&mut self, kind: Kind, mut note: Note) {
        note.why = note.why.filter(|why| !why.is_empty());
        let others = note.instead_of.clone();
        let says = note.text.chars().any(char::is_alphanumeric);
        if !says || !self.is_first(kind, &note) {
            return;
        }
        self.found.push(note.of(kind));
        for text in others {
            let status = Some(Status::Rejected);
            let other = Note {
                status,
                ..Note::new(text)
            };
            self.add(Kind::Alternative, other);
        }
    }

    fn is_first(&mut self, kind: Kind, note: &Note) -> bool {
        let key = match kind {
            Kind::Objective | Kind::Phase => (kind, None, String::new()),
            _ => (kind, note.label.clone(), note.text.to_lowercase()),
        };
        self.seen.insert(key)
    }

    pub(super) fn found(self) -> Vec<Finding> {
        self.found
    }
}
