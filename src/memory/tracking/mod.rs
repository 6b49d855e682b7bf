//! What a mode keeps about the work, read from what is said without a model.
//!
//! ```text
//!  turn -> Exchange -> Reader::read -> [Finding] -> Board        (and by hand, and from tools: Finding -> Board)
//! ```
//! A tracker is a pure function of a board and an exchange; it does no I/O and cannot fail.

mod board;
mod call;
pub mod cues;
mod edit;
mod exchange;
mod format;
mod key;
mod kind;
mod note;
pub mod prose;
pub mod readers;
mod show;

pub use board::{Board, Entry, Noted, Section, Touched, Why};
pub use call::{BadCall, TRACK, TrackCall, called};
pub use edit::{CannotEdit, Edit, Edited};
pub use exchange::{Called, Exchange, Piece, Speaker};
pub use kind::{Again, Holds, Row, Same, Shape};
pub use note::{By, Finding, Kind, Note, Status};
pub use show::{Freshness, words};
