//! Vectors of chunks: made in the background, held in memory, kept by the embedder's own cache, which has them by text.
//!
//! Unit: a chunk, by the digest of its text. Invariant: what fails costs the half of a search that goes by meaning.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::Key;
use super::corpus::Corpus;
use super::pieces::Chunk;
use crate::agent::shelf::stored::Asked;
use crate::embed::{Embedder, EmbedderChoice, Purpose, framed};
use crate::hint::chain;
use crate::memory::recall::clipped;

/// Longest wait for the vector of a question.
const PATIENCE: Duration = Duration::from_secs(5);
/// Texts embedded together.
const BATCH: usize = 16;
/// Chunks that have vectors at most; the rest is found by words.
const MOST: usize = 20_000;
/// The nearest chunks that take part in a search.
const NEAREST: usize = 50;
/// Questions that go without vectors after a failure; doubled with each.
const REST: u32 = 4;
const LONGEST_REST: u32 = 64;

/// What a question may be near but the chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    Nothing,
    /// Vectors of sessions.
    Sessions,
}

type Vectors = HashMap<Key, Vec<f32>>;

/// Vectors, as far as they are there.
#[derive(Debug)]
pub(super) struct Meaning {
    embedder: Arc<EmbedderChoice>,
    /// Behind a lock because the task writes what a question reads; never held over a wait.
    vectors: Arc<Mutex<Vectors>>,
    task: Option<JoinHandle<Result<(), String>>>,
    /// Whether some chunk may be without its vector.
    is_stale: bool,
    /// Whether what an earlier run kept of the chunks was taken in.
    is_loaded: bool,
    /// Questions still to go without.
    rest: u32,
    next_rest: u32,
}

impl Drop for Meaning {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Meaning {
    pub(super) fn new(embedder: Arc<EmbedderChoice>) -> Self {
        Self {
            embedder,
            vectors: Arc::default(),
            task: None,
            is_stale: true,
            is_loaded: false,
            rest: 0,
            next_rest: REST,
        }
    }

    /// Begins to make the vectors that are missing, unless some are being made; forgets those of texts that are gone.
    pub(super) fn begin(&mut self, corpus: &Corpus) {
        if self.embedder.is_off() || !self.is_stale || self.rest > 0 || self.is_working() {
            return;
        }
        let missing = self.missing(corpus);
        if missing.is_empty() {
            self.is_stale = false;
            return;
        }
        let work = embed_all(
            Arc::clone(&self.embedder),
            Arc::clone(&self.vectors),
            missing,
        );
        self.task = Some(tokio::spawn(work));
    }

    /// The chunks are not those they were.
    pub(super) fn outdate(&mut self) {
        self.is_stale = true;
        self.is_loaded = false;
    }

    #[cfg(test)]
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    pub(super) fn is_working(&self) -> bool {
        self.task.as_ref().is_some_and(|task| !task.is_finished())
    }

    /// Whether there is a task whose end was not taken in.
    pub(super) fn has_task(&self) -> bool {
        self.task.is_some()
    }

    /// Waits for the task, for ever where there is none. May be dropped at any time.
    pub(super) async fn done(&mut self) {
        let Some(task) = &mut self.task else {
            return std::future::pending().await;
        };
        let ended = task.await;
        self.task = None;
        match ended.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(()) => self.went_well(),
            Err(why) => self.went_wrong(&why),
        }
    }

    pub(super) fn abort(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.vectors).len()
    }

    /// The vector of a question; none where it cannot be had soon, or nothing could be near it.
    pub(super) async fn question(
        &mut self,
        question: &str,
        elsewhere: Elsewhere,
        corpus: &Corpus,
    ) -> Option<Asked> {
        if self.embedder.is_off() {
            return None;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        let is_known = !lock(&self.vectors).is_empty();
        if elsewhere == Elsewhere::Nothing && !is_known && !self.embedder.has_kept() {
            return None;
        }
        let embedder = self.embedder_of_a_question().await?;
        self.load(embedder.as_ref(), corpus).await;
        let question = clipped(question);
        let question = framed(embedder.model(), Purpose::Question, &question);
        let asked = tokio::time::timeout(PATIENCE, embedder.embed(&[&question])).await;
        let vector = match asked {
            Ok(Ok(vectors)) => vectors.into_iter().next().unwrap_or_default(),
            Ok(Err(error)) => {
                self.went_wrong(&chain(&error));
                return None;
            }
            Err(_) => {
                self.went_wrong("no vector of a question in time");
                return None;
            }
        };
        self.went_well();
        let model = embedder.model().to_owned();
        Some(Asked { model, vector })
    }

    /// Takes in the vectors that an earlier run kept.
    async fn load(&mut self, embedder: &dyn Embedder, corpus: &Corpus) {
        if std::mem::replace(&mut self.is_loaded, true) {
            return;
        }
        let missing = self.missing(corpus);
        let texts: Vec<_> = missing
            .iter()
            .map(|(_, text)| framed(embedder.model(), Purpose::Document, text))
            .collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let known = embedder.known(&texts).await;
        let known = missing.into_iter().zip(known);
        let known = known.filter_map(|((key, _), vector)| Some((key, vector?)));
        lock(&self.vectors).extend(known);
    }

    /// The texts of chunks without vectors, and nothing left of those that are gone.
    fn missing(&self, corpus: &Corpus) -> Vec<(Key, String)> {
        let wanted: HashMap<Key, &Chunk> = corpus
            .live()
            .take(MOST)
            .map(|(_, chunk)| (chunk.key, chunk))
            .collect();
        let mut vectors = lock(&self.vectors);
        vectors.retain(|key, _| wanted.contains_key(key));
        let mut missing: Vec<(Key, String)> = wanted
            .into_iter()
            .filter(|(key, chunk)| !vectors.contains_key(key) && !chunk.text.trim().is_empty())
            .map(|(key, chunk)| {
                let text = format!("{}\n{}", chunk.lead, chunk.text);
                (key, clipped(&text).into_owned())
            })
            .collect();
        missing.sort_unstable();
        missing
    }

    /// Who is chosen; where nobody is yet, those are looked for who made the vectors of sessions.
    async fn embedder_of_a_question(&mut self) -> Option<Arc<dyn Embedder>> {
        if let Some(chosen) = self.embedder.chosen() {
            return Some(chosen);
        }
        let looking = tokio::time::timeout(PATIENCE, self.embedder.resolve()).await;
        let found = looking.ok().and_then(Result::ok).flatten();
        if found.is_none() {
            self.went_wrong("there is nobody just now who makes vectors");
        }
        found
    }

    /// The chunks near a question, by their numbers with their cosines, found on a thread that may take its time.
    pub(super) async fn near(&self, asked: Arc<Asked>, corpus: Arc<Corpus>) -> Vec<(usize, f32)> {
        let vectors = Arc::clone(&self.vectors);
        let looking =
            tokio::task::spawn_blocking(move || nearest(&lock(&vectors), &corpus, &asked.vector));
        looking.await.unwrap_or_else(|error| {
            tracing::warn!("searching long-term memory by meaning broke: {error}");
            Vec::new()
        })
    }

    fn went_well(&mut self) {
        self.next_rest = REST;
    }

    fn went_wrong(&mut self, why: &str) {
        tracing::warn!("long-term memory is searched by words alone: {why}");
        self.rest = self.next_rest;
        self.next_rest = (2 * self.next_rest).min(LONGEST_REST);
    }
}

fn nearest(vectors: &Vectors, corpus: &Corpus, question: &[f32]) -> Vec<(usize, f32)> {
    let near = corpus.live().filter_map(|(number, chunk)| {
        let vector = vectors.get(&chunk.key)?;
        let fits = vector.len() == question.len();
        let cosine = vector.iter().zip(question).map(|(a, b)| a * b).sum::<f32>();
        (fits && cosine.is_finite()).then_some((number, cosine))
    });
    let mut near: Vec<(usize, f32)> = near.collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    near.truncate(NEAREST);
    near
}

/// Embeds batch by batch; each can be searched before the next begins.
async fn embed_all(
    choice: Arc<EmbedderChoice>,
    vectors: Arc<Mutex<Vectors>>,
    missing: Vec<(Key, String)>,
) -> Result<(), String> {
    let embedder = choice.resolve().await.map_err(|error| chain(&error))?;
    let Some(embedder) = embedder else {
        return Ok(());
    };
    for batch in missing.chunks(BATCH) {
        let framed = batch
            .iter()
            .map(|(_, text)| framed(embedder.model(), Purpose::Document, text));
        let framed: Vec<_> = framed.collect();
        let texts: Vec<&str> = framed.iter().map(AsRef::as_ref).collect();
        let made = embedder.embed(&texts).await;
        let made = made.map_err(|error| chain(&error))?;
        let keys = batch.iter().map(|(key, _)| *key);
        lock(&vectors).extend(keys.zip(made));
    }
    Ok(())
}

fn lock(vectors: &Mutex<Vectors>) -> MutexGuard<'_, Vectors> {
    vectors.lock().unwrap_or_else(PoisonError::into_inner)
}
