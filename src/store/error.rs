//! Why a session cannot be kept or read. Every error names its path.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use super::Unwritable;
use crate::chat::SessionName;
use crate::hint::Hint;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {action} {}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// It is no matter of one file.
    #[error("nothing can be saved in {}: {}", folder.display(), why.why())]
    Unwritable { folder: PathBuf, why: Unwritable },
    #[error("session {name} is open in another process{}", pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Locked { name: SessionName, pid: Option<u32> },
    #[error("{} has version {found}, but this program supports {known}", path.display())]
    Newer {
        path: PathBuf,
        found: String,
        known: u64,
    },
    #[error("no session {name}")]
    Missing {
        name: SessionName,
        /// The one that was likely meant.
        near: Option<SessionName>,
    },
    #[error("no session {name}{} in the trash", if times.is_empty() { "" } else { " from that time" })]
    NotInTrash {
        name: SessionName,
        /// When sessions of this name were discarded that are there, but not meant.
        times: Vec<String>,
    },
    #[error("session {name} already exists")]
    Taken { name: SessionName },
    #[error("session {name} already exists, so none of that name can be restored")]
    InTheWay { name: SessionName },
    #[error("session {name} was changed by another process")]
    Changed { name: SessionName },
}

impl Hint for StoreError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Locked { .. } => Some("close it there, or choose another name".into()),
            Self::Newer { .. } => Some("nothing was changed; use a newer cogtrix".into()),
            Self::Missing {
                near: Some(near), ..
            } => Some(format!("did you mean {near}? `cogtrix sessions` lists them").into()),
            Self::Missing { near: None, .. } => Some("`cogtrix sessions` lists them".into()),
            Self::NotInTrash { times, .. } if !times.is_empty() => {
                Some(format!("deleted: {}", times.join(", ")).into())
            }
            Self::NotInTrash { .. } => {
                Some("the `trash` folder in the data folder holds what was deleted".into())
            }
            Self::Taken { .. } => Some("choose another name".into()),
            Self::InTheWay { .. } => {
                Some("rename that one first, with `cogtrix sessions rename`".into())
            }
            Self::Changed { .. } => Some("nothing was written; try again".into()),
            Self::Unwritable { why, .. } => Some(why.remedy().into()),
            Self::Io { .. } => None,
        }
    }
}

impl StoreError {
    /// Why nothing can be written, where it is no matter of one file.
    pub fn unwritable(&self) -> Option<Unwritable> {
        match self {
            Self::Unwritable { why, .. } => Some(*why),
            Self::Io { .. }
            | Self::Locked { .. }
            | Self::Newer { .. }
            | Self::Missing { .. }
            | Self::NotInTrash { .. }
            | Self::Taken { .. }
            | Self::InTheWay { .. }
            | Self::Changed { .. } => None,
        }
    }
}

/// What is done to files that need not be written.
const READS: [&str; 2] = ["read", "list"];

/// Says what was done to which file when it failed.
pub(super) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, StoreError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, StoreError> {
        self.map_err(|source| {
            let folder = path.parent().filter(|_| !READS.contains(&action));
            let why = folder.and_then(|folder| Unwritable::by(&source, folder));
            match folder.zip(why) {
                Some((folder, why)) => StoreError::Unwritable {
                    folder: folder.to_owned(),
                    why,
                },
                None => StoreError::Io {
                    action,
                    path: path.to_owned(),
                    source,
                },
            }
        })
    }
}
