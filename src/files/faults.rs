//! A disk around a disk that goes wrong at a chosen moment, so that tests can prove what survives:
//! errors, half-written bytes, a full disk, a process that is killed.
//!
//! Its unit is the mutating call, counted from 1 in the order in which they come. A [`Schedule`] is
//! written `KIND@N`, so that a test can hand one to the real program.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Disk, Folder, Lock, LockError, Replaced, Stamp, Surveyed};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends as by `kill -9`.
    Kill(Moment),
    /// One call fails and reports an input/output error.
    Fail(Moment),
    /// From here on nothing more can be written; renaming, removing and shortening still work.
    Full,
    /// From here on every change fails; the first write leaves half of itself behind.
    Dead,
}

/// When a call breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nothing has happened yet.
    Before,
    /// Half of the bytes are written. Calls that are one step of the file system count as `Before`.
    Torn,
    /// All of it has happened, and nobody was told.
    After,
}

/// A fault and the call at which it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub fault: Fault,
    pub at: usize,
}

const KINDS: [(&str, Fault); 8] = [
    ("kill-before", Fault::Kill(Moment::Before)),
    ("kill-torn", Fault::Kill(Moment::Torn)),
    ("kill-after", Fault::Kill(Moment::After)),
    ("fail-before", Fault::Fail(Moment::Before)),
    ("fail-torn", Fault::Fail(Moment::Torn)),
    ("fail-after", Fault::Fail(Moment::After)),
    ("full", Fault::Full),
    ("dead", Fault::Dead),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not KIND@N")]
pub struct BadFault {
    text: String,
}

impl FromStr for Schedule {
    type Err = BadFault;

    fn from_str(text: &str) -> Result<Self, BadFault> {
        let parse = || {
            let (kind, at) = text.split_once('@')?;
            let (_, fault) = KINDS.iter().find(|(name, _)| *name == kind)?;
            Some(Self {
                fault: *fault,
                at: at.parse().ok()?,
            })
        };
        parse().ok_or_else(|| BadFault {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = KINDS.iter().find(|(_, fault)| *fault == self.fault);
        write!(f, "{}@{}", kind.map_or("?", |(name, _)| name), self.at)
    }
}

/// The disk that goes wrong.
#[derive(Debug)]
pub struct FaultyDisk {
    inner: Arc<dyn Disk>,
    schedule: Option<Schedule>,
    calls: AtomicUsize,
    listings: AtomicUsize,
}

/// What a mutating call does, as far as faults care.
struct Call<'a> {
    /// Takes room on the disk.
    writes: bool,
    whole: &'a dyn Fn() -> io::Result<()>,
    /// What is left when it fails half-way, if anything.
    half: Option<&'a dyn Fn() -> io::Result<()>>,
    /// What is left when the process is killed half-way, and nobody clears up.
    killed: Option<&'a dyn Fn() -> io::Result<()>>,
}

/// A call that is done or not done, and needs no room.
fn one_step(whole: &dyn Fn() -> io::Result<()>) -> Call<'_> {
    Call {
        writes: false,
        whole,
        half: None,
        killed: None,
    }
}

impl FaultyDisk {
    pub fn new(inner: Arc<dyn Disk>, schedule: Option<Schedule>) -> Self {
        Self {
            inner,
            schedule,
            calls: AtomicUsize::new(0),
            listings: AtomicUsize::new(0),
        }
    }

    /// Mutating calls so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Folders listed so far.
    pub fn listings(&self) -> usize {
        self.listings.load(Ordering::SeqCst)
    }

    fn mutate(&self, call: &Call<'_>) -> io::Result<()> {
        let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let Some(Schedule { fault, at }) = self.schedule else {
            return (call.whole)();
        };
        match fault {
            Fault::Full if n >= at && call.writes => Err(io::ErrorKind::StorageFull.into()),
            Fault::Dead if n > at => Err(broken()),
            Fault::Dead if n == at => call.half.map_or(Ok(()), |half| half()).and(Err(broken())),
            Fault::Fail(moment) if n == at => match moment {
                Moment::Before => Err(broken()),
                Moment::Torn => call.half.map_or(Ok(()), |half| half()).and(Err(broken())),
                Moment::After => (call.whole)().and(Err(broken())),
            },
            Fault::Kill(moment) if n == at => {
                match moment {
                    Moment::Before => {}
                    Moment::Torn => call.killed.map_or(Ok(()), |half| half())?,
                    Moment::After => (call.whole)()?,
                }
                kill_this_process()
            }
            Fault::Full | Fault::Dead | Fault::Fail(_) | Fault::Kill(_) => (call.whole)(),
        }
    }
}

fn broken() -> io::Error {
    io::Error::other("input/output error")
}

#[cfg(unix)]
fn kill_this_process() -> io::Result<()> {
    use rustix::process::{Signal, getpid, kill_process};
    kill_process(getpid(), Signal::KILL)?;
    loop {
        std::thread::park();
    }
}

#[cfg(not(unix))]
fn kill_this_process() -> io::Result<()> {
    std::process::abort()
}

/// The name a temporary file of ours could have had.
fn leftover(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.faulty.tmp"))
}

impl Disk for FaultyDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.inner.read(path)
    }

    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.inner.read_head(path, limit)
    }

    fn read_at(&self, path: &Path, at: u64, limit: usize) -> io::Result<Vec<u8>> {
        self.inner.read_at(path, at, limit)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        self.inner.size(path)
    }

    fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.inner.stamp(path)
    }

    fn append_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || self.inner.append_synced(path, &bytes[..bytes.len() / 2]);
        self.mutate(&Call {
            writes: true,
            whole: &|| self.inner.append_synced(path, bytes),
            half: Some(&half),
            killed: Some(&half),
        })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || self.inner.append(path, &bytes[..bytes.len() / 2]);
        self.mutate(&Call {
            writes: true,
            whole: &|| self.inner.append(path, bytes),
            half: Some(&half),
            killed: Some(&half),
        })
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.mutate(&Call {
            writes: true,
            whole: &|| self.inner.replace(path, bytes),
            half: None,
            killed: Some(&|| {
                let half = &bytes[..bytes.len() / 2];
                self.inner.append_synced(&leftover(path), half)
            }),
        })
    }

    fn replace_seen(&self, path: &Path, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<Replaced> {
        let replaced = Cell::new(Replaced::Changed);
        self.mutate(&Call {
            writes: true,
            whole: &|| {
                replaced.set(self.inner.replace_seen(path, seen, bytes)?);
                Ok(())
            },
            half: None,
            killed: Some(&|| {
                let half = &bytes[..bytes.len() / 2];
                self.inner.append_synced(&leftover(path), half)
            }),
        })?;
        Ok(replaced.get())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.mutate(&one_step(&|| self.inner.rename(from, to)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.mutate(&one_step(&|| self.inner.remove(path)))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.mutate(&one_step(&|| self.inner.truncate(path, len)))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.listings.fetch_add(1, Ordering::SeqCst);
        self.inner.list(folder)
    }

    fn survey(&self, folder: &Path) -> io::Result<Vec<Surveyed>> {
        self.inner.survey(folder)
    }

    fn lock(&self, path: &Path, wait: Duration) -> Result<Lock, LockError> {
        self.inner.lock(path, wait)
    }

    fn folder(&self, path: &Path) -> io::Result<Folder> {
        self.inner.folder(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{MemoryDisk, temporary_for};

    #[test]
    fn schedules_read_back_as_they_are_written() {
        for (kind, fault) in KINDS {
            let text = format!("{kind}@7");
            assert_eq!(text.parse(), Ok(Schedule { fault, at: 7 }));
            assert_eq!(Schedule { fault, at: 7 }.to_string(), text);
        }
        for bad in ["", "full", "full@", "full@x", "later@3"] {
            assert!(bad.parse::<Schedule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn each_fault_comes_at_its_call_and_leaves_what_it_says() {
        let path = Path::new("h/a");
        for (schedule, results, left) in [
            ("fail-before@2", [true, false, true], "aaaacccc"),
            ("fail-torn@2", [true, false, true], "aaaabbcccc"),
            ("fail-after@2", [true, false, true], "aaaabbbbcccc"),
            ("full@2", [true, false, false], "aaaa"),
            ("dead@2", [true, false, false], "aaaabb"),
        ] {
            let memory = MemoryDisk::default();
            let disk = FaultyDisk::new(Arc::new(memory.clone()), schedule.parse().ok());
            let seen = ["aaaa", "bbbb", "cccc"]
                .map(|text| disk.append_synced(path, text.as_bytes()).is_ok());
            assert_eq!(seen, results, "{schedule}");
            assert_eq!(memory.read(path).unwrap(), left.as_bytes(), "{schedule}");
        }
    }

    #[test]
    fn a_torn_replacement_leaves_the_old_file() {
        let memory = MemoryDisk::with([("h/a", b"old" as &[u8])]);
        let disk = FaultyDisk::new(Arc::new(memory.clone()), "fail-torn@1".parse().ok());
        disk.replace(Path::new("h/a"), b"new!").unwrap_err();
        assert_eq!(memory.files().len(), 1);
        assert_eq!(memory.read(Path::new("h/a")).unwrap(), b"old");
    }

    #[test]
    fn what_a_kill_leaves_is_named_like_the_real_thing() {
        let left = leftover(Path::new("h/a.json"));
        assert_eq!(left, Path::new("h/.a.json.faulty.tmp"));
        assert_eq!(temporary_for(".a.json.faulty.tmp"), Some("a.json"));
    }
}
