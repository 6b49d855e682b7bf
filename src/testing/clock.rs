//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::chat::Timestamp;
use crate::clock::Clock;

/// Seconds since 1970, as set.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Starts at 2026-02-14 15:23:05 UTC.
    pub fn new() -> Self {
        Self(AtomicI64::new(1_771_082_585))
    }

    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix(self.0.load(Ordering::SeqCst))
            .expect("tests stay within chrono's range")
    }
}
