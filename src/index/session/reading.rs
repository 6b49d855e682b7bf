//! The index of words as it comes into being: from disk, then from what was said since.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use super::words::{Backlog, Words};
use super::{GROWTH, Keeping, Parts, WORTH_WRITING};
use crate::chat::Session;
use crate::files::Disk;
use crate::index::Lists;

/// Messages, and bytes of them, that are read at once, while the person waits; more are read in a thread.
const AT_ONCE: usize = 2_000;
const BYTES_AT_ONCE: usize = 1 << 20;
/// Longest wait for that thread before a turn goes on without recall.
const PATIENCE: Duration = Duration::from_secs(10);

const FILE: &str = "words.idx";

/// How far the index is.
#[derive(Debug)]
pub(super) enum Reading {
    NotYet,
    Running(JoinHandle<Read>),
    Ready(Box<Read>),
}

/// An index, and what of it is on disk.
#[derive(Debug)]
pub(super) struct Read {
    words: Words,
    lists: Arc<Lists>,
    /// Messages of the session that the file knows.
    kept: usize,
    /// Something that cannot be read stands in the place of the file: it is moved aside before anything is written.
    is_blocked: bool,
}

impl Reading {
    /// Begins to read the file in a thread, or a long history where there is no file.
    pub(super) fn begin(&mut self, parts: &Parts, folder: &Path, session: &Session) {
        if !matches!(self, Self::NotYet) {
            return;
        }
        let parts = parts.clone();
        let path = folder.join(FILE);
        let is_there = parts.disk.size(&path).is_ok();
        let backlog = (!is_there && is_long(session, 0)).then(|| Backlog::of(session));
        *self = Self::Running(tokio::task::spawn_blocking(move || {
            let mut read = read(&parts, &path);
            if let Some(backlog) = backlog {
                read.take(backlog, &parts, &path);
            }
            read
        }));
    }

    pub(super) fn words(&self) -> Option<&Words> {
        match self {
            Self::Ready(read) => Some(&read.words),
            Self::NotYet | Self::Running(_) => None,
        }
    }

    pub(super) fn words_mut(&mut self) -> Option<&mut Words> {
        match self {
            Self::Ready(read) => Some(&mut read.words),
            Self::NotYet | Self::Running(_) => None,
        }
    }

    /// The index with everything the session has by now.
    pub(super) async fn ready(
        &mut self,
        parts: &Parts,
        folder: &Path,
        session: &Session,
    ) -> Option<&Words> {
        self.wait(session).await?;
        if let Self::Ready(read) = self
            && is_long(session, read.known(session))
        {
            let backlog = read.words.backlog(session);
            let Self::Ready(mut read) = std::mem::replace(self, Self::NotYet) else {
                return None;
            };
            let (parts, path) = (parts.clone(), folder.join(FILE));
            *self = Self::Running(tokio::task::spawn_blocking(move || {
                read.take(backlog, &parts, &path);
                *read
            }));
            self.wait(session).await?;
        }
        let Self::Ready(read) = self else {
            return None;
        };
        read.words.follow(session);
        Some(&read.words)
    }

    /// Waits for the thread, if one runs; `None` where it takes too long or died.
    async fn wait(&mut self, session: &Session) -> Option<()> {
        if let Self::Running(task) = self {
            match tokio::time::timeout(PATIENCE, task).await {
                Err(_) => {
                    tracing::warn!("the word index is not ready yet");
                    return None;
                }
                Ok(Err(error)) => {
                    tracing::warn!("reading the word index failed: {error}");
                    *self = Self::NotYet;
                    return None;
                }
                Ok(Ok(mut read)) => {
                    read.check(session);
                    *self = Self::Ready(Box::new(read));
                }
            }
        }
        Some(())
    }

    /// Writes the file if enough came since.
    pub(super) fn keep(&mut self, parts: &Parts, folder: &Path) {
        if let Self::Ready(read) = self
            && read.words.read() >= read.kept + WORTH_WRITING.max(read.kept / GROWTH)
        {
            read.write(parts, &folder.join(FILE));
        }
    }

    /// Writes the file if anything came since.
    pub(super) fn keep_all(&mut self, parts: &Parts, folder: &Path) {
        if let Self::Ready(read) = self
            && read.words.read() > read.kept
        {
            read.write(parts, &folder.join(FILE));
        }
    }
}

impl Read {
    /// Messages of the session that the index has read.
    fn known(&self, session: &Session) -> usize {
        self.words.read().min(session.messages().len())
    }

    /// Reads much at once, and puts it on disk, so that no kill costs that work.
    fn take(&mut self, backlog: Backlog, parts: &Parts, path: &Path) {
        self.words.take(backlog);
        if parts.keeping == Keeping::Kept {
            self.write(parts, path);
        }
    }

    fn write(&mut self, parts: &Parts, path: &Path) {
        let aside = path.with_extension("idx.damaged");
        let written = if self.is_blocked {
            parts.disk.rename(path, &aside)
        } else {
            Ok(())
        };
        let written = written.and_then(|()| {
            self.is_blocked = false;
            parts.disk.replace(path, &self.words.to_bytes())
        });
        match written {
            Ok(()) => self.kept = self.words.read(),
            Err(error) => tracing::warn!("cannot write {}: {error}", path.display()),
        }
    }

    /// Drops an index that speaks of another history, and takes back what was taken back while nobody could tell it.
    fn check(&mut self, session: &Session) {
        if !self.words.is_of(session) {
            tracing::info!("the word index belongs to another history; rebuilding it");
            self.words = Words::new(Arc::clone(&self.lists));
            self.kept = 0;
        }
        self.words.take_back_all(session);
    }
}

/// Whether what a session has behind so many messages takes longer to read than a person should wait.
fn is_long(session: &Session, read: usize) -> bool {
    let rest = &session.messages()[read..];
    let bytes = || {
        rest.iter()
            .map(|message| super::found_by(message).len())
            .sum::<usize>()
    };
    rest.len() > AT_ONCE || bytes() > BYTES_AT_ONCE
}

fn read(parts: &Parts, path: &Path) -> Read {
    let lists = Arc::clone(parts.lists.get());
    let mut is_blocked = false;
    let words = match parts.disk.read(path) {
        Ok(bytes) => {
            let words = Words::from_bytes(Arc::clone(&lists), &bytes);
            if words.is_none() {
                tracing::info!("{} cannot be used; rebuilding it", path.display());
            }
            words
        }
        Err(error) => {
            tracing::debug!("{}: {error}", path.display());
            is_blocked = error.kind() != io::ErrorKind::NotFound;
            None
        }
    };
    Read {
        kept: words.as_ref().map_or(0, Words::read),
        words: words.unwrap_or_else(|| Words::new(Arc::clone(&lists))),
        lists,
        is_blocked,
    }
}

/// Whether the file is there in the form that this version writes.
pub(in crate::index) fn is_current(disk: &dyn Disk, folder: &Path) -> bool {
    let head = disk.read_head(&folder.join(FILE), Words::MAGIC.len());
    head.is_ok_and(|head| head == Words::MAGIC)
}

/// The index of a session that is not open, up to it.
pub(in crate::index) fn read_only(
    (disk, lists): (&dyn Disk, &Arc<Lists>),
    folder: &Path,
    session: &Session,
) -> Words {
    let bytes = disk.read(&folder.join(FILE)).ok();
    let words = bytes.and_then(|bytes| Words::from_bytes(Arc::clone(lists), &bytes));
    let words = words.and_then(|mut words| words.is_of(session).then_some(words));
    let mut words = words.unwrap_or_else(|| Words::new(Arc::clone(lists)));
    words.take_back_all(session);
    words.follow(session);
    words
}
