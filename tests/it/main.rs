//! End-to-end tests: one binary, one file for each capability.

#![expect(clippy::unwrap_used, reason = "tests")]

mod compact;
mod context_budget;
mod layers;
mod line_input;
mod memory_modes;
mod oneshot;
mod providers;
mod real_servers;
mod store;
mod support;
mod turn;
