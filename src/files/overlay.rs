//! A disk whose changes stay in memory: what is beneath is read and never changed. For private sessions.
//!
//! Unit: one file. Invariant: nothing that goes through a [`OverlayDisk`] reaches the disk beneath.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{Disk, Folder, Lock, LockError, Surveyed, What, if_there};

/// What became of each changed file; `None`: it was removed.
type Changes = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// The disk.
#[derive(Debug, Default)]
pub struct OverlayDisk {
    beneath: Option<Arc<dyn Disk>>,
    // Behind a lock because the port is shared between threads.
    changes: Mutex<Changes>,
}

impl OverlayDisk {
    /// Over a disk, whose files can be read.
    pub fn over(beneath: Arc<dyn Disk>) -> Self {
        Self {
            beneath: Some(beneath),
            changes: Mutex::default(),
        }
    }

    /// Over nothing: an empty disk.
    pub fn over_nothing() -> Self {
        Self::default()
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what a path holds now; `None` where only the disk beneath knows.
    fn changed(&self, path: &Path) -> Option<io::Result<Vec<u8>>> {
        let changes = self.changes();
        let change = changes.get(path)?.clone();
        Some(change.ok_or_else(|| io::ErrorKind::NotFound.into()))
    }

    fn beneath<T>(&self, read: impl FnOnce(&dyn Disk) -> io::Result<T>) -> io::Result<T> {
        match &self.beneath {
            Some(disk) => read(disk.as_ref()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn set(&self, path: &Path, change: Option<Vec<u8>>) {
        self.changes().insert(path.to_owned(), change);
    }

    /// Returns what was written to and behind a path, with where it stands.
    fn written_below(&self, path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let changes = self.changes();
        let below = changes.iter().filter(|(file, _)| file.starts_with(path));
        below
            .filter_map(|(file, change)| Some((file.clone(), change.clone()?)))
            .collect()
    }
}

impl Disk for OverlayDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.changed(path)
            .unwrap_or_else(|| self.beneath(|disk| disk.read(path)))
    }

    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        match self.changed(path) {
            Some(bytes) => bytes.map(|mut bytes| {
                bytes.truncate(limit);
                bytes
            }),
            None => self.beneath(|disk| disk.read_head(path, limit)),
        }
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        if let Some(bytes) = self.changed(path) {
            return bytes.map(|bytes| bytes.len() as u64);
        }
        if self.written_below(path).is_empty() {
            self.beneath(|disk| disk.size(path))
        } else {
            Ok(0)
        }
    }

    fn append_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut whole = if_there(self.read(path))?.unwrap_or_default();
        whole.extend_from_slice(bytes);
        self.set(path, Some(whole));
        Ok(())
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.set(path, Some(bytes.to_owned()));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.size(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut moved = self.written_below(from);
        if moved.is_empty() {
            moved.push((from.to_owned(), self.read(from)?));
        }
        for (file, bytes) in moved {
            let target = match file.strip_prefix(from) {
                Ok(rest) if rest != Path::new("") => to.join(rest),
                Ok(_) | Err(_) => to.to_owned(),
            };
            self.set(&file, None);
            self.set(&target, Some(bytes));
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.set(path, None);
        Ok(())
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let mut bytes = self.read(path)?;
        bytes.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        self.set(path, Some(bytes));
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let beneath = match &self.beneath {
            Some(disk) => disk.list(folder)?,
            None => Vec::new(),
        };
        let mut files: BTreeSet<PathBuf> = beneath.into_iter().collect();
        for (file, change) in self.changes().iter() {
            if file.parent() == Some(folder) {
                match change {
                    Some(_) => files.insert(file.clone()),
                    None => files.remove(file),
                };
            }
        }
        Ok(files.into_iter().collect())
    }

    fn survey(&self, folder: &Path) -> io::Result<Vec<Surveyed>> {
        let beneath = match &self.beneath {
            Some(disk) => disk.survey(folder)?,
            None => Vec::new(),
        };
        let named = beneath.into_iter().map(|found| (found.path.clone(), found));
        let mut found: BTreeMap<PathBuf, Surveyed> = named.collect();
        for (file, change) in self.changes().iter() {
            let Ok(rest) = file.strip_prefix(folder) else {
                continue;
            };
            let mut parts = rest.components();
            let Some(first) = parts.next() else {
                continue;
            };
            let path = folder.join(first);
            match (change, parts.next()) {
                (None, None) => {
                    found.remove(&path);
                }
                (None, Some(_)) => {}
                (Some(bytes), None) => {
                    found.insert(path.clone(), surveyed(path, bytes));
                }
                (Some(_), Some(_)) => {
                    found.entry(path.clone()).or_insert(Surveyed {
                        path,
                        what: What::Folder,
                        size: 0,
                        modified: None,
                    });
                }
            }
        }
        Ok(found.into_values().collect())
    }

    /// Nobody else sees what is here, so there is nobody to wait for.
    fn lock(&self, _: &Path, _: Duration) -> Result<Lock, LockError> {
        Ok(Lock::new(()))
    }

    fn folder(&self, path: &Path) -> io::Result<Folder> {
        self.beneath(|disk| disk.folder(path))
    }
}

/// A file in memory has no time; another content stands for another time.
fn surveyed(path: PathBuf, bytes: &[u8]) -> Surveyed {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let time = Duration::from_nanos(hasher.finish() >> 1);
    Surveyed {
        path,
        what: What::File,
        size: bytes.len() as u64,
        modified: SystemTime::UNIX_EPOCH.checked_add(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    #[test]
    fn what_is_beneath_is_read_and_never_changed() {
        let disk = MemoryDisk::with([("/d/a", b"one".as_slice()), ("/d/b", b"two")]);
        let before = disk.files();
        let overlay = OverlayDisk::over(Arc::new(disk.clone()));
        let path = Path::new;
        overlay.append_synced(path("/d/a"), b" more").unwrap();
        overlay.replace(path("/d/c"), b"new").unwrap();
        overlay.remove(path("/d/b")).unwrap();
        overlay.rename(path("/d/c"), path("/d/e")).unwrap();
        overlay.truncate(path("/d/e"), 1).unwrap();
        assert_eq!(overlay.read(path("/d/a")).unwrap(), b"one more");
        assert_eq!(overlay.read_head(path("/d/a"), 2).unwrap(), b"on");
        assert_eq!(overlay.read(path("/d/e")).unwrap(), b"n");
        let gone = overlay.read(path("/d/b")).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        let listed = overlay.list(path("/d")).unwrap();
        assert_eq!(listed, [path("/d/a"), path("/d/e")]);
        overlay.replace(path("/d/f/g"), b"deep").unwrap();
        let surveyed = overlay.survey(path("/d")).unwrap();
        let names: Vec<_> = surveyed
            .iter()
            .map(|found| (found.path.as_path(), found.what))
            .collect();
        assert_eq!(
            names,
            [
                (path("/d/a"), What::File),
                (path("/d/e"), What::File),
                (path("/d/f"), What::Folder)
            ]
        );
        assert_eq!(overlay.size(path("/d")).unwrap(), 0);
        assert_eq!(disk.files(), before);
    }

    #[test]
    fn over_nothing_is_an_empty_disk_that_keeps_what_is_written() {
        let overlay = OverlayDisk::over_nothing();
        let (from, to) = (Path::new("/s/x"), Path::new("/t/y"));
        assert!(overlay.list(from).unwrap().is_empty());
        assert_eq!(
            overlay.size(from).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        overlay.append_synced(&from.join("file"), b"text").unwrap();
        overlay.rename(from, to).unwrap();
        assert_eq!(overlay.read(&to.join("file")).unwrap(), b"text");
        let again = overlay.rename(to, to).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }
}
