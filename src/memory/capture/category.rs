//! What kinds of things are captured (Q3-Q8).

use serde::Deserialize;

use crate::declare::named;
use crate::text::classify::{Judged, Kind, Scope};

named! {
    /// In the order in which one sentence is written down that says several of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Category {
        Correction = "correction",
        ProperNoun = "proper_noun",
        Preference = "preference",
        Decision = "decision",
        SpecificValue = "specific_value",
        Remember = "remember",
        // What only the classifier tells.
        Profile = "profile",
        Project = "project",
        Goal = "goal",
        Constraint = "constraint",
        Deadline = "deadline",
        Task = "task",
    }
}

impl Category {
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
            assert_eq!(Category::parse(category.as_str()), Some(category));
            let read: Category = serde_yaml::from_str(category.as_str()).unwrap();
            assert_eq!(read, category);
        }
        assert_eq!(Category::parse("Preference"), None);
    }
}
