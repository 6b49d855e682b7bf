//! Why a file of the workspace could not be read or changed; it is then as it was.

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
    #[error("cannot use the rules in {}: {why}", .path.display())]
    NotRules { path: PathBuf, why: &'static str },
    /// Too large to change a part of it; what is added at its end still is.
    #[error("{} is larger than {} MiB, so its lines are not changed", .path.display(), .limit >> 20)]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("another cogtrix{} is writing to {}", pid_of(*.pid), .folder.display())]
    Locked { folder: PathBuf, pid: Option<u32> },
    /// Somebody changed or removed it meanwhile.
    #[error("{} no longer has this line: {line:?}", .path.display())]
    Gone { path: PathBuf, line: String },
    /// The line has moved, and there are several like it.
    #[error("{} now has this line more than once: {line:?}", .path.display())]
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
                "check the folder's permissions, or choose another workspace with --workspace"
            }
            Self::NotText { .. } => "save the file as UTF-8, or move it away",
            Self::NotRules { .. } => {
                "put the rules themselves there, or a link to a file in the project"
            }
            Self::TooLarge { .. } => "move part of it to another file",
            Self::Locked { .. } => "it is retried with the next change",
            Self::Gone { .. } | Self::Ambiguous { .. } => "list the lines again",
        };
        Some(hint.into())
    }
}
