//! What was captured, and the files that hold it: all that a person needs to look at it and to take it back. Unit: one
//! data folder; a running chat and a command line see the same.

use crate::long_term::notes::{Receipt, Receipts, ReceiptsError, Workspace};

/// Receipts and files.
#[derive(Clone, Debug)]
pub struct Captures {
    pub workspace: Workspace,
    pub receipts: Receipts,
}

impl Captures {
    /// All of them, oldest first; those that were taken back too.
    pub fn all(&self) -> Result<Vec<Receipt>, ReceiptsError> {
        self.receipts.all()
    }
}
