//! A session and its log, kept in step: what happens is applied in memory and appended to disk. History is kept as it
//! was said, everything else without secrets.
//!
//! When the disk refuses, the session goes on in memory; the log holds on to the records and writes them
//! first with the next append, so that a disk that was full for a while costs nothing.

use std::path::PathBuf;

use crate::chat::{MessageId, Record, Redactions, Session, SessionName, Timestamp};
use crate::memory::{hear_record, known_secrets, masked_record};
use crate::store::{Opened, SessionLog, StoreError};
use crate::text::secrets::Known;

/// The one place that changes a session.
#[derive(Debug)]
pub struct Ledger {
    session: Session,
    log: Box<dyn SessionLog>,
    /// Not appended yet.
    applied: Vec<Record>,
    /// The secrets that were said, which nothing but history keeps.
    known: Known,
}

impl Ledger {
    pub fn new(opened: Opened) -> Self {
        Self {
            known: known_secrets(&opened.session),
            session: opened.session,
            log: opened.log,
            applied: Vec::new(),
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The secrets that were said in the session.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Applies a record and appends it. An error means "not saved yet".
    pub fn record(&mut self, record: Record) -> Result<(), StoreError> {
        self.apply(record);
        self.save()
    }

    /// Applies a record that is to be on disk together with others, or not at all; [`Ledger::save`] appends
    /// them in one write.
    pub fn apply(&mut self, record: Record) {
        hear_record(&mut self.known, &record);
        let record = masked_record(record, &self.session, &self.known);
        self.session.apply(record.clone());
        self.applied.push(record);
    }

    /// Appends what was applied. The log holds on to what the disk refuses.
    pub fn save(&mut self) -> Result<(), StoreError> {
        self.log.append(&std::mem::take(&mut self.applied))
    }

    /// Keeps what has arrived of the running turn's reply, should the process end before the reply does. Costs no sync.
    pub fn keep_arrived(&mut self, text: String) {
        if let Some(turn) = self.session.unfinished() {
            let turn = turn.id;
            self.log
                .append_unsynced(&Record::ReplyArrived { turn, text });
        }
    }

    /// Places that another process forgot in this session, where there are any.
    pub(super) fn forgotten_elsewhere(&self) -> Option<Redactions> {
        let on_disk = self.log.forgotten();
        let known = self.session.forgotten();
        let is_new = on_disk.is_pending
            || on_disk
                .iter()
                .any(|(id, masks)| masks.iter().any(|mask| !known.of(id).contains(mask)));
        is_new.then_some(on_disk)
    }

    /// Strikes what was forgotten of messages from history, too.
    pub(super) fn redact(&mut self, which: &[MessageId]) -> Result<(), StoreError> {
        let redacted = self.session.clone().redacted(|id| which.contains(id));
        self.log.rewrite(&redacted)?;
        self.session = redacted;
        let left = self.session.forgotten().clone();
        self.record(Record::ForgottenReplaced(left))
    }

    /// Lets the store write what waits and fold its journal.
    pub fn close(&mut self) -> Result<(), StoreError> {
        self.log.checkpoint(&self.session)
    }

    pub fn archive(&mut self, now: Timestamp) -> Result<PathBuf, StoreError> {
        let archived = self.log.archive(now)?;
        self.session = Session::new(self.session.name().clone());
        self.known = Known::default();
        Ok(archived)
    }

    pub fn rename(&mut self, name: &SessionName) -> Result<(), StoreError> {
        self.log.rename(&self.session, name)?;
        self.session.rename(name.clone());
        Ok(())
    }
}
