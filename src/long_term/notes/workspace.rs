//! Where the files are, who is told of changes, and the one lock under which they happen. Unit: one workspace, shared
//! by all sessions; nothing is created before something is written.
//!
//! Every call may wait for the disk, and for [`LOCK_WAIT`] while another process writes: off the threads that answer.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::NotesError;
use super::excerpt::Excerpt;
use super::page::Page;
use super::{
    Buffer, Daily, Identity, LONG_TERM, LongTerm, RuleFiles, SessionFiles, SessionState,
    WorkspaceSettings, identity, session_state,
};
use crate::chat::{SessionName, Timestamp};
use crate::files::{self, Disk, Lock, LockError};

/// The workspace's usual name, in the data folder.
pub const FOLDER: &str = "workspace";

/// In the workspace; names the process that is writing.
const LOCK: &str = ".lock";

/// How long a change waits for another process, which holds the lock for one change at a time.
const LOCK_WAIT: Duration = Duration::from_secs(2);
/// Sessions of one name that are deleted in the same second.
const MAX_ALIKE: u32 = 100;

/// What changed in the workspace (Q33).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file, relative to the workspace, with `/`: `MEMORY.md`, `memory/2026-02-14.md`, `memories/a/b.md`.
    pub source: String,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// This text was added.
    Added(String),
    /// It holds something else now.
    Replaced,
    /// The file, or the folder with all that was in it, is not there any more.
    Removed,
}

/// Is told after each change that is on disk, under the lock: it should only take note. One that panics is passed over.
pub type Observer = Arc<dyn Fn(&Written) + Send + Sync>;

/// The files of a workspace. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<Desk>);

/// What all files have in common.
pub(super) struct Desk {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) root: PathBuf,
    settings: WorkspaceSettings,
    observers: Mutex<Vec<Observer>>,
    /// Folders from which unfinished copies were removed.
    swept: Mutex<BTreeSet<PathBuf>>,
    // Changes of this process come one after the other, before they ask for the lock between processes.
    writing: Mutex<()>,
}

impl Workspace {
    pub fn new(disk: Arc<dyn Disk>, root: PathBuf, settings: WorkspaceSettings) -> Self {
        Self(Arc::new(Desk {
            disk,
            root,
            settings,
            observers: Mutex::new(Vec::new()),
            swept: Mutex::default(),
            writing: Mutex::new(()),
        }))
    }

    /// Removes what a killed process left unfinished, here and in the folder of a session. Total: where another process
    /// is writing, it does so.
    pub fn tidy(&self, session: &SessionName) {
        if self.0.disk.size(&self.0.root).is_err() {
            return;
        }
        let Ok(_held) = self.0.hold() else {
            return;
        };
        let folders = [
            String::new(),
            "memory".to_owned(),
            format!("sessions/{session}"),
        ];
        for folder in folders {
            self.0.sweep(Some(&self.0.root.join(folder)));
        }
    }

    /// From now on this observer is told, too.
    pub fn observe(&self, observer: Observer) {
        self.0.observers().push(observer);
    }

    /// The same kind of files in another folder.
    #[must_use]
    pub fn elsewhere(&self, root: PathBuf) -> Self {
        Self::new(Arc::clone(&self.0.disk), root, self.0.settings.clone())
    }

    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// What belongs to one session.
    pub fn session<'a>(&'a self, name: &SessionName) -> SessionNotes<'a> {
        let (state, buffer) = match self.0.settings.session_files {
            SessionFiles::PerSession => {
                let folder = format!("sessions/{name}");
                (
                    format!("{folder}/SESSION-STATE.md"),
                    format!("{folder}/working-buffer"),
                )
            }
            SessionFiles::Shared => (
                "SESSION-STATE.md".to_owned(),
                "memory/working-buffer".to_owned(),
            ),
        };
        SessionNotes {
            desk: &self.0,
            state,
            buffer,
        }
    }

    /// What belongs to a session goes on under another name, where it did not go with the session's own files; with
    /// shared files there is nothing to move.
    pub fn rename_session(&self, from: &SessionName, to: &SessionName) -> Result<(), NotesError> {
        if self.0.settings.session_files == SessionFiles::Shared {
            return Ok(());
        }
        let [from, to] = [from, to].map(|name| self.0.root.join(format!("sessions/{name}")));
        if self.0.disk.list(&from).is_ok_and(|files| files.is_empty()) {
            return Ok(());
        }
        let _held = self.0.hold()?;
        let moved = files::if_there(self.0.disk.rename(&from, &to));
        moved.map(drop).map_err(NotesError::io("move", &from))
    }

    /// Copies what was captured in a session to a fork of it, without what was captured after a time.
    pub fn fork_session(
        &self,
        from: &SessionName,
        to: &SessionName,
        until: Option<Timestamp>,
    ) -> Result<(), NotesError> {
        if self.0.settings.session_files == SessionFiles::Shared {
            return Ok(());
        }
        let [from, to] = [from, to].map(|name| {
            self.0
                .root
                .join(format!("sessions/{name}/SESSION-STATE.md"))
        });
        let bytes = files::if_there(self.0.disk.read(&from));
        let Some(bytes) = bytes.map_err(NotesError::io("read", &from))? else {
            return Ok(());
        };
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(at) = until {
            text = session_state::until(&text, at);
        }
        let _held = self.0.hold()?;
        let copied = self.0.disk.replace(&to, text.as_bytes());
        copied.map_err(NotesError::io("write", &to))
    }

    /// What belongs to a session that was deleted goes to `trash/`, where it did not go with the session's own files,
    /// so that a new session of its name begins without; tells where to.
    pub fn discard_session(
        &self,
        name: &SessionName,
        at: Timestamp,
    ) -> Result<Option<PathBuf>, NotesError> {
        if self.0.settings.session_files == SessionFiles::Shared {
            return Ok(None);
        }
        let from = self.0.root.join(format!("sessions/{name}"));
        if self.0.disk.size(&from).is_err() {
            return Ok(None);
        }
        let _held = self.0.hold()?;
        for number in 1..=MAX_ALIKE {
            let to = format!("trash/{}-{name}-{number}", at.compact());
            let to = self.0.root.join(to);
            match self.0.disk.rename(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // Another process was first.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                moved => {
                    return moved
                        .map(|()| Some(to))
                        .map_err(NotesError::io("move", &from));
                }
            }
        }
        let source = io::ErrorKind::AlreadyExists.into();
        Err(NotesError::io("move", &from)(source))
    }

    /// Brings back what [`Self::discard_session`] took away together with a session, whose folder in the trash is
    /// `discarded`.
    pub fn restore_session(&self, name: &SessionName, discarded: &Path) -> Result<(), NotesError> {
        let folder = discarded.file_name().unwrap_or_default().to_string_lossy();
        let (at, _) = folder.split_once('-').unwrap_or_default();
        let to = self.0.root.join(format!("sessions/{name}"));
        let alike = (1..=MAX_ALIKE).rev();
        let mut alike = alike.map(|n| self.0.root.join(format!("trash/{at}-{name}-{n}")));
        let exists = |path: &PathBuf| self.0.disk.size(path).is_ok();
        let Some(from) = alike.find(exists).filter(|_| !exists(&to)) else {
            return Ok(());
        };
        let _held = self.0.hold()?;
        let moved = self.0.disk.rename(&from, &to);
        moved.map_err(NotesError::io("move", &from))
    }

    /// MEMORY.md.
    pub fn long_term(&self) -> LongTerm<'_> {
        LongTerm::new(Page::new(&self.0, LONG_TERM))
    }

    /// The notes of days.
    pub fn daily(&self) -> Daily<'_> {
        Daily::new(&self.0)
    }

    /// SOUL.md, IDENTITY.md and USER.md as a request has them (X2).
    pub fn identity(&self) -> Identity {
        identity::read(&self.0, &self.0.settings)
    }

    /// The rules of a project: the first of these files that can be read.
    pub fn project_rules(
        &self,
        project: &Path,
        rules: &RuleFiles,
    ) -> Result<Option<Excerpt>, NotesError> {
        identity::project_rules(project, rules, &self.0.settings)
    }

    /// Characters of one file in a request.
    pub fn file_chars(&self) -> usize {
        self.0.settings.file_chars
    }

    pub(super) fn desk(&self) -> &Desk {
        &self.0
    }
}

/// The files of one session.
#[derive(Clone, Debug)]
pub struct SessionNotes<'a> {
    desk: &'a Desk,
    state: String,
    /// Without `.md`.
    buffer: String,
}

impl<'a> SessionNotes<'a> {
    /// SESSION-STATE.md.
    pub fn state(&self) -> SessionState<'a> {
        SessionState::new(Page::new(self.desk, &self.state))
    }

    /// working-buffer.md.
    pub fn buffer(&self) -> Buffer<'a> {
        Buffer::new(self.desk, &self.buffer)
    }
}

impl Desk {
    pub(super) fn hold(&self) -> Result<Held<'_>, NotesError> {
        let alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.root.join(LOCK);
        let lock = self
            .disk
            .lock(&path, LOCK_WAIT)
            .map_err(|error| match error {
                LockError::Held { pid } => NotesError::Locked {
                    folder: self.root.clone(),
                    pid,
                },
                LockError::Io(source) => NotesError::io("write to", &self.root)(source),
            })?;
        Ok(Held {
            _lock: lock,
            _alone: alone,
        })
    }

    /// Removes what a killed process left in a folder, once in a run. To be called under the lock.
    pub(super) fn sweep(&self, folder: Option<&Path>) {
        let Some(folder) = folder else {
            return;
        };
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.insert(folder.to_owned()) {
            files::sweep(self.disk.as_ref(), folder, is_note);
        }
    }

    pub(super) fn tell(&self, written: &Written) {
        let observers = self.observers().clone();
        for observer in observers {
            if catch_unwind(AssertUnwindSafe(|| observer(written))).is_err() {
                tracing::warn!("an observer of {} panicked", written.source);
            }
        }
    }

    fn observers(&self) -> MutexGuard<'_, Vec<Observer>> {
        self.observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a file is one of those that are written here.
fn is_note(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "md")
}

/// Nobody else changes the workspace. In the order of letting go.
pub(super) struct Held<'a> {
    _lock: Lock,
    _alone: MutexGuard<'a, ()>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// Characters of each file, the newest of them.
const RECOVERY_CHARS: usize = 20_000;

/// Files in the order in which they are read: buffer, session state, notes of the day. It is data, to be fenced by
/// whoever puts it into a request.
#[derive(Debug, Default)]
pub struct Recovery {
    pub parts: Vec<Excerpt>,
    /// Why others could not be read.
    pub problems: Vec<NotesError>,
}

impl Workspace {
    /// What is there of them; what is missing is skipped.
    pub fn recovery(&self, session: &SessionName, at: Timestamp) -> Recovery {
        let notes = self.session(session);
        let found = [
            notes.buffer().read(RECOVERY_CHARS),
            notes.state().read(),
            self.daily().read(at, RECOVERY_CHARS),
        ];
        let mut recovery = Recovery::default();
        for part in found {
            match part {
                Ok(part) => recovery.parts.extend(part),
                Err(problem) => recovery.problems.push(problem),
            }
        }
        recovery
    }
}
