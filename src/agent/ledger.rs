//! A session and its log, kept in step: what happens is applied in memory and appended to disk.
//!
//! When the disk refuses, the session goes on in memory and the records wait here; they go first with
//! the next append, so that a disk that was full for a while costs nothing.

use std::path::PathBuf;

use crate::chat::{Record, Session, SessionName, Timestamp};
use crate::store::{Opened, SessionLog, StoreError};

/// The one place that changes a session.
#[derive(Debug)]
pub struct Ledger {
    session: Session,
    log: Box<dyn SessionLog>,
    /// Applied, but not on disk.
    waiting: Vec<Record>,
}

impl Ledger {
    pub fn new(opened: Opened) -> Self {
        Self {
            session: opened.session,
            log: opened.log,
            waiting: Vec::new(),
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Applies a record and appends it, behind whatever still waits. An error means "not saved yet".
    pub fn record(&mut self, record: Record) -> Result<(), StoreError> {
        self.session.apply(record.clone());
        if self.waiting.is_empty() {
            return self
                .log
                .append(std::slice::from_ref(&record))
                .inspect_err(|_| self.waiting.push(record));
        }
        self.waiting.push(record);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if !self.waiting.is_empty() {
            self.log.append(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Writes what waits and lets the store fold its journal. A session in which nothing was ever said
    /// leaves no file.
    pub fn close(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        if self.session.is_empty() {
            Ok(())
        } else {
            self.log.checkpoint(&self.session)
        }
    }

    pub fn archive(&mut self, now: Timestamp) -> Result<PathBuf, StoreError> {
        self.flush()?;
        let archived = self.log.archive(now)?;
        self.session = Session::new(self.session.name().clone());
        Ok(archived)
    }

    pub fn rename(&mut self, name: &SessionName) -> Result<(), StoreError> {
        self.flush()?;
        self.log.rename(&self.session, name)?;
        self.session.rename(name.clone());
        Ok(())
    }
}
