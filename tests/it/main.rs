//! End-to-end tests: one binary, one file for each capability.

#![expect(clippy::unwrap_used, reason = "tests")]

mod layers;
mod line_input;
mod providers;
mod real_servers;
mod repl;
mod store;
mod support;
mod turn;
