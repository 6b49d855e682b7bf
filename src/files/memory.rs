//! A disk in memory, for tests: the same promises as the real one, and a power cut on demand.
//!
//! It keeps what is visible apart from what would survive a power cut. Every call of the port syncs, but for
//! [`Disk::append`] and a removal, which lasts only once something else in its folder was synced.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{Disk, Lock, LockError, Replaced, Surveyed, What};

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Clones are the same disk, as seen by another process.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    // Behind a lock because the port is shared between threads.
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    visible: Files,
    durable: Files,
    locked: BTreeSet<PathBuf>,
    unreadable: BTreeSet<PathBuf>,
    read_only: bool,
    /// When every file was changed, once the clock stands still.
    stopped: Option<SystemTime>,
    read: Vec<PathBuf>,
    surveyed: Vec<PathBuf>,
    /// What a hand saves right before a file is replaced.
    saved: VecDeque<(PathBuf, Vec<u8>)>,
}

impl MemoryDisk {
    /// A disk with these files on it.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let disk = Self::default();
        for (path, bytes) in files {
            disk.put(path, bytes);
        }
        disk
    }

    /// Writes a file behind the back of the program under test.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let mut state = self.state();
        state
            .visible
            .insert(path.as_ref().to_owned(), bytes.to_owned());
        state
            .durable
            .insert(path.as_ref().to_owned(), bytes.to_owned());
    }

    /// Right before the file is replaced the next time, a hand saves this in its place.
    pub fn save_before_replacing(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let saved = (path.as_ref().to_owned(), bytes.to_owned());
        self.state().saved.push_back(saved);
    }

    /// From now on the file cannot be read, as if it were another user's.
    pub fn deny(&self, path: impl AsRef<Path>) {
        self.state().unreadable.insert(path.as_ref().to_owned());
    }

    /// From now on nothing can be changed, locks included.
    pub fn make_read_only(&self) {
        self.state().read_only = true;
    }

    /// From now on every file says that it was changed at this time.
    pub fn stop_clock(&self, at: SystemTime) {
        self.state().stopped = Some(at);
    }

    /// The files of which a head was read and the folders that were surveyed since it was last asked.
    pub fn looked_at(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let mut state = self.state();
        (
            std::mem::take(&mut state.read),
            std::mem::take(&mut state.surveyed),
        )
    }

    /// Every visible file, with its content.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.state().visible.clone()
    }

    /// Returns what another disk would hold after this one lost its power; all locks are gone, and their files
    /// are still there.
    #[must_use]
    pub fn after_power_cut(&self) -> Self {
        Self::holding(self.state().durable.clone())
    }

    /// Returns what the disk holds after this process was killed: all that was written, no locks held.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        Self::holding(self.state().visible.clone())
    }

    fn holding(files: Files) -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                durable: files.clone(),
                visible: files,
                ..State::default()
            })),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_to_change(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.read_only {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        Ok(state)
    }
}

impl State {
    fn file(&self, path: &Path) -> io::Result<&Vec<u8>> {
        if self.unreadable.contains(path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.visible.get(path).ok_or_else(|| {
            if self.is_folder(path) {
                io::ErrorKind::IsADirectory.into()
            } else {
                io::ErrorKind::NotFound.into()
            }
        })
    }

    /// The hand is faster.
    fn save_first(&mut self, path: &Path) {
        if let Some((path, bytes)) = self.saved.pop_front_if(|(saved, _)| saved == path) {
            self.durable.insert(path.clone(), bytes.clone());
            self.visible.insert(path, bytes);
        }
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.is_folder(path) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.visible.insert(path.to_owned(), bytes.to_owned());
        self.sync_folder_of(path);
        Ok(())
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.visible
            .keys()
            .any(|file| file != path && file.starts_with(path))
    }

    /// Makes all that is visible directly in the folder of `path` last.
    fn sync_folder_of(&mut self, path: &Path) {
        let folder = path.parent();
        self.durable.retain(|file, _| file.parent() != folder);
        let synced = self
            .visible
            .iter()
            .filter(|(file, _)| file.parent() == folder);
        self.durable
            .extend(synced.map(|(file, bytes)| (file.clone(), bytes.clone())));
    }
}

impl Disk for MemoryDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.state().file(path).cloned()
    }

    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut state = self.state();
        state.read.push(path.to_owned());
        let file = state.file(path)?;
        Ok(file[..limit.min(file.len())].to_vec())
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        let state = self.state();
        match state.visible.get(path) {
            Some(file) => Ok(file.len() as u64),
            None if state.is_folder(path) => Ok(0),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn append_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state_to_change()?;
        let file = state.visible.entry(path.to_owned()).or_default();
        file.extend_from_slice(bytes);
        let whole = file.clone();
        // Appending to a file that is there syncs the file, creating one syncs the folder as well.
        if state.durable.insert(path.to_owned(), whole).is_none() {
            state.sync_folder_of(path);
        }
        Ok(())
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state_to_change()?;
        let file = state.visible.get_mut(path).ok_or(io::ErrorKind::NotFound)?;
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state_to_change()?;
        state.save_first(path);
        state.replace(path, bytes)
    }

    fn replace_seen(&self, path: &Path, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<Replaced> {
        let mut state = self.state_to_change()?;
        state.save_first(path);
        if state.visible.get(path).map(Vec::as_slice) != seen {
            return Ok(Replaced::Changed);
        }
        state.replace(path, bytes).map(|()| Replaced::Done)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state_to_change()?;
        if state.visible.contains_key(to) || state.is_folder(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let moved: Vec<PathBuf> = state
            .visible
            .keys()
            .filter(|file| file.starts_with(from))
            .cloned()
            .collect();
        if moved.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        for file in moved {
            let rest = file.strip_prefix(from).unwrap_or(Path::new(""));
            let target = if rest.as_os_str().is_empty() {
                to.to_owned()
            } else {
                to.join(rest)
            };
            state.durable.remove(&file);
            if let Some(bytes) = state.visible.remove(&file) {
                state.durable.insert(target.clone(), bytes.clone());
                state.visible.insert(target, bytes);
            }
        }
        state.sync_folder_of(from);
        state.sync_folder_of(to);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state_to_change()?.visible.remove(path);
        Ok(())
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let mut state = self.state_to_change()?;
        let file = state.visible.get_mut(path).ok_or(io::ErrorKind::NotFound)?;
        file.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        let whole = file.clone();
        state.durable.insert(path.to_owned(), whole);
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.state();
        let files = state.visible.keys();
        Ok(files
            .filter(|file| file.parent() == Some(folder))
            .cloned()
            .collect())
    }

    /// A digest of what a file holds stands for the time: it changes with every change.
    fn survey(&self, folder: &Path) -> io::Result<Vec<Surveyed>> {
        let mut state = self.state();
        state.surveyed.push(folder.to_owned());
        let mut found: Vec<Surveyed> = Vec::new();
        for (file, bytes) in &state.visible {
            let Ok(rest) = file.strip_prefix(folder) else {
                continue;
            };
            let mut parts = rest.components();
            let Some(first) = parts.next() else {
                continue;
            };
            let path = folder.join(first);
            if found.last().is_some_and(|last| last.path == path) {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            let time = Duration::from_nanos(hasher.finish() >> 1);
            found.push(match parts.next() {
                None => Surveyed {
                    path,
                    what: What::File,
                    size: bytes.len() as u64,
                    modified: state.stopped.or(SystemTime::UNIX_EPOCH.checked_add(time)),
                },
                Some(_) => Surveyed {
                    path,
                    what: What::Folder,
                    size: 0,
                    modified: None,
                },
            });
        }
        Ok(found)
    }

    fn lock(&self, path: &Path, _: Duration) -> Result<Lock, LockError> {
        let mut state = self.state_to_change().map_err(LockError::Io)?;
        if !state.locked.insert(path.to_owned()) {
            let pid = state
                .visible
                .get(path)
                .map(|pid| String::from_utf8_lossy(pid));
            return Err(LockError::Held {
                pid: pid.and_then(|pid| pid.parse().ok()),
            });
        }
        let pid = std::process::id().to_string().into_bytes();
        state.visible.insert(path.to_owned(), pid);
        Ok(Lock::new(HeldLock {
            disk: self.clone(),
            path: path.to_owned(),
        }))
    }
}

#[derive(Debug)]
struct HeldLock {
    disk: MemoryDisk,
    path: PathBuf,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        state.visible.remove(&self.path);
        state.locked.remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_is_undone_by_a_power_cut_until_the_folder_is_synced() {
        let disk = MemoryDisk::with([("h/a", b"a" as &[u8]), ("h/b", b"b")]);
        disk.remove(Path::new("h/a")).unwrap();
        assert!(disk.after_kill().read(Path::new("h/a")).is_err());
        assert!(disk.after_power_cut().read(Path::new("h/a")).is_ok());
        disk.replace(Path::new("h/b"), b"c").unwrap();
        assert!(disk.after_power_cut().read(Path::new("h/a")).is_err());
    }

    #[test]
    fn folders_move_with_all_that_is_in_them() {
        let disk = MemoryDisk::with([("v/a/x", b"1" as &[u8]), ("v/a/y/z", b"2")]);
        disk.rename(Path::new("v/a"), Path::new("t/a")).unwrap();
        let files: Vec<_> = disk.files().into_keys().collect();
        assert_eq!(files, [PathBuf::from("t/a/x"), PathBuf::from("t/a/y/z")]);
    }
}
