//! The workspace: texts that a person may read and edit by hand, and that outlive every session. Unit: one file.
//!
//! ```text
//!  IDENTITY.md USER.md SOUL.md          the person's own
//!  MEMORY.md  memory/YYYY-MM-DD.md      written here and by hand
//!  memories/**                          the model's files
//!  sessions/NAME/SESSION-STATE.md  working-buffer.md
//! ```
//! Invariant: nothing a person wrote is overwritten; every change is made on the file as it is now.

mod buffer;
mod daily;
mod error;
mod excerpt;
mod identity;
mod long_term;
mod markdown;
pub mod memories;
mod merging;
mod named;
mod page;
mod receipts;
mod recovery;
mod revising;
mod session_state;
mod settings;
mod sources;
mod workspace;

#[cfg(test)]
mod tests;

pub use buffer::Buffer;
pub use daily::{Daily, DayFile, FACTS, Facts, NOTED, Noted};
pub use error::NotesError;
pub use excerpt::{Excerpt, TRUNCATED};
pub use identity::Identity;
pub use long_term::{Added, EXTRACTED, Judgement, LONG_TERM, LongTerm, Section, unmarked};
pub use markdown::{Line, without_empty_lists};
pub use named::{Beginning, Draft, TakenIn};
pub use receipts::{Captured, Receipt, Receipts, ReceiptsError, Renamed};
pub use recovery::Recovery;
pub use revising::Revision;
pub use session_state::SessionState;
pub use settings::{DailySettings, SessionFiles, WorkspaceSettings};
pub use sources::{Source, Sources};
pub use workspace::{Change, FOLDER, Observer, SessionNotes, Workspace, Written};
