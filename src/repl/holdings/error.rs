//! Why nothing was shown or taken back.

use std::borrow::Cow;

use crate::agent::notebook::NotForgotten;
use crate::entries::EntriesError;
use crate::hint::Hint;
use crate::notes::{NotesError, ReceiptsError};

#[derive(Debug, thiserror::Error)]
pub enum HoldingsError {
    #[error("memory has no entry, capture or file {name:?}")]
    Unknown { name: String },
    #[error("nothing was captured under number {digits}")]
    NoNumber { digits: String },
    #[error("there is no file {name} yet")]
    NoFile { name: String },
    #[error("a private session changes no file; this one is {path}")]
    Private { path: String },
    #[error(transparent)]
    Forget(#[from] NotForgotten),
    #[error(transparent)]
    Entries(#[from] EntriesError),
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error(transparent)]
    Receipts(#[from] ReceiptsError),
}

impl Hint for HoldingsError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Unknown { .. } => Some(
                "`/memory list` shows entries and captures, `/memory layers` the files; other files are not shown"
                    .into(),
            ),
            Self::NoNumber { .. } => Some("`/memory list all` shows every number".into()),
            Self::NoFile { .. } => Some("`/memory layers` shows those that are there".into()),
            Self::Private { .. } => Some("edit it by hand, or in a session that is kept".into()),
            Self::Forget(error) => error.hint(),
            Self::Entries(error) => error.hint(),
            Self::Notes(error) => error.hint(),
            Self::Receipts(_) => None,
        }
    }
}
