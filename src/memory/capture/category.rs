//! What kinds of things are captured (Q3-Q8).

use std::fmt;

use serde::Deserialize;

use crate::text::classify::{Judged, Kind, Scope};

/// In the order in which one sentence is written down that says several of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Correction,
    ProperNoun,
    Preference,
    Decision,
    SpecificValue,
    Remember,
    // What only the classifier tells.
    Profile,
    Project,
    Goal,
    Constraint,
    Deadline,
    Task,
}

impl Category {
    pub const ALL: [Self; 12] = [
        Self::Correction,
        Self::ProperNoun,
        Self::Preference,
        Self::Decision,
        Self::SpecificValue,
        Self::Remember,
        Self::Profile,
        Self::Project,
        Self::Goal,
        Self::Constraint,
        Self::Deadline,
        Self::Task,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::ProperNoun => "proper_noun",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::SpecificValue => "specific_value",
            Self::Remember => "remember",
            Self::Profile => "profile",
            Self::Project => "project",
            Self::Goal => "goal",
            Self::Constraint => "constraint",
            Self::Deadline => "deadline",
            Self::Task => "task",
        }
    }

    /// Returns the category of something that the classifier tells.
    pub(super) fn of(judged: &Judged) -> Self {
        match judged.kind {
            Kind::Preference | Kind::StandingInstruction => Self::Preference,
            Kind::Decision => Self::Decision,
            Kind::Goal => Self::Goal,
            Kind::Constraint => Self::Constraint,
            Kind::Deadline => Self::Deadline,
            Kind::Task => Self::Task,
            Kind::RememberRequest => Self::Remember,
            _ => Self::fact(judged),
        }
    }

    /// Returns the category of something that patterns gave a name already, or that corrects what may stand nowhere.
    pub(super) fn fact(judged: &Judged) -> Self {
        match judged.scope {
            Scope::Project => Self::Project,
            _ => Self::Profile,
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|category| category.as_str() == name)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing worth keeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    pub category: Category,
    /// One line: the sentence, or what is near the match of a long one; secrets masked (Q10).
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_name_that_reads_back() {
        for category in Category::ALL {
            assert_eq!(Category::named(category.as_str()), Some(category));
            let read: Category = serde_yaml::from_str(category.as_str()).unwrap();
            assert_eq!(read, category);
        }
        assert_eq!(Category::named("Preference"), None);
    }
}
