//! When entries of memory are written: a moment after they changed, all in one go, while the agent waits for a person
//! or a model, and at the end.
//!
//! Invariant: what the disk refuses waits on and is tried again; that is told once.

use std::time::Duration;

use tokio::time::Instant;

use super::Warning;
use crate::chat::Timestamp;
use crate::clock::Clock;
use crate::hint::chain;
use crate::long_term::entries::{EntryStore, StoreSettings, unmasked};

/// What the disk refused is tried again after so long.
const AGAIN: Duration = Duration::from_secs(30);

/// The entries, and when they are to be written.
#[derive(Debug)]
pub(super) struct EntryWriter {
    store: EntryStore,
    due: Option<Instant>,
    /// Whether it was said that they cannot be.
    is_told: bool,
    /// The revision of the entries that was asked for last.
    shared: Option<u64>,
}

impl Default for EntryWriter {
    fn default() -> Self {
        Self::new(EntryStore::session_only(StoreSettings::default(), unmasked))
    }
}

impl EntryWriter {
    pub(super) fn new(store: EntryStore) -> Self {
        Self {
            store,
            due: None,
            is_told: false,
            shared: None,
        }
    }

    /// Waits until changes are due, for ever where there are none, and writes them. May be dropped at any time.
    pub(super) async fn due(&mut self, clock: &dyn Clock) -> Option<Warning> {
        if !self.store.is_waiting() {
            self.due = None;
            return std::future::pending().await;
        }
        let debounce = Duration::from_millis(self.store.settings.debounce_ms);
        let due = *self.due.get_or_insert_with(|| Instant::now() + debounce);
        tokio::time::sleep_until(due).await;
        self.flush(clock.now())
    }

    /// The entries, where they have changed since this was asked last.
    pub(super) fn changed(&mut self) -> Option<&EntryStore> {
        self.store.refresh();
        let revision = self.store.revision();
        let is_new = self.shared.replace(revision) != Some(revision);
        is_new.then_some(&self.store)
    }

    pub(super) fn end_session(&mut self) {
        self.store.end_session();
    }

    pub(super) fn store(&self) -> &EntryStore {
        &self.store
    }

    pub(super) fn store_mut(&mut self) -> &mut EntryStore {
        &mut self.store
    }

    /// It is the end: what cannot be written now is said, whatever was said before.
    pub(super) fn flush_at_last(&mut self, now: Timestamp) -> Option<Warning> {
        self.is_told = false;
        self.flush(now)
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, now: Timestamp) -> Option<Warning> {
        if !self.store.is_waiting() {
            return None;
        }
        let mut notices = Vec::new();
        let mut failures = Vec::new();
        for result in self.store.flush(now) {
            match result {
                Ok(notice) => notices.push(notice.to_string()),
                Err(error) => failures.push(chain(&error)),
            }
        }
        tracing::info!(failures = failures.len(), "entries written");
        self.due = (!failures.is_empty()).then(|| Instant::now() + AGAIN);
        let was_told = std::mem::replace(&mut self.is_told, !failures.is_empty());
        if !failures.is_empty() && !was_told {
            let why = failures.join("; ");
            return Some(Warning::EntriesNotKept { why });
        }
        let notice = notices.join("\n");
        (!notice.is_empty()).then_some(Warning::Entries { notice })
    }
}

/// Waits for something, and writes what is due meanwhile.
pub(super) async fn while_due<T>(
    keeper: &mut EntryWriter,
    clock: &dyn Clock,
    work: impl Future<Output = T>,
) -> (T, Vec<Warning>) {
    let mut work = std::pin::pin!(work);
    let mut warnings = Vec::new();
    loop {
        tokio::select! {
            biased;
            done = &mut work => return (done, warnings),
            warning = keeper.due(clock) => warnings.extend(warning),
        }
    }
}
