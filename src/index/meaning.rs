//! Finding by meaning: the embedder, the one store of vectors, and the work of making them in the background.
//!
//! ```text
//!  Closed --open--> Opening --> Open --begin--> a task embeds batch by batch, each on disk when it is done
//!                      └------> Without (no embedder, or the disk refuses): asked again some turns later
//! ```
//! Invariant: whatever fails costs this half of a search and nothing else; a failure is told once.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::session::clipped;
use super::vectors::{self, Key, Made, VectorStore};
use crate::embed::{EmbedError, Embedder, EmbedderChoice, Purpose, framed};
use crate::files::Disk;
use crate::hint::chain;

/// Longest wait for the store when a question comes before it is open, and for the vector of a question.
const PATIENCE: Duration = Duration::from_secs(5);
/// After failures in a row the embedder is left alone for twice as many turns each time, at most for so many.
const LONGEST_REST: u32 = 32;
/// Texts embedded and put on disk together.
const BATCH: usize = 32;

/// News of the work in the background.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum News {
    /// A long way to go has begun.
    #[error(
        "Indexing {exchanges} exchanges by meaning in the background; until then they are found by keyword"
    )]
    Indexing { exchanges: usize },
    #[error("All {exchanges} exchanges are indexed by meaning")]
    Indexed { exchanges: usize },
    #[error("recall by meaning is paused ({why}); recall by keyword still works")]
    Without { why: String },
    /// There is no embedder at all, and so much is kept that one would find more of it.
    #[error(
        "{kept} saved facts are found by keyword only; run `cogtrix embedder install` to find them by meaning"
    )]
    Offered { kept: usize },
}

/// A text that is to have a vector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pub(super) key: Key,
    /// Without secrets.
    pub(super) text: String,
}

/// Texts by their keys, with their rows in the store as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Keyed {
    keys: Vec<Key>,
    rows: Vec<Option<u32>>,
    /// Which opening of the store the rows are of.
    opening: u32,
}

impl Keyed {
    pub(super) fn push(&mut self, key: Key) {
        self.keys.push(key);
        self.rows.push(None);
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Looks up the rows that are missing.
    fn resolve(&mut self, store: &VectorStore, opening: u32) {
        if self.opening != opening {
            self.rows.fill(None);
            self.opening = opening;
        }
        for (row, key) in self.rows.iter_mut().zip(&self.keys) {
            *row = row.or_else(|| store.row(*key));
        }
    }
}

/// The vector of a question, and where near ones are looked for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    vector: Vec<f32>,
    store: Arc<Mutex<VectorStore>>,
    opening: u32,
}

impl Asked {
    /// The texts that are nearest, by their positions, with their cosines. Takes some milliseconds for many.
    pub(super) fn near(&self, texts: &mut Keyed, k: usize) -> Vec<(usize, f32)> {
        let store = lock(&self.store);
        texts.resolve(&store, self.opening);
        store.nearest_of(&self.vector, &texts.rows, k)
    }
}

/// Where vectors are, and who makes them.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) disk: Arc<dyn Disk>,
    /// Holds a file for each model.
    pub(super) folder: PathBuf,
    pub(super) embedder: Arc<EmbedderChoice>,
    /// Bytes that a graph of the vectors may take.
    pub(super) graph_memory: u64,
}

/// Finding by meaning, as far as it is.
#[derive(Debug)]
pub struct Meaning {
    source: Source,
    state: State,
    openings: u32,
    /// Whether a question has waited for what is being opened, or need not.
    waited: bool,
    /// Failures in a row, the step that failed, and turns to wait before the next try.
    failures: u32,
    failed: Option<Step>,
    rest: u32,
    /// That there are no vectors was said.
    told: bool,
    /// Nobody was there who makes vectors when it was last looked.
    is_absent: bool,
    /// The question that was asked last: one turn asks it of several sources.
    last: Option<(String, Asked)>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    Opening(JoinHandle<Result<Option<Open>, String>>),
    /// There is no embedder, or the disk refuses.
    Without,
    Open(Open),
}

/// An embedder with its vectors.
#[derive(Debug)]
struct Open {
    embedder: Arc<dyn Embedder>,
    /// Behind a lock because the task in the background writes what a question reads; held for single steps.
    store: Arc<Mutex<VectorStore>>,
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

/// What is done, in this order: who can do one can do those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Open,
    Question,
    Texts,
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trouble {
    /// It may go another time.
    Passing(String),
    /// The model makes vectors of another dimension by now.
    Outgrown,
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Passing(why)
    }
}

impl Meaning {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            state: State::Closed,
            openings: 0,
            waited: false,
            failures: 0,
            failed: None,
            rest: 0,
            told: false,
            is_absent: false,
            last: None,
        }
    }

    /// Who computes vectors.
    pub fn embedder(&self) -> &EmbedderChoice {
        &self.source.embedder
    }

    /// Begins to open the store, where vectors were made before.
    pub(super) fn begin_opening(&mut self) {
        let is_closed = matches!(self.state, State::Closed);
        if is_closed && !self.source.embedder.is_off() && !self.stored().is_empty() {
            self.open();
        }
    }

    fn stored(&self) -> Vec<Made> {
        Made::all(self.source.disk.as_ref(), &self.source.folder)
    }

    /// Opens the store where it is closed; tells whether texts can be given to the embedder now.
    pub(super) fn is_ready(&mut self) -> bool {
        if self.source.embedder.is_off() || self.rest > 0 {
            return false;
        }
        if matches!(self.state, State::Closed) {
            self.open();
        }
        matches!(&self.state, State::Open(open) if open.task.is_none())
    }

    fn open(&mut self) {
        let source = self.source.clone();
        let stored = self.stored();
        // What is empty as yet is worth no wait.
        self.waited = stored.is_empty();
        self.openings += 1;
        self.is_absent = false;
        self.state = State::Opening(tokio::spawn(async move {
            let embedder = source.embedder.resolve().await;
            let Some(embedder) = embedder.map_err(|error| chain(&error))? else {
                return Ok(None);
            };
            let model = embedder.model().to_owned();
            let known = stored.iter().find(|made| made.model == model);
            if known.is_some() {
                embedder.warm_up();
            }
            let dimension = match (known, embedder.dimensions()) {
                (_, Some(dimension)) => dimension,
                (Some(made), None) => made.dimension,
                (None, None) => embedder.probe().await.map_err(|error| chain(&error))?,
            };
            let made = Made { model, dimension };
            let opening = tokio::task::spawn_blocking(move || {
                VectorStore::open(source.disk, &source.folder, made, source.graph_memory)
            });
            let store = opening.await.map_err(|error| error.to_string())?;
            let store = Arc::new(Mutex::new(store.map_err(|error| error.to_string())?));
            Ok(Some(Open {
                embedder,
                store,
                task: None,
            }))
        }));
    }

    /// Waits until what is being opened is open.
    async fn opened(&mut self) -> Option<News> {
        let State::Opening(opening) = &mut self.state else {
            return None;
        };
        match opening.await.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(None) => {
                self.state = State::Without;
                self.rest = LONGEST_REST;
                self.is_absent = true;
                None
            }
            Ok(Some(open)) => {
                self.state = State::Open(open);
                None
            }
            Err(why) => {
                self.state = State::Without;
                self.went_wrong(Step::Open, why.into())
            }
        }
    }

    fn went_well(&mut self, step: Step) {
        if self.failed.is_none_or(|failed| failed <= step) {
            self.failures = 0;
            self.failed = None;
            self.told = false;
        }
    }

    fn went_wrong(&mut self, step: Step, trouble: Trouble) -> Option<News> {
        tracing::warn!("embedding failed: {trouble:?}");
        self.failures = self.failures.saturating_add(1);
        self.failed = self.failed.max(Some(step));
        let rest = 1_u32
            .checked_shl(self.failures)
            .map_or(LONGEST_REST, |rest| rest.min(LONGEST_REST));
        match trouble {
            Trouble::Outgrown if self.failures == 1 => {
                self.state = State::Closed;
                None
            }
            Trouble::Outgrown => {
                self.rest = rest;
                None
            }
            Trouble::Passing(why) => {
                self.rest = rest;
                let is_first = !std::mem::replace(&mut self.told, true);
                is_first.then_some(News::Without { why })
            }
        }
    }

    /// Whether a failure is so fresh that nothing is tried.
    pub fn is_resting(&self) -> bool {
        self.rest > 0
    }

    /// Tries again with the next text, whatever went wrong before.
    pub fn end_rest(&mut self) {
        self.rest = 0;
        if matches!(self.state, State::Without) {
            self.state = State::Closed;
        }
    }

    /// One turn less to rest.
    pub(super) fn turn_over(&mut self) {
        self.rest = self.rest.saturating_sub(1);
        if self.rest == 0 && matches!(self.state, State::Without) {
            self.state = State::Closed;
        }
    }

    /// The vector of a question; none where it cannot be had soon, or nothing could be near it.
    pub(super) async fn ask(&mut self, question: &str) -> (Option<Asked>, Option<News>) {
        if self.rest == 0 {
            self.begin_opening();
        }
        let is_first = !std::mem::replace(&mut self.waited, true);
        let patience = if is_first { PATIENCE } else { Duration::ZERO };
        let news = tokio::time::timeout(patience, self.opened())
            .await
            .ok()
            .flatten();
        let State::Open(open) = &self.state else {
            return (None, news);
        };
        // That texts cannot be embedded or written just now says nothing of a question.
        let rests = self.rest > 0 && self.failed != Some(Step::Texts);
        if rests || lock(&open.store).is_empty() {
            return (None, news);
        }
        let last = self
            .last
            .as_ref()
            .filter(|(last, asked)| last == question && asked.opening == self.openings);
        if let Some((_, asked)) = last {
            return (Some(asked.clone()), news);
        }
        match open.ask(question, self.openings).await {
            Ok(asked) => {
                self.went_well(Step::Question);
                self.last = Some((question.to_owned(), asked.clone()));
                (Some(asked), news)
            }
            Err(trouble) => (None, self.went_wrong(Step::Question, trouble).or(news)),
        }
    }

    /// Counts the openings of the store: rows of one are none of another.
    pub(super) fn openings(&self) -> u32 {
        self.openings
    }

    /// Lets go of all vectors but those of these texts, where the store is open.
    pub fn retain(&mut self, is_wanted: impl Fn(Key) -> bool) -> std::io::Result<()> {
        let State::Open(open) = &mut self.state else {
            return Ok(());
        };
        self.openings += 1;
        lock(&open.store).retain(is_wanted)
    }

    /// Lets go of the vectors of these texts, in the stores of all models.
    pub(super) fn let_go(&mut self, gone: &BTreeSet<Key>) -> std::io::Result<()> {
        self.abort();
        self.last = None;
        self.retain(|key| !gone.contains(&key))?;
        let open = self.made();
        vectors::let_go(&self.source.disk, &self.source.folder, gone, open.as_ref())
    }

    /// Whether there is no embedder at all.
    pub(super) fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// Whether a text has its vector.
    pub(super) fn has(&self, key: Key) -> bool {
        matches!(&self.state, State::Open(open) if lock(&open.store).row(key).is_some())
    }

    /// Begins to embed texts, if the store is open and nothing else is being embedded.
    pub(super) fn begin(&mut self, wanted: Vec<Wanted>) {
        if let State::Open(open) = &mut self.state
            && open.task.is_none()
            && !wanted.is_empty()
        {
            open.start(wanted);
        }
    }

    /// Waits for what runs, for ever where nothing does. May be dropped at any time.
    pub async fn done(&mut self) -> Option<News> {
        match &mut self.state {
            State::Opening(_) => self.opened().await,
            State::Open(Open {
                task: Some(task), ..
            }) => {
                let ended = (&mut task.handle).await;
                if let State::Open(open) = &mut self.state {
                    open.task = None;
                }
                match ended.unwrap_or_else(|error| Err(error.to_string().into())) {
                    Ok(()) => {
                        self.went_well(Step::Texts);
                        None
                    }
                    Err(trouble) => self.went_wrong(Step::Texts, trouble),
                }
            }
            State::Closed | State::Without | State::Open(_) => std::future::pending().await,
        }
    }

    /// Whether anything runs.
    pub fn is_working(&self) -> bool {
        match &self.state {
            State::Opening(_) => true,
            State::Open(open) => open.task.is_some(),
            State::Closed | State::Without => false,
        }
    }

    /// Gives up what is being embedded; what is on disk by then stays.
    pub fn abort(&mut self) {
        if let State::Open(open) = &mut self.state {
            open.task = None;
        }
    }

    /// What makes the vectors, once the store is open.
    pub fn made(&self) -> Option<Made> {
        let State::Open(open) = &self.state else {
            return None;
        };
        Some(lock(&open.store).made().clone())
    }

    /// Of the texts that are being embedded: how many are done, and of how many.
    pub fn running(&self) -> Option<(usize, usize)> {
        let State::Open(Open {
            task: Some(task), ..
        }) = &self.state
        else {
            return None;
        };
        Some((task.done.load(Ordering::Relaxed), task.wanted))
    }

    /// Vectors in the store, where it is open.
    pub fn count(&self) -> usize {
        match &self.state {
            State::Open(open) => lock(&open.store).len(),
            State::Closed | State::Opening(_) | State::Without => 0,
        }
    }
}

impl Open {
    async fn ask(&self, question: &str, opening: u32) -> Result<Asked, Trouble> {
        let question = clipped(question);
        let question = framed(self.embedder.model(), Purpose::Question, &question);
        let embedding = tokio::time::timeout(PATIENCE, self.embedder.embed(&[&question])).await;
        let embedded = embedding
            .map_err(|_| format!("no vector within {} s", PATIENCE.as_secs()))?
            .map_err(|error| chain(&error))?;
        let vector = embedded.into_iter().next().unwrap_or_default();
        if vector.len() != lock(&self.store).made().dimension {
            return Err(Trouble::Outgrown);
        }
        Ok(Asked {
            vector,
            store: Arc::clone(&self.store),
            opening,
        })
    }

    fn start(&mut self, wanted: Vec<Wanted>) {
        let (done, count) = (Arc::new(AtomicUsize::new(0)), wanted.len());
        let work = embed_all(
            Arc::clone(&self.embedder),
            Arc::clone(&self.store),
            wanted,
            Arc::clone(&done),
        );
        self.task = Some(Task {
            handle: tokio::spawn(work),
            done,
            wanted: count,
        });
    }
}

/// Embeds batch by batch; each is on disk before the next begins.
async fn embed_all(
    embedder: Arc<dyn Embedder>,
    store: Arc<Mutex<VectorStore>>,
    wanted: Vec<Wanted>,
    done: Arc<AtomicUsize>,
) -> Result<(), Trouble> {
    let dimension = lock(&store).made().dimension;
    for batch in wanted.chunks(BATCH) {
        let in_frame = batch
            .iter()
            .map(|it| framed(embedder.model(), Purpose::Document, &it.text));
        let in_frame: Vec<Cow<'_, str>> = in_frame.collect();
        let texts: Vec<&str> = in_frame.iter().map(AsRef::as_ref).collect();
        let made = match embedder.embed(&texts).await {
            Err(error) if error.may_be_of_a_text() => embed_each(&*embedder, &texts).await,
            made => made,
        };
        let made = made.map_err(|error| chain(&error))?;
        if made
            .iter()
            .any(|vector| !vector.is_empty() && vector.len() != dimension)
        {
            return Err(Trouble::Outgrown);
        }
        let keyed: Vec<(Key, Vec<f32>)> = batch.iter().map(|it| it.key).zip(made).collect();
        let store = Arc::clone(&store);
        let put = tokio::task::spawn_blocking(move || lock(&store).put(&keyed)).await;
        put.map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        done.fetch_add(batch.len(), Ordering::Relaxed);
    }
    Ok(())
}

/// Embeds one text after the other, so that one that is refused holds up no other; it gets an empty vector. Where all
/// are refused, it is not the texts.
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

/// What is behind a lock is whole whenever it is let go.
fn lock<T>(behind: &Mutex<T>) -> MutexGuard<'_, T> {
    behind.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::embed::{ChoiceSettings, Named};
    use crate::files::MemoryDisk;

    fn meaning() -> Meaning {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let settings = ChoiceSettings {
            candidates: Vec::new(),
            named: Named::No,
        };
        let embedder = Arc::new(EmbedderChoice::new(settings, Arc::clone(&disk)));
        Meaning::new(Source {
            disk,
            folder: "v".into(),
            embedder,
            graph_memory: 0,
        })
    }

    fn passing() -> Trouble {
        Trouble::Passing("busy".to_owned())
    }

    #[test]
    fn a_step_that_fails_is_spoken_of_again_only_when_it_or_a_later_one_went_well() {
        let mut meaning = meaning();
        assert!(meaning.went_wrong(Step::Texts, passing()).is_some());
        meaning.went_well(Step::Question);
        assert_eq!(meaning.went_wrong(Step::Texts, passing()), None);
        assert_eq!(meaning.rest, 4, "longer each time");
        meaning.went_well(Step::Texts);
        assert!(meaning.went_wrong(Step::Question, passing()).is_some());
        meaning.went_well(Step::Question);
        assert!(meaning.went_wrong(Step::Open, passing()).is_some());
    }

    #[test]
    fn a_model_of_another_dimension_is_taken_at_once_but_not_for_ever() {
        let mut meaning = meaning();
        meaning.went_wrong(Step::Question, Trouble::Outgrown);
        assert_eq!(meaning.rest, 0);
        meaning.went_wrong(Step::Question, Trouble::Outgrown);
        assert!(meaning.rest > 0);
    }

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
