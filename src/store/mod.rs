//! Where sessions last. Narrow on purpose: files today, a database as one more implementation.
//!
//! ```text
//! file_store   find, open, list, discard        file_log   append, checkpoint, rewrite, move
//! loading      files -> session, damage         opening    damage -> mended files, repairs
//! snapshot     the transcript                   journal    records since, replay applies them
//! layout       what is where                    moving     all files of a session as one
//! format       types on disk                    repair     what can be saved of a damaged file
//! outputs      files that belong to a session beside its words
//! coverage     what summaries stand for now
//! ```

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::chat::{Record, Redactions, Session, SessionName, Timestamp};

mod coverage;
mod error;
mod file_log;
mod file_store;
mod format;
mod journal;
mod layout;
mod loading;
mod moving;
mod opening;
mod outputs;
mod repair;
mod replay;
#[cfg(test)]
mod samples;
mod snapshot;

pub use error::{StoreError, Unwritable, creatable};
pub use file_store::FileStore;
pub use format::message::MESSAGE_FIELDS;
pub use outputs::Outputs;

/// Keeps sessions.
pub trait SessionStore: Send + Sync + fmt::Debug {
    /// Opens a session for writing, creating nothing on disk but its lock until something is appended. Waits up to
    /// `wait` for another process to let go of it. An unfinished turn, damage and anything else that was mended is in
    /// [`Opened::repairs`]; what cannot be mended is an error, and nothing is touched.
    fn open(&self, name: &SessionName, wait: Duration) -> Result<Opened, StoreError>;

    /// Reads a session without its lock, as it was last written.
    fn read(&self, name: &SessionName) -> Result<Session, StoreError>;

    /// Tells whether anything is kept under a name.
    fn has(&self, name: &SessionName) -> Result<bool, StoreError>;

    /// Makes the error for a name that no session has.
    fn missing(&self, name: &SessionName) -> StoreError {
        let sessions = self.list().unwrap_or_default();
        let near = name.slip_of(sessions.iter().map(|info| &info.name));
        StoreError::Missing {
            name: name.clone(),
            near: near.cloned(),
        }
    }

    /// Every session, most recently used first. Reads heads and journals, not whole histories.
    fn list(&self) -> Result<Vec<SessionInfo>, StoreError>;

    /// Takes note of the session that a chat was left in, which may have been read only: it was used last.
    fn leave(&self, name: &SessionName, now: Timestamp) -> Result<(), StoreError>;

    /// Keeps a fork of a session under its own name, which nothing has yet, with the files that belong to the words of
    /// both.
    fn keep_fork(&self, fork: &Session, of: &SessionName) -> Result<Opened, StoreError>;

    /// Notes places that are to be forgotten in a session that is open elsewhere, for its owner to take in.
    fn leave_forgotten(&self, name: &SessionName, places: &Redactions) -> Result<(), StoreError>;

    /// Sessions in the trash and the archive, each folder of them a store of its own.
    fn put_away(&self) -> Vec<(PathBuf, Box<dyn SessionStore>)>;

    /// Moves a session with all its side files to the trash; tells where. Refused while it is open.
    fn discard(&self, name: &SessionName, now: Timestamp) -> Result<PathBuf, StoreError>;

    /// Brings back from the trash the session of this name that was discarded last, of those at `time` where that is
    /// said: the beginning of a time in UTC, of which only the digits count. Refused where the name is taken.
    fn restore(&self, name: &SessionName, time: Option<&str>) -> Result<Restored, StoreError>;
}

/// A session that is back from the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Where it was.
    pub from: PathBuf,
    /// When the others of its name that are there still were discarded, the newest first.
    pub others: Vec<String>,
}

/// A session opened for writing.
#[derive(Debug)]
pub struct Opened {
    pub session: Session,
    pub log: Box<dyn SessionLog>,
    pub repairs: Vec<Repair>,
}

/// The one writer of a session; letting go of it frees the lock.
pub trait SessionLog: Send + fmt::Debug {
    /// On disk when it returns. When it fails, nothing of it counts as kept; the log holds on to the records and writes
    /// them before those of the next append, so apply them to the session all the same and say NOT SAVED.
    fn append(&mut self, records: &[Record]) -> Result<(), StoreError>;

    /// Appends what has arrived of a reply, without a sync. It costs next to nothing and may be lost: where the disk
    /// refuses, or has refused what comes before, nothing is written and nothing waits.
    fn append_unsynced(&mut self, record: &Record);

    /// What of the messages was forgotten, as it is on disk: another process may have added to it.
    fn forgotten(&self) -> Redactions {
        Redactions::default()
    }

    /// Called at a clean end: folds the journal into the snapshot where that is cheap (while the
    /// snapshot is under 1 MB, or the journal above a tenth of it), and writes what earlier appends could
    /// not. A session that lacks messages which are on disk, or whose turn still runs, is not folded.
    fn checkpoint(&mut self, session: &Session) -> Result<(), StoreError>;

    /// Replaces all that is kept of the messages by `session`, which begins with them: what is too much for appending,
    /// as an import is. One file is replaced as one, so that a kill leaves what was there before or all of it.
    fn rewrite(&mut self, session: &Session) -> Result<(), StoreError>;

    /// Gives the session another name, files and lock with it. Refused where that name is taken.
    fn rename(&mut self, session: &Session, name: &SessionName) -> Result<(), StoreError>;

    /// Moves everything kept so far to the archive and begins anew under the same name and lock.
    fn archive(&mut self, now: Timestamp) -> Result<PathBuf, StoreError>;
}

/// What `sessions` shows of a session without reading it whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    pub name: SessionName,
    pub mode: Option<String>,
    pub model: Option<String>,
    /// Messages of turns that were neither undone nor asked again.
    pub messages: usize,
    pub updated_at: Option<Timestamp>,
    /// First words of the person.
    pub title: String,
    /// Set instead of the rest when the files cannot be read.
    pub problem: Option<String>,
}

/// Something that was found broken and mended when a session was opened, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Repair {
    #[error("{file} was damaged: recovered {recovered} messages, damaged file kept as {kept_as}")]
    SetAside {
        file: PathBuf,
        kept_as: PathBuf,
        recovered: usize,
    },
    #[error(
        "the mode notes were damaged or not written by cogtrix ({file}): rebuilt from the conversation; what you set by hand is in {kept_as}"
    )]
    NotesSetAside { file: PathBuf, kept_as: PathBuf },
    #[error(
        "the scratchpad was damaged ({file}): starting with an empty one, damaged file kept as {kept_as}"
    )]
    ScratchpadSetAside { file: PathBuf, kept_as: PathBuf },
    #[error("the pins were damaged ({file}): starting with none, damaged file kept as {kept_as}")]
    PinsSetAside { file: PathBuf, kept_as: PathBuf },
    #[error(
        "the list of what was forgotten in this session was damaged ({file}): those texts are sent again until you repeat `/memory forget WORDS`; damaged file kept as {kept_as}"
    )]
    ForgottenSetAside { file: PathBuf, kept_as: PathBuf },
    /// A file beside the history cannot be used, and cannot be moved aside either.
    #[error(
        "{file} cannot be used or moved aside ({why}): the session opened without it, and anything written to it is NOT SAVED"
    )]
    LeftAlone { file: PathBuf, why: String },
    /// Lines of the journal were torn or foreign.
    #[error("{file}: skipped {skipped} damaged lines, original kept as {kept_as}")]
    JournalLines {
        file: PathBuf,
        kept_as: PathBuf,
        skipped: usize,
    },
    /// It is closed now, with what had arrived of the reply.
    #[error(
        "the last turn was cut off when cogtrix ended; {}`/retry` asks again",
        if *has_arrived { "the partial reply is kept, " } else { "" }
    )]
    UnfinishedTurn { has_arrived: bool },
    /// Indices of a side file were clamped (C29).
    #[error("{file} pointed beyond the history and was corrected")]
    Clamped { file: PathBuf },
    /// The file as it was is kept (C29).
    #[error(
        "{file} has summaries of messages that no longer exist: only those are ignored, original kept as {kept_as}"
    )]
    SummariesDropped { file: PathBuf, kept_as: PathBuf },
}

/// A session as a file that can be opened as one again, without what was forgotten.
pub fn export_json(session: &Session) -> String {
    let session = session.clone().redacted(|_| true);
    let bytes = snapshot::write(&session, session.name(), 0).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
