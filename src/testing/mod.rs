//! Doubles for tests (feature `testing`): written by hand, simpler than what they stand for.

mod capture;
mod clock;
mod log;
mod patterns;
pub mod provider;
pub mod server;
mod sessions;
pub mod tools;

pub use capture::Capture;
pub use clock::ManualClock;
pub use log::MemoryLog;
pub use patterns::stored_patterns;
pub use sessions::session;
