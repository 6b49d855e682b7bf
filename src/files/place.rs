//! A name in an open folder, and how a file comes to have it: whole or not at all. Unit: one name; no link is followed,
//! and what is done is synced.

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, DirBuilder, Metadata, OpenOptions, Permissions};

const TEMPORARY_END: &str = ".tmp";
const TEMPORARY_LETTERS: usize = 6;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The file that a leftover temporary file was meant to become, if the name is one of those.
pub fn temporary_for(file_name: &str) -> Option<&str> {
    let inner = file_name.strip_prefix('.')?.strip_suffix(TEMPORARY_END)?;
    let (target, letters) = inner.rsplit_once('.')?;
    let random = letters.len() == TEMPORARY_LETTERS
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (random && !target.is_empty()).then_some(target)
}

/// A name in an open folder.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: Dir,
    pub(crate) name: OsString,
}

/// What becomes of folders on the way that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parents {
    Created,
    Needed,
}

/// Whose a new file is, which decides who may read it and what its temporary file is called.
pub(crate) enum Owner {
    /// Ours: for its owner alone; [`temporary_for`] knows what is left of it.
    Cogtrix,
    /// A person's: with these permissions, or those of any new file. Their name for it may leave no room for more
    /// letters.
    Person(Option<Permissions>),
}

/// A file with its whole content beside the place that it is for; removed when it is dropped.
pub(crate) struct Unfinished<'a> {
    place: &'a Place,
    /// `None` once it has its place.
    name: Option<PathBuf>,
}

impl Place {
    /// Of what has the name, which may be a link.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.folder.symlink_metadata(&self.name)
    }

    /// Writes and syncs a temporary file for this place.
    pub(crate) fn unfinished(&self, bytes: &[u8], owner: Owner) -> io::Result<Unfinished<'_>> {
        const TRIES: u32 = 100;
        let (beginning, mut options, permissions) = match owner {
            Owner::Cogtrix => (format!("{}.", self.name.display()), private(), None),
            Owner::Person(mode) => ("cogtrix-".to_owned(), OpenOptions::new(), mode),
        };
        options.write(true).create_new(true);
        for _ in 0..TRIES {
            let name = PathBuf::from(format!(".{beginning}{}{TEMPORARY_END}", letters()));
            let mut file = match self.folder.open_with(&name, &options) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            let unfinished = Unfinished {
                place: self,
                name: Some(name),
            };
            // First, so that nobody reads in between what only some may.
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.write_all(bytes)?;
            file.sync_all()?;
            return Ok(unfinished);
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives what has this name another one, which nothing has yet; the folders are not synced.
    #[cfg(target_os = "linux")]
    pub(super) fn rename(&self, to: &Self) -> io::Result<()> {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&self.folder, &self.name, &to.folder, &to.name, flags) {
            // File systems without that flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.rename_after_a_look(to),
            renamed => Ok(renamed?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn rename(&self, to: &Self) -> io::Result<()> {
        self.rename_after_a_look(to)
    }

    fn rename_after_a_look(&self, to: &Self) -> io::Result<()> {
        if to.metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.folder.rename(&self.name, &to.folder, &to.name)
    }
}

impl Unfinished<'_> {
    /// Puts the file in its place.
    pub(crate) fn put(mut self) -> io::Result<()> {
        let Place { folder, name } = self.place;
        if let Some(temporary) = &self.name {
            folder.rename(temporary, folder, name)?;
        }
        self.name = None;
        sync(folder)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // What went wrong first is what counts.
            self.place.folder.remove_file(name).ok();
        }
    }
}

/// Letters that no other process is likely to draw.
fn letters() -> String {
    let drawn = RandomState::new().build_hasher().finish().to_le_bytes();
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    drawn.iter().take(TEMPORARY_LETTERS).map(letter).collect()
}

/// Options for a file that is made for its owner alone.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Options that wait for nobody at the other end of a pipe, and make no terminal ours.
pub(crate) fn at_once() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options
}

/// Makes a folder for its owner alone; one that is there already is fine. Its name is not synced.
pub(super) fn make_folder(at: &Dir, name: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match at.create_dir_with(name, &builder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(unix)]
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    one.file_type() == other.file_type() && one.dev() == other.dev() && one.ino() == other.ino()
}

#[cfg(not(unix))]
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.file_type() == other.file_type()
}

/// Makes the names in a folder last.
#[cfg(unix)]
pub(crate) fn sync(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync(_: &Dir) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_temporary_names_are_recognised() {
        for (name, expected) in [
            (".a.json.x7Yz01.tmp", Some("a.json")),
            (".a.json.json.x7Yz01.tmp", Some("a.json.json")),
            (".a.json.x7Yz0.tmp", None),
            ("a.json.x7Yz01.tmp", None),
            (".a.json.x7Yz01", None),
            ("..x7Yz01.tmp", None),
        ] {
            assert_eq!(temporary_for(name), expected, "{name}");
        }
        let drawn = format!(".a.{}.tmp", letters());
        assert_eq!(temporary_for(&drawn), Some("a"), "{drawn}");
    }
}
