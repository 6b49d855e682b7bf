//! The workspace: texts that a person may read and edit by hand, and that outlive every session.
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
mod revising;
mod session_state;
mod sources;
mod workspace;

#[cfg(test)]
mod tests;

pub use buffer::Buffer;
pub use daily::{Daily, DayFile, FACTS, Facts, NOTED, Noted};
pub use error::NotesError;
pub use excerpt::{Excerpt, TRUNCATED};
pub use identity::{Identity, RuleFiles};
pub use long_term::{Added, EXTRACTED, Judgement, LONG_TERM, LongTerm, Section, unmarked};
pub use markdown::{Line, without_empty_lists};
pub use named::{Beginning, Draft, TakenIn};
pub use receipts::{Captured, Receipt, Receipts, ReceiptsError, Renamed};
pub use revising::Revision;
pub use session_state::SessionState;
pub use sources::{Source, Sources};
pub use workspace::{Change, FOLDER, Observer, Recovery, SessionNotes, Workspace, Written};

use serde::Deserialize;

use crate::declare::settings;

settings! {
    /// `memory.workspace`.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct WorkspaceSettings {
        pub session_files: SessionFiles = SessionFiles::PerSession,
        /// Characters of one file in a request (X2).
        pub file_chars: usize = 20_000,
        /// Characters of all of them together.
        pub total_chars: usize = 150_000,
        /// Files of the project folder with rules for it; the first of them that is there is read. Empty: none.
        pub project_files: Vec<String> = vec!["AGENTS.md".to_owned(), "CLAUDE.md".to_owned()],
    }
}

/// Where the session state and the working buffer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionFiles {
    /// `sessions/NAME/` in the workspace.
    PerSession,
    /// One of each in the workspace, for all sessions.
    Shared,
}

settings! {
    /// `memory.daily_notes` (Q15).
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct DailySettings {
        pub enabled: bool = true,
        /// Characters of what the person said.
        pub user_chars: usize = 100,
        /// Characters of the reply.
        pub agent_chars: usize = 200,
        /// Files that a search looks through, the newest of them (Q17).
        pub search_files: usize = 30,
    }
}
