//! A scope on disk. What is changed here waits as a log of changes, and is applied to the file as it is when it is written:
//! what a hand or another process wrote meanwhile stays.
//!
//! Invariant: `entries` are those of `seen` with `waiting` applied; nothing is written over what could not be read unless
//! a copy of it is kept.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::entry::Scope;
use super::error::{EntriesError, Notice};
use super::format::{self, VERSION};
use super::list::{Applied, Change, Entries};
use crate::chat::{Timestamp, Unknown};
use crate::files::{self, Disk, LockError, Replaced, Stamp};

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file that a hand changes so many times while we write is left to it.
const TRIES: usize = 20;

/// A larger file is neither read nor written: well above what all entries of the greatest length come to.
const MOST_BYTES: u64 = 512 << 20;

/// One file.
#[derive(Debug)]
pub(super) struct File {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    scope: Scope,
    project_path: Option<String>,
    most: usize,
    most_bytes: u64,
    /// The file as it was last read or written; `None`: there was none.
    seen: Option<Vec<u8>>,
    /// When that was: it need not be read again.
    stamp: Option<Stamp>,
    entries: Entries,
    unknown: Unknown,
    waiting: Vec<Change>,
    standing: Standing,
    /// For entries that tell no time of their own.
    opened: Timestamp,
    /// Goes up with every change, whoever made it.
    pub(super) revision: u64,
}

/// How the file stands.
#[derive(Debug)]
enum Standing {
    Sound,
    /// It did not parse; a copy is to be kept before it is written.
    Damaged,
    Newer(String),
    /// Why, in the system's words or those of the disk.
    Unreadable(io::ErrorKind, String),
    TooLarge,
}

impl File {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        path: PathBuf,
        (scope, project_path): (Scope, Option<String>),
        most: usize,
        opened: Timestamp,
    ) -> Self {
        let mut file = Self {
            disk,
            path,
            scope,
            project_path,
            most,
            most_bytes: MOST_BYTES,
            seen: None,
            stamp: None,
            entries: Entries::default(),
            unknown: Unknown::new(),
            waiting: Vec::new(),
            standing: Standing::Sound,
            opened,
            revision: 0,
        };
        file.refresh();
        file
    }

    /// The files of other projects beside this one.
    pub(super) fn siblings(&self) -> Vec<Self> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let listed = self.disk.list(folder).unwrap_or_default().into_iter();
        let is_other = |path: &PathBuf| {
            *path != self.path && path.extension().is_some_and(|end| end == "json")
        };
        let siblings = listed.filter(is_other).map(|path| {
            let file = self.disk.read(&path).unwrap_or_default();
            let file: Option<Value> = serde_json::from_slice(&file).ok();
            let project = file.and_then(|it| Some(it.get("project_path")?.as_str()?.to_owned()));
            let disk = Arc::clone(&self.disk);
            Self::new(disk, path, (self.scope, project), self.most, self.opened)
        });
        siblings.collect()
    }

    pub(super) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Why nothing can be read or written, where that is so.
    pub(super) fn problem(&self) -> Option<EntriesError> {
        self.can_be_written().err()
    }

    /// Whether something is to be written.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || matches!(self.standing, Standing::Damaged)
    }

    /// Takes in what others wrote; a file that is as it was is not read.
    pub(super) fn refresh(&mut self) {
        let stamp = self.disk.stamp(&self.path);
        if stamp.is_some() && stamp == self.stamp {
            return;
        }
        self.read();
        let is_unread = matches!(self.standing, Standing::Unreadable(..) | Standing::TooLarge);
        self.stamp = stamp.filter(|_| !is_unread);
    }

    fn read(&mut self) {
        let bytes = match self.disk.size(&self.path) {
            Ok(size) if size > self.most_bytes => {
                self.standing = Standing::TooLarge;
                return;
            }
            Ok(_) | Err(_) => self.disk.read(&self.path),
        };
        let bytes = match bytes {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.standing = Standing::Unreadable(error.kind(), error.to_string());
                return;
            }
        };
        let is_unread = matches!(self.standing, Standing::Unreadable(..) | Standing::TooLarge);
        if bytes == self.seen && !is_unread {
            return;
        }
        let document = match &bytes {
            None => format::Document::default(),
            Some(bytes) => match format::read(bytes, self.scope, self.opened) {
                Ok(document) => document,
                Err(found) => {
                    self.standing = Standing::Newer(found);
                    self.seen = Some(bytes.clone());
                    self.entries = Entries::default();
                    self.revision += 1;
                    return;
                }
            },
        };
        self.seen = bytes;
        self.standing = if document.is_damaged {
            Standing::Damaged
        } else {
            Standing::Sound
        };
        self.unknown = document.unknown;
        self.entries = document.entries;
        for change in &self.waiting {
            self.entries.apply(change, self.most);
        }
        self.revision += 1;
    }

    /// Changes what there is, in memory; [`File::flush`] writes it.
    pub(super) fn change(&mut self, change: Change) -> Result<Applied, EntriesError> {
        self.refresh();
        self.can_be_written()?;
        let applied = self.entries.apply(&change, self.most);
        match applied {
            Applied::Missing | Applied::KeyTaken { .. } => {}
            Applied::Added { .. }
            | Applied::Updated(_)
            | Applied::Unchanged(_)
            | Applied::Removed(_)
            | Applied::Restored(_) => {
                self.waiting.push(change);
                self.revision += 1;
            }
        }
        Ok(applied)
    }

    /// Writes what waits, in one go, to the file as it is. What cannot be written waits on.
    pub(super) fn flush(&mut self, now: Timestamp) -> Result<Option<Notice>, EntriesError> {
        if !self.is_waiting() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        self.sweep();
        let mut notice = None;
        for _ in 0..TRIES {
            self.read();
            self.can_be_written()?;
            if matches!(self.standing, Standing::Damaged) {
                notice = Some(self.set_aside(now)?);
            }
            if self.write()? == Replaced::Done {
                return Ok(notice);
            }
        }
        Err(self.cannot("write", io::ErrorKind::ResourceBusy.into()))
    }

    /// Writes all there is, unless a hand was faster.
    fn write(&mut self) -> Result<Replaced, EntriesError> {
        let project = self.project_path.as_deref();
        let bytes = format::write(&self.entries, self.scope, project, &self.unknown);
        if bytes.len() as u64 > self.most_bytes {
            return Err(self.too_large());
        }
        if self.seen.as_ref() != Some(&bytes) {
            let seen = self.seen.as_deref();
            let written = self.disk.replace_seen(&self.path, seen, &bytes);
            let written = written.map_err(|source| self.cannot("write", source))?;
            if written == Replaced::Changed {
                return Ok(written);
            }
        }
        self.seen = Some(bytes);
        self.standing = Standing::Sound;
        self.waiting.clear();
        Ok(Replaced::Done)
    }

    /// Removes what a killed process left of writing this file.
    fn sweep(&self) {
        if let (Some(folder), Some(own)) = (self.path.parent(), self.path.file_name()) {
            let own = own.to_string_lossy();
            files::sweep(self.disk.as_ref(), folder, |name| name == own);
        }
    }

    /// A copy of what could not be read. The file itself is replaced only once that is on disk.
    fn set_aside(&self, now: Timestamp) -> Result<Notice, EntriesError> {
        let kept_as = self.free(now);
        let bytes = self.seen.as_deref().unwrap_or_default();
        let copied = self.disk.replace(&kept_as, bytes);
        copied.map_err(|source| EntriesError::Io {
            action: "write",
            path: kept_as.clone(),
            source,
        })?;
        Ok(Notice::Recovered {
            file: self.path.clone(),
            kept_as,
            entries: self.entries.len(),
        })
    }

    fn free(&self, now: Timestamp) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let base = format!("{name}.damaged-{}", now.compact());
        let named = |name: &str| self.path.with_file_name(name);
        let others = (2..).map(|n| named(&format!("{base}-{n}")));
        std::iter::once(named(&base))
            .chain(others)
            .find(|path| self.disk.size(path).is_err())
            .unwrap_or_else(|| named(&base))
    }

    fn lock(&self) -> Result<files::Lock, EntriesError> {
        let path = self.path.with_extension("lock");
        self.disk
            .lock(&path, PATIENCE)
            .map_err(|error| match error {
                LockError::Held { pid } => EntriesError::Locked {
                    path: self.path.clone(),
                    pid,
                },
                LockError::Io(source) => EntriesError::Io {
                    action: "lock",
                    path,
                    source,
                },
            })
    }

    fn can_be_written(&self) -> Result<(), EntriesError> {
        match &self.standing {
            Standing::Sound | Standing::Damaged => Ok(()),
            Standing::Newer(found) => Err(EntriesError::Newer {
                path: self.path.clone(),
                found: found.clone(),
                known: VERSION,
            }),
            Standing::Unreadable(kind, why) => {
                Err(self.cannot("read", io::Error::new(*kind, why.clone())))
            }
            Standing::TooLarge => Err(self.too_large()),
        }
    }

    fn too_large(&self) -> EntriesError {
        EntriesError::TooLarge {
            path: self.path.clone(),
            most: self.most_bytes,
        }
    }

    fn cannot(&self, action: &'static str, source: io::Error) -> EntriesError {
        EntriesError::Io {
            action,
            path: self.path.clone(),
            source,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::Kind;
    use super::super::list::New;
    use super::*;
    use crate::files::{Fault, FaultyDisk, MemoryDisk, Moment, Schedule};

    const PATH: &str = "/d/memory/global.json";

    fn now() -> Timestamp {
        Timestamp::from_unix(1_800_000_000).unwrap()
    }

    fn open(disk: &Arc<dyn Disk>) -> File {
        let scope = (Scope::Global, None);
        File::new(Arc::clone(disk), PATH.into(), scope, 1_000, now())
    }

    fn add(key: &str, content: &str) -> Change {
        Change::Add(New {
            scope: Scope::Global,
            key: Some(key.to_owned()),
            content: content.to_owned(),
            kind: Kind::Note,
            tags: Vec::new(),
            at: now(),
            project: None,
            from: None,
        })
    }

    fn keys(file: &File) -> Vec<&str> {
        let keys = file.entries.iter().filter_map(|it| it.key.as_deref());
        keys.collect()
    }

    fn memory() -> (MemoryDisk, Arc<dyn Disk>) {
        let disk = MemoryDisk::default();
        (disk.clone(), Arc::new(disk))
    }

    #[test]
    fn fifty_changes_are_one_write() {
        let (memory, _) = memory();
        let counting = Arc::new(FaultyDisk::new(Arc::new(memory.clone()), None));
        let disk: Arc<dyn Disk> = counting.clone();
        let mut file = open(&disk);
        for n in 0..50 {
            file.change(add(&format!("k{n}"), "x")).unwrap();
        }
        assert!(memory.files().is_empty(), "nothing is written yet");
        file.flush(now()).unwrap();
        file.flush(now()).unwrap();
        assert!(counting.calls() <= 2, "{}", counting.calls());
        let disk: Arc<dyn Disk> = Arc::new(memory.after_power_cut());
        assert_eq!(open(&disk).entries().len(), 50);
    }

    #[test]
    fn what_others_wrote_meanwhile_stays() {
        let (memory, disk) = memory();
        let (mut one, mut other) = (open(&disk), open(&disk));
        one.change(add("a", "1")).unwrap();
        other.change(add("b", "2")).unwrap();
        one.change(add("c", "3")).unwrap();
        one.flush(now()).unwrap();
        other.flush(now()).unwrap();
        one.refresh();
        assert_eq!(keys(&one), keys(&other));
        assert_eq!(keys(&one).len(), 3);
        // A hand adds one and changes another while a change waits.
        one.change(add("d", "4")).unwrap();
        let text = String::from_utf8(memory.files()[Path::new(PATH)].clone()).unwrap();
        let text = text.replace(
            "\"entries\": [",
            "\"entries\": [{\"content\": \"by hand\"},",
        );
        let text = text.replace("\"content\": \"2\"", "\"content\": \"two\"");
        memory.put(PATH, text.as_bytes());
        one.flush(now()).unwrap();
        other.refresh();
        assert_eq!(other.entries().len(), 5);
        assert_eq!(other.entries().named("b").unwrap().content, "two");
        assert!(other.entries().iter().any(|it| it.content == "by hand"));
    }

    #[test]
    fn what_a_hand_saves_between_our_look_and_our_write_stays() {
        let (memory, disk) = memory();
        let mut file = open(&disk);
        file.change(add("a", "1")).unwrap();
        memory.save_before_replacing(PATH, br#"{"entries": [{"content": "by hand"}]}"#);
        memory.save_before_replacing(
            PATH,
            br#"{"entries": [{"content": "by hand"}, {"content": "again"}]}"#,
        );
        file.flush(now()).unwrap();
        let again = open(&disk);
        let contents = again.entries().iter().map(|it| it.content.as_str());
        assert_eq!(contents.collect::<Vec<_>>(), ["by hand", "again", "1"]);
        assert!(!file.is_waiting());
    }

    #[test]
    fn a_file_that_is_too_large_is_neither_damaged_nor_replaced_nor_ever_written() {
        let whole = br#"{"version": 1, "entries": [{"content": "safe"}]}"#;
        let memory = MemoryDisk::with([(PATH, whole.as_slice())]);
        let disk: Arc<dyn Disk> = Arc::new(memory.clone());
        let mut file = open(&disk);
        file.most_bytes = whole.len() as u64 - 1;
        let refused = file.change(add("a", "1"));
        assert!(matches!(refused, Err(EntriesError::TooLarge { .. })));
        assert!(file.flush(now()).is_ok_and(|notice| notice.is_none()));
        assert_eq!(memory.files().len(), 1);
        assert_eq!(memory.files()[Path::new(PATH)], whole);
        // What would be too large to be read again is not written.
        file.most_bytes = whole.len() as u64;
        file.change(add("a", "1")).unwrap();
        let refused = file.flush(now());
        assert!(matches!(refused, Err(EntriesError::TooLarge { .. })));
        assert_eq!(memory.files()[Path::new(PATH)], whole);
        file.most_bytes = MOST_BYTES;
        file.flush(now()).unwrap();
        assert_eq!(open(&disk).entries().len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_persons_link_to_a_file_of_the_folder_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("global.json");
        let far = folder.path().join("far/g.json");
        std::os::unix::fs::symlink("far/g.json", &path).unwrap();
        let rooted = files::RootedDisk::new([(folder.path().to_owned(), "data_dir")]);
        let disk: Arc<dyn Disk> = Arc::new(rooted);
        disk.replace(&far, b"{}").unwrap();
        for (key, count) in [("a", 1), ("b", 2)] {
            let scope = (Scope::Global, None);
            let mut file = File::new(Arc::clone(&disk), path.clone(), scope, 9, now());
            file.change(add(key, key)).unwrap();
            file.flush(now()).unwrap();
            assert_eq!(file.entries().len(), count);
            assert!(path.is_symlink() && far.is_file());
        }
    }

    #[test]
    fn a_damaged_file_is_copied_first_and_stays_where_that_fails() {
        let damaged = br#"{"version": 1, "entries": [{"content": "safe"}, {"conte"#;
        let memory = MemoryDisk::with([(PATH, damaged.as_slice())]);
        let fails = Schedule {
            fault: Fault::Fail(Moment::Before),
            at: 1,
        };
        let faulty = FaultyDisk::new(Arc::new(memory.clone()), Some(fails));
        let disk: Arc<dyn Disk> = Arc::new(faulty);
        let mut file = open(&disk);
        file.change(add("a", "1")).unwrap();
        assert!(file.flush(now()).is_err());
        assert_eq!(memory.files()[Path::new(PATH)], damaged);
        let notice = file.flush(now()).unwrap();
        let Some(Notice::Recovered {
            kept_as, entries, ..
        }) = notice
        else {
            panic!("{notice:?}");
        };
        assert_eq!(
            (memory.files()[&kept_as].as_slice(), entries),
            (damaged.as_slice(), 2)
        );
        assert_eq!(open(&disk).entries().len(), 2);
    }

    #[test]
    fn a_newer_file_and_one_that_cannot_be_read_are_left_alone() {
        let newer = br#"{"version": 9, "entries": []}"#;
        let memory = MemoryDisk::with([(PATH, newer.as_slice())]);
        let disk: Arc<dyn Disk> = Arc::new(memory.clone());
        let mut file = open(&disk);
        let refused = file.change(add("a", "1"));
        assert!(matches!(refused, Err(EntriesError::Newer { .. })));
        file.flush(now()).unwrap();
        assert_eq!(memory.files()[Path::new(PATH)], newer);
        memory.put(PATH, b"{}");
        file.change(add("a", "1")).unwrap();
        memory.deny(PATH);
        assert!(file.flush(now()).is_err());
        assert!(file.is_waiting());
        assert_eq!(memory.files()[Path::new(PATH)], b"{}");
    }

    #[test]
    fn whatever_goes_wrong_while_writing_nothing_is_lost_by_trying_again() {
        for fault in [
            Fault::Fail(Moment::Before),
            Fault::Fail(Moment::Torn),
            Fault::Fail(Moment::After),
        ] {
            let (memory, disk) = memory();
            let mut file = open(&disk);
            file.change(add("a", "1")).unwrap();
            file.flush(now()).unwrap();
            let faulty = FaultyDisk::new(Arc::new(memory.clone()), Some(Schedule { fault, at: 1 }));
            let disk: Arc<dyn Disk> = Arc::new(faulty);
            let mut file = open(&disk);
            file.change(add("b", "2")).unwrap();
            file.change(add("a", "one")).unwrap();
            assert!(file.flush(now()).is_err(), "{fault:?}");
            file.flush(now()).unwrap();
            let again = open(&disk);
            assert_eq!(again.entries().len(), 2, "{fault:?}");
            let one = again.entries().named("a").unwrap();
            assert_eq!(
                (one.content.as_str(), one.earlier.len()),
                ("one", 1),
                "{fault:?}"
            );
        }
    }
}
