//! The project folder: the only place where the tools for files work.
//!
//! It is opened once, and everything else is opened from that handle, each link resolved beneath it by the system
//! (`openat2` on Linux). Between a look at a path and its opening nothing can lead out, since nothing is looked at by
//! its whole path. Invariant: no method reads or changes what lies outside, and none waits for a pipe or a device.

mod error;
mod locate;
mod replace;
mod resolve;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::tools::Failure;

pub use error::ProjectError;

/// An open project folder.
#[derive(Debug)]
pub struct Project {
    root: Dir,
    /// Without links.
    path: PathBuf,
    /// As it was opened, absolute.
    given: PathBuf,
}

impl Project {
    pub fn open(path: &Path) -> io::Result<Self> {
        let given = std::path::absolute(path)?;
        Ok(Self {
            root: Dir::open_ambient_dir(path, ambient_authority())?,
            path: path.canonicalize()?,
            given: locate::flat(&given).unwrap_or(given),
        })
    }

    /// Where the folder is, absolute and without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a model wrote as a path, relative to the folder; `.` is the folder itself. Nothing is opened: a link may
    /// still lead out, which whatever opens the path will refuse.
    pub fn locate(&self, text: &str) -> Result<PathBuf, Failure> {
        locate::locate(text, &[&self.path, &self.given])
    }

    /// The whole of a file, if it has at most `limit` bytes.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ProjectError> {
        let file = self.open_file(path)?;
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| ProjectError::of(path, source))?;
        if bytes.len() as u64 > limit {
            return Err(ProjectError::TooLarge {
                path: path.to_owned(),
                limit,
            });
        }
        Ok(bytes)
    }

    /// What a file holds, or `None` where there is none.
    pub fn read_if_there(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ProjectError> {
        match self.read(path, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ProjectError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A regular file, to read.
    pub fn open_file(&self, path: &Path) -> Result<File, ProjectError> {
        open_regular(&self.root, path)
    }

    /// Of a file or a folder; a link is followed.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ProjectError> {
        self.root
            .metadata(path)
            .map_err(|source| ProjectError::of(path, source))
    }

    /// A folder, to list.
    pub fn folder(&self, path: &Path) -> Result<Dir, ProjectError> {
        if self.metadata(path)?.is_dir() {
            self.root
                .open_dir(path)
                .map_err(|source| ProjectError::of(path, source))
        } else {
            Err(ProjectError::NotAFolder {
                path: path.to_owned(),
            })
        }
    }
}

/// Opens what has an end. The kind is looked at before, since opening a device may already do something, and again
/// at the handle, which is what counts.
pub(super) fn open_regular(folder: &Dir, path: &Path) -> Result<File, ProjectError> {
    let of = |source| ProjectError::of(path, source);
    ensure_regular(path, &folder.metadata(path).map_err(of)?)?;
    let file = folder.open_with(path, at_once().read(true)).map_err(of)?;
    ensure_regular(path, &file.metadata().map_err(of)?)?;
    Ok(file.into_std())
}

fn ensure_regular(path: &Path, metadata: &Metadata) -> Result<(), ProjectError> {
    let path = path.to_owned();
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(ProjectError::Folder { path })
    } else {
        Err(ProjectError::Special { path })
    }
}

/// Opening that waits for nobody at the other end of a pipe.
fn at_once() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options
}

#[cfg(test)]
mod tests;
