//! Sessions in files of the data folder, one writer each. Finding, opening, listing and discarding are
//! here; what is in the files is the part of `loading`, writing them the part of `file_log`.

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::error::{At, StoreError};
use super::file_log::FileLog;
use super::format::side;
use super::journal;
use super::layout::{Found, Layout, Side, time_of, times_of};
use super::loading::{self, Damage};
use super::moving::{self, Destination};
use super::opening::{self, Bench};
use super::replay::{self, Ground};
use super::snapshot::{self, HEAD_BYTES};
use super::{Opened, Restored, SessionInfo, SessionStore, Unwritable};
use crate::chat::{Record, Redactions, Session, SessionName, Timestamp};
use crate::clock::Clock;
use crate::files::{Disk, Lock, LockError, if_there};

/// Sessions as files below a data folder.
#[derive(Clone, Debug)]
pub struct FileStore {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) layout: Layout,
    pub(super) clock: Arc<dyn Clock>,
    /// Whether what killed processes had begun was finished before the first session was read.
    is_settled: Arc<OnceLock<()>>,
}

impl FileStore {
    pub fn new(disk: Arc<dyn Disk>, data_root: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            disk,
            layout: Layout::new(data_root),
            clock,
            is_settled: Arc::default(),
        }
    }

    pub(super) fn lock(&self, name: &SessionName, wait: Duration) -> Result<Lock, StoreError> {
        let path = self.layout.lock(name);
        match self.disk.lock(&path, wait) {
            Ok(lock) => Ok(lock),
            Err(LockError::Held { pid }) => Err(StoreError::Locked {
                name: name.clone(),
                pid,
            }),
            Err(LockError::Io(error)) => Err(error).at("lock", &path),
        }
    }

    /// Finishes what a killed process has begun and concerns this session, whose lock is held: moves
    /// from it and to it, and half-written files.
    pub(super) fn settle(&self, name: &SessionName, wait: Duration) -> Result<(), StoreError> {
        let disk = &*self.disk;
        self.finish_move_of(name)?;
        for file in moving::list(disk, &self.layout)? {
            if Layout::is_leftover(&file, name) {
                disk.remove(&file).at("remove", &file)?;
            }
            let Some(Found::Moving(from)) = Layout::classify(&file) else {
                continue;
            };
            // What another session's note says, if it cannot be read, is no affair of this one.
            let to = moving::pending(disk, &self.layout, &from).ok().flatten();
            if to == Some(Destination::Name(name.clone())) {
                let held = self.lock(&from, wait)?;
                self.finish_move_of(&from)?;
                drop(held);
            }
        }
        Ok(())
    }

    /// Moves the rest of a session's files, if they are on their way. Its lock is held.
    fn finish_move_of(&self, from: &SessionName) -> Result<(), StoreError> {
        match moving::pending(&*self.disk, &self.layout, from)? {
            Some(to) => moving::carry_out(&*self.disk, &self.layout, from, &to),
            None => Ok(()),
        }
    }

    /// Finishes every move whose process is gone; those of living ones are their own affair.
    fn settle_all(&self) -> Result<Vec<PathBuf>, StoreError> {
        let files = moving::list(&*self.disk, &self.layout)?;
        let mut moved = false;
        for file in &files {
            if let Some(Found::Moving(from)) = Layout::classify(file)
                && let Ok(_held) = self.lock(&from, Duration::ZERO)
            {
                moved |= self.finish_move_of(&from).is_ok();
            }
        }
        if moved {
            moving::list(&*self.disk, &self.layout)
        } else {
            Ok(files)
        }
    }

    /// Whether a folder could not be created for want of a place for the data folder itself, as in a home
    /// that is a file.
    fn has_no_place(&self, error: &StoreError) -> bool {
        let no_place =
            |kind| matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        match error {
            StoreError::Unwritable { why, .. } => *why == Unwritable::NoPlace,
            StoreError::Io { source, .. } => {
                let root = self.disk.size(self.layout.root());
                no_place(source.kind()) && root.is_err_and(|error| no_place(error.kind()))
            }
            StoreError::Locked { .. }
            | StoreError::Newer { .. }
            | StoreError::Missing { .. }
            | StoreError::NotInTrash { .. }
            | StoreError::Taken { .. }
            | StoreError::InTheWay { .. }
            | StoreError::Changed { .. } => false,
        }
    }

    fn info(&self, name: SessionName) -> SessionInfo {
        match self.summary(&name) {
            Ok(session) => SessionInfo {
                messages: session.hidden_messages + session.shown.live_messages(),
                mode: session.shown.meta().mode.clone(),
                model: session.shown.meta().model.clone(),
                updated_at: session.shown.meta().updated_at,
                title: session.shown.meta().title.clone(),
                problem: None,
                name,
            },
            Err(problem) => SessionInfo {
                name,
                mode: None,
                model: None,
                messages: 0,
                updated_at: None,
                title: String::new(),
                problem: Some(problem),
            },
        }
    }

    /// A session without its older messages where its snapshot has a head that tells about them.
    fn summary(&self, name: &SessionName) -> Result<Summary, String> {
        let words = |error: &dyn std::error::Error| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        let start = self
            .disk
            .read_head(&self.layout.snapshot(name), HEAD_BYTES)
            .unwrap_or_default();
        // What was forgotten may stand in the title.
        let is_whole = self
            .disk
            .size(&self.layout.side(name, Side::Forgotten))
            .is_err();
        if is_whole
            && let Some(head) = snapshot::read_head(&start)
            && let Some(journal_seq) = head.journal_seq
        {
            let mut shown = Session::restore(name.clone(), head.meta, Vec::new(), |_| None);
            let ground = Ground::Whole { journal_seq };
            let path = self.layout.journal(name);
            let journal = match self.disk.read(&path) {
                Ok(journal) => journal,
                Err(error) if stands_for_nothing(&error) => Vec::new(),
                Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
            };
            let journal = journal::read(&journal);
            // What the head counts may have been taken back since.
            if !journal.withdraws_older(journal_seq) {
                replay::replay(&mut shown, ground, journal);
                return Ok(Summary {
                    hidden_messages: head.messages,
                    shown,
                });
            }
        }
        let loaded =
            loading::load(&*self.disk, &self.layout, name).map_err(|error| words(&error))?;
        if loaded.damage.iter().any(Damage::is_of_the_snapshot) {
            let messages = loaded.session.messages().len();
            return Err(format!(
                "damaged; opening it recovers {messages} messages and keeps the original"
            ));
        }
        Ok(Summary {
            hidden_messages: 0,
            shown: loaded.session.redacted(|_| true),
        })
    }
}

/// A missing journal is none, and a folder in its place is moved aside when the session is opened.
fn stands_for_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory
    )
}

struct Summary {
    hidden_messages: usize,
    shown: Session,
}

impl SessionStore for FileStore {
    fn open(&self, name: &SessionName, wait: Duration) -> Result<Opened, StoreError> {
        // A lock file that is there before the lock was had: its owner is alive, or did not end by itself.
        let left_behind = self.disk.size(&self.layout.lock(name)).is_ok();
        let lock = match self.lock(name, wait) {
            // Nothing can be written here, by anyone: the person can still read and ask, and each append
            // says that it was not kept (C76).
            Err(StoreError::Unwritable { why, .. }) if why != Unwritable::NoPlace => None,
            Err(StoreError::Io { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                None
            }
            // Not even the data folder can be: nothing is kept there.
            Err(error) if self.has_no_place(&error) => {
                let loaded = loading::nothing(&self.layout, name)?;
                return Ok(Opened {
                    log: Box::new(FileLog::new(self.clone(), &loaded, None)),
                    session: loaded.session,
                    repairs: Vec::new(),
                });
            }
            lock => Some(lock?),
        };
        if left_behind || lock.is_none() {
            self.settle(name, wait)?;
        } else {
            self.finish_move_of(name)?;
        }
        let mut loaded = loading::load(&*self.disk, &self.layout, name)?;
        let bench = Bench {
            disk: &*self.disk,
            layout: &self.layout,
            name,
            now: self.clock.now(),
        };
        let mended = opening::mend(&bench, &mut loaded)?;
        let mut log = FileLog::new(self.clone(), &loaded, lock);
        if let Some(closing) = &mended.closing {
            log.close(closing)?;
        }
        Ok(Opened {
            session: loaded.session,
            log: Box::new(log),
            repairs: mended.repairs,
        })
    }

    fn read(&self, name: &SessionName) -> Result<Session, StoreError> {
        // Once: whoever reads thousands of sessions would list their folder thousands of times.
        if self.is_settled.get().is_none() {
            self.settle_all()?;
            self.is_settled.get_or_init(|| ());
        }
        let mut loaded = loading::load(&*self.disk, &self.layout, name)?;
        if !loaded.found {
            self.settle_all()?;
            loaded = loading::load(&*self.disk, &self.layout, name)?;
        }
        if loaded.found {
            Ok(loaded.session)
        } else {
            Err(self.missing(name))
        }
    }

    fn has(&self, name: &SessionName) -> Result<bool, StoreError> {
        let history = moving::list(&*self.disk, &self.layout)?;
        let pieces = Layout::pieces(name, &history);
        Ok(pieces
            .iter()
            .any(|piece| self.disk.size(&self.layout.path_of(piece, name)).is_ok()))
    }

    fn list(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let files = self.settle_all()?;
        let found = files.iter().map(|file| Layout::classify(Path::new(file)));
        let mut names: Vec<SessionName> = found
            .filter_map(|found| match found? {
                Found::Session(name) => Some(name),
                Found::Moving(_) => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut infos: Vec<SessionInfo> = names.into_iter().map(|name| self.info(name)).collect();
        let last = self.disk.read(&self.layout.last()).unwrap_or_default();
        let last = str::from_utf8(&last).unwrap_or_default().trim_end();
        let (left_at, left) = last.split_once(' ').unwrap_or_default();
        let left_at = Timestamp::parse(left_at);
        infos.sort_by_key(|info| {
            let left_at = left_at.filter(|_| info.name.as_str() == left);
            // Times are whole seconds.
            (Reverse(info.updated_at.max(left_at)), left_at.is_none())
        });
        Ok(infos)
    }

    fn leave(&self, name: &SessionName, now: Timestamp) -> Result<(), StoreError> {
        let file = self.layout.last();
        let line = format!("{} {name}\n", now.iso());
        self.disk.replace(&file, line.as_bytes()).at("write", &file)
    }

    fn keep_fork(&self, fork: &Session, of: &SessionName) -> Result<Opened, StoreError> {
        let name = fork.name();
        if self.has(name)? {
            return Err(StoreError::Taken { name: name.clone() });
        }
        let mut opened = self.open(name, Duration::ZERO)?;
        // Another process may have been quicker, and be gone already.
        if !opened.session.is_empty() {
            return Err(StoreError::Taken { name: name.clone() });
        }
        let outputs = self.layout.outputs(of);
        let files = if_there(self.disk.list(&outputs)).at("read", &outputs)?;
        let said = super::export_json(fork);
        for file in files.unwrap_or_default() {
            let digest = file.file_name().unwrap_or_default().to_string_lossy();
            if !said.contains(&*digest) {
                continue;
            }
            let copy = self.layout.outputs(name).join(&*digest);
            let copied = self
                .disk
                .read(&file)
                .and_then(|bytes| self.disk.replace(&copy, &bytes));
            copied.at("copy", &file)?;
        }
        // What was forgotten is masked before there is anything to mask.
        if !fork.forgotten().is_empty() {
            let forgotten = Record::ForgottenReplaced(fork.forgotten().clone());
            opened.log.append(&[forgotten])?;
        }
        opened.log.rewrite(fork)?;
        let beside = [
            Record::HybridReplaced(fork.hybrid().clone()),
            Record::ModeStatesReplaced(fork.mode_states().clone()),
            Record::ScratchpadReplaced(fork.scratchpad().clone()),
            Record::PinsReplaced(fork.pins().clone()),
        ];
        let blank = Session::new(name.clone());
        let beside = beside
            .into_iter()
            .filter(|record| blank.present(record).as_ref() != Some(record));
        opened.log.append(&beside.collect::<Vec<_>>())?;
        opened.session = fork.clone();
        Ok(opened)
    }

    fn leave_forgotten(&self, name: &SessionName, places: &Redactions) -> Result<(), StoreError> {
        let path = self.layout.side(name, Side::Forgotten);
        let file = if_there(self.disk.read(&path)).at("read", &path)?;
        // One that cannot be read is not written over: it says what was forgotten before.
        let mut forgotten = side::read_forgotten(&file.unwrap_or_default())
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
            .at("read", &path)?;
        forgotten.join(places);
        forgotten.is_pending = true;
        let bytes = side::write_forgotten(&forgotten);
        self.disk.replace(&path, &bytes).at("write", &path)
    }

    fn put_away(&self) -> Vec<(PathBuf, Box<dyn SessionStore>)> {
        let folders = self.layout.put_away(&*self.disk).into_iter();
        let stores = folders.map(|root| {
            let (disk, clock) = (Arc::clone(&self.disk), Arc::clone(&self.clock));
            let store: Box<dyn SessionStore> = Box::new(Self::new(disk, root.clone(), clock));
            (root, store)
        });
        stores.collect()
    }

    fn discard(&self, name: &SessionName, now: Timestamp) -> Result<PathBuf, StoreError> {
        let lock = self.lock(name, Duration::ZERO)?;
        self.settle(name, Duration::ZERO)?;
        if !self.has(name)? {
            return Err(self.missing(name));
        }
        let folder = self.layout.trash_for(name, now, &*self.disk);
        let path = self.layout.inside(&folder);
        moving::begin(
            &*self.disk,
            &self.layout,
            name,
            &Destination::Folder(folder),
        )?;
        drop(lock);
        Ok(path)
    }

    fn restore(&self, name: &SessionName, time: Option<&str>) -> Result<Restored, StoreError> {
        let in_the_way = || StoreError::InTheWay { name: name.clone() };
        // One that is open, in whatever process, is there.
        let _lock = self
            .lock(name, Duration::ZERO)
            .map_err(|error| match error {
                StoreError::Locked { .. } => in_the_way(),
                other => other,
            })?;
        self.settle(name, Duration::ZERO)?;
        if self.has(name)? {
            return Err(in_the_way());
        }
        let mut folders = self.layout.trashed(name, &*self.disk);
        let digits = |text: &str| text.replace(|c: char| !c.is_ascii_digit(), "");
        let wanted = digits(time.unwrap_or_default());
        let is_wanted = |folder: &String| digits(time_of(folder)).starts_with(&wanted);
        let is_any = time.is_none() || !wanted.is_empty();
        let Some(index) = folders.iter().rposition(is_wanted).filter(|_| is_any) else {
            return Err(StoreError::NotInTrash {
                name: name.clone(),
                times: times_of(&folders),
            });
        };
        let folder = folders.remove(index);
        let from = self.layout.inside(&folder);
        let back = Destination::Back(folder);
        moving::begin(&*self.disk, &self.layout, name, &back)?;
        Ok(Restored {
            from,
            others: times_of(&folders),
        })
    }
}
