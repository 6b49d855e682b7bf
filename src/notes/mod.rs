//! The workspace: texts that a person may read and edit by hand, and that outlive every session. Unit: one file.
//!
//! ```text
//!  IDENTITY.md USER.md SOUL.md          the person's own
//!  MEMORY.md  memory/YYYY-MM-DD.md      written here and by hand
//!  memories/**                          the model's files
//!  sessions/NAME/SESSION-STATE.md  working-buffer.md
//! ```
//! Invariant: nothing a person wrote is overwritten; every change is made on the file as it is now.

mod receipts;
mod settings;

pub use receipts::{Captured, Receipt, Receipts, ReceiptsError};
pub use settings::{DailySettings, SessionFiles, WorkspaceSettings};
