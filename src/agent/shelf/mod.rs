//! What recall stands on, kept beside the sessions: the index of words. Unit: one session at a time. Invariant:
//! everything here can be thrown away and is made again from the history; nothing here makes a turn fail.
//!
//! ```text
//!  open -> a thread reads words.idx ─┐
//!                                    ├─> words(session): caught up with it
//!  nothing on disk, much to read ────┘      (a long history is read in a thread too)
//! ```

mod reading;

use std::path::PathBuf;
use std::sync::Arc;

use reading::Reading;

use crate::chat::{Session, SessionName, TurnId};
use crate::files::Disk;
use crate::memory::recall::Words;
use crate::search::Lists;

/// What recall works with.
#[derive(Clone, Debug)]
pub struct Parts {
    pub disk: Arc<dyn Disk>,
    /// Holds a folder for each session.
    pub folder: PathBuf,
    /// A person's own word lists; without, those of the program.
    pub lists: Option<Arc<Lists>>,
    pub keeping: Keeping,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// This process is the session's one writer.
    Kept,
    /// Another one may be.
    ReadOnly,
}

/// New messages from which on writing the index again is worth it: reading them takes a few milliseconds.
const WORTH_WRITING: usize = 512;
/// Nor is it written before it grew by a part in so many, so that a turn costs the same in any session.
const GROWTH: usize = 16;

/// What is kept of the open session.
#[derive(Debug)]
pub struct Shelf {
    parts: Parts,
    folder: PathBuf,
    words: Reading,
}

impl Shelf {
    /// For the session of this name; reads nothing yet.
    pub fn new(parts: Parts, name: &SessionName) -> Self {
        Self {
            folder: parts.folder.join(name.as_str()),
            parts,
            words: Reading::NotYet,
        }
    }

    /// Goes on with another session, or with the same one under another name.
    pub fn open(&mut self, name: &SessionName) {
        *self = Self::new(self.parts.clone(), name);
    }

    /// Begins to read what is on disk, so that it is there when it is asked for.
    pub fn begin(&mut self) {
        self.words.begin(&self.parts, &self.folder);
    }

    /// The index of words, caught up with the session; `None` where it cannot be had just now.
    pub async fn words(&mut self, session: &Session) -> Option<&Words> {
        self.begin();
        self.words.ready(session).await
    }

    /// The index as it is.
    pub fn words_as_they_are(&self) -> Option<&Words> {
        self.words.words()
    }

    /// Lets a turn be found no more.
    pub fn take_back(&mut self, session: &Session, turn: TurnId) {
        if let Some(words) = self.words.words_mut() {
            words.take_back(session, turn);
        }
    }

    /// Puts the index on disk where that is worth it. A failure is logged: the index is made again.
    pub fn keep(&mut self, session: &Session) {
        if self.parts.keeping == Keeping::Kept {
            self.words.keep(&self.parts, &self.folder, session);
        }
    }
}

#[cfg(test)]
mod tests;
