//! Doubles for tests, written by hand and simpler than what they stand for. Only tests import this.

pub mod server;
