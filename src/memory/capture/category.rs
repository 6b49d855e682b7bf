//! What kinds of things are captured (Q3-Q8).

use std::fmt;

use serde::Deserialize;

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
}

impl Category {
    pub const ALL: [Self; 6] = [
        Self::Correction,
        Self::ProperNoun,
        Self::Preference,
        Self::Decision,
        Self::SpecificValue,
        Self::Remember,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::ProperNoun => "proper_noun",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::SpecificValue => "specific_value",
            Self::Remember => "remember",
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
