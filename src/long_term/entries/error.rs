//! Why an entry is not kept, found or written, and what the person should hear of a file.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use super::entry::{EntryId, Scope};
use crate::hint::Hint;

#[derive(Debug, thiserror::Error)]
pub enum EntriesError {
    #[error("nothing to save: the content is empty")]
    Empty,
    #[error("the {what} has {chars} characters, the limit is {max}; shorten it")]
    TooLong {
        what: &'static str,
        chars: usize,
        max: usize,
    },
    #[error("global entries are disabled: memory.store.allow_global is false")]
    NoGlobal,
    #[error(
        "nothing is saved to disk: memory.backend is none; only the session scope is available"
    )]
    NoFiles,
    #[error("no entry has the id or key {name:?}{}", in_scope(*.scope))]
    Missing { name: String, scope: Option<Scope> },
    #[error("{name:?} exists in several scopes: {}; choose one with scope", words(.found))]
    Ambiguous {
        name: String,
        found: Vec<(Scope, EntryId)>,
    },
    #[error("scope {scope} would have {would} entries, the limit is {max}")]
    TooMany {
        scope: Scope,
        would: usize,
        max: usize,
    },
    #[error("the key {key:?} now belongs to another entry")]
    KeyTaken { key: String },
    #[error("cannot {action} {}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is larger than {} MiB, so it is neither read nor changed", path.display(), max >> 20)]
    TooLarge { path: PathBuf, max: u64 },
    #[error("{} is being written by another process{}", path.display(), pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Locked { path: PathBuf, pid: Option<u32> },
    #[error("{} has version {found}, but this program supports {known}", path.display())]
    Newer {
        path: PathBuf,
        found: String,
        known: u64,
    },
}

fn in_scope(scope: Option<Scope>) -> String {
    scope.map_or_else(String::new, |scope| format!(" in scope {scope}"))
}

fn words(found: &[(Scope, EntryId)]) -> String {
    let words: Vec<&str> = found.iter().map(|(scope, _)| scope.as_str()).collect();
    words.join(", ")
}

impl Hint for EntriesError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::TooLarge { .. } => Some("move part of it to another file".into()),
            Self::Newer { .. } => Some("nothing was changed; use a newer cogtrix".into()),
            Self::KeyTaken { .. } => Some("remove that entry first".into()),
            Self::TooMany { .. } => {
                Some("nothing was changed; raise memory.store.max_entries, or import less".into())
            }
            // Which command helps is known where one was typed.
            Self::Missing { .. }
            | Self::Empty
            | Self::TooLong { .. }
            | Self::NoGlobal
            | Self::NoFiles
            | Self::Ambiguous { .. }
            | Self::Io { .. }
            | Self::Locked { .. } => None,
        }
    }
}

/// What became of a file of entries that did not parse, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the memory file {file} was damaged: recovered {entries} entries, saved the damaged file as {kept_as}"
)]
pub struct Recovered {
    pub file: PathBuf,
    pub kept_as: PathBuf,
    pub entries: usize,
}
