//! Why a file of the workspace could not be read or changed; it is then as it was. Unit: one file.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::hint::Hint;

#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    #[error("cannot {action} {}", .path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Kept byte for byte.
    #[error("{} is not UTF-8, so it is neither read nor changed", .path.display())]
    NotText { path: PathBuf },
    #[error("the rules in {} are not read: {why}", .path.display())]
    NotRules { path: PathBuf, why: &'static str },
    /// Too large to change a part of it; what is added at its end still is.
    #[error("{} is larger than {} MiB, so no line of it is changed", .path.display(), .limit >> 20)]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("another cogtrix{} is writing in {}", pid_of(*.pid), .folder.display())]
    Locked { folder: PathBuf, pid: Option<u32> },
    /// Somebody changed or removed it meanwhile.
    #[error("{} has no such line any more: {line:?}", .path.display())]
    Gone { path: PathBuf, line: String },
    /// The line has moved, and there are several like it.
    #[error("{} has that line more than once by now: {line:?}", .path.display())]
    Ambiguous { path: PathBuf, line: String },
}

impl NotesError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

fn pid_of(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

impl Hint for NotesError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Io { .. } => {
                "look at the folder's permissions, or name another workspace with --workspace"
            }
            Self::NotText { .. } => "save the file as UTF-8, or move it away",
            Self::NotRules { .. } => {
                "put the rules themselves there, or a link to a file of the project"
            }
            Self::TooLarge { .. } => "move a part of it to another file",
            Self::Locked { .. } => "it is tried again with the next change",
            Self::Gone { .. } | Self::Ambiguous { .. } => "list the lines again",
        };
        Some(hint.into())
    }
}
