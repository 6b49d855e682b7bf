//! What tells where the work stood, for a model whose window was made smaller (Q30). Unit: one session at one moment.

use super::error::NotesError;
use super::excerpt::Excerpt;
use super::workspace::Workspace;
use crate::chat::{SessionName, Timestamp};

/// Characters of each file, the newest of them.
const READ: usize = 20_000;

/// Files in the order in which they are read: buffer, session state, notes of the day. It is data, to be fenced by whoever
/// puts it into a request.
#[derive(Debug, Default)]
pub struct Recovery {
    pub parts: Vec<Excerpt>,
    /// Why others could not be read.
    pub problems: Vec<NotesError>,
}

impl Workspace {
    /// What is there of them; what is missing is skipped.
    pub fn recovery(&self, session: &SessionName, at: Timestamp) -> Recovery {
        let notes = self.session(session);
        let found = [
            notes.buffer().read(READ),
            notes.state().read(),
            self.daily().read(at, READ),
        ];
        let mut recovery = Recovery::default();
        for part in found {
            match part {
                Ok(part) => recovery.parts.extend(part),
                Err(problem) => recovery.problems.push(problem),
            }
        }
        recovery
    }
}
