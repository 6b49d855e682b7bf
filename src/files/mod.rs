//! Every byte cogtrix writes goes through a [`Disk`]: atomic replacement, synced appends, locks, modes
//! 0600 and 0700. One port, so that one layer of faults covers all of it in tests.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

mod digest;
#[cfg(any(test, feature = "testing"))]
mod faults;
mod folder;
mod identity;
mod local;
#[cfg(any(test, feature = "testing"))]
mod memory;
mod overlay;
mod personal;
mod place;
mod roots;
mod sweep;

pub use digest::{digest, hex};
#[cfg(any(test, feature = "testing"))]
pub use faults::{BadFault, Fault, FaultyDisk, Moment, Schedule};
pub use folder::{Entry, EntryKind, Folder, FolderError};
pub use identity::FolderId;
pub use local::LocalDisk;
pub(crate) use local::resolve_links;
#[cfg(any(test, feature = "testing"))]
pub use memory::MemoryDisk;
pub use overlay::OverlayDisk;
pub use personal::{Existing, no_folder, open_regular, write_for_person};
pub use place::temporary_for;
pub(crate) use place::{Owner, Parents, Place, Unfinished, at_once, is_same, sync};
pub use roots::{LeadsOut, RootedDisk};
pub use sweep::sweep;

/// Returns the result; `None` where the path names nothing.
pub fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

/// The file system, as far as cogtrix needs it.
///
/// Errors are plain [`io::Error`]s: the caller knows what the path meant and says so.
pub trait Disk: Send + Sync + fmt::Debug {
    /// The whole file. A missing one is [`io::ErrorKind::NotFound`].
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// At most `limit` bytes from the start.
    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;

    /// At most `limit` bytes from `at` on; none behind the end.
    fn read_at(&self, path: &Path, at: u64, limit: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let end = at.saturating_add(limit).min(bytes.len());
        Ok(bytes[at..end].to_vec())
    }

    /// Size in bytes, of a folder any number; `NotFound` where there is nothing.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// What tells without reading that a file is as it was; `None` where nothing does.
    fn stamp(&self, _path: &Path) -> Option<Stamp> {
        None
    }

    /// Appends and syncs; creates the file (0600) and its folders (0700). When it fails, the file is as
    /// long as before, or its end is torn: readers must stand both.
    fn append_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Appends to a file that is there, without a sync: it survives the end of this process, not of the machine. When
    /// it fails, the file is as after a failed [`Disk::append_synced`].
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.append_synced(path, bytes)
    }

    /// Replaces the whole file or leaves it as it was: temporary file in the same folder, sync, rename,
    /// sync of the folder. A link stays a link: the file that it leads to is replaced.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// The same, if right before it takes its place the file still holds what was seen of it, `None`: nothing. One that
    /// its owner made read-only is left alone: [`io::ErrorKind::PermissionDenied`].
    fn replace_seen(&self, path: &Path, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<Replaced> {
        if holds(self, path, seen)? {
            self.replace(path, bytes).map(|()| Replaced::Done)
        } else {
            Ok(Replaced::Changed)
        }
    }

    /// Moves a file or folder and syncs the folders; creates the target's folder. Never overwrites:
    /// [`io::ErrorKind::AlreadyExists`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file; a missing one is fine. Not synced: after a power cut it may be back.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Cuts a file to `len` bytes and syncs it.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;

    /// Files of a folder, sorted by name; empty where there is no folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Returns what stands in a folder, in the order of names, as far as it can be told without opening it; empty where
    /// there is no folder.
    fn survey(&self, folder: &Path) -> io::Result<Vec<Surveyed>>;

    /// Takes the lock of a file, waiting up to `wait`, and writes this process's id into it.
    fn lock(&self, path: &Path, wait: Duration) -> Result<Lock, LockError>;

    /// Opens a folder of the machine as a capability.
    fn folder(&self, path: &Path) -> io::Result<Folder> {
        Folder::open(path)
    }
}

/// A file at a moment: which one it is, and when it was changed last, which no program can set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    size: u64,
    inode: u64,
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

/// What became of a file that was to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    Done,
    /// It holds something else by now; nothing was written.
    Changed,
}

/// Returns whether a file holds what was seen of it; `None`: nothing is there.
fn holds<D: Disk + ?Sized>(disk: &D, path: &Path, seen: Option<&[u8]>) -> io::Result<bool> {
    match disk.read(path) {
        Ok(bytes) => Ok(seen == Some(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(seen.is_none()),
        Err(error) => Err(error),
    }
}

/// Something in a folder. Of a link, size and time are those of what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    pub path: PathBuf,
    pub what: What,
    pub size: u64,
    /// When it was last changed, where the system knows.
    pub modified: Option<SystemTime>,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    File,
    Folder,
    /// A link to a file.
    Link,
    /// A device, a pipe, a link to anything else.
    Other,
}

/// A held lock; dropping it lets go.
#[derive(Debug)]
#[expect(dead_code, reason = "held for its drop")]
pub struct Lock(Box<dyn fmt::Debug + Send>);

impl Lock {
    pub fn new(held: impl fmt::Debug + Send + 'static) -> Self {
        Self(Box::new(held))
    }
}

/// Why a lock was not had.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it; its id where it could be read.
    Held {
        pid: Option<u32>,
    },
    Io(io::Error),
}
