//! Giving up a compaction that a turn waits for, and going on with the turn.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// Shared by the turn and by whoever hears Ctrl-C while it runs; hence the mutex.
#[derive(Clone, Debug, Default)]
pub struct Skip(Arc<Mutex<Option<CancellationToken>>>);

impl Skip {
    /// Gives up what a turn waits for; tells whether there was anything.
    pub fn skip(&self) -> bool {
        let running = self.lock().take();
        if let Some(token) = &running {
            token.cancel();
        }
        running.is_some()
    }

    /// What is begun now can be given up, alone or with the turn.
    pub(super) fn begin(&self, turn: &CancellationToken) -> CancellationToken {
        let token = turn.child_token();
        *self.lock() = Some(token.clone());
        token
    }

    pub(super) fn end(&self) {
        self.lock().take();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
