//! What a mode keeps about the work, read from what is said without a model.
//!
//! ```text
//!  turn -> Exchange -> Reader::read -> [Finding] -> Board        (and by hand, and from tools: Finding -> Board)
//! ```
//! A tracker is a pure function of a board and an exchange; it does no I/O and cannot fail.

mod board;
pub mod cues;
mod edit;
mod exchange;
mod format;
mod kind;
mod note;
pub mod prose;
pub mod readers;
mod reported;
mod show;

pub use board::{Board, Entry, Noted, Section, Touched, Why};
pub use edit::{BadCall, CannotEdit, Edit, Edited, TRACK, TrackCall, called};
pub use exchange::{Called, Exchange, Piece, Speaker};
pub use kind::{Again, Holds, Row, Same, Shape};
pub(super) use note::line as one_line;
pub use note::{By, Finding, Kind, Note, Status};
pub use reported::reported;
pub use show::{Freshness, words};
