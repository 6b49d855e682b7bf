//! One index over everything that was said or kept: messages of all sessions, notes, entries, files of the model's own,
//! documents. What is said or written is found by its words, and by its meaning where there is an embedder.
//!
//! ```text
//!  files, entries --refresh--> corpus ──┐                              ┌── words    an inverted index for each
//!  past sessions  --read-----> past  ───┼── find: one ranking over all ┤
//!  open session   --follow---> session ─┘                              └── vectors  one store, by the digest of a text
//! ```
//! Invariant: everything here can be thrown away and is made again; nothing here makes a turn fail.

mod corpus;
mod deduplicate;
mod find;
#[cfg(test)]
pub(crate) mod fixture;
mod meaning;
mod past;
pub mod session;
#[cfg(test)]
mod tests;
pub mod vectors;
pub mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::Deserialize;

pub use corpus::{Kind, Places, Refreshed, Written, folded, is_heading};
pub use deduplicate::distinct;
pub use find::Hit;
pub use meaning::{Meaning, News};
pub use past::Effort;
pub use session::{Keeping, Lookup, SessionIndex, Words};
#[cfg(any(test, feature = "testing"))]
pub use words::embedded_related;
pub use words::{
    Asked, BadLists, Document, LexicalIndex, Lists, Match, Segment, SharedLists, Voice,
    is_spaceless,
};

use corpus::{Corpus, MAX_IN_ALL, Reading, Sizes};
use find::{Query, Talk};
use past::PastSessions;

use crate::chat::{Session, SessionName, Timestamp};
use crate::declare::settings;
use crate::embed::{EmbedderChoice, Reranker};
use crate::files::Disk;
use crate::hint::chain;
use crate::long_term::entries::Entry;
use crate::store::SessionStore;
use crate::text::once::Once;

/// Hits of one search at most (Q16).
pub const MAX_HITS: usize = 50;
/// Hits looked at for each one wanted: what is captured stands in several places.
const SAID_AGAIN: usize = 3;
/// The nearest chunks that take part in a search.
const NEAREST: usize = 50;
/// Kept facts from which on an embedder is offered.
const WORTH_OFFERING: usize = 10;
/// The first search waits so long for vectors that are missing; the rest are made in the background.
const CATCHING_UP: Duration = Duration::from_secs(3);
/// Chunks that have vectors at most; the rest is found by words.
const MAX_CHUNKS: usize = 20_000;

settings! {
    /// The `index` block.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Settings {
        /// What the graph over all vectors may take while it is built; 0: there is none.
        pub graph_memory: ByteSize = ByteSize::gib(1),
        /// The model that orders what a search found, an alias or `provider/model`; empty: none does.
        pub reranker: String = String::new(),
    }
}

/// What an index works with.
#[derive(Clone, Debug)]
pub struct Parts {
    pub disk: Arc<dyn Disk>,
    /// Holds the vectors, and a folder for each session.
    pub folder: PathBuf,
    pub lists: SharedLists,
    /// Who computes vectors, if anybody does.
    pub embedder: Arc<EmbedderChoice>,
    pub settings: Settings,
    /// Who orders what a search found, if anybody does.
    pub reranker: Option<Arc<Reranker>>,
    /// Cosine from which on a text is found that has no word of the question.
    pub min_similarity: f32,
    pub keeping: Keeping,
}

impl Parts {
    /// Holds a folder for each session.
    pub fn sessions(&self) -> PathBuf {
        self.folder.join("sessions")
    }

    /// What finds by meaning for any of the sessions; it asks nobody yet.
    pub fn meaning(&self) -> Meaning {
        Meaning::new(meaning::Source {
            disk: Arc::clone(&self.disk),
            folder: self.folder.clone(),
            embedder: Arc::clone(&self.embedder),
            graph_memory: self.settings.graph_memory.as_u64(),
        })
    }
}

/// Long-term memory as it is searched.
#[derive(Clone, Debug)]
pub struct LongTerm {
    pub places: Places,
    /// What this process wrote there since it was read.
    pub written: Written,
    /// Bytes of a chunk, and of the one before that an embedder gets with it (`rag.chunk_size`, `rag.chunk_overlap`).
    pub chunk_size: usize,
    pub chunk_overlap: usize,
    /// Past sessions; `None`: they are not searched.
    pub past: Option<Past>,
}

/// Where past sessions are.
#[derive(Clone, Debug)]
pub struct Past {
    pub store: Arc<dyn SessionStore>,
    /// The folder with their files.
    pub history: PathBuf,
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

/// How it is searched (Q19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    /// By words and, where an embedder is, by meaning.
    #[default]
    Hybrid,
    /// By words alone.
    Text,
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
    /// Hits wanted, at most [`MAX_HITS`].
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
    /// Whether anything was there to be searched.
    pub fn is_of_nothing(&self) -> bool {
        self.looked.is_empty()
    }

    /// Takes in what was found elsewhere, but for what is there already; the best stay.
    pub fn join(&mut self, kind: Kind, hits: Vec<Hit>, limit: usize) {
        self.looked.insert(kind, 1);
        self.hits.extend(hits);
        self.settle(limit.clamp(1, MAX_HITS));
    }

    /// The best first, each said once, no more than so many.
    fn settle(&mut self, limit: usize) {
        self.hits
            .sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
        self.hits = distinct(std::mem::take(&mut self.hits));
        self.hits.truncate(limit);
    }
}

/// What is looked for by itself, in front of a request.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a> {
    pub text: &'a str,
    pub k: usize,
    pub kinds: &'a [Kind],
    /// Whether past sessions are looked through.
    pub past: bool,
    /// Whether meaning counts, or words alone.
    pub by_meaning: bool,
}

/// What was found by itself.
#[derive(Debug)]
pub struct Glanced {
    pub hits: Vec<Hit>,
    /// Whether the vectors of the question were known.
    pub by_meaning: bool,
    pub troubles: Vec<String>,
}

/// What is looked for.
struct Sought<'a> {
    text: &'a str,
    k: usize,
    asked: Option<meaning::Asked>,
    kinds: &'a [Kind],
    /// Who has past sessions looked through, if anybody has.
    past: Option<Effort>,
}

/// The open session, where it takes part.
#[derive(Clone, Copy, Debug)]
pub enum Open<'a> {
    Searched(&'a Session),
    /// Its own recall brings it.
    LeftOut(&'a Session),
    None,
}

impl<'a> Open<'a> {
    fn session(self) -> Option<&'a Session> {
        match self {
            Open::Searched(session) | Open::LeftOut(session) => Some(session),
            Open::None => None,
        }
    }
}

/// Everything that is searched.
#[derive(Debug)]
pub struct Index {
    parts: Parts,
    /// Of the open session.
    pub session: SessionIndex,
    pub meaning: Meaning,
    long_term: Option<LongTerm>,
    entries: Arc<[EntryText]>,
    /// `None`: nothing was read yet, or a thread that read it was left alone.
    corpus: Option<Arc<Corpus>>,
    /// Whether some chunk may be without its vector.
    is_stale: bool,
    /// Whether a search has waited for those that were missing.
    is_caught_up: bool,
    past: Option<PastSessions>,
    /// Troubles that were told.
    told: Once,
}

impl Index {
    /// Reads nothing yet.
    pub fn new(parts: Parts, name: &SessionName) -> Self {
        Self {
            session: SessionIndex::new(&parts, name),
            meaning: parts.meaning(),
            long_term: None,
            entries: Arc::default(),
            corpus: None,
            is_stale: true,
            is_caught_up: false,
            past: None,
            told: Once::default(),
            parts,
        }
    }

    /// The same with long-term memory.
    #[must_use]
    pub fn with_long_term(mut self, long_term: LongTerm) -> Self {
        let past = long_term.past.clone();
        self.past = past.map(|past| PastSessions::new(past, self.parts.sessions()));
        self.long_term = Some(long_term);
        self
    }

    /// What is known of languages.
    pub fn lists(&self) -> &Lists {
        self.parts.lists.get()
    }

    /// Whether long-term memory is searched.
    pub fn has_long_term(&self) -> bool {
        self.long_term.is_some()
    }

    /// From the next search on these are the entries there are.
    pub fn set_entries(&mut self, entries: impl IntoIterator<Item = EntryText>) {
        self.entries = entries.into_iter().collect();
    }

    /// Begins to read what the open session needs.
    pub fn begin(&mut self, session: &Session) {
        self.session.begin(session);
        if self.parts.keeping == Keeping::Kept {
            self.meaning.begin_opening();
        }
    }

    /// Brings the index of the open session up to it, and asks for the vectors near a question.
    pub async fn look_up(&mut self, session: &Session, question: &str) -> Option<Lookup> {
        self.begin(session);
        self.session
            .look_up(session, question, &mut self.meaning)
            .await
    }

    /// Searches what is there now; what was changed since the last search is read first.
    pub async fn search(&mut self, search: Search<'_>, session: Option<&Session>) -> Searched {
        if search.mode == SearchMode::Hybrid {
            self.meaning.begin_opening();
        }
        let (_, troubles) = self.refresh(search.now).await;
        let limit = search.limit.clamp(1, MAX_HITS);
        let mut searched = Searched {
            troubles,
            ..Searched::default()
        };
        let asked = match search.mode {
            SearchMode::Hybrid => {
                self.catch_up().await;
                self.meaning.ask(search.query).await.0
            }
            SearchMode::Text => None,
        };
        let everything = search.scope == Scope::Everything;
        let sought = Sought {
            text: search.query,
            k: limit * SAID_AGAIN,
            asked,
            kinds: &Kind::LASTING,
            past: everything.then_some(Effort::Asked),
        };
        if let Some(corpus) = &self.corpus {
            searched.looked = corpus.counts();
        }
        let open = session
            .filter(|_| everything)
            .map_or(Open::None, Open::Searched);
        let (hits, said, troubles) = self.look(sought, open).await;
        searched.hits = hits;
        if let Some(reranker) = &self.parts.reranker
            && search.mode == SearchMode::Hybrid
            && searched.hits.len() > 1
        {
            // A request is large, and seldom made.
            Box::pin(rerank(reranker, search.query, &mut searched.hits)).await;
        }
        searched.troubles.extend(troubles);
        if said > 0 {
            searched.looked.insert(Kind::Said, said);
        }
        searched.settle(limit);
        searched
    }

    /// Searches long-term memory and past sessions for what may come into a request by itself.
    pub async fn glance(
        &mut self,
        glance: Glance<'_>,
        session: &Session,
        now: Timestamp,
    ) -> Glanced {
        // The session's own state stands in the request, those of others are of other work.
        let (_, mut troubles) = self.refresh_but(Some(Kind::SessionState), now).await;
        let asked = if glance.by_meaning {
            self.meaning.ask(glance.text).await.0
        } else {
            None
        };
        let by_meaning = asked.is_some();
        let past = glance.past.then_some(Effort::ByItself);
        let sought = Sought {
            text: glance.text,
            k: glance.k,
            asked,
            kinds: glance.kinds,
            past,
        };
        let (hits, _, told) = self.look(sought, Open::LeftOut(session)).await;
        troubles.extend(told);
        Glanced {
            hits,
            by_meaning,
            troubles,
        }
    }

    fn corpus(&self) -> Arc<Corpus> {
        let empty = || Arc::new(Corpus::new(Arc::clone(self.parts.lists.get())));
        self.corpus.clone().unwrap_or_else(empty)
    }

    /// The best hits, how many sessions were looked through, and what could not be read.
    async fn look(&mut self, sought: Sought<'_>, open: Open<'_>) -> (Vec<Hit>, usize, Vec<String>) {
        let corpus = self.corpus();
        let near = match &sought.asked {
            Some(asked) => near_chunks(Arc::clone(&corpus), asked.clone()).await,
            None => Vec::new(),
        };
        let mut troubles = Vec::new();
        let mut talks = Vec::new();
        if let Some((past, effort)) = self.past.as_mut().zip(sought.past) {
            let parts = (
                Arc::clone(&self.parts.disk),
                Arc::clone(self.parts.lists.get()),
            );
            let name = open.session().map(Session::name);
            let told = past.read(parts, name, sought.asked.clone(), effort).await;
            troubles = self.told.news(told);
            talks = past.talks();
        }
        if let Open::Searched(session) = open
            && self.session.catch_up(session).await.is_some()
        {
            let asked = sought.asked.as_ref();
            let nearest = asked.map_or_else(Vec::new, |asked| self.session.near(session, asked));
            let words = self.session.words();
            talks.extend(words.map(|words| Talk {
                name: session.name(),
                session,
                words,
                nearest,
            }));
        }
        let said = talks.iter().filter(|talk| !talk.session.is_empty()).count();
        let query = Query {
            text: sought.text,
            k: sought.k,
            near: &near,
            min_similarity: self.parts.min_similarity,
            kinds: sought.kinds,
            // What a page or a program said comes when it is asked for, not by itself.
            tools: sought.past != Some(Effort::ByItself),
            open: open.session(),
        };
        let hits = find::find(&corpus, &talks, query);
        drop(talks);
        if let Some(past) = &mut self.past {
            past.thin_out();
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
        let Some(long_term) = self.long_term.clone() else {
            return (Refreshed::default(), Vec::new());
        };
        let lists = Arc::clone(self.parts.lists.get());
        // One that a search was left alone with is made again.
        let corpus = self.corpus.take().and_then(Arc::into_inner);
        // Once in a process: no turn writes it again because a note was taken.
        let is_kept = corpus.is_none() && self.parts.keeping == Keeping::Kept;
        let path = self.notes_index();
        let disk = Arc::clone(&self.parts.disk);
        let entries = Arc::clone(&self.entries);
        let reading = tokio::task::spawn_blocking(move || {
            let kept = || Corpus::kept_at(disk.as_ref(), &path, lists, long_term.chunk_size);
            let mut corpus = corpus.unwrap_or_else(kept);
            corpus.mark(&long_term.written.take());
            let (files, mut troubles) = long_term.places.files(disk.as_ref(), left_out);
            let sizes = Sizes {
                chunk: long_term.chunk_size,
                overlap: long_term.chunk_overlap,
                all: MAX_IN_ALL,
            };
            let reading = Reading {
                sizes,
                now,
                left_out,
            };
            let refreshed = corpus.refresh(disk.as_ref(), &files, &entries, reading, &mut troubles);
            if is_kept {
                corpus.keep(disk.as_ref(), &path, long_term.chunk_size);
            }
            (corpus, refreshed, troubles)
        });
        match reading.await {
            Ok((corpus, refreshed, troubles)) => {
                self.corpus = Some(Arc::new(corpus));
                self.is_stale |= refreshed != Refreshed::default();
                (refreshed, self.told.news(troubles))
            }
            Err(error) => {
                tracing::warn!("reading long-term memory failed: {error}");
                (Refreshed::default(), Vec::new())
            }
        }
    }

    /// Reads everything again, and tells again what could not be read.
    pub async fn reread(&mut self, now: Timestamp) -> (Refreshed, Vec<String>) {
        self.drop_notes_index();
        self.corpus = None;
        self.told.clear();
        if let Some(past) = &mut self.past {
            past.forget();
        }
        self.refresh(now).await
    }

    /// Where the words of notes, entries and documents are kept.
    fn notes_index(&self) -> PathBuf {
        self.parts.folder.join("notes.idx")
    }

    /// Takes away the file, which the next process writes anew.
    fn drop_notes_index(&self) {
        if self.parts.keeping == Keeping::ReadOnly {
            return;
        }
        let path = self.notes_index();
        if let Err(error) = self.parts.disk.remove(&path) {
            tracing::warn!("could not remove {}: {error}", path.display());
        }
    }

    /// Begins to make the vectors of notes, entries and documents that are missing, in the background.
    pub fn embed_long_term(&mut self) {
        let Some(corpus) = self.corpus.as_ref().filter(|_| self.is_stale) else {
            return;
        };
        if !self.meaning.is_ready() {
            return;
        }
        let wanted = corpus.wanted(MAX_CHUNKS, |key| self.meaning.has(key));
        self.is_stale = !wanted.is_empty();
        self.meaning.begin(wanted);
    }

    /// Makes the vectors of notes, entries and documents that are missing, and waits for them.
    pub async fn embed_all_long_term(&mut self) {
        self.embed_long_term();
        while self.meaning.is_working() {
            self.meaning.done().await;
            self.embed_long_term();
        }
    }

    /// Makes vectors that are missing before the first search, for a moment: nothing has had a turn to make them in
    /// (Q19).
    async fn catch_up(&mut self) {
        if !std::mem::replace(&mut self.is_caught_up, true) {
            let making = self.embed_all_long_term();
            if tokio::time::timeout(CATCHING_UP, making).await.is_err() {
                tracing::info!("indexing by meaning is not finished; the rest is found by keyword");
            }
        }
    }

    /// The keys of the notes, entries and documents.
    pub fn keys(&self) -> Vec<vectors::Key> {
        let live = self.corpus.iter().flat_map(|corpus| corpus.live());
        live.map(|(_, chunk)| chunk.key).collect()
    }

    /// Makes the index of the open session again, of which something was forgotten, and lets go of the vectors of what
    /// was said. `said`: the keys of its messages as they were.
    pub fn let_go_of_messages(&mut self, session: &Session, said: &[vectors::Key]) {
        let name = session.name();
        if self.parts.keeping == Keeping::Kept
            && let Err(error) = self.session.drop_all(name)
        {
            tracing::warn!("could not remove the index of {name}: {error}");
        }
        self.session.open(name);
        let left = self.session.keys(session);
        let gone = said.iter().filter(|key| !left.contains(key));
        let gone = gone.copied().collect();
        self.let_go(&gone);
    }

    /// Reads notes, entries and documents again, and lets go of the vectors of those that are gone.
    pub async fn let_go_of_texts(&mut self, mut gone: BTreeSet<vectors::Key>, now: Timestamp) {
        self.drop_notes_index();
        self.refresh(now).await;
        for key in self.keys() {
            gone.remove(&key);
        }
        self.let_go(&gone);
        if let Some(past) = &mut self.past {
            past.forget();
        }
    }

    /// Lets go of the vectors of these texts; those that are said elsewhere get theirs again.
    pub fn let_go(&mut self, gone: &BTreeSet<vectors::Key>) {
        if self.parts.keeping == Keeping::ReadOnly || gone.is_empty() {
            return;
        }
        if let Err(error) = self.meaning.let_go(gone) {
            tracing::warn!("could not remove vectors of forgotten text: {error}");
        }
    }

    /// Offers an embedder where there is none and much is kept: once for a data folder.
    pub fn offer_embedder(&self) -> Option<News> {
        let mark = self.parts.folder.join("embedder.offered");
        let disk = self.parts.disk.as_ref();
        let can_be_installed = cfg!(feature = "local-embeddings") && self.meaning.is_absent();
        if !can_be_installed || self.parts.keeping == Keeping::ReadOnly || disk.size(&mark).is_ok()
        {
            return None;
        }
        let kept = self.corpus.as_ref()?.kept();
        if kept < WORTH_OFFERING {
            return None;
        }
        disk.replace(&mark, b"").ok()?;
        Some(News::Offered { kept })
    }

    /// Tells that a turn is over.
    pub fn turn_over(&mut self) {
        self.meaning.turn_over();
    }
}

/// Deals out the scores of hits anew, which are best first, as a cross-encoder orders them. Where that fails they stay.
async fn rerank(reranker: &Reranker, question: &str, hits: &mut [Hit]) {
    let texts: Vec<&str> = hits.iter().map(|hit| hit.content.as_str()).collect();
    match reranker.order(question, &texts).await {
        Ok(order) => {
            let scores: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
            for (at, score) in order.into_iter().zip(scores) {
                hits[at].score = score;
            }
        }
        Err(error) => tracing::warn!("results were not reranked: {}", chain(&error)),
    }
}

/// The chunks near a question, by their numbers with their cosines, found on a thread that may take its time.
async fn near_chunks(corpus: Arc<Corpus>, asked: meaning::Asked) -> Vec<(usize, f32)> {
    let looking = tokio::task::spawn_blocking(move || {
        let mut chunks = meaning::Keyed::default();
        let mut numbers = Vec::new();
        for (number, chunk) in corpus.live() {
            chunks.push(chunk.key);
            numbers.push(number);
        }
        let near = asked.near(&mut chunks, NEAREST).into_iter();
        near.map(|(position, cosine)| (numbers[position], cosine))
            .collect()
    });
    looking.await.unwrap_or_else(|error| {
        tracing::warn!("searching long-term memory by meaning failed: {error}");
        Vec::new()
    })
}

/// How a session is called as a source.
fn source_of(name: &SessionName) -> String {
    format!("session {name}")
}
