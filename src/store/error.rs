//! Why a session cannot be kept or read, each error with its path; and why a folder takes nothing at all: the folder
//! itself is asked, as an error of one file is no reason to say so.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use rustix::process::geteuid;

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
            Self::Io { action, source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied if READS.contains(action) => {
                    Some("make it readable, or choose another data folder with --data-dir".into())
                }
                io::ErrorKind::FileTooLarge => {
                    Some("a limit on the size of files is set (`ulimit -f`): raise it".into())
                }
                _ => None,
            },
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritable {
    Denied,
    /// The whole file system is mounted read-only.
    ReadOnly,
    Full,
    /// There is no such folder, and none can be made.
    NoPlace,
}

impl Unwritable {
    /// The reason that an error gives of something in this folder; `None` for one that concerns a single file.
    pub fn by(error: &io::Error, folder: &Path) -> Option<Self> {
        match error.kind() {
            // Those are the matter of a whole disk.
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(Self::Full),
            io::ErrorKind::ReadOnlyFilesystem => Some(Self::ReadOnly),
            io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => Self::of(folder),
            _ => None,
        }
    }

    /// Asks a folder, which may have to be made first. Root may write everywhere, and into what is kept free for it, so
    /// its disk is asked, too.
    pub fn of(folder: &Path) -> Option<Self> {
        let above = match creatable(folder) {
            Ok(above) => above,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::PermissionDenied => Some(Self::Denied),
                    io::ErrorKind::ReadOnlyFilesystem => Some(Self::ReadOnly),
                    _ => None,
                };
            }
        };
        let room = statvfs(above).ok()?;
        let free = if geteuid().is_root() {
            room.f_bfree
        } else {
            room.f_bavail
        };
        // What the kernel makes up, as in `/proc`, has no blocks, and takes no folders.
        match room.f_blocks {
            0 => (above != folder).then_some(Self::NoPlace),
            _ => (free == 0).then_some(Self::Full),
        }
    }

    pub fn why(self) -> &'static str {
        match self {
            Self::Denied => "permission denied",
            Self::ReadOnly => "the file system is read-only",
            Self::Full => "the disk is full",
            Self::NoPlace => "the folder cannot be created",
        }
    }

    pub fn remedy(self) -> &'static str {
        match self {
            Self::Denied => "make the data folder writable, or choose another with --data-dir",
            Self::Full => "free some disk space, or choose another data folder with --data-dir",
            Self::ReadOnly | Self::NoPlace => "choose another data folder with --data-dir",
        }
    }
}

/// Returns the folder itself or the nearest one above that is there, if something can be made in it.
pub fn creatable(root: &Path) -> io::Result<&Path> {
    let above = root.ancestors().find(|folder| folder.exists());
    let above = above.ok_or(io::ErrorKind::NotFound)?;
    access(above, Access::WRITE_OK | Access::EXEC_OK)?;
    Ok(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of one journal was taken for one of the whole data folder, and the file was not named.
    #[test]
    fn an_error_of_one_file_says_nothing_of_its_folder() {
        let data = tempfile::tempdir().unwrap();
        let removed = data.path().join("history");
        for (kind, folder, expected) in [
            (io::ErrorKind::PermissionDenied, data.path(), None),
            (io::ErrorKind::NotFound, removed.as_path(), None),
            (
                io::ErrorKind::StorageFull,
                data.path(),
                Some(Unwritable::Full),
            ),
            (
                io::ErrorKind::ReadOnlyFilesystem,
                data.path(),
                Some(Unwritable::ReadOnly),
            ),
        ] {
            assert_eq!(Unwritable::by(&kind.into(), folder), expected, "{kind}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_cannot_be_made_takes_nothing() {
        assert!(Unwritable::of(Path::new("/proc/none/history")).is_some());
    }
}
