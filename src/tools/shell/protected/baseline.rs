//! What was there of protected files before the first of the commands that run in a project now.
//!
//! Another session's command may be running when one begins: what that one has made must not count as what was there.
//! Unit: one project. A file in the state folder, which all processes of a user share whatever their data folders are, is
//! locked by all who compare there; whoever is alone writes down what it found, the others read it, and the last one
//! removes it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

use super::aside::make_private;
use super::entry::Entry;
use crate::files::digest;
use crate::tools::shell::order::Order;

/// How often whoever was last may remove the file while it is opened.
const TRIES: usize = 100;

/// How long one waits for whoever is first, who looks at the project and writes down what is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Locked as long as this exists.
#[derive(Debug)]
pub(super) struct Baseline {
    file: File,
    path: PathBuf,
    is_first: bool,
    /// What the first found, as it wrote it down; nothing for the first itself.
    known: BTreeMap<PathBuf, Entry>,
}

impl Baseline {
    /// `None` where nothing is protected. Waits for nobody but one who is just writing, and not for long.
    pub(super) fn lock(order: &Order) -> io::Result<Option<Self>> {
        let protected = order.protected.first();
        let project = protected.and(order.writable.first());
        let name = project.map(|project| digest(project.as_os_str().as_bytes()));
        let locked = name.map(|name| Self::at(order.running.as_deref(), &name));
        locked.transpose()
    }

    fn at(folder: Option<&Path>, name: &str) -> io::Result<Self> {
        let folder = folder.ok_or_else(|| io::Error::other("there is no state folder"))?;
        let path = folder.join(name);
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        Self::locked(folder, &path).map_err(named)
    }

    fn locked(folder: &Path, path: &Path) -> io::Result<Self> {
        make_private(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        for _ in 0..TRIES {
            let file = options.open(path)?;
            let is_first = file.try_lock().is_ok();
            if !is_first {
                share(&file, PATIENCE)?;
            }
            // Whoever was last may have removed it meanwhile.
            if !is_at(&file, path) {
                continue;
            }
            if is_first {
                // What an earlier command found counts no more, even if this process ends now.
                file.set_len(0)?;
            }
            return Ok(Self {
                file,
                path: path.to_owned(),
                is_first,
                known: BTreeMap::new(),
            });
        }
        Err(io::Error::other("it is removed again and again"))
    }

    /// Returns the paths that were not there or held something else: what a command that was running has made of them is
    /// not put back, and what a person has made is not taken away.
    pub(super) fn apply(
        &mut self,
        before: &BTreeMap<PathBuf, Entry>,
    ) -> io::Result<BTreeSet<PathBuf>> {
        let named = |error| io::Error::other(format!("{}: {error}", self.path.display()));
        if self.is_first {
            let entries = before.iter().map(|(path, entry)| (path.as_os_str(), entry));
            let record = serde_json::to_vec(&entries.collect::<Vec<_>>())?;
            let written = self.file.write_all(&record);
            share(&self.file, PATIENCE).and(written).map_err(named)?;
            return Ok(BTreeSet::new());
        }
        let mut record = Vec::new();
        self.file.rewind().map_err(named)?;
        self.file.read_to_end(&mut record).map_err(named)?;
        let entries: Vec<(OsString, Entry)> = serde_json::from_slice(&record)
            .map_err(|error| named(io::Error::other(format!("it is not whole: {error}"))))?;
        let entries = entries.into_iter();
        self.known = entries.map(|(path, entry)| (path.into(), entry)).collect();
        let changed = before.iter().filter(|(path, entry)| !self.has(path, entry));
        Ok(changed.map(|(path, _)| path.clone()).collect())
    }

    /// Returns whether a path held this when the first of the running commands began.
    pub(super) fn has(&self, path: &Path, entry: &Entry) -> bool {
        let known = self.known.get(path);
        known.is_some_and(|known| known.identity() == entry.identity())
    }

    /// Returns what was at a path and below when the first of the running commands began, top down, as far as it can be
    /// made again.
    pub(super) fn entries(&self, top: &Path) -> impl Iterator<Item = (&Path, &Entry)> {
        let known = self.known.range(top.to_owned()..);
        let below = known.take_while(move |(path, _)| path.starts_with(top));
        let below = below.map(|(path, entry)| (path.as_path(), entry));
        below.filter(|(_, entry)| entry.can_be_restored())
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        // With the lock of all: nobody else is there to read it.
        if self.file.try_lock().is_ok() && is_at(&self.file, &self.path) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Tries whether commands could know of each other by means of this folder; the error says what is in the way.
pub(in crate::tools::shell) fn try_record(folder: Option<&Path>) -> io::Result<()> {
    let mut tried = Baseline::at(folder, "trial")?;
    tried.apply(&BTreeMap::new()).map(|_| ())
}

/// Takes the lock that many can have.
fn share(file: &File, patience: Duration) -> io::Result<()> {
    let same = file.try_clone()?;
    let (sender, locked) = channel();
    // Whoever waits no longer leaves it to wait alone, and the lock is given back as soon as it is had.
    thread::spawn(move || sender.send(same.lock_shared()));
    let late = |_| {
        Err(io::Error::other(
            "another command has been at its beginning for too long",
        ))
    };
    locked.recv_timeout(patience).unwrap_or_else(late)
}

/// Returns whether a file is still the one at its path.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    let (open, there) = (file.metadata().map(id), fs::symlink_metadata(path).map(id));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(test)]
mod tests {
    use super::super::tests::write;
    use super::*;

    #[test]
    fn what_is_in_the_way_of_the_record_is_said() {
        let root = tempfile::TempDir::new().unwrap();
        let [good, file, silent] = ["good", "file", "silent"].map(|name| root.path().join(name));
        write(&file, "");
        fs::create_dir(&silent).unwrap();
        std::os::unix::fs::symlink("/dev/full", silent.join("trial")).unwrap();
        for (folder, expected) in [
            (Some(&good), None),
            (Some(&file), Some("file/trial: ")),
            (Some(&silent), Some("silent/trial: ")),
            (None, Some("there is no state folder")),
        ] {
            let found = try_record(folder.map(PathBuf::as_path)).err();
            let found = found.map(|error| error.to_string());
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            assert!(
                found
                    .unwrap_or_default()
                    .contains(expected.unwrap_or_default())
            );
        }
        assert_eq!(
            fs::read_dir(&good).unwrap().count(),
            0,
            "something was left"
        );
    }

    #[test]
    fn nobody_waits_for_ever_and_what_is_not_whole_is_not_taken_for_nothing() {
        let root = tempfile::TempDir::new().unwrap();
        let order = Order {
            protected: vec![root.path().join("AGENTS.md")],
            writable: vec![root.path().to_owned()],
            running: Some(root.path().join("running")),
            ..Order::default()
        };
        let first = Baseline::lock(&order).unwrap().unwrap();
        let other = File::open(&first.path).unwrap();
        let waited = share(&other, Duration::ZERO).unwrap_err().to_string();
        assert!(waited.contains("another command has been"), "{waited}");
        // It could not write, or was killed before.
        first.file.lock_shared().unwrap();
        let mut second = Baseline::lock(&order).unwrap().unwrap();
        let why = second.apply(&BTreeMap::new()).unwrap_err().to_string();
        assert!(why.contains("it is not whole"), "{why}");
    }
}
