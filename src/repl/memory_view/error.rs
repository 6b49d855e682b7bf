//! Why nothing was shown or taken back.

use std::borrow::Cow;

use super::Caller;
use crate::hint::Hint;
use crate::long_term::entries::EntriesError;
use crate::long_term::notes::{NotesError, ReceiptsError};

#[derive(Debug, thiserror::Error)]
pub enum MemoryViewError {
    #[error("memory has no entry, note or file {name:?}")]
    Unknown { name: String },
    #[error("no note {digits}")]
    NoNumber { digits: String },
    #[error("number {number} was already forgotten")]
    Already { number: u64 },
    #[error("no match for {words:?}; nothing forgotten")]
    NothingSays { words: String },
    #[error("nothing to forget")]
    NothingKept,
    #[error("nothing was saved in the last turn")]
    LastKeptNothing { name: String, text: String },
    #[error("file {name} does not exist yet")]
    NoFile { name: String },
    #[error("a private session cannot edit files; this one is {path}")]
    Private { path: String },
    #[error(transparent)]
    Entries(#[from] EntriesError),
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error(transparent)]
    Receipts(#[from] ReceiptsError),
}

impl MemoryViewError {
    /// What can be done about it where it was asked for.
    pub fn hint_for(&self, caller: Caller) -> Option<Cow<'_, str>> {
        let list = |words: &str| Some(format!("{} {words}", caller.command("list")).into());
        let files = caller.files();
        match self {
            Self::Unknown { .. } => list(&format!(
                "shows entries and notes, {files} the files; other files are not shown"
            )),
            Self::NoNumber { .. } => Some(format!("{} lists all numbers", caller.all()).into()),
            Self::NoFile { .. } => Some(format!("{files} lists existing files").into()),
            Self::Private { .. } => {
                Some("edit it directly, or in a session that is not private".into())
            }
            Self::Already { .. } | Self::NothingKept | Self::NothingSays { .. } => {
                list("shows what there is")
            }
            Self::Entries(error) => entries_hint(error, caller),
            Self::Notes(error) => error.hint().map(|hint| hint.into_owned().into()),
            Self::LastKeptNothing { name, text } => {
                let forget = caller.command(&format!("forget {name}"));
                Some(format!("{forget} removes the newest note, \"{text}\"").into())
            }
            Self::Receipts(_) => None,
        }
    }
}

impl Hint for MemoryViewError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.hint_for(Caller::Chat)
    }
}

/// What can be done about a mistake with an entry: commands have other names in a chat than outside of it.
pub fn entries_hint(error: &EntriesError, caller: Caller) -> Option<Cow<'_, str>> {
    match error {
        EntriesError::Missing { .. } => {
            Some(format!("{} shows them", caller.command("list")).into())
        }
        EntriesError::Ambiguous { found, .. } => {
            let each = found.iter().map(|(scope, id)| {
                let forget = caller.command(&format!("forget {id}"));
                format!("{forget} removes the one in {scope}")
            });
            Some(each.collect::<Vec<_>>().join(", ").into())
        }
        other => other.hint(),
    }
}
