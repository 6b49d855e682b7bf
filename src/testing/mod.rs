//! Doubles for tests (feature `testing`): written by hand, simpler than what they stand for.

mod capture;
mod clock;
pub mod provider;

pub use capture::Capture;
pub use clock::ManualClock;
