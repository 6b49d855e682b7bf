//! A scope on disk. What is changed here waits as a log of changes, and is applied to the file as it is when it is
//! written: what a hand or another process wrote meanwhile stays.
//!
//! Invariant: `entries` are those of `seen` with `waiting` applied; nothing is written over what could not be read
//! unless a copy of it is kept.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::entry::Scope;
use super::error::{EntriesError, Recovered};
use super::format::{self, VERSION};
use super::list::{Applied, Change, Entries};
use crate::chat::{Timestamp, Unknown};
use crate::files::{self, Disk, LockError, Replaced, Stamp};

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file that a hand changes so many times while we write is left to it.
const TRIES: usize = 20;

/// A larger file is neither read nor written: well above what all entries of the greatest length come to.
const MAX_BYTES: u64 = 512 << 20;

/// One file.
#[derive(Debug)]
pub(super) struct File {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    scope: Scope,
    project_path: Option<String>,
    max: usize,
    max_bytes: u64,
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
        max: usize,
        opened: Timestamp,
    ) -> Self {
        let mut file = Self {
            disk,
            path,
            scope,
            project_path,
            max,
            max_bytes: MAX_BYTES,
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
            Self::new(disk, path, (self.scope, project), self.max, self.opened)
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
            Ok(size) if size > self.max_bytes => {
                self.standing = Standing::TooLarge;
                return;
            }
            Ok(_) | Err(_) => self.disk.read(&self.path),
        };
        let bytes = match files::if_there(bytes) {
            Ok(bytes) => bytes,
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
            self.entries.apply(change, self.max);
        }
        self.revision += 1;
    }

    /// Changes what there is, in memory; [`File::flush`] writes it.
    pub(super) fn change(&mut self, change: Change) -> Result<Applied, EntriesError> {
        self.refresh();
        self.can_be_written()?;
        let applied = self.entries.apply(&change, self.max);
        if !matches!(applied, Applied::Missing | Applied::KeyTaken { .. }) {
            self.waiting.push(change);
            self.revision += 1;
        }
        Ok(applied)
    }

    /// Writes what waits, in one go, to the file as it is. What cannot be written waits on.
    pub(super) fn flush(&mut self, now: Timestamp) -> Result<Option<Recovered>, EntriesError> {
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
        if bytes.len() as u64 > self.max_bytes {
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
    fn set_aside(&self, now: Timestamp) -> Result<Recovered, EntriesError> {
        let kept_as = self.free(now);
        let bytes = self.seen.as_deref().unwrap_or_default();
        let copied = self.disk.replace(&kept_as, bytes);
        copied.map_err(|source| EntriesError::Io {
            action: "write",
            path: kept_as.clone(),
            source,
        })?;
        Ok(Recovered {
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
            max: self.max_bytes,
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
mod tests;
