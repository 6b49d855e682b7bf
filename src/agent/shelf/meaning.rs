//! Recall by meaning: the embedder, the vectors, and the work of making them in the background. Unit: one session.
//!
//! ```text
//!  Closed --open--> Opening --> Open --index--> a task embeds batch by batch, each on disk when it is done
//!                      └------> Without (no embedder, or the disk refuses): asked again some turns later
//! ```
//! Invariant: whatever fails costs this half of recall and nothing else; a failure is told once.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::Parts;
use super::catalogue::Entry;
use super::vectors::{Near, Vectors};
use crate::chat::{Session, TurnId};
use crate::embed::{Embedder, NoEmbedder};
use crate::hint::chain;
use crate::memory::recall::Exchange;
use crate::search::vectors::{BadVector, Spec, VectorError};

/// Longest wait for the vector of a question, and for the index when a question comes before it is open.
const PATIENCE: Duration = Duration::from_secs(5);
/// Exchanges embedded and put on disk together.
const BATCH: usize = 16;
/// Exchanges that one task takes on, so that their texts do not fill the memory.
const AT_ONCE: usize = 4_096;
/// The nearest messages that take part in a search.
const NEAREST: usize = 100;
/// After failures in a row the embedder is left alone for twice as many turns each time, at most for so many.
const LONGEST_REST: u32 = 32;

/// News of the work in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A long way to go has begun.
    Indexing { exchanges: usize },
    /// It has come to its end.
    Indexed { exchanges: usize },
    /// The index was made with another model, or is damaged.
    Dropped { why: String },
    /// There are no vectors for now.
    Without { why: String },
}

impl std::fmt::Display for News {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Indexing { exchanges } => write!(
                f,
                "{exchanges} exchanges are being indexed by meaning in the background; they are found by their words meanwhile"
            ),
            Self::Indexed { exchanges } => {
                write!(f, "all {exchanges} exchanges are indexed by meaning")
            }
            Self::Dropped { why } => {
                write!(f, "{why}: the vectors are made again from the history")
            }
            Self::Without { why } => write!(
                f,
                "no recall by meaning for now ({why}); by words it goes on"
            ),
        }
    }
}

/// Why exchanges have no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vectors could not be made: {why}")]
pub struct NoVectors {
    why: String,
}

/// From so many exchanges on the person hears of the work.
const WORTH_TELLING: usize = 200;

/// Recall by meaning, as far as it is.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    state: State,
    /// Failures in a row, and turns to wait before the next try.
    failures: u32,
    rest: u32,
    /// That there are no vectors was said.
    told: bool,
    /// The person was told that a long way to go has begun, and not yet that it is over.
    owes_end: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    Opening(JoinHandle<Result<Option<Ready>, String>>),
    /// There is no embedder, or the disk refuses.
    Without,
    Open(Ready),
}

#[derive(Debug)]
struct Ready {
    embedder: Arc<dyn Embedder>,
    /// Behind a lock because the task in the background writes what a question reads; held for single steps, in
    /// threads.
    vectors: Arc<Mutex<Vectors>>,
    dropped: Option<String>,
    task: Option<Task>,
}

#[derive(Debug)]
struct Task {
    handle: JoinHandle<Result<usize, String>>,
    done: Arc<AtomicUsize>,
    wanted: usize,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// How far the vectors are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The model, where there is one.
    pub model: Option<String>,
    pub exchanges: usize,
    pub dimensions: usize,
    /// Of the work that runs: done and wanted.
    pub running: Option<(usize, usize)>,
}

impl Meaning {
    /// Begins to open what is there, where vectors were made before.
    pub(super) fn begin(&mut self, parts: &Parts, folder: &Path) {
        if matches!(self.state, State::Closed) && Vectors::stored(folder).is_some() {
            self.open(parts, folder);
        }
    }

    fn open(&mut self, parts: &Parts, folder: &Path) {
        let parts = parts.clone();
        let folder = folder.to_owned();
        self.state = State::Opening(tokio::spawn(async move {
            let embedder = parts.embedder.resolve().await;
            let Some(embedder) = embedder.map_err(|error| chain(&error))? else {
                return Ok(None);
            };
            let model = embedder.model().to_owned();
            let stored = Vectors::stored(&folder);
            if let Some(stored) = &stored
                && stored.model != model
                && is_away(&stored.model, &parts.embedder.passed())
            {
                return Err(format!(
                    "{} made the vectors and is not there",
                    stored.model
                ));
            }
            let stored = stored.filter(|stored| stored.model == model);
            let dimension = match stored {
                Some(stored) => stored.dimension,
                None => embedder.probe().await.map_err(|error| chain(&error))?,
            };
            let spec = Spec { model, dimension };
            let opening =
                tokio::task::spawn_blocking(move || Vectors::open(&parts, &folder, spec)).await;
            let opened = opening
                .map_err(|error| error.to_string())?
                .map_err(|error| chain(&error))?;
            Ok(Some(Ready {
                embedder,
                vectors: Arc::new(Mutex::new(opened.vectors)),
                dropped: opened.dropped,
                task: None,
            }))
        }));
    }

    /// Waits until what is being opened is open.
    async fn opened(&mut self, session: &Session) -> Option<News> {
        let State::Opening(opening) = &mut self.state else {
            return None;
        };
        let opened = opening.await.unwrap_or_else(|error| Err(error.to_string()));
        match opened {
            Ok(None) => {
                self.state = State::Without;
                self.rest = LONGEST_REST;
                None
            }
            Ok(Some(mut ready)) => {
                let dropped = ready.check(session).or(ready.dropped.take());
                self.state = State::Open(ready);
                dropped.map(|why| News::Dropped { why })
            }
            Err(why) => {
                self.state = State::Without;
                self.failed(why)
            }
        }
    }

    fn failed(&mut self, why: String) -> Option<News> {
        tracing::warn!("no vectors: {why}");
        self.failures = self.failures.saturating_add(1);
        self.rest = 1_u32
            .checked_shl(self.failures)
            .map_or(LONGEST_REST, |rest| rest.min(LONGEST_REST));
        let is_first = !std::mem::replace(&mut self.told, true);
        is_first.then_some(News::Without { why })
    }

    /// One turn less to rest.
    pub(super) fn turn_over(&mut self) {
        self.rest = self.rest.saturating_sub(1);
        if self.rest == 0 && matches!(self.state, State::Without) {
            self.state = State::Closed;
        }
    }

    /// The messages near a question, with their cosines; none where they cannot be had soon.
    pub(super) async fn nearest(
        &mut self,
        session: &Session,
        question: &str,
    ) -> (Vec<(usize, f32)>, Option<News>) {
        let opening = tokio::time::timeout(PATIENCE, self.opened(session));
        let news = opening.await.ok().flatten();
        let State::Open(ready) = &self.state else {
            return (Vec::new(), news);
        };
        if self.rest > 0 || ready.vectors().len() == 0 {
            return (Vec::new(), news);
        }
        match ready.nearest(question).await {
            Ok(near) => {
                self.failures = 0;
                self.told = false;
                (messages(session, &near), news)
            }
            Err(why) => (Vec::new(), self.failed(why).or(news)),
        }
    }

    /// Begins to embed the exchanges before a message that have no vector yet.
    pub(super) fn index(
        &mut self,
        parts: &Parts,
        folder: &Path,
        session: &Session,
        before: usize,
    ) -> Option<News> {
        if parts.embedder.is_off() || self.rest > 0 {
            return None;
        }
        let last = match &self.state {
            State::Closed => None,
            State::Open(ready) if ready.task.is_none() => ready.vectors().last(),
            State::Opening(_) | State::Without | State::Open(_) => return None,
        };
        let wanted = waiting(session, last, before);
        if wanted.is_empty() {
            return self.finished();
        }
        let State::Open(ready) = &mut self.state else {
            self.open(parts, folder);
            return None;
        };
        let count = wanted.len();
        ready.start(wanted);
        let is_news = count >= WORTH_TELLING && !self.owes_end;
        if is_news {
            let all = exchanges(session, last, before).count();
            self.owes_end = true;
            return Some(News::Indexing { exchanges: all });
        }
        None
    }

    /// Makes all vectors that are missing, and waits for them.
    pub(super) async fn index_all(
        &mut self,
        parts: &Parts,
        folder: &Path,
        session: &Session,
        progress: &mut (dyn FnMut(Standing) + Send),
    ) -> Result<usize, NoVectors> {
        /// Between one look at the progress and the next.
        const LOOK: Duration = Duration::from_millis(100);
        loop {
            // What there is to say is said by the progress.
            let _news = self.index(parts, folder, session, usize::MAX);
            if !self.is_working() {
                let standing = self.standing();
                return Ok(standing.map_or(0, |standing| standing.exchanges));
            }
            let news = loop {
                match tokio::time::timeout(LOOK, self.work_done(session)).await {
                    Ok(news) => break news,
                    Err(_) => self.standing().into_iter().for_each(&mut *progress),
                }
            };
            if let Some(News::Without { why }) = news {
                return Err(NoVectors { why });
            }
        }
    }

    /// Waits for what runs, for ever where nothing does. May be dropped at any time.
    pub(super) async fn work_done(&mut self, session: &Session) -> Option<News> {
        match &mut self.state {
            State::Opening(_) => self.opened(session).await,
            State::Open(ready) if ready.task.is_some() => {
                let result = ready.task_done().await;
                match result {
                    Ok(_) => {
                        self.failures = 0;
                        None
                    }
                    Err(why) => self.failed(why),
                }
            }
            State::Closed | State::Without | State::Open(_) => std::future::pending().await,
        }
    }

    /// Whether anything runs.
    pub(super) fn is_working(&self) -> bool {
        match &self.state {
            State::Opening(_) => true,
            State::Open(ready) => ready.task.is_some(),
            State::Closed | State::Without => false,
        }
    }

    /// That the work which was told of is done.
    fn finished(&mut self) -> Option<News> {
        if !std::mem::take(&mut self.owes_end) {
            return None;
        }
        let standing = self.standing()?;
        let exchanges = standing.exchanges;
        Some(News::Indexed { exchanges })
    }

    /// Gives up what runs; what is on disk by then stays.
    pub(super) fn abort(&mut self) {
        if let State::Open(ready) = &mut self.state {
            ready.task = None;
        }
    }

    pub(super) fn standing(&self) -> Option<Standing> {
        let State::Open(ready) = &self.state else {
            return None;
        };
        let vectors = ready.vectors();
        let running = ready.task.as_ref();
        Some(Standing {
            model: Some(ready.embedder.model().to_owned()),
            exchanges: vectors.len(),
            dimensions: vectors.dimension(),
            running: running.map(|task| (task.done.load(Ordering::Relaxed), task.wanted)),
        })
    }
}

impl Ready {
    fn vectors(&self) -> MutexGuard<'_, Vectors> {
        lock(&self.vectors)
    }

    /// Drops vectors that speak of another history.
    fn check(&mut self, session: &Session) -> Option<String> {
        let mut vectors = self.vectors();
        if vectors.is_of(session) {
            return None;
        }
        let dimension = vectors.dimension();
        let why = "the vector index is of another history".to_owned();
        match vectors.drop_all(dimension) {
            Ok(()) => Some(why),
            Err(error) => Some(format!("{why} ({})", chain(&error))),
        }
    }

    async fn nearest(&self, question: &str) -> Result<Vec<Near>, String> {
        let embedding = tokio::time::timeout(PATIENCE, self.embedder.embed(&[question])).await;
        let embedded = embedding
            .map_err(|_| format!("no vector within {} s", PATIENCE.as_secs()))?
            .map_err(|error| chain(&error))?;
        let vector = embedded.into_iter().next().unwrap_or_default();
        let vectors = Arc::clone(&self.vectors);
        let search = move || {
            let mut vectors = lock(&vectors);
            let found = vectors.nearest(&vector, NEAREST);
            mend(&mut vectors, found, vector.len())
        };
        let searched = tokio::task::spawn_blocking(search).await;
        searched.map_err(|error| error.to_string())?
    }

    fn start(&mut self, wanted: Vec<Entry>) {
        let done = Arc::new(AtomicUsize::new(0));
        let count = wanted.len();
        let work = embed_all(
            Arc::clone(&self.embedder),
            Arc::clone(&self.vectors),
            wanted,
            Arc::clone(&done),
        );
        self.task = Some(Task {
            handle: tokio::spawn(work),
            done,
            wanted: count,
        });
    }

    async fn task_done(&mut self) -> Result<usize, String> {
        let Some(task) = &mut self.task else {
            return Ok(0);
        };
        let result = (&mut task.handle).await;
        self.task = None;
        result.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Embeds batch by batch; each is on disk before the next begins.
async fn embed_all(
    embedder: Arc<dyn Embedder>,
    vectors: Arc<Mutex<Vectors>>,
    wanted: Vec<Entry>,
    done: Arc<AtomicUsize>,
) -> Result<usize, String> {
    let count = wanted.len();
    let mut wanted = wanted.into_iter();
    loop {
        let batch: Vec<Entry> = wanted.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(count);
        }
        let texts = batch.iter().flat_map(|entry| &entry.texts);
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        let made = embedder.embed(&texts).await;
        let made = made.map_err(|error| chain(&error))?;
        let size = batch.len();
        let vectors = Arc::clone(&vectors);
        let put = move || {
            let mut vectors = lock(&vectors);
            let dimension = made.first().map_or(0, Vec::len);
            let added = vectors.add(&batch, &made);
            mend(&mut vectors, added, dimension)
        };
        let put = tokio::task::spawn_blocking(put).await;
        put.map_err(|error| error.to_string())??;
        done.fetch_add(size, Ordering::Relaxed);
    }
}

/// Begins an index anew that turned out to be damaged, or of a model that changed its dimensions.
fn mend<T>(
    vectors: &mut Vectors,
    result: Result<T, VectorError>,
    dimension: usize,
) -> Result<T, String> {
    result.map_err(|error| {
        let is_lost = match &error {
            VectorError::Unusable(_) => true,
            VectorError::BadVector(BadVector::Length { .. }) => dimension > 0,
            VectorError::BadVector(_) | VectorError::Io { .. } | VectorError::Full => false,
        };
        let why = chain(&error);
        if is_lost && let Err(worse) = vectors.drop_all(dimension) {
            return format!("{why}; {}", chain(&worse));
        }
        why
    })
}

/// Whether the maker of vectors is one of those that were looked for and are not there just now: then another one that is
/// must not take its place, since that would cost all vectors.
fn is_away(maker: &str, absent: &[NoEmbedder]) -> bool {
    let kind =
        |name: &str| -> String { name.chars().take_while(char::is_ascii_alphabetic).collect() };
    let maker = kind(maker);
    absent.iter().any(|absent| kind(&absent.candidate) == maker)
}

fn lock(vectors: &Mutex<Vectors>) -> MutexGuard<'_, Vectors> {
    vectors.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exchanges behind a turn and before a message, oldest first, at most [`AT_ONCE`].
fn waiting(session: &Session, last: Option<TurnId>, before: usize) -> Vec<Entry> {
    let exchanges = exchanges(session, last, before).take(AT_ONCE);
    exchanges
        .map(|(turn, exchange)| Entry::of(turn, &exchange))
        .collect()
}

fn exchanges(
    session: &Session,
    last: Option<TurnId>,
    before: usize,
) -> impl Iterator<Item = (TurnId, Exchange<'_>)> {
    let turns = session.turns();
    let first = last.map_or(0, |last| turns.partition_point(|turn| turn.id <= last));
    let turns = turns[first..].iter();
    turns
        .take_while(move |turn| turn.messages.end <= before && turn.outcome.is_some())
        .filter(|turn| turn.withdrawn.is_none())
        .map(|turn| (turn.id, Exchange::of(session, turn)))
        .filter(|(_, exchange)| !exchange.is_empty())
}

/// The messages that are near, by their indices in the session.
fn messages(session: &Session, near: &[Near]) -> Vec<(usize, f32)> {
    let turns = session.turns();
    let index = |near: &Near| {
        let at = turns
            .binary_search_by_key(&near.turn, |turn| turn.id)
            .ok()?;
        let turn = Some(&turns[at]).filter(|turn| turn.withdrawn.is_none())?;
        let (index, _) = Exchange::messages_of(session, turn).nth(near.message)?;
        Some((index, near.cosine))
    };
    near.iter().filter_map(index).collect()
}
