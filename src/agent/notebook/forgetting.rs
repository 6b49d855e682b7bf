//! Taking back what was captured: the line leaves the files, the receipt says so. Unit: one capture.
//!
//! Invariant: only the line that was written is removed; one that a person changed since stays, and that is told. A file that
//! cannot be changed keeps no other from being changed.

use std::borrow::Cow;

use super::captures::Captures;
use super::capturing::bullet;
use crate::chat::{SessionName, Timestamp};
use crate::hint::{Hint, chain};
use crate::notes::{Line, NotesError, Receipt, ReceiptsError};

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    pub receipt: Receipt,
    /// Files that no longer have it.
    pub from: Vec<String>,
    /// Files in which the line is not as it was written.
    pub changed: Vec<String>,
    /// Files that could not be changed, each with why: the line may still be there.
    pub failed: Vec<(String, String)>,
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

impl Captures {
    /// Takes back the capture of a number. Where its session has no notes any more, those of the open one are looked at: it
    /// may have another name by now.
    pub fn forget(
        &self,
        number: u64,
        open: &SessionName,
        now: Timestamp,
    ) -> Result<Forgotten, NotForgotten> {
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
            failed: Vec::new(),
            receipt,
        };
        let mut failure = None;
        for file in forgotten.receipt.what.files.clone() {
            match self.remove(&forgotten.receipt, &file, open) {
                Ok(true) => forgotten.from.push(file),
                Ok(false) => forgotten.changed.push(file),
                Err(error) => {
                    forgotten.failed.push((file, chain(&error)));
                    failure = failure.or(Some(error));
                }
            }
        }
        // Where nothing was taken back it can be tried again; half of it done is done.
        if let Some(failure) = failure.filter(|_| forgotten.from.is_empty()) {
            return Err(failure.into());
        }
        self.receipts.forget(number, now)?;
        Ok(forgotten)
    }

    /// Removes the line of a capture from a file; `false` where no line is as it was written.
    fn remove(
        &self,
        receipt: &Receipt,
        file: &str,
        open: &SessionName,
    ) -> Result<bool, NotesError> {
        let text = bullet(&receipt.what.category, &receipt.what.text);
        if file == "MEMORY.md" {
            let memory = self.workspace.long_term();
            let lines = memory.lines()?;
            let line = newest(&lines, |line| {
                let written = line.trim_start().strip_prefix("- ");
                written.map(without_mark) == Some(&text)
            });
            return line.map_or(Ok(false), |line| memory.remove(line).map(|()| true));
        }
        let of = |session: &SessionName| self.workspace.session(session).state();
        let own = receipt.what.session.parse().ok().map(|name| of(&name));
        let state = match own {
            Some(own) if own.read()?.is_some() => own,
            Some(_) | None => of(open),
        };
        let lines = state.lines()?;
        let line = newest(&lines, |line| line.ends_with(&text));
        line.map_or(Ok(false), |line| state.remove(line).map(|()| true))
    }
}

/// A line that a later one took the place of is as it was written, but for the mark that says so.
fn without_mark(line: &str) -> &str {
    let marked = line.strip_prefix("(superseded ");
    marked
        .and_then(|rest| rest.split_once(") "))
        .map_or(line, |(_, line)| line)
}

fn newest(lines: &[Line], is_it: impl Fn(&str) -> bool) -> Option<&Line> {
    lines.iter().rev().find(|line| is_it(&line.text))
}
