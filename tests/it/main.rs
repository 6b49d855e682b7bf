//! End-to-end tests: one binary, one file for each capability.

#![expect(clippy::unwrap_used, reason = "tests")]

mod layers;
mod line_input;
mod oneshot;
mod providers;
mod real_servers;
mod store;
mod support;
mod turn;
