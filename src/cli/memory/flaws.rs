//! What is wrong with a file to import, line by line. Unit: one file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;

use super::source::Source;
use crate::cli::report::CliError;
use crate::hint::Hint;
use crate::repl::listing;
use crate::term::{Output, thousands};

/// Wrong lines that are told; of the others only how many there are.
const MAX_TOLD: usize = 10;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum ImportError {
    #[error("nothing was imported: {} of {from} {} invalid{}", unit.count(*.wrong), if *.wrong == 1 { "is" } else { "are" }, untold(*.wrong))]
    Wrong {
        from: String,
        wrong: usize,
        unit: Unit,
    },
}

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Unit {
    Line,
    /// Of a file that is one object with many entries.
    Entry,
}

impl Unit {
    fn count(self, n: usize) -> String {
        match self {
            Self::Line => listing::count(n, "line"),
            Self::Entry if n == 1 => "1 entry".to_owned(),
            Self::Entry => format!("{} entries", thousands(n)),
        }
    }

    /// `talk.jsonl:7`
    fn place(self, from: &Source, number: usize) -> String {
        match self {
            Self::Line => format!("{}:{number}", from.name()),
            Self::Entry => format!("{}, entry {number}", from.name()),
        }
    }
}

impl Hint for ImportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("fix the file and import it again".into())
    }
}

/// What is said of wrong lines beyond those that were told.
fn untold(wrong: usize) -> String {
    match wrong.saturating_sub(MAX_TOLD) {
        0 => String::new(),
        more => format!(", {} more not shown", thousands(more)),
    }
}

/// Wrong lines, as far as they are told.
#[derive(Debug)]
pub(super) struct Flaws<F> {
    unit: Unit,
    told: Vec<(usize, F)>,
    wrong: usize,
}

impl<F: Display + Hint> Flaws<F> {
    pub(super) fn of(unit: Unit) -> Self {
        Self {
            unit,
            told: Vec::new(),
            wrong: 0,
        }
    }

    pub(super) fn add(&mut self, line: usize, flaw: F) {
        self.wrong += 1;
        if self.told.len() < MAX_TOLD {
            self.told.push((line, flaw));
        }
    }

    /// Tells them, each hint once, and refuses the import if there are any.
    pub(super) fn refuse(self, from: &Source, output: &mut Output) -> Result<(), CliError> {
        let mut hinted = BTreeSet::new();
        for (number, flaw) in &self.told {
            let hint = flaw.hint().filter(|hint| hinted.insert(hint.to_string()));
            let place = self.unit.place(from, *number);
            output.error(&format!("{place}: {flaw}"), hint.as_deref());
        }
        match self.wrong {
            0 => Ok(()),
            wrong => Err(ImportError::Wrong {
                from: from.name(),
                wrong,
                unit: self.unit,
            }
            .into()),
        }
    }
}
