//! Every integration test, as one binary: one file for each capability.
#![expect(clippy::unwrap_used, reason = "tests")]

mod store;
