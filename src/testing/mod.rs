//! Doubles for tests (feature `testing`): written by hand, simpler than what they stand for.

mod clock;
pub mod provider;

pub use clock::ManualClock;
