//! The one writer of a session kept in files. Its unit is the append: one write and one sync, whatever
//! the size of the session.
//!
//! ```text
//! append      records -> journal (one write, one sync), side files replaced whole
//!             what arrives of a reply -> journal (one write)
//! checkpoint  session -> snapshot, then the journal goes
//! rewrite     the same for a session that has gained more than its records
//! ```
//! Invariant: what was acknowledged is in the snapshot, the journal or a side file. What could not be
//! written waits here, and is written before anything that comes later.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{At, StoreError};
use super::file_store::FileStore;
use super::format::side;
use super::layout::{Layout, Side};
use super::loading::{self, Loaded};
use super::moving::{self, Destination};
use super::opening::replace_snapshot;
use super::{SessionLog, SessionStore, journal};
use crate::chat::{Record, Redactions, Session, SessionName, Timestamp, Unknown};
use crate::files::{Disk, Lock};
use crate::hint::chain;

/// A snapshot below this is rewritten at every clean end.
const SMALL_SNAPSHOT: u64 = 1 << 20;
/// A journal below this is not folded in the middle of a run.
const LARGE_JOURNAL: u64 = 1 << 20;
/// The journal is folded when it exceeds this part of the snapshot.
const JOURNAL_SHARE: u64 = 10;

/// The writer.
#[derive(Debug)]
pub(super) struct FileLog {
    store: FileStore,
    name: SessionName,
    /// `None` where nothing can be written, a lock included.
    lock: Option<Lock>,
    next_seq: u64,
    /// Messages of this session that are on disk or wait for it.
    messages: usize,
    snapshot_len: u64,
    journal: JournalFile,
    hybrid: SideFile,
    mode_states: SideFile,
    scratchpad: SideFile,
    pins: SideFile,
    forgotten: SideFile,
    states_others: Unknown,
    /// The journal's length from which on a fold in the middle of a run is tried.
    fold_from: u64,
    /// The snapshot still has the old name in it.
    renamed: bool,
    /// A move that stopped half-way: nothing is written until the rest has followed.
    moving: Option<Move>,
}

/// What becomes of the log once its files have moved.
#[derive(Debug)]
enum Move {
    Rename {
        name: SessionName,
        lock: Option<Lock>,
    },
    Archive,
}

/// [`Disk::append_synced`] or [`Disk::append`].
type Append = fn(&(dyn Disk + 'static), &Path, &[u8]) -> io::Result<()>;

#[derive(Debug, Default)]
struct JournalFile {
    len: u64,
    /// The last line has no end, or may be torn.
    open_end: bool,
    /// Lines that are not on disk yet.
    waiting: Vec<u8>,
}

/// A file that is replaced whole.
#[derive(Debug, Default)]
struct SideFile {
    written: Vec<u8>,
    waiting: Option<Vec<u8>>,
    /// Something unreadable stands in its place that could not be moved aside: it goes before anything is written.
    is_blocked: bool,
}

impl SideFile {
    fn put(&mut self, bytes: Vec<u8>) {
        self.waiting = (bytes != self.written).then_some(bytes);
    }

    fn flush(&mut self, store: &FileStore, path: &Path) -> Result<(), StoreError> {
        let Some(bytes) = &self.waiting else {
            return Ok(());
        };
        if self.is_blocked {
            let aside = Layout::damaged(store.disk.as_ref(), path, store.clock.now());
            store.disk.rename(path, &aside).at("move", path)?;
            self.is_blocked = false;
        }
        store.disk.replace(path, bytes).at("write", path)?;
        self.written = self.waiting.take().unwrap_or_default();
        Ok(())
    }
}

impl FileLog {
    pub(super) fn new(store: FileStore, loaded: &Loaded, lock: Option<Lock>) -> Self {
        let side = |file| SideFile {
            is_blocked: loaded.blocked.contains(&file),
            ..SideFile::default()
        };
        Self {
            name: loaded.session.name().clone(),
            lock,
            next_seq: loaded.last_seq + 1,
            messages: loaded.session.messages().len(),
            snapshot_len: loaded.snapshot_len,
            journal: JournalFile {
                len: loaded.journal_len,
                open_end: loaded.open_end,
                waiting: Vec::new(),
            },
            hybrid: side(Side::Hybrid),
            mode_states: side(Side::ModeStates),
            scratchpad: side(Side::Scratchpad),
            pins: side(Side::Pins),
            forgotten: side(Side::Forgotten),
            states_others: loaded.states_others.clone(),
            fold_from: LARGE_JOURNAL,
            renamed: false,
            moving: None,
            store,
        }
    }

    /// Writes the end of a turn that was found cut off; the session has it already. Where the disk
    /// refuses, it waits: the person hears of it with the first input.
    pub(super) fn close(&mut self, closing: &Record) -> Result<(), StoreError> {
        let messages = self.messages;
        self.queue(std::slice::from_ref(closing))?;
        self.messages = messages;
        self.flush().or(Ok(()))
    }

    /// Makes the records wait for [`FileLog::flush`].
    fn queue(&mut self, records: &[Record]) -> Result<(), StoreError> {
        for record in records {
            match record {
                Record::HybridReplaced(hybrid) => self.hybrid.put(side::write_hybrid(hybrid)),
                Record::ModeStatesReplaced(states) => {
                    let bytes = side::write_mode_states(states, &self.states_others);
                    self.mode_states.put(bytes);
                }
                Record::ScratchpadReplaced(scratchpad) => {
                    self.scratchpad.put(side::write_scratchpad(scratchpad));
                }
                Record::PinsReplaced(pins) => self.pins.put(side::write_pins(pins)),
                Record::ForgottenReplaced(forgotten) => {
                    self.forgotten.put(side::write_forgotten(forgotten));
                }
                Record::TurnStarted { .. }
                | Record::MessageAdded { .. }
                | Record::ReplyArrived { .. }
                | Record::TurnFinished { .. }
                | Record::TurnWithdrawn { .. }
                | Record::ModeChanged { .. }
                | Record::ModelChanged { .. }
                | Record::Spent { .. } => {
                    journal::write(&mut self.journal.waiting, self.next_seq, record)
                        .map_err(io::Error::from)
                        .at("write", &self.store.layout.journal(&self.name))?;
                    self.next_seq += 1;
                    self.messages += record.messages().len();
                }
            }
        }
        Ok(())
    }

    /// Writes what waits: the journal first, so that a side file never speaks of what is not there.
    fn flush(&mut self) -> Result<(), StoreError> {
        self.finish_move()?;
        self.flush_journal(<dyn Disk>::append_synced)?;
        self.flush_side_files()
    }

    fn flush_side_files(&mut self) -> Result<(), StoreError> {
        let path = |side| self.store.layout.side(&self.name, side);
        self.hybrid.flush(&self.store, &path(Side::Hybrid))?;
        self.mode_states
            .flush(&self.store, &path(Side::ModeStates))?;
        self.scratchpad
            .flush(&self.store, &path(Side::Scratchpad))?;
        self.pins.flush(&self.store, &path(Side::Pins))?;
        // Last: it says that the others are without what was forgotten.
        self.forgotten.flush(&self.store, &path(Side::Forgotten))
    }

    fn flush_journal(&mut self, append: Append) -> Result<(), StoreError> {
        if self.journal.waiting.is_empty() {
            return Ok(());
        }
        let path = self.store.layout.journal(&self.name);
        let mut bytes = Cow::Borrowed(&self.journal.waiting);
        if self.journal.open_end {
            bytes.to_mut().insert(0, b'\n');
        }
        if let Err(error) = append(self.store.disk.as_ref(), &path, &bytes) {
            self.cut_torn_end();
            return Err(error).at("append to", &path);
        }
        let expected = self.journal.len + bytes.len() as u64;
        self.journal = JournalFile {
            len: if self.journal.open_end {
                self.store.disk.size(&path).unwrap_or(expected)
            } else {
                expected
            },
            ..JournalFile::default()
        };
        Ok(())
    }

    /// Takes back what a failed append has left. Where that fails too, or where others may be writing,
    /// the next append begins on a line of its own; what is written twice counts once.
    fn cut_torn_end(&mut self) {
        let path = self.store.layout.journal(&self.name);
        let disk = &self.store.disk;
        let cut = match disk.size(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Ok(len) if len == self.journal.len => Ok(()),
            Ok(_) if self.lock.is_none() => Err(io::ErrorKind::WouldBlock.into()),
            Ok(_) if self.journal.len == 0 => disk.remove(&path),
            Ok(_) => disk.truncate(&path, self.journal.len),
            Err(error) => Err(error),
        };
        self.journal.open_end |= cut.is_err();
    }

    fn fold(&mut self, session: &Session) -> Result<(), StoreError> {
        let (disk, layout) = (&*self.store.disk, &self.store.layout);
        let snapshot = layout.snapshot(&self.name);
        let contained = self.next_seq - 1;
        self.snapshot_len = replace_snapshot(disk, &snapshot, session, &self.name, contained)?;
        self.journal.waiting.clear();
        self.renamed = false;
        let journal = layout.journal(&self.name);
        disk.remove(&journal).at("remove", &journal)?;
        self.journal = JournalFile::default();
        self.fold_from = LARGE_JOURNAL;
        Ok(())
    }

    /// Folds in the middle of a run when the journal has grown large. It works from what is on disk,
    /// and a failure is no failure of the append: the journal has everything.
    fn fold_if_large(&mut self) {
        let due = self.journal.len >= self.fold_from
            && self.journal.len > self.snapshot_len / JOURNAL_SHARE;
        if !due {
            return;
        }
        let loaded = loading::load(&*self.store.disk, &self.store.layout, &self.name);
        let folded = loaded.is_ok_and(|loaded| {
            self.may_replace_all(&loaded.session) && self.fold(&loaded.session).is_ok()
        });
        if !folded {
            self.fold_from = self.journal.len * 2;
        }
    }

    /// Whether a snapshot of this session would hold all that is on disk: not while a turn runs, not
    /// where others have written.
    fn may_replace_all(&self, session: &Session) -> bool {
        let layout = &self.store.layout;
        let size = |path: &Path| self.store.disk.size(path).unwrap_or(0);
        let journal_grew = size(&layout.journal(&self.name)) > self.journal.len;
        let others_wrote = size(&layout.snapshot(&self.name)) != self.snapshot_len
            || (journal_grew && !self.journal.open_end);
        session.unfinished().is_none() && session.messages().len() >= self.messages && !others_wrote
    }

    fn begin_move(&mut self, to: &Destination, then: Move) -> Result<(), StoreError> {
        self.moving = Some(then);
        let (disk, layout) = (&*self.store.disk, &self.store.layout);
        moving::begin(disk, layout, &self.name, to)?;
        self.follow_move();
        Ok(())
    }

    /// Moves what an earlier try left behind.
    fn finish_move(&mut self) -> Result<(), StoreError> {
        if self.moving.is_none() {
            return Ok(());
        }
        let (disk, layout) = (&*self.store.disk, &self.store.layout);
        match moving::pending(disk, layout, &self.name)? {
            Some(to) => {
                moving::carry_out(disk, layout, &self.name, &to)?;
                self.follow_move();
            }
            // The note is gone, or never was: the files tell.
            None if self.is_gone() => self.follow_move(),
            None => self.moving = None,
        }
        Ok(())
    }

    /// Whether what is known to be on disk is no longer under this name.
    fn is_gone(&self) -> bool {
        let layout = &self.store.layout;
        let exists = |path: &Path| self.store.disk.size(path).is_ok();
        (self.snapshot_len > 0 || self.journal.len > 0)
            && !exists(&layout.snapshot(&self.name))
            && !exists(&layout.journal(&self.name))
    }

    fn follow_move(&mut self) {
        match self.moving.take() {
            Some(Move::Rename { name, lock }) => {
                self.name = name;
                self.lock = lock;
                self.renamed = self.snapshot_len > 0;
            }
            Some(Move::Archive) => {
                self.next_seq = 1;
                self.messages = 0;
                self.snapshot_len = 0;
                self.journal = JournalFile::default();
                self.hybrid = SideFile::default();
                self.mode_states = SideFile::default();
                self.scratchpad = SideFile::default();
                self.pins = SideFile::default();
                self.forgotten = SideFile::default();
                self.states_others = Unknown::new();
                self.renamed = false;
            }
            None => {}
        }
    }
}

impl SessionLog for FileLog {
    fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        self.queue(records)?;
        self.flush()?;
        if let Some(Record::TurnFinished { .. }) =
            records.iter().rfind(|r| journal::is_kept_here(r))
        {
            self.fold_if_large();
        }
        Ok(())
    }

    fn append_unsynced(&mut self, record: &Record) {
        if !self.journal.waiting.is_empty() || self.moving.is_some() {
            return;
        }
        let queued = self.queue(std::slice::from_ref(record));
        if let Err(error) = queued.and_then(|()| self.flush_journal(<dyn Disk>::append)) {
            tracing::debug!("a part of a reply is not kept: {}", chain(&error));
            self.journal.waiting.clear();
        }
    }

    fn forgotten(&self) -> Redactions {
        let path = self.store.layout.side(&self.name, Side::Forgotten);
        let file = self.store.disk.read(&path).unwrap_or_default();
        side::read_forgotten(&file).unwrap_or_default()
    }

    fn checkpoint(&mut self, session: &Session) -> Result<(), StoreError> {
        let flushed = self.flush();
        let nothing_new = self.journal.len == 0 && self.journal.waiting.is_empty();
        // Notes alone make a session too: without a file of its own nobody would find it.
        let is_listed = self.snapshot_len > 0 || session.mode_states().0.is_empty();
        let is_current = nothing_new && is_listed;
        let worth_it = self.snapshot_len < SMALL_SNAPSHOT
            || self.journal.len > self.snapshot_len / JOURNAL_SHARE;
        let due = worth_it && (!is_current || self.renamed) && self.moving.is_none();
        if !due || !self.may_replace_all(session) {
            return flushed;
        }
        self.fold(session)?;
        self.flush_side_files()
    }

    fn rewrite(&mut self, session: &Session) -> Result<(), StoreError> {
        self.finish_move()?;
        if !self.may_replace_all(session) {
            return Err(StoreError::Changed {
                name: self.name.clone(),
            });
        }
        self.fold(session)?;
        self.messages = session.messages().len();
        self.flush_side_files()
    }

    fn rename(&mut self, _: &Session, name: &SessionName) -> Result<(), StoreError> {
        self.flush()?;
        if *name == self.name {
            return Ok(());
        }
        let lock = self.store.lock(name, Duration::ZERO)?;
        self.store.settle(name, Duration::ZERO)?;
        if self.store.has(name)? {
            return Err(StoreError::Taken { name: name.clone() });
        }
        let to = Destination::Name(name.clone());
        let name = name.clone();
        self.begin_move(
            &to,
            Move::Rename {
                name,
                lock: Some(lock),
            },
        )
    }

    fn archive(&mut self, now: Timestamp) -> Result<PathBuf, StoreError> {
        self.flush()?;
        let (disk, layout) = (&*self.store.disk, &self.store.layout);
        let folder = layout.archive_for(&self.name, now, disk);
        let path = layout.inside(&folder);
        self.begin_move(&Destination::Folder(folder), Move::Archive)?;
        Ok(path)
    }
}
