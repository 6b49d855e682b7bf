//! What was there of protected files before the first of the commands that run in a project now.
//!
//! Another session's command may be running when one begins: what that one has made must not count as what was there.
//! Unit: one command, with a record of its project and one of the folder of git, which other projects may share. A record
//! is a file in the state folder, which all processes of a user share whatever their data folders are. It is locked by
//! all who compare there; whoever is alone writes down where it can write and what it found, the others read it, and the
//! last one removes it. Where all of them were killed, the next one does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::aside::make_private;
use super::entry::Entry;
use super::is_inside;
use super::repository::git_folders_around;
use crate::files::digest;
use crate::net::causes;
use crate::tools::shell::order::Order;

/// How long one waits for whoever is first, who looks at the project and writes down what is there.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between one look at the lock and the next.
const AGAIN: Duration = Duration::from_millis(10);
const LATE: &str = "timed out waiting for another command to start";

/// Records that are locked as long as this exists.
#[derive(Debug)]
pub(super) struct Baseline {
    /// Of the project, then of the folder of git.
    records: Vec<Record>,
    /// What the first ones found, as they wrote it down; nothing of records in which this one is the first itself.
    known: BTreeMap<PathBuf, Entry>,
}

#[derive(Debug)]
struct Record {
    /// What it is about lies below.
    root: PathBuf,
    file: File,
    path: PathBuf,
    is_first: bool,
}

/// Where the first one could write, and what it found.
type Found<P, E> = (Vec<P>, Vec<(P, E)>);

impl Baseline {
    /// `None` where nothing is protected. Waits for nobody but one who is just writing, and not for long. The error says
    /// what is in the way.
    pub(super) fn lock(order: &Order) -> Result<Option<Self>, String> {
        let protected = order.protected.first();
        let Some(project) = protected.and(order.writable.first()) else {
            return Ok(None);
        };
        let roots =
            std::iter::once(project.clone()).chain(shared(project).filter(|git| git != project));
        let records = roots.map(|root| Record::lock(order.running.as_deref(), root));
        Ok(Some(Self {
            records: records.collect::<Result<_, _>>()?,
            known: BTreeMap::new(),
        }))
    }

    /// Reads what was known of the protected paths, or writes it down. Returns those that were not there or held something
    /// else, though the first one could write there as well: what a command that was running has made of them is not put
    /// back, and what a person has made is not taken away.
    pub(super) fn apply(
        &mut self,
        order: &Order,
        before: &BTreeMap<PathBuf, Entry>,
    ) -> Result<BTreeSet<PathBuf>, String> {
        let roots: Vec<PathBuf> = self.records.iter().map(|it| it.root.clone()).collect();
        let record_of = |path: &Path| {
            let inner = roots.iter().rposition(|root| path.starts_with(root));
            inner.unwrap_or_default()
        };
        let mut common = Vec::new();
        let mut done = Ok(());
        for (n, record) in self.records.iter_mut().enumerate() {
            let mut writable = Vec::new();
            if record.is_first {
                let roots = order.writable.iter().map(|root| root.as_os_str());
                let own = before.iter().filter(|(path, _)| record_of(path) == n);
                let own = own.map(|(path, entry)| (path.as_os_str(), entry));
                let written = record.write(&(roots.collect(), own.collect()));
                done = done.and(written);
            } else {
                match record.read() {
                    Ok((roots, entries)) => {
                        writable.extend(roots.into_iter().map(PathBuf::from));
                        let entries = entries.into_iter();
                        self.known
                            .extend(entries.map(|(path, it)| (path.into(), it)));
                    }
                    Err(why) => done = done.and(Err(why)),
                }
            }
            common.push(writable);
        }
        done?;
        let changed = before.iter().filter(|(path, entry)| {
            is_inside(path, &common[record_of(path)]) && !self.has(path, entry)
        });
        Ok(changed.map(|(path, _)| path.clone()).collect())
    }

    /// Returns whether anything was at a path when the first of the running commands began.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.known.contains_key(path)
    }

    /// Returns whether a path held this when the first of the running commands began.
    pub(super) fn has(&self, path: &Path, entry: &Entry) -> bool {
        let known = self.known.get(path);
        known.is_some_and(|known| known.identity() == entry.identity())
    }

    /// Returns what was at a path and below when the first of the running commands began, top down.
    pub(super) fn entries(&self, top: &Path) -> impl Iterator<Item = (&Path, &Entry)> {
        let known = self.known.range(top.to_owned()..);
        let below = known.take_while(move |(path, _)| path.starts_with(top));
        below.map(|(path, entry)| (path.as_path(), entry))
    }
}

/// Returns the folder of git that others may write to while they work elsewhere: in a folder of the same repository, in
/// a worktree, in a submodule.
fn shared(project: &Path) -> Option<PathBuf> {
    let git = git_folders_around(project).pop()?;
    let outermost = git
        .ancestors()
        .filter(|folder| folder.ends_with(".git"))
        .last();
    Some(outermost.unwrap_or(&git).to_owned())
}

impl Record {
    fn lock(folder: Option<&Path>, root: PathBuf) -> Result<Self, String> {
        let name = digest(root.as_os_str().as_bytes());
        Self::at(folder, &name, root)
    }

    fn at(folder: Option<&Path>, name: &str, root: PathBuf) -> Result<Self, String> {
        let folder = folder.ok_or("there is no state folder")?;
        let path = &folder.join(name);
        let cannot_write = |error| cannot("write", path, &error);
        make_private(folder).map_err(|error| cannot("create", folder, &error))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let deadline = Instant::now() + PATIENCE;
        loop {
            let file = options.open(path).map_err(cannot_write)?;
            let is_first = file.try_lock().is_ok();
            if !is_first {
                share(&file, path, deadline)?;
            }
            if is_at(&file, path) {
                if is_first {
                    // What an earlier command found counts no more, even if this process ends now.
                    file.set_len(0).map_err(cannot_write)?;
                }
                return Ok(Self {
                    root,
                    file,
                    path: path.to_owned(),
                    is_first,
                });
            }
            // Whoever was last has removed it meanwhile.
            if Instant::now() >= deadline {
                return Err(LATE.to_owned());
            }
        }
    }

    fn write(&mut self, found: &Found<&OsStr, &Entry>) -> Result<(), String> {
        let record = serde_json::to_vec(found).map_err(io::Error::from);
        let written = record.and_then(|record| self.file.write_all(&record));
        // Others go on whatever became of it.
        share(&self.file, &self.path, Instant::now() + PATIENCE)?;
        written.map_err(|error| cannot("write", &self.path, &error))
    }

    fn read(&mut self) -> Result<Found<OsString, Entry>, String> {
        let mut record = Vec::new();
        let read = self.file.rewind();
        read.and_then(|()| self.file.read_to_end(&mut record))
            .map_err(|error| cannot("read", &self.path, &error))?;
        let found = serde_json::from_slice(&record);
        found.map_err(|_| format!("{} is incomplete", self.path.display()))
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // With the lock of all: nobody else is there to read it.
        if self.file.try_lock().is_ok() && is_at(&self.file, &self.path) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Tries whether commands could know of each other by means of this folder; the error says what is in the way.
pub(in crate::tools::shell) fn try_record(folder: Option<&Path>) -> Result<(), String> {
    let mut tried = Record::at(folder, "trial", PathBuf::new())?;
    if tried.is_first {
        tried.write(&Found::default())
    } else {
        tried.read().map(|_| ())
    }
}

/// Takes the lock that many can have.
#[expect(
    clippy::disallowed_methods,
    reason = "no event with a time limit tells that a lock is free"
)]
fn share(file: &File, path: &Path, deadline: Instant) -> Result<(), String> {
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(cannot("lock", path, &error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(LATE.to_owned());
            }
            Err(TryLockError::WouldBlock) => thread::sleep(AGAIN),
        }
    }
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {action} {}: {}", path.display(), causes(error))
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
        let [good, file, link] = ["good", "file", "link"].map(|name| root.path().join(name));
        write(&file, "");
        fs::create_dir(&link).unwrap();
        std::os::unix::fs::symlink(&file, link.join("trial")).unwrap();
        for (folder, start, end) in [
            (Some(&good), "", ""),
            (Some(&file), "cannot create ", "file: file exists"),
            (Some(&link), "cannot write ", "links"),
            (None, "there is no state folder", "folder"),
        ] {
            let found = try_record(folder.map(PathBuf::as_path));
            assert_eq!(found.is_ok(), start.is_empty(), "{found:?}");
            let why = found.err().unwrap_or_default();
            assert!(why.starts_with(start) && why.ends_with(end), "{why}");
        }
        assert_eq!(
            fs::read_dir(&good).unwrap().count(),
            0,
            "something was left"
        );
    }

    #[test]
    fn what_cannot_be_written_is_said_and_holds_nobody_up() {
        let root = tempfile::TempDir::new().unwrap();
        let path = root.path().join("record");
        write(&path, "");
        let mut first = Record {
            root: PathBuf::new(),
            file: File::open(&path).unwrap(),
            path: path.clone(),
            is_first: true,
        };
        first.file.try_lock().unwrap();
        let why = first.write(&Found::default()).unwrap_err();
        assert!(why.starts_with("cannot write "), "{why}");
        File::open(&path).unwrap().try_lock_shared().unwrap();
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
        let Record { path, .. } = &first.records[0];
        let other = File::open(path).unwrap();
        let waited = share(&other, path, Instant::now());
        assert_eq!(waited, Err(LATE.to_owned()));
        // Nor does whoever waited in vain keep the record.
        let path = path.clone();
        drop(first);
        assert!(!path.exists());
        let first = Baseline::lock(&order).unwrap().unwrap();
        // It could not write, or was killed before.
        first.records[0].file.lock_shared().unwrap();
        let mut second = Baseline::lock(&order).unwrap().unwrap();
        let why = second.apply(&order, &BTreeMap::new()).unwrap_err();
        assert!(why.ends_with(" is incomplete"), "{why}");
    }
}
