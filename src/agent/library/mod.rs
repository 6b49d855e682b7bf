//! Long-term memory as it is searched: notes, captures, entries, documents, and what was said in other sessions.
//!
//! ```text
//!  files, entries --refresh--> Corpus --find--> Vec<Hit>      (only what changed is read)
//!                                 \--begin--> vectors, in the background
//!  sessions --by their own indexes--> Vec<Hit>
//! ```
//! Unit: a source. Invariant: everything here can be thrown away and is made again; nothing here makes a turn fail.

mod chunks;
mod corpus;
mod ends;
mod find;
mod held;
mod lines;
mod marks;
mod meaning;
mod pieces;
mod related;
mod saying;
mod sessions;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use corpus::Refreshed;
pub use find::Hit;
pub use related::Asking;
pub use sources::{Kind, Places};

use corpus::{Corpus, MOST_IN_ALL, Reading, Sizes};
use find::{Query, Talk};
use marks::Marks;
use meaning::{Elsewhere, Meaning};
use sessions::{Effort, Sessions};

use super::once::Once;
use super::shelf::stored::{self, Asked, NearMessage};
use crate::chat::{Session, SessionName, Timestamp};
use crate::embed::EmbedderChoice;
use crate::entries::Entry;
use crate::files::Disk;
use crate::memory::recall::Words;
use crate::notes::Workspace;
use crate::search::Lists;
use crate::store::SessionStore;
use crate::tools::SearchMode;

/// Hits of one search at most (Q16).
pub const MOST_HITS: usize = 50;
/// Hits looked at for each one wanted: what is captured stands in several places.
const SAID_AGAIN: usize = 3;

/// What a library works with.
#[derive(Clone, Debug)]
pub struct Parts {
    pub disk: Arc<dyn Disk>,
    pub places: Places,
    /// Bytes of a chunk, and of the one before that an embedder gets with it (`rag.chunk_size`, `rag.chunk_overlap`).
    pub chunk_size: usize,
    pub chunk_overlap: usize,
    /// Who computes vectors, if anybody does.
    pub embedder: Arc<EmbedderChoice>,
    /// Cosine from which on a chunk is found that has no word of the question.
    pub min_similarity: f32,
    /// A person's own word lists; without, those of the program.
    pub lists: Option<Arc<Lists>>,
    /// Past sessions; `None`: they are not searched.
    pub sessions: Option<Past>,
}

/// Where past sessions are.
#[derive(Clone, Debug)]
pub struct Past {
    pub store: Arc<dyn SessionStore>,
    /// The folder with their files.
    pub history: PathBuf,
    /// The folder with their indexes, of words and of vectors.
    pub indexes: PathBuf,
}

/// An entry of long-term memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryText {
    pub id: String,
    pub text: String,
    pub at: Option<Timestamp>,
}

impl From<&Entry> for EntryText {
    fn from(entry: &Entry) -> Self {
        Self {
            id: entry.id.as_str().to_owned(),
            text: match &entry.key {
                Some(key) => format!("{key}: {}", entry.content),
                None => entry.content.clone(),
            },
            at: Some(entry.at),
        }
    }
}

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What outlives sessions.
    LongTerm,
    /// That, and what was said in all sessions.
    Everything,
}

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub query: &'a str,
    /// Hits wanted, at most [`MOST_HITS`].
    pub limit: usize,
    pub mode: SearchMode,
    pub scope: Scope,
    pub now: Timestamp,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searched {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many sources of each kind were looked through.
    pub looked: BTreeMap<Kind, usize>,
    /// What could not be read, each told once.
    pub troubles: Vec<String>,
}

impl Searched {
    /// Takes in what was found elsewhere, but for what is there already; the best stay.
    pub(super) fn join(&mut self, kind: Kind, hits: Vec<Hit>, limit: usize) {
        self.looked.insert(kind, 1);
        self.hits.extend(hits);
        self.settle(limit.clamp(1, MOST_HITS));
    }

    /// The best first, each said once, no more than so many.
    fn settle(&mut self, limit: usize) {
        self.hits
            .sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
        self.hits = saying::distinct(std::mem::take(&mut self.hits));
        self.hits.truncate(limit);
    }
}

/// The session that is open, with its index.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    pub session: &'a Session,
    pub words: Option<&'a Words>,
}

impl<'a> Open<'a> {
    fn talk(self, near: &[NearMessage]) -> Option<Talk<'a>> {
        Some(Talk {
            name: self.session.name(),
            session: self.session,
            words: self.words?,
            nearest: stored::in_session(self.session, near),
        })
    }
}

/// What is looked for.
struct Sought<'a> {
    text: &'a str,
    k: usize,
    asked: Option<Arc<Asked>>,
    kinds: &'a [Kind],
    /// Who has past sessions looked through, if anybody has.
    sessions: Option<Effort>,
}

/// A digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key([u8; 32]);

/// Everything that is searched but the open session.
#[derive(Debug)]
pub struct Library {
    parts: Parts,
    lists: Arc<Lists>,
    entries: Arc<[EntryText]>,
    /// `None`: nothing was read yet, or a thread that read it was left alone.
    corpus: Option<Arc<Corpus>>,
    marks: Marks,
    meaning: Meaning,
    sessions: Option<Sessions>,
    /// Troubles that were told.
    told: Once,
}

impl Library {
    /// Reads nothing yet.
    pub fn new(parts: Parts) -> Self {
        Self {
            lists: parts
                .lists
                .clone()
                .unwrap_or_else(|| Arc::new(Lists::embedded())),
            entries: Arc::default(),
            corpus: None,
            marks: Marks::default(),
            meaning: Meaning::new(Arc::clone(&parts.embedder)),
            sessions: parts.sessions.clone().map(Sessions::new),
            told: Once::default(),
            parts,
        }
    }

    /// From now on what is written there by this process is read again whatever the times of its files say.
    pub fn watch(&self, workspace: &Workspace) {
        self.marks.watch(workspace);
    }

    /// From the next search on these are the entries there are.
    pub fn set_entries(&mut self, entries: impl IntoIterator<Item = EntryText>) {
        self.entries = entries.into_iter().collect();
    }

    /// Searches what is there now; what was changed since the last search is read first.
    pub async fn search(&mut self, search: Search<'_>, open: Option<Open<'_>>) -> Searched {
        let (_, troubles) = self.refresh(search.now).await;
        let limit = search.limit.clamp(1, MOST_HITS);
        let mut searched = Searched {
            troubles,
            ..Searched::default()
        };
        let asked = match search.mode {
            SearchMode::Hybrid => {
                let elsewhere = self.elsewhere(search.scope).await;
                let corpus = self.corpus();
                self.meaning
                    .question(search.query, elsewhere, &corpus)
                    .await
            }
            SearchMode::Text => None,
        };
        let sought = Sought {
            text: search.query,
            k: limit * SAID_AGAIN,
            asked: asked.map(Arc::new),
            kinds: &Kind::LASTING,
            sessions: (search.scope == Scope::Everything).then_some(Effort::Asked),
        };
        if let Some(corpus) = &self.corpus {
            searched.looked = corpus.counts();
        }
        let (hits, said, troubles) = self.look(sought, open).await;
        searched.hits = hits;
        searched.troubles.extend(troubles);
        if said > 0 {
            searched.looked.insert(Kind::Said, said);
        }
        searched.settle(limit);
        searched
    }

    /// What a question is compared with but chunks.
    async fn elsewhere(&self, scope: Scope) -> Elsewhere {
        match (&self.sessions, scope) {
            (Some(sessions), Scope::Everything)
                if sessions.has_vectors(Arc::clone(&self.parts.disk)).await =>
            {
                Elsewhere::Sessions
            }
            (Some(_) | None, _) => Elsewhere::Nothing,
        }
    }

    fn corpus(&self) -> Arc<Corpus> {
        let empty = || Arc::new(Corpus::new(Arc::clone(&self.lists)));
        self.corpus.clone().unwrap_or_else(empty)
    }

    /// The best hits, how many sessions were looked through, and what could not be read.
    async fn look(
        &mut self,
        sought: Sought<'_>,
        open: Option<Open<'_>>,
    ) -> (Vec<Hit>, usize, Vec<String>) {
        let corpus = self.corpus();
        let near = match &sought.asked {
            Some(asked) => {
                self.meaning
                    .near(Arc::clone(asked), Arc::clone(&corpus))
                    .await
            }
            None => Vec::new(),
        };
        let mut troubles = Vec::new();
        let mut talks = Vec::new();
        let mut nearest = Vec::new();
        if let Some((sessions, effort)) = self.sessions.as_mut().zip(sought.sessions) {
            let disk = Arc::clone(&self.parts.disk);
            let parts = (Arc::clone(&disk), Arc::clone(&self.lists));
            let name = open.map(|open| open.session.name());
            let asked = sought.asked.clone();
            let ready = sessions.read(parts, name, asked.clone(), effort).await;
            if let Some(open) = open.filter(|open| open.words.is_some()) {
                nearest = sessions.near(disk, open.session.name(), asked).await;
            }
            talks = sessions.talks(&ready);
            troubles = self.told.news(ready.troubles);
        }
        if sought.sessions.is_some() {
            talks.extend(open.and_then(|open| open.talk(&nearest)));
        }
        let said = talks.iter().filter(|talk| !talk.session.is_empty()).count();
        let query = Query {
            text: sought.text,
            k: sought.k,
            near: &near,
            min_similarity: self.parts.min_similarity,
            kinds: sought.kinds,
        };
        let hits = find::find(&corpus, &talks, query);
        drop(talks);
        if let Some(sessions) = &mut self.sessions {
            sessions.thin_out();
        }
        (hits, said, troubles)
    }

    /// Reads what was changed; tells how much that was, and what could not be read, which is told once.
    pub async fn refresh(&mut self, now: Timestamp) -> (Refreshed, Vec<String>) {
        self.refresh_but(None, now).await
    }

    /// The same, but for a kind of files that nobody asks about.
    async fn refresh_but(
        &mut self,
        left_out: Option<Kind>,
        now: Timestamp,
    ) -> (Refreshed, Vec<String>) {
        let lists = Arc::clone(&self.lists);
        // One that a search was left alone with is made again.
        let corpus = self.corpus.take().and_then(Arc::into_inner);
        let mut corpus = corpus.unwrap_or_else(|| Corpus::new(lists));
        corpus.mark(&self.marks.take());
        let parts = self.parts.clone();
        let entries = Arc::clone(&self.entries);
        let reading = tokio::task::spawn_blocking(move || {
            let disk = parts.disk.as_ref();
            let (files, mut troubles) = parts.places.files(disk, left_out);
            let reading = Reading {
                sizes: Sizes {
                    chunk: parts.chunk_size,
                    overlap: parts.chunk_overlap,
                    all: MOST_IN_ALL,
                },
                now,
                left_out,
            };
            let refreshed = corpus.refresh(disk, &files, &entries, reading, &mut troubles);
            (corpus, refreshed, troubles)
        });
        match reading.await {
            Ok((corpus, refreshed, troubles)) => {
                self.corpus = Some(Arc::new(corpus));
                if refreshed != Refreshed::default() {
                    self.meaning.outdate();
                }
                (refreshed, self.told.news(troubles))
            }
            Err(error) => {
                tracing::warn!("reading long-term memory broke: {error}");
                (Refreshed::default(), Vec::new())
            }
        }
    }

    /// Reads everything again, and tells again what could not be read.
    pub async fn reread(&mut self, now: Timestamp) -> (Refreshed, Vec<String>) {
        self.corpus = None;
        self.told.clear();
        if let Some(sessions) = &mut self.sessions {
            sessions.forget();
        }
        self.refresh(now).await
    }

    /// Begins to make the vectors that are missing, in the background.
    pub fn begin_indexing(&mut self) {
        if let Some(corpus) = &self.corpus {
            self.meaning.begin(corpus);
        }
    }

    /// Whether vectors are being made, or were since somebody waited for them.
    pub fn is_working(&self) -> bool {
        self.meaning.has_task()
    }

    /// Waits for the work in the background, for ever where there is none. May be dropped at any time.
    pub async fn work_done(&mut self) {
        self.meaning.done().await;
    }

    /// Gives up the work in the background; it is begun again after the next turn.
    pub fn abort(&mut self) {
        self.meaning.abort();
    }

    /// Chunks that have vectors.
    pub fn vectors(&self) -> usize {
        self.meaning.count()
    }
}

/// How a session is called as a source.
fn source_of(name: &SessionName) -> String {
    format!("session {name}")
}
