//! The time, as a port: whoever needs it takes a [`Clock`].

use crate::chat::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that asks the machine"
        )]
        let now = chrono::Utc::now();
        Timestamp::from_unix(now.timestamp()).expect("chrono's own time is within chrono's range")
    }
}
