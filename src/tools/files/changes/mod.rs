//! What files held before tools changed them, so that a turn can be taken back on disk too.
//!
//! ```text
//!   {folder}/{session}/3.jsonl     turn 3, a line for each step, synced before the file is touched:
//!                                  {"step":"before","project":"/p","path":"src/a.rs","content":"<sha256>" or null}
//!                                  {"step":"after","project":"/p","path":"src/a.rs","content":"<sha256>"}
//!                                  {"step":"between",…} what somebody else wrote before a tool's next change
//!   {folder}/{session}/<sha256>    what a file held, under the digest of it
//! ```
//!
//! Invariant: whatever a tool wrote over is on disk, unless a tool wrote that too. Paths are those behind all links,
//! relative to the project folder. Only what a tool wrote is ever overwritten: a file that holds anything else stays as
//! it is.

mod index;
mod restore;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::chat::{SessionName, TurnId};
use crate::files::{Disk, digest};
use crate::tools::files::project::Project;
use index::{Line, Step};

pub use restore::Restored;

/// Longest file that tools change: a copy of it has to be kept.
pub const FILE_MAX: u64 = 10 << 20;

/// The copies of all sessions.
#[derive(Debug)]
pub struct Changes {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    /// Held from the reading of a file to its replacement, so that of two changes none is lost.
    turn: Mutex<()>,
}

/// What a turn did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where the project folder was.
    pub project: String,
    /// Relative to it.
    pub path: PathBuf,
    /// The digest of what the file held before the turn; `None` where there was no file.
    pub before: Option<String>,
    /// The digests of what tools wrote, in order.
    pub after: Vec<String>,
    /// The digests of what somebody else had made of it when a tool changed it once more; `None` where it was gone.
    pub between: Vec<Option<String>>,
}

/// Why a copy could not be kept or had.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    #[error("{}: {source}", .path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is damaged in line {line}", .path.display())]
    Index { path: PathBuf, line: usize },
    #[error("{} does not match its name, a checksum", .path.display())]
    Copy { path: PathBuf },
    #[error("{} is not a valid name for a copy", .path.display())]
    Name { path: PathBuf },
}

impl Changes {
    /// `folder` gets a folder for each session.
    pub fn new(folder: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self {
            folder,
            disk,
            turn: Mutex::new(()),
        }
    }

    /// Keeps what a file holds before a tool changes it; `None` where there is none. The first copy of a turn counts;
    /// another is kept where the file holds by now what no tool wrote.
    pub fn before(
        &self,
        project: &Project,
        session: &SessionName,
        turn: TurnId,
        path: &Path,
        content: Option<&[u8]>,
    ) -> Result<(), ChangesError> {
        let root = index::root_of(project);
        let changes = self.of(session, turn)?;
        let mut changes = changes.iter();
        let step = match changes.find(|change| change.path == path && change.project == root) {
            None => Step::Before,
            Some(change) if change.accounts_for(content) => return Ok(()),
            Some(_) => Step::Between,
        };
        let content = content
            .map(|content| self.keep(session, content))
            .transpose()?;
        self.note(session, turn, &Line::new(step, project, path, content)?)
    }

    /// Notes what a tool is about to write. Written down first, so that what it wrote is known whatever happens.
    pub fn after(
        &self,
        project: &Project,
        session: &SessionName,
        turn: TurnId,
        path: &Path,
        content: &[u8],
    ) -> Result<(), ChangesError> {
        let line = Line::new(Step::After, project, path, Some(digest(content)))?;
        self.note(session, turn, &line)
    }

    /// Returns what a turn changed, in the order of first changes.
    pub fn of(&self, session: &SessionName, turn: TurnId) -> Result<Vec<Change>, ChangesError> {
        index::read(&*self.disk, &self.index(session, turn))
    }

    /// One change at a time.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, session: &SessionName, content: &[u8]) -> Result<String, ChangesError> {
        let digest = digest(content);
        let path = self.of_session(session).join(&digest);
        let is_kept = self
            .disk
            .size(&path)
            .is_ok_and(|size| size == content.len() as u64);
        if !is_kept {
            let kept = self.disk.replace(&path, content);
            kept.map_err(|source| ChangesError::Io { path, source })?;
        }
        Ok(digest)
    }

    /// Returns what was kept under a digest.
    fn kept(&self, session: &SessionName, named: &str) -> Result<Vec<u8>, ChangesError> {
        let path = self.of_session(session).join(named);
        match self.disk.read(&path) {
            Ok(content) if digest(&content) == named => Ok(content),
            Ok(_) => Err(ChangesError::Copy { path }),
            Err(source) => Err(ChangesError::Io { path, source }),
        }
    }

    fn note(&self, session: &SessionName, turn: TurnId, line: &Line) -> Result<(), ChangesError> {
        index::append(&*self.disk, &self.index(session, turn), line)
    }

    fn index(&self, session: &SessionName, turn: TurnId) -> PathBuf {
        self.of_session(session).join(format!("{turn}.jsonl"))
    }

    fn of_session(&self, session: &SessionName) -> PathBuf {
        self.folder.join(session.as_str())
    }
}

impl Change {
    /// Returns whether a file that holds this holds what is kept already or what a tool wrote. Not the last writing
    /// alone: that may have been noted and then refused by the disk.
    fn accounts_for(&self, content: Option<&[u8]>) -> bool {
        let content = content.map(digest);
        content == self.before
            || self.between.contains(&content)
            || content.is_some_and(|content| self.after.contains(&content))
    }
}

#[cfg(test)]
mod tests;
