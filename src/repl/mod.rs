//! The conversation with the person: reads a line, does what it says, shows what comes of it.
//!
//! ```text
//!   chat        the loop: a line, a command or a question, until the person leaves
//!   commands    the table of slash commands; they work on the repl's context and return what is to happen next
//!   ask, show   a question while signals are heard; its events on the screen
//!   approve     a tool's question to the person
//!   input       lines of the person, from a terminal or a pipe
//!   signals     Ctrl-C, SIGTERM and SIGHUP as values
//!   edit        a file in the person's own editor
//!   shell       a command behind a `!`
//!   memory_view what memory holds and a person owns, for the command line too
//!   html        a session as one HTML file
//!   turn_line   what memory did, after a turn
//!   sessions    what is done to a whole session, for the command line too
//!   listing     sessions in lines       transcript   a session as a person reads it
//!   picker      a session chosen from a list             recap   what a session was about
//! ```
//!
//! Everything shown goes through [`crate::term`].

pub mod approve;
pub mod ask;
pub mod chat;
pub mod commands;
pub mod completion;
pub mod edit;
mod html;
pub mod input;
pub mod listing;
pub mod memory_view;
pub mod picker;
mod question;
pub mod recap;
pub mod repl_context;
pub mod sessions;
mod shell;
pub mod show;
mod signals;
pub mod transcript;
mod turn_line;

pub use question::plain_line;
pub use signals::{Signal, Signals, outlive_file_size_limit};
