//! A session log that keeps records in memory and refuses them when told to.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::chat::{Record, Session, SessionName, Timestamp};
use crate::store::{Opened, SessionLog, StoreError, Unwritable};

/// Clones share what was kept.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    records: Vec<Record>,
    /// Refused, and written with the next append.
    waiting: Vec<Record>,
    full: bool,
    checkpoints: usize,
}

impl MemoryLog {
    /// An empty session that is kept here.
    pub fn open(&self, name: &str) -> Opened {
        let session = Session::new(name.parse().expect("tests use valid names"));
        self.reopen(session)
    }

    /// A session with a past, kept here from now on.
    pub fn reopen(&self, session: Session) -> Opened {
        Opened {
            session,
            log: Box::new(self.clone()),
            repairs: Vec::new(),
        }
    }

    pub fn records(&self) -> Vec<Record> {
        self.with(|state| state.records.clone())
    }

    pub fn checkpoints(&self) -> usize {
        self.with(|state| state.checkpoints)
    }

    /// From now on the disk is full, or has room again.
    pub fn set_full(&self, full: bool) {
        self.with(|state| state.full = full);
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self
            .0
            .lock()
            .expect("no test panics while it holds the lock"))
    }

    fn refusal() -> StoreError {
        StoreError::Unwritable {
            folder: PathBuf::from("history"),
            why: Unwritable::Full,
        }
    }
}

impl SessionLog for MemoryLog {
    fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        self.with(|state| {
            state.waiting.extend_from_slice(records);
            if state.full {
                return Err(Self::refusal());
            }
            let waiting = std::mem::take(&mut state.waiting);
            state.records.extend(waiting);
            Ok(())
        })
    }

    fn append_unsynced(&mut self, record: &Record) {
        self.with(|state| {
            if !state.full {
                state.records.push(record.clone());
            }
        });
    }

    fn checkpoint(&mut self, _session: &Session) -> Result<(), StoreError> {
        self.with(|state| state.checkpoints += 1);
        Ok(())
    }

    fn rewrite(&mut self, _session: &Session) -> Result<(), StoreError> {
        self.with(|state| {
            if state.full {
                return Err(Self::refusal());
            }
            state.checkpoints += 1;
            state.waiting.clear();
            Ok(())
        })
    }

    fn rename(&mut self, _session: &Session, _name: &SessionName) -> Result<(), StoreError> {
        Ok(())
    }

    fn archive(&mut self, _now: Timestamp) -> Result<PathBuf, StoreError> {
        self.with(|state| state.records.clear());
        Ok(PathBuf::from("archive"))
    }
}
