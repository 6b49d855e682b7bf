//! The disk of this machine. Files are 0600 and folders 0700 where the system has such modes; whatever
//! a call promises is synced, names of new files included.
//!
//! How a path is opened is the part of [`OpenPath`]; from there on everything happens at open folders, by single names.
//! A process killed inside [`Disk::replace`] leaves its temporary file behind, beside the old content. Such files are
//! named `.{target}.{six letters}.tmp`, so that the owner of the target can tell and remove them: see
//! [`temporary_for`](super::temporary_for).

use std::fmt;
use std::fs::TryLockError;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

#[cfg(unix)]
use super::Stamp;
use super::place::{Owner, Place, at_once, is_same, make_folder, private, sync};
use super::{Disk, Folder, Lock, LockError, Replaced, Surveyed, What, holds};

/// How long to wait before a lock is tried again. Systems have no lock call with a time limit.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Opens paths; what is done with what is open is the same on every disk of this machine.
pub(super) trait OpenPath: Send + Sync + fmt::Debug {
    /// Of what a path leads to.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File>;

    fn open_folder(&self, path: &Path) -> io::Result<Dir>;

    /// The path without links, of something that is there.
    fn without_links(&self, path: &Path) -> io::Result<PathBuf>;
}

/// The real thing: a link leads wherever it leads.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalDisk;

impl OpenPath for LocalDisk {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        std::fs::metadata(path).map(Metadata::from_just_metadata)
    }

    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        File::open_ambient_with(path, options, ambient_authority())
    }

    fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        Dir::open_ambient_dir(path, ambient_authority())
    }

    fn without_links(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }
}

impl<T: OpenPath> Disk for T {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_file(self, path, at_once().read(true))?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        open_file(self, path, at_once().read(true))?
            .take(limit as u64)
            .read_to_end(&mut head)?;
        Ok(head)
    }

    fn read_at(&self, path: &Path, at: u64, limit: usize) -> io::Result<Vec<u8>> {
        let mut file = open_file(self, path, at_once().read(true))?;
        file.seek(io::SeekFrom::Start(at))?;
        let mut part = Vec::new();
        file.take(limit as u64).read_to_end(&mut part)?;
        Ok(part)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.metadata(path)?.len())
    }

    #[cfg(unix)]
    fn stamp(&self, path: &Path) -> Option<Stamp> {
        use cap_std::fs::MetadataExt;
        let found = self.metadata(path).ok()?;
        let changed = (found.ctime(), found.ctime_nsec());
        // Where times are whole seconds, two changes may have the same.
        (changed.1 != 0).then(|| Stamp {
            size: found.len(),
            inode: found.ino(),
            changed,
        })
    }

    fn append_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        refuse_read_only(self, path)?;
        let (mut file, place) = match open_file(self, path, at_once().append(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let place = place(self, path)?;
                let mut options = private();
                // Nothing is made behind a link.
                let created = place
                    .folder
                    .open_with(&place.name, options.append(true).create_new(true));
                match created {
                    // Somebody else was first, or it is a link to nothing.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let opened = open_file(self, path, at_once().append(true));
                        (opened.map_err(|error| behind_link(&place, error))?, None)
                    }
                    created => (created?.into_std(), Some(place)),
                }
            }
            opened => (opened?, None),
        };
        file.write_all(bytes)?;
        file.sync_data()?;
        place.map_or(Ok(()), |place| sync(&place.folder))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        refuse_read_only(self, path)?;
        open_file(self, path, at_once().append(true))?.write_all(bytes)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        target(self, path)?.unfinished(bytes, Owner::Cogtrix)?.put()
    }

    fn replace_seen(&self, path: &Path, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<Replaced> {
        refuse_read_only(self, path)?;
        let target = target(self, path)?;
        // The slow part comes before the look.
        let file = target.unfinished(bytes, Owner::Cogtrix)?;
        if !holds(self, path, seen)? {
            return Ok(Replaced::Changed);
        }
        file.put().map(|()| Replaced::Done)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let target = place(self, to)?;
        let source = existing_place(self, from)?;
        source.rename(&target)?;
        sync(&target.folder)?;
        if folder_of(from) == folder_of(to) {
            Ok(())
        } else {
            sync(&source.folder)
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed =
            existing_place(self, path).and_then(|place| place.folder.remove_file(&place.name));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = open_file(self, path, at_once().write(true))?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = match self.open_folder(folder).and_then(|open| open.entries()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                files.push(folder.join(entry.file_name()));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn survey(&self, folder: &Path) -> io::Result<Vec<Surveyed>> {
        let entries = match self.open_folder(folder).and_then(|open| open.entries()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let is_link = entry.file_type()?.is_symlink();
            // What went meanwhile, leads nowhere or out is nothing that can be read.
            let metadata = if is_link {
                self.metadata(&path).ok()
            } else {
                entry.metadata().ok()
            };
            found.push(surveyed(path, is_link, metadata.as_ref()));
        }
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn lock(&self, path: &Path, wait: Duration) -> Result<Lock, LockError> {
        let tries = wait.as_millis().div_ceil(LOCK_POLL.as_millis());
        for _ in 0..tries {
            if let Some(held) = try_lock(self, path)? {
                return Ok(Lock::new(held));
            }
            thread::park_timeout(LOCK_POLL);
        }
        match try_lock(self, path)? {
            Some(held) => Ok(Lock::new(held)),
            None => Err(LockError::Held {
                pid: holder(self, path),
            }),
        }
    }

    fn folder(&self, path: &Path) -> io::Result<Folder> {
        self.open_folder(path).map(Folder)
    }
}

/// Opens what has an end: a pipe would keep its reader waiting, a device may never stop.
fn open_file(
    disk: &impl OpenPath,
    path: &Path,
    options: &OpenOptions,
) -> io::Result<std::fs::File> {
    ensure_file(&disk.metadata(path)?)?;
    let file = disk.open(path, options)?;
    // It may be another by now.
    ensure_file(&file.metadata()?)?;
    Ok(file.into_std())
}

fn ensure_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        let words = "this is a pipe, a socket or a device, not a file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, words))
    }
}

/// Who takes the right to write from a file of theirs means it, also where the folder would let us replace it.
fn refuse_read_only(disk: &impl OpenPath, path: &Path) -> io::Result<()> {
    match disk.metadata(path) {
        Ok(found) if found.is_file() && found.permissions().readonly() => {
            let words = "the file is read-only and was not changed";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The place of a path whose folder is there.
fn existing_place(disk: &impl OpenPath, path: &Path) -> io::Result<Place> {
    Ok(Place {
        folder: disk.open_folder(folder_of(path))?,
        name: name_of(path)?,
    })
}

/// The place of a path, whose folder is made where it is not there.
fn place(disk: &impl OpenPath, path: &Path) -> io::Result<Place> {
    Ok(Place {
        folder: made_folder(disk, folder_of(path))?,
        name: name_of(path)?,
    })
}

/// The place of what a file is to take: that of the path, or behind a link the file that it leads to.
fn target(disk: &impl OpenPath, path: &Path) -> io::Result<Place> {
    let named = place(disk, path)?;
    if !named.metadata().is_ok_and(|found| found.is_symlink()) {
        return Ok(named);
    }
    let found = disk.metadata(path);
    ensure_file(&found.map_err(|error| behind_link(&named, error))?)?;
    existing_place(disk, &disk.without_links(path)?)
}

/// Returns what went wrong behind a link, where that is nothing but a missing file.
fn behind_link(place: &Place, error: io::Error) -> io::Error {
    let is_link = || place.metadata().is_ok_and(|found| found.is_symlink());
    if error.kind() == io::ErrorKind::NotFound && is_link() {
        let words =
            "it is a link to a file that does not exist; create the file, or remove the link";
        io::Error::new(io::ErrorKind::InvalidInput, words)
    } else {
        error
    }
}

/// Opens a folder; what is missing of its path is made, private and synced.
fn made_folder(disk: &impl OpenPath, folder: &Path) -> io::Result<Dir> {
    let mut missing = Vec::new();
    let mut at = folder;
    let mut open = loop {
        match disk.open_folder(at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = at.file_name().ok_or(error)?;
                missing.push(name);
                at = folder_of(at);
            }
            opened => break opened?,
        }
    };
    let mut changed = Vec::new();
    for name in missing.into_iter().rev() {
        make_folder(&open, Path::new(name))?;
        let inner = open.open_dir(name).map_err(|error| {
            let name = name.to_owned();
            open.try_clone().map_or_else(
                |error| error,
                |folder| behind_link(&Place { folder, name }, error),
            )
        })?;
        changed.push(std::mem::replace(&mut open, inner));
    }
    for folder in changed.iter().rev() {
        sync(folder)?;
    }
    Ok(open)
}

/// A locked file, removed when it is let go of: one that is found without a holder tells of a process
/// that did not end by itself.
#[derive(Debug)]
struct HeldLock {
    place: Place,
    #[expect(dead_code, reason = "the lock lasts as long as the open file")]
    file: std::fs::File,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Safe while the lock is held: whoever waits for this very file finds its name gone and opens
        // a new one. Where an open file cannot be removed it stays, which costs nothing but tidiness.
        self.place.folder.remove_file(&self.place.name).ok();
    }
}

/// `None` while another holder has it.
fn try_lock(disk: &impl OpenPath, path: &Path) -> Result<Option<HeldLock>, LockError> {
    let place = place(disk, path).map_err(LockError::Io)?;
    loop {
        let file = open_lock(&place).map_err(LockError::Io)?;
        let opened = file.metadata().map_err(LockError::Io)?;
        let mut file = file.into_std();
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
        }
        // Its holder may have removed it meanwhile.
        if !place.metadata().is_ok_and(|found| is_same(&found, &opened)) {
            continue;
        }
        // The id is a courtesy to the next in line; a full disk must not keep a session from opening.
        write_holder(&mut file).ok();
        return Ok(Some(HeldLock { place, file }));
    }
}

/// Opens the file of a lock, which is made where it is not there. A link is none: what it leads to would be emptied.
fn open_lock(place: &Place) -> io::Result<File> {
    if let Ok(found) = place.metadata() {
        if found.is_symlink() {
            let words = "it is a link, but a lock file must not be one; remove it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        ensure_file(&found)?;
    }
    let mut options = private();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    place.folder.open_with(&place.name, &options)
}

fn write_holder(file: &mut std::fs::File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(std::process::id().to_string().as_bytes())
}

fn holder(disk: &impl OpenPath, path: &Path) -> Option<u32> {
    const LONGEST: usize = 32;
    let bytes = disk.read_head(path, LONGEST).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}

fn surveyed(path: PathBuf, is_link: bool, metadata: Option<&Metadata>) -> Surveyed {
    let is = |kind: fn(&Metadata) -> bool| metadata.is_some_and(kind);
    Surveyed {
        what: match is_link {
            true if is(Metadata::is_file) => What::Link,
            false if is(Metadata::is_file) => What::File,
            false if is(Metadata::is_dir) => What::Folder,
            true | false => What::Other,
        },
        size: metadata.map_or(0, Metadata::len),
        modified: metadata
            .and_then(|metadata| metadata.modified().ok())
            .map(cap_std::time::SystemTime::into_std),
        path,
    }
}

/// Follows the links of the part of a path that is there.
pub(crate) fn resolve_links(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|there| {
        let real = there.canonicalize().ok()?;
        let rest = path.strip_prefix(there).ok()?;
        // Without a `/` at the end where nothing is missing.
        Some(real.components().chain(rest.components()).collect())
    });
    real.unwrap_or_else(|| path.to_owned())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn name_of(path: &Path) -> io::Result<std::ffi::OsString> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests;
