//! A folder as a capability, for names that somebody else chose: nothing outside of it is read or changed, and no link
//! is followed, wherever it stands on the way. Unit: a path relative to the folder, of plain names.
//!
//! Everything is opened from the handle of the folder one name at a time, and what is open is compared with what has
//! that name, so that a link put there in between leads nowhere. Files are replaced whole, and what is done is synced.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Component, Path};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata};

use super::place::{Owner, Parents, Place, at_once, is_same, make_folder, sync};

/// An open folder.
#[derive(Debug)]
pub struct Folder(pub(super) Dir);

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub kind: EntryKind,
    /// Bytes of a file.
    pub size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, a pipe, a device: nothing that is gone into.
    Other,
}

/// Why something in a folder was not had.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("does not exist")]
    Missing,
    #[error("already exists")]
    Exists,
    #[error("is a folder")]
    IsFolder,
    #[error("is not a folder")]
    NotAFolder,
    #[error("is a link or not a regular file")]
    Other,
    #[error("is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    /// Not of plain names.
    #[error("is not a path inside the folder")]
    Outside,
    #[error("{0}")]
    Io(#[source] io::Error),
}

impl From<io::Error> for FolderError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::AlreadyExists => Self::Exists,
            io::ErrorKind::NotADirectory => Self::NotAFolder,
            io::ErrorKind::IsADirectory => Self::IsFolder,
            _ => Self::Io(error),
        }
    }
}

impl Folder {
    /// Opens a folder at a person's own path, where links are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(Self)
    }

    /// A folder in it.
    pub fn inner(&self, path: &Path) -> Result<Self, FolderError> {
        self.descend(path, Parents::Needed).map(Self)
    }

    /// The same, made if it is not there.
    pub fn inner_made(&self, path: &Path) -> Result<Self, FolderError> {
        self.descend(path, Parents::Created).map(Self)
    }

    /// Returns what is in it, by name.
    pub fn entries(&self) -> Result<Vec<Entry>, FolderError> {
        let mut entries = Vec::new();
        for entry in self.0.entries()? {
            let name = entry?.file_name();
            match self.0.symlink_metadata(&name) {
                Ok(metadata) => entries.push(Entry {
                    name,
                    kind: kind_of(&metadata),
                    size: metadata.len(),
                }),
                // Gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Returns what is there.
    pub fn kind(&self, path: &Path) -> Result<EntryKind, FolderError> {
        Ok(kind_of(&self.place(path, Parents::Needed)?.metadata()?))
    }

    /// The whole of a file, if it has at most `limit` bytes.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FolderError> {
        let file = open(&self.place(path, Parents::Needed)?)?;
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(FolderError::TooLarge { limit });
        }
        Ok(bytes)
    }

    /// Makes a file that is not there yet, and the folders on the way.
    pub fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
        let place = self.place(path, Parents::Created)?;
        match place.metadata() {
            Ok(_) => Err(FolderError::Exists),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(place.unfinished(bytes, Owner::Cogtrix)?.put()?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Puts another content into a file that is there.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
        let place = self.place(path, Parents::Needed)?;
        ensure_file(&place.metadata()?)?;
        Ok(place.unfinished(bytes, Owner::Cogtrix)?.put()?)
    }

    /// Removes a file, a link, or a folder with all that is in it.
    pub fn remove(&self, path: &Path) -> Result<(), FolderError> {
        let Place { folder, name } = self.place(path, Parents::Needed)?;
        if folder.symlink_metadata(&name)?.is_dir() {
            folder.remove_dir_all(&name)?;
        } else {
            folder.remove_file(&name)?;
        }
        Ok(sync(&folder)?)
    }

    /// Gives a file or a folder another name, which nothing has yet.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), FolderError> {
        let from = self.place(from, Parents::Needed)?;
        if kind_of(&from.metadata()?) == EntryKind::Other {
            return Err(FolderError::Other);
        }
        let to = self.place(to, Parents::Created)?;
        from.rename(&to)?;
        sync(&to.folder)?;
        Ok(sync(&from.folder)?)
    }

    fn place(&self, path: &Path, parents: Parents) -> Result<Place, FolderError> {
        let name = path.file_name().ok_or(FolderError::Outside)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        Ok(Place {
            folder: self.descend(parent, parents)?,
            name: name.to_owned(),
        })
    }

    fn descend(&self, path: &Path, parents: Parents) -> Result<Dir, FolderError> {
        let mut at = self.0.try_clone()?;
        for name in path.components() {
            let Component::Normal(name) = name else {
                return Err(FolderError::Outside);
            };
            at = step(&at, Path::new(name), parents)?;
        }
        Ok(at)
    }
}

fn step(at: &Dir, name: &Path, parents: Parents) -> Result<Dir, FolderError> {
    match at.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => return Err(FolderError::Other),
        Ok(metadata) if !metadata.is_dir() => return Err(FolderError::NotAFolder),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound && parents == Parents::Created => {
            make_folder(at, name)?;
            sync(at)?;
        }
        Err(error) => return Err(error.into()),
    }
    let found = at.open_dir(name)?;
    if is_same(&at.symlink_metadata(name)?, &found.dir_metadata()?) {
        Ok(found)
    } else {
        Err(FolderError::Other)
    }
}

fn open(place: &Place) -> Result<File, FolderError> {
    ensure_file(&place.metadata()?)?;
    // What was a file a moment ago may be a pipe by now, which is not waited for.
    let file = place.folder.open_with(&place.name, at_once().read(true))?;
    if is_same(&place.metadata()?, &file.metadata()?) {
        Ok(file)
    } else {
        Err(FolderError::Other)
    }
}

fn ensure_file(metadata: &Metadata) -> Result<(), FolderError> {
    match kind_of(metadata) {
        EntryKind::File => Ok(()),
        EntryKind::Folder => Err(FolderError::IsFolder),
        EntryKind::Other => Err(FolderError::Other),
    }
}

fn kind_of(metadata: &Metadata) -> EntryKind {
    if metadata.is_file() {
        EntryKind::File
    } else if metadata.is_dir() {
        EntryKind::Folder
    } else {
        EntryKind::Other
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::files::{Disk, LocalDisk};

    #[test]
    fn no_link_is_followed_wherever_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("in/real")).unwrap();
        std::fs::create_dir_all(at("out")).unwrap();
        Disk::replace(&LocalDisk, &at("out/secret"), "s".as_ref()).unwrap();
        symlink(at("out"), at("in/way")).unwrap();
        symlink("real", at("in/near")).unwrap();
        symlink(at("out/secret"), at("in/file")).unwrap();
        let open = Folder::open(&at("in")).unwrap();
        for path in [
            "way/secret",
            "near/x",
            "file",
            "../out/secret",
            "/etc/passwd",
        ] {
            let path = Path::new(path);
            assert!(open.read(path, 9).is_err(), "{}", path.display());
            assert!(open.replace(path, b"x").is_err(), "{}", path.display());
            assert!(open.create(path, b"x").is_err(), "{}", path.display());
            assert!(
                open.rename(Path::new("real"), path).is_err(),
                "{}",
                path.display()
            );
        }
        open.remove(Path::new("way")).unwrap();
        assert_eq!(std::fs::read(at("out/secret")).unwrap(), b"s");
        assert_eq!(std::fs::read_dir(at("out")).unwrap().count(), 1);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.path().join("pipe"),
            kind,
            0o600.into(),
            0,
        )
        .unwrap();
        let open = Folder::open(folder.path()).unwrap();
        let found = open.read(Path::new("pipe"), 9);
        assert!(matches!(found, Err(FolderError::Other)), "{found:?}");
    }

    #[test]
    fn files_are_made_changed_renamed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::open(folder.path()).unwrap();
        let path = Path::new;
        open.create(path("a/b"), b"1").unwrap();
        assert!(matches!(
            open.create(path("a/b"), b"2"),
            Err(FolderError::Exists)
        ));
        open.replace(path("a/b"), b"3").unwrap();
        assert!(matches!(
            open.read(path("a/b"), 0),
            Err(FolderError::TooLarge { limit: 0 })
        ));
        open.rename(path("a/b"), path("c/d")).unwrap();
        assert_eq!(open.read(path("c/d"), 1).unwrap(), b"3");
        open.remove(path("c")).unwrap();
        let names: Vec<_> = open
            .entries()
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(names, ["a"]);
    }
}
