//! The integration tests, in one binary: a file for each capability.

#![expect(clippy::unwrap_used, reason = "tests")]

mod providers;
mod real_servers;
