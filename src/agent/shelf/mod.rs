//! What recall stands on, kept beside the sessions: the index of words, and vectors of
//! the exchanges where an embedder is. Unit: one session at a time. Invariant:
//! everything here can be thrown away and is made again from the history; nothing here makes a turn fail.
//!
//! ```text
//!  open -> a thread reads words.idx ─┐
//!                                    ├─> words(session): caught up with it
//!  nothing on disk, much to read ────┘      (a long history is read in a thread too)
//! ```

mod catalogue;
mod meaning;
mod reading;
pub(super) mod stored;
mod vectors;
mod work;

use std::path::PathBuf;
use std::sync::Arc;

pub use meaning::{News, NoVectors, Standing};

use catalogue::Catalogue;
use meaning::Meaning;
use reading::Reading;

use crate::chat::{Session, SessionName, TurnId};
use crate::embed::EmbedderChoice;
use crate::files::Disk;
use crate::memory::recall::{Words, clipped};
use crate::search::Lists;

/// What recall works with.
#[derive(Clone, Debug)]
pub struct Parts {
    pub disk: Arc<dyn Disk>,
    /// Holds a folder for each session.
    pub folder: PathBuf,
    /// A person's own word lists; without, those of the program.
    pub lists: Option<Arc<Lists>>,
    /// Who computes vectors, if anybody does.
    pub embedder: Arc<EmbedderChoice>,
    /// Vectors from which on a graph searches them.
    pub hnsw_min: usize,
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
    meaning: Meaning,
}

/// What can be searched for a question.
#[derive(Debug)]
pub struct Lookup {
    /// Messages whose vectors are near the question's, with their cosines.
    pub nearest: Vec<(usize, f32)>,
    pub news: Option<News>,
}

impl Shelf {
    /// For the session of this name; reads nothing yet.
    pub fn new(parts: Parts, name: &SessionName) -> Self {
        Self {
            folder: parts.folder.join(name.as_str()),
            parts,
            words: Reading::NotYet,
            meaning: Meaning::default(),
        }
    }

    /// Goes on with another session, or with the same one under another name.
    pub fn open(&mut self, name: &SessionName) {
        *self = Self::new(self.parts.clone(), name);
    }

    /// Begins to read what is on disk, so that it is there when it is asked for.
    pub fn begin(&mut self, session: &Session) {
        self.words.begin(&self.parts, &self.folder, session);
        if self.parts.keeping == Keeping::Kept {
            self.meaning.begin(&self.parts, &self.folder);
        }
    }

    /// Brings the index of words up to the session, and asks for the vectors near a question. `None`: the index cannot
    /// be had just now.
    pub async fn look_up(&mut self, session: &Session, question: &str) -> Option<Lookup> {
        self.begin(session);
        let ready = self.words.ready(&self.parts, &self.folder, session);
        let question = ready.await?.in_first_person(&clipped(question));
        let (nearest, news) = self.meaning.nearest(session, &question).await;
        Some(Lookup { nearest, news })
    }

    /// The index of words, up to the session; asks nobody.
    pub async fn catch_up(&mut self, session: &Session) -> Option<&Words> {
        self.words.begin(&self.parts, &self.folder, session);
        let ready = self.words.ready(&self.parts, &self.folder, session);
        ready.await
    }

    /// Begins to make vectors of the exchanges before a message that have none yet.
    pub fn index(&mut self, session: &Session, before: usize) -> Option<News> {
        match self.parts.keeping {
            Keeping::Kept => self
                .meaning
                .index(&self.parts, &self.folder, session, before),
            Keeping::ReadOnly => None,
        }
    }

    /// Makes vectors of all exchanges that have none yet, as far as there is an embedder; tells now and then how far it
    /// is. Tells if vectors that were there had to be dropped.
    pub async fn index_all(
        &mut self,
        session: &Session,
        progress: &mut (dyn FnMut(Standing) + Send),
    ) -> Result<Option<News>, NoVectors> {
        if self.parts.keeping == Keeping::ReadOnly {
            return Ok(None);
        }
        self.meaning
            .index_all(&self.parts, &self.folder, session, progress)
            .await
    }

    /// Drops everything that is kept of the session, so that it is made anew.
    pub fn drop_all(&mut self, name: &SessionName) -> std::io::Result<()> {
        for file in self.parts.disk.list(&self.folder)? {
            self.parts.disk.remove(&file)?;
        }
        self.open(name);
        Ok(())
    }

    /// Puts the index on disk however little is new.
    pub fn keep_all(&mut self) {
        if self.parts.keeping == Keeping::Kept {
            self.words.keep_all(&self.parts, &self.folder);
        }
    }

    /// Waits for the work in the background, for ever where there is none. May be dropped at any time.
    pub async fn work_done(&mut self, session: &Session) -> Option<News> {
        self.meaning.work_done(session).await
    }

    pub fn is_working(&self) -> bool {
        self.meaning.is_working()
    }

    /// Gives up the work in the background; it is begun again after the next turn.
    pub fn abort(&mut self) {
        self.meaning.abort();
    }

    /// Tells that a turn is over.
    pub fn turn_over(&mut self) {
        self.meaning.turn_over();
    }

    /// How far the vectors are, where there are any.
    pub fn standing(&self) -> Option<Standing> {
        self.meaning.standing()
    }

    /// Exchanges that have vectors on disk.
    pub fn kept_exchanges(&self) -> usize {
        Catalogue::count(self.parts.disk.as_ref(), &self.folder)
    }

    /// Who computes vectors.
    pub fn embedder(&self) -> &EmbedderChoice {
        &self.parts.embedder
    }

    /// The index as it is.
    pub fn words(&self) -> Option<&Words> {
        self.words.words()
    }

    /// Lets a turn be found no more.
    pub fn take_back(&mut self, session: &Session, turn: TurnId) {
        if let Some(words) = self.words.words_mut() {
            words.take_back(session, turn);
        }
    }

    /// Puts the index on disk where that is worth it. A failure is logged: the index is made again.
    pub fn keep(&mut self) {
        if self.parts.keeping == Keeping::Kept {
            self.words.keep(&self.parts, &self.folder);
        }
    }
}

#[cfg(test)]
mod tests;
