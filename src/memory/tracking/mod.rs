//! What a mode keeps about the work, read from what is said without a model.
//!
//! ```text
//!  turn -> Exchange -> Reader::read -> [Finding] -> Board        (and by hand, and from tools: Finding -> Board)
//! ```
//! A tracker is a pure function of a board and an exchange; it does no I/O and cannot fail.

pub mod cues;
mod exchange;
mod note;
pub mod prose;
pub mod readers;

pub use exchange::{Exchange, Piece, Speaker};
pub use note::{By, Finding, Kind, Note, Status};
