//! The conversation with the person: reads a line, runs it, shows what comes of it.
//!
//! ```text
//!   input     lines of the person, from a terminal or a pipe
//!   signals   Ctrl-C, SIGTERM and SIGHUP as values
//! ```
//!
//! Everything shown goes through [`crate::term`].

pub mod input;
mod signals;

pub use signals::{Signal, Signals};
