//! Taking back what was captured: the line leaves the files, the receipt says so. Unit: one capture.
//!
//! Invariant: only the line that was written is removed; one that a person changed since stays, and that is told.

use std::borrow::Cow;

use super::Parts;
use super::capturing::bullet;
use crate::chat::Timestamp;
use crate::hint::Hint;
use crate::notes::{Line, NotesError, Receipt, ReceiptsError};

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    pub receipt: Receipt,
    /// Files that no longer have it.
    pub from: Vec<String>,
    /// Files in which the line is not as it was written.
    pub changed: Vec<String>,
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
pub enum NotForgotten {
    #[error("nothing was captured under number {number}")]
    NoSuch { number: u64 },
    #[error("number {number} was taken back before")]
    Already { number: u64 },
    #[error(transparent)]
    Receipts(#[from] ReceiptsError),
    #[error(transparent)]
    Notes(#[from] NotesError),
}

impl Hint for NotForgotten {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NoSuch { .. } | Self::Already { .. } => {
                Some("`/memory list` shows what there is".into())
            }
            Self::Receipts(_) => None,
            Self::Notes(error) => error.hint().map(|hint| hint.into_owned().into()),
        }
    }
}

impl Parts {
    /// Takes back the capture of a number.
    pub fn forget(&self, number: u64, now: Timestamp) -> Result<Forgotten, NotForgotten> {
        let receipts = self.receipts.all()?;
        let receipt = receipts
            .into_iter()
            .find(|receipt| receipt.number == number);
        let receipt = receipt.ok_or(NotForgotten::NoSuch { number })?;
        if receipt.forgotten {
            return Err(NotForgotten::Already { number });
        }
        let mut forgotten = Forgotten {
            from: Vec::new(),
            changed: Vec::new(),
            receipt,
        };
        for file in forgotten.receipt.what.files.clone() {
            if self.remove(&forgotten.receipt, &file)? {
                forgotten.from.push(file);
            } else {
                forgotten.changed.push(file);
            }
        }
        self.receipts.forget(number, now)?;
        Ok(forgotten)
    }

    /// Removes the line of a capture from a file; `false` where no line is as it was written.
    fn remove(&self, receipt: &Receipt, file: &str) -> Result<bool, NotesError> {
        let text = bullet(&receipt.what.category, &receipt.what.text);
        if file == "MEMORY.md" {
            let memory = self.workspace.long_term();
            let lines = memory.lines()?;
            let line = newest(&lines, |line| {
                line.trim_start().strip_prefix("- ") == Some(&text)
            });
            return line.map_or(Ok(false), |line| memory.remove(line).map(|()| true));
        }
        let Ok(session) = receipt.what.session.parse() else {
            return Ok(false);
        };
        let notes = self.workspace.session(&session);
        let state = notes.state();
        let lines = state.lines()?;
        let line = newest(&lines, |line| line.ends_with(&text));
        line.map_or(Ok(false), |line| state.remove(line).map(|()| true))
    }
}

fn newest(lines: &[Line], is_it: impl Fn(&str) -> bool) -> Option<&Line> {
    lines.iter().rev().find(|line| is_it(&line.text))
}
