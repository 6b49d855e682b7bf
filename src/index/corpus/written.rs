//! What this process wrote in the workspace since it was last read: the time of a file may not tell, where a file
//! system counts in seconds or a clock stands still (Q33).
//!
//! Unit: one workspace. Invariant: what is written while it is being read stays marked.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::long_term::notes::Workspace;

/// Files and folders as sources are called: `MEMORY.md`, `memories/work`.
#[derive(Clone, Debug, Default)]
pub struct Written(Arc<Mutex<BTreeSet<String>>>);

impl Written {
    /// From now on every write is marked.
    pub fn watch(&self, workspace: &Workspace) {
        let marks = self.clone();
        workspace.observe(Arc::new(move |written| {
            marks.lock().insert(written.source.clone());
        }));
    }

    pub fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
