//! Why something in the project folder could not be had, in words a model can act on.

use std::io;
use std::path::{Path, PathBuf};

use crate::tools::Failure;
use crate::tools::files::words::{shown, size};

/// Paths are relative to the project folder.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("{} leads outside the project folder, which tools may not access", shown(.path))]
    Outside { path: PathBuf },
    #[error("{} does not exist in the project folder", shown(.path))]
    Missing { path: PathBuf },
    #[error("{} is a folder, not a file", shown(.path))]
    Folder { path: PathBuf },
    #[error("{} is not a folder", shown(.path))]
    NotAFolder { path: PathBuf },
    #[error("{} is a pipe, a socket or a device, not a file", shown(.path))]
    Special { path: PathBuf },
    #[error("{} is inside .git, where tools may not write", shown(.path))]
    Git { path: PathBuf },
    #[error("{} belongs to cogtrix or holds keys, and tools may not access it", shown(.path))]
    Kept { path: PathBuf },
    #[error("{} is larger than {}", shown(.path), size(*.limit))]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{}: {source}", shown(.path))]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl ProjectError {
    pub(super) fn of(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            // The system has no number for it: it is the handle's own refusal.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                Self::Outside { path }
            }
            _ => Self::Io { path, source },
        }
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Self {
        Self::of(error)
    }
}
