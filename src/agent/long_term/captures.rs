//! What was captured, and the files that hold it: all that a person needs to look at it and to take it back, of one data
//! folder. A running chat and a command line see the same.

use crate::chat::{SessionName, Timestamp};
use crate::hint::{advised, chain};
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

    /// Moves what belongs to a session to its new name; returns what went wrong. `lasts`: whether anything outlives
    /// sessions, and tells where it came from.
    pub fn rename(
        &self,
        before: &SessionName,
        name: &SessionName,
        lasts: bool,
        now: Timestamp,
    ) -> Vec<String> {
        let noted = lasts.then(|| self.receipts.rename(before.as_str(), name.as_str(), now));
        let unnoted = noted.and_then(Result::err).map(|error| chain(&error));
        let unmoved = self.workspace.rename_session(before, name).err();
        unnoted
            .into_iter()
            .chain(unmoved.map(|error| advised(&error)))
            .collect()
    }
}
