//! Vectors at work: near which messages a question is, and the task that makes vectors of exchanges. Unit: one open
//! index. Invariant: what fails in the middle leaves an index that can be gone on with, or an empty one.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::catalogue::Entry;
use super::vectors::{Near, Opened, Vectors};
use crate::chat::{Session, TurnId};
use crate::embed::{EmbedError, Embedder, Purpose, framed};
use crate::hint::chain;
use crate::memory::known_secrets;
use crate::memory::recall::Exchange;
use crate::search::vectors::{BadVector, VectorError};

/// Longest wait for the vector of a question.
const PATIENCE: Duration = Duration::from_secs(5);
/// Exchanges embedded and put on disk together.
const BATCH: usize = 16;
/// Exchanges that one task takes on, so that their texts do not fill the memory.
const AT_ONCE: usize = 4_096;
/// The nearest messages that take part in a search.
const NEAREST: usize = 100;

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It may go another time.
    Passing(String),
    /// What was kept could not be used, and is gone.
    Dropped(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Passing(why)
    }
}

/// An embedder with its vectors.
#[derive(Debug)]
pub(super) struct Ready {
    embedder: Arc<dyn Embedder>,
    /// Behind a lock because the task in the background writes what a question reads; held for single steps, in
    /// threads.
    vectors: Arc<Mutex<Vectors>>,
    dropped: Option<String>,
    task: Option<Task>,
}

#[derive(Debug)]
struct Task {
    handle: JoinHandle<Result<(), Trouble>>,
    done: Arc<AtomicUsize>,
    wanted: usize,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl Drop for Ready {
    /// A thread may be at work still, and the files may belong to somebody else from now on.
    fn drop(&mut self) {
        self.vectors().close();
    }
}

impl Ready {
    pub(super) fn new(embedder: Arc<dyn Embedder>, opened: Opened) -> Self {
        Self {
            embedder,
            vectors: Arc::new(Mutex::new(opened.vectors)),
            dropped: opened.dropped,
            task: None,
        }
    }

    pub(super) fn model(&self) -> &str {
        self.embedder.model()
    }

    pub(super) fn vectors(&self) -> MutexGuard<'_, Vectors> {
        lock(&self.vectors)
    }

    pub(super) fn is_working(&self) -> bool {
        self.task.is_some()
    }

    /// Of the work that runs: done and wanted.
    pub(super) fn running(&self) -> Option<(usize, usize)> {
        let task = self.task.as_ref()?;
        Some((task.done.load(Ordering::Relaxed), task.wanted))
    }

    /// Gives up what runs.
    pub(super) fn abort(&mut self) {
        self.task = None;
    }

    /// Drops vectors that speak of another history; tells why any were dropped, also before.
    pub(super) fn check(&mut self, session: &Session) -> Option<String> {
        let followed = self.vectors().follow(session);
        let gone = match followed {
            Ok(0) => None,
            Ok(gone) => Some(format!(
                "{gone} of the indexed exchanges do not stand so in the history"
            )),
            Err(error) => Some(chain(&error)),
        };
        gone.or(self.dropped.take())
    }

    pub(super) async fn nearest(&self, question: &str) -> Result<Vec<Near>, Trouble> {
        let question = framed(self.embedder.model(), Purpose::Question, question);
        let embedding = tokio::time::timeout(PATIENCE, self.embedder.embed(&[&question])).await;
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

    /// Begins to make vectors of the exchanges before a message that have none, if there are any; tells of how many.
    pub(super) fn start(&mut self, session: &Session, before: usize) -> usize {
        let last = self.vectors().last();
        let wanted = exchanges(session, last, before).take(AT_ONCE);
        let wanted: Vec<(TurnId, Exchange<'_>)> = wanted.collect();
        let count = wanted.len();
        if count == 0 {
            return 0;
        }
        let mut known = known_secrets(session);
        let wanted: Vec<Entry> = wanted
            .iter()
            .map(|(turn, exchange)| Entry::of(*turn, exchange, &mut known))
            .collect();
        let done = Arc::new(AtomicUsize::new(0));
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
        if count < AT_ONCE {
            count
        } else {
            exchanges(session, last, before).count()
        }
    }

    /// Waits for the task. May be dropped at any time.
    pub(super) async fn task_done(&mut self) -> Result<(), Trouble> {
        let Some(task) = &mut self.task else {
            return Ok(());
        };
        let result = (&mut task.handle).await;
        self.task = None;
        result.unwrap_or_else(|error| Err(error.to_string().into()))
    }
}

/// Embeds batch by batch; each is on disk before the next begins.
async fn embed_all(
    embedder: Arc<dyn Embedder>,
    vectors: Arc<Mutex<Vectors>>,
    wanted: Vec<Entry>,
    done: Arc<AtomicUsize>,
) -> Result<(), Trouble> {
    let mut wanted = wanted.into_iter();
    loop {
        let batch: Vec<Entry> = wanted.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let texts = batch.iter().flat_map(|entry| &entry.texts);
        let in_frame: Vec<Cow<'_, str>> = texts
            .map(|text| framed(embedder.model(), Purpose::Document, text))
            .collect();
        let texts: Vec<&str> = in_frame.iter().map(AsRef::as_ref).collect();
        let made = match embedder.embed(&texts).await {
            Err(error) if error.may_be_of_a_text() => embed_each(&*embedder, &texts).await,
            made => made,
        };
        let made = made.map_err(|error| chain(&error))?;
        let size = batch.len();
        let vectors = Arc::clone(&vectors);
        let put = move || {
            let mut vectors = lock(&vectors);
            let dimension = made.iter().map(Vec::len).max().unwrap_or(0);
            let added = vectors.add(&batch, &made);
            mend(&mut vectors, added, dimension)
        };
        let put = tokio::task::spawn_blocking(put).await;
        put.map_err(|error| error.to_string())??;
        done.fetch_add(size, Ordering::Relaxed);
    }
}

/// Embeds one text after the other, so that one that is refused holds up no other; it gets an empty vector. Where all are
/// refused, it is not the texts.
async fn embed_each(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut made = Vec::with_capacity(texts.len());
    let mut refused = None;
    for text in texts {
        match embedder.embed(&[text]).await {
            Ok(vectors) => made.extend(vectors),
            Err(error) if error.may_be_of_a_text() => {
                made.push(Vec::new());
                refused = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match refused {
        Some(error) if made.iter().all(Vec::is_empty) => Err(error),
        Some(_) | None => Ok(made),
    }
}

/// Begins an index anew that turned out to be damaged, or of a model that changed its dimensions.
fn mend<T>(
    vectors: &mut Vectors,
    result: Result<T, VectorError>,
    dimension: usize,
) -> Result<T, Trouble> {
    result.map_err(|error| {
        let why = chain(&error);
        let dimension = match &error {
            VectorError::Unusable(_) => vectors.dimension(),
            VectorError::BadVector(BadVector::Length { .. }) if dimension > 0 => dimension,
            VectorError::BadVector(_) | VectorError::Io { .. } | VectorError::Full => {
                return Trouble::Passing(why);
            }
        };
        match vectors.drop_all(dimension) {
            Ok(()) => Trouble::Dropped(why),
            Err(worse) => Trouble::Passing(format!("{why}; {}", chain(&worse))),
        }
    })
}

/// What is behind a lock is whole whenever it is let go.
pub(super) fn lock<T>(behind: &Mutex<T>) -> MutexGuard<'_, T> {
    behind.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there are exchanges before a message to make vectors of.
pub(super) fn is_any(session: &Session, before: usize) -> bool {
    exchanges(session, None, before).next().is_some()
}

/// Exchanges behind a turn and before a message, oldest first.
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

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;

    /// Refuses texts that begin so, one or a batch of them.
    #[derive(Debug)]
    struct Picky(&'static str);

    #[async_trait]
    impl Embedder for Picky {
        fn model(&self) -> &'static str {
            "picky"
        }

        fn dimensions(&self) -> Option<usize> {
            Some(2)
        }

        async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            if texts.iter().any(|text| text.starts_with(self.0)) {
                return Err(EmbedError::TooLong {
                    url: "here".into(),
                    message: "no".into(),
                });
            }
            Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
        }
    }

    #[tokio::test]
    async fn a_text_that_is_refused_holds_up_no_other() {
        let made = embed_each(&Picky("bad"), &["good", "bad", "fine"]).await;
        assert_eq!(
            made.unwrap(),
            [vec![1.0, 0.0], vec![], vec![1.0, 0.0]],
            "empty where it was refused"
        );
        let all = embed_each(&Picky(""), &["good", "bad"]).await;
        assert!(all.is_err(), "then it is not the texts");
    }
}
