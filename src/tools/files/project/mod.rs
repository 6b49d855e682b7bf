//! The project folder: the only place where the tools for files work.
//!
//! It is opened once, and everything else is opened from that handle, each link resolved beneath it by the system
//! (`openat2` on Linux). Between a look at a path and its opening nothing can lead out, since nothing is looked at by
//! its whole path. Invariant: no method reads or changes what lies outside or in what is kept from tools, and
//! none waits for a pipe or a device.

mod error;
mod kept;
mod locate;
mod replace;
mod resolve;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

use crate::files::{Parents, Place, at_once, is_same};
use crate::tools::Failure;
use crate::tools::shell::PersonalGit;

pub use error::ProjectError;
use kept::Kept;

/// An open project folder.
#[derive(Debug)]
pub struct Project {
    root: Dir,
    /// Without links.
    path: PathBuf,
    /// As it was opened, absolute.
    given: PathBuf,
    kept: Kept,
    /// The person's configuration of git for all projects.
    pub(super) git: PersonalGit,
}

impl Project {
    pub fn open(path: &Path) -> io::Result<Self> {
        let given = std::path::absolute(path)?;
        Ok(Self {
            root: Dir::open_ambient_dir(path, ambient_authority())?,
            path: path.canonicalize()?,
            given: locate::flat(&given).unwrap_or(given),
            kept: Kept::default(),
            git: PersonalGit::default(),
        })
    }

    /// The same without these files and folders, wherever they are, and all that is in them.
    #[must_use]
    pub fn keeping(mut self, own: &[PathBuf]) -> Self {
        self.kept = Kept::new(own, &self.path);
        self
    }

    /// The same with what a person set for git.
    #[must_use]
    pub fn with_git(mut self, git: PersonalGit) -> Self {
        self.git = git;
        self
    }

    /// Returns where the folder is, absolute and without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what a model wrote as a path, relative to the folder; `.` is the folder itself. Nothing is opened: a
    /// link may still lead out, which whatever opens the path will refuse.
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

    /// Returns what a file holds, or `None` where there is none.
    pub fn read_if_there(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ProjectError> {
        match self.read(path, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ProjectError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A regular file, to read.
    pub fn open_file(&self, path: &Path) -> Result<File, ProjectError> {
        let place = self.place_of(path)?;
        self.open_in(&place.folder, &place.name, path)
    }

    /// A regular file in an open folder of the project; `path` is for the words of an error.
    pub(super) fn open_in(
        &self,
        folder: &Dir,
        name: impl AsRef<Path>,
        path: &Path,
    ) -> Result<File, ProjectError> {
        let (file, metadata) = open_regular(folder, name, path)?;
        self.ensure_not_kept(path, &metadata)?;
        Ok(file)
    }

    /// Of a file or a folder; a link is followed.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ProjectError> {
        let found = match self.place_of(path) {
            Ok(place) => place.metadata(),
            Err(ProjectError::Folder { .. }) => self.root.dir_metadata(),
            Err(error) => return Err(error),
        };
        let metadata = found.map_err(|source| ProjectError::of(path, source))?;
        self.ensure_not_kept(path, &metadata)?;
        Ok(metadata)
    }

    /// A folder, to list.
    pub fn folder(&self, path: &Path) -> Result<Dir, ProjectError> {
        if self.metadata(path)?.is_dir() {
            self.descend(path, &self.behind_links(path)?, Parents::Needed)
        } else {
            Err(ProjectError::NotAFolder {
                path: path.to_owned(),
            })
        }
    }

    /// Returns whether a folder that was found on a walk is none that may be gone into.
    pub(super) fn is_kept(&self, folder: &Metadata) -> bool {
        self.kept.is_one(folder)
    }

    /// Returns where a path to be read leads, every link followed.
    fn place_of(&self, path: &Path) -> Result<Place, ProjectError> {
        let real = self.behind_links(path)?;
        self.place_at(path, &real, Parents::Needed)
    }

    /// `real` is what `path` is without links.
    fn place_at(&self, path: &Path, real: &Path, parents: Parents) -> Result<Place, ProjectError> {
        let Some(name) = real.file_name() else {
            return Err(ProjectError::Folder {
                path: path.to_owned(),
            });
        };
        let folder = real.parent().unwrap_or(Path::new(""));
        Ok(Place {
            folder: self.descend(path, folder, parents)?,
            name: name.to_owned(),
        })
    }

    fn ensure_not_kept(&self, path: &Path, metadata: &Metadata) -> Result<(), ProjectError> {
        if self.kept.is_one(metadata) {
            return Err(ProjectError::Kept {
                path: path.to_owned(),
            });
        }
        Ok(())
    }
}

/// Opens what has an end, by its name in a folder; `path` is for the words of an error. The kind is looked at before,
/// since opening a device may already do something, and again at the handle, which is what counts.
fn open_regular(
    folder: &Dir,
    name: impl AsRef<Path>,
    path: &Path,
) -> Result<(File, Metadata), ProjectError> {
    let (name, of) = (name.as_ref(), |source| ProjectError::of(path, source));
    ensure_regular(path, &folder.symlink_metadata(name).map_err(of)?)?;
    let file = folder.open_with(name, at_once().read(true)).map_err(of)?;
    let metadata = file.metadata().map_err(of)?;
    ensure_regular(path, &metadata)?;
    // Looked at after it was opened: a link that was put there meanwhile leads to a file of another number.
    if !is_same(&folder.symlink_metadata(name).map_err(of)?, &metadata) {
        return Err(of(io::Error::other(
            "it changed in the meantime; try again",
        )));
    }
    Ok((file.into_std(), metadata))
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

#[cfg(test)]
mod tests;
