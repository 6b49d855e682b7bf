//! An embedder around an embedder: what was computed once is read from disk. Unit: one model. Invariant: a
//! cache that cannot be read or written costs time, never an answer.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::cache::{Cache, Key};
use super::{EmbedError, Embedder, said};
use crate::files::Disk;

/// Texts computed before their vectors are put on disk, so that little is lost when the work is given up.
const AT_ONCE: usize = 64;

/// Where the vectors are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Holds a file for each model.
    pub folder: PathBuf,
    /// Of one such file.
    pub max_bytes: u64,
}

impl CacheSettings {
    /// In `folder`, some 80,000 vectors of 384 numbers.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            max_bytes: 128 << 20,
        }
    }
}

/// The embedder.
#[derive(Debug)]
pub struct Cached {
    inner: Arc<dyn Embedder>,
    /// Behind a lock because several may embed at once; held while the file is read or written.
    cache: Arc<Mutex<Cache>>,
}

impl Cached {
    /// Reads nothing yet.
    pub fn new(inner: Arc<dyn Embedder>, disk: Arc<dyn Disk>, settings: &CacheSettings) -> Self {
        let cache = Cache::new(disk, &settings.folder, inner.model(), settings.max_bytes);
        Self {
            inner,
            cache: Arc::new(Mutex::new(cache)),
        }
    }

    /// Does something with the cache where it may take its time; `None` if that failed.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Cache) -> io::Result<T> + Send + 'static,
    ) -> Option<T> {
        let cache = Arc::clone(&self.cache);
        let done = tokio::task::spawn_blocking(move || {
            work(&mut cache.lock().unwrap_or_else(PoisonError::into_inner))
        });
        match done.await {
            Ok(Ok(done)) => Some(done),
            Ok(Err(error)) => {
                tracing::warn!("the vector cache cannot be used: {error}");
                None
            }
            Err(error) => {
                tracing::warn!("the vector cache broke: {error}");
                None
            }
        }
    }

    async fn look_up(&self, keys: &[Key]) -> HashMap<Key, Vec<f32>> {
        let keys = keys.to_vec();
        let found = self.with(move |cache| {
            let mut found = HashMap::new();
            for key in keys {
                if let Some(vector) = cache.get(key)? {
                    found.insert(key, vector);
                }
            }
            Ok(found)
        });
        found.await.unwrap_or_default()
    }

    async fn store(&self, vectors: Vec<(Key, Vec<f32>)>) {
        let stored = self.with(move |cache| {
            let vectors: Vec<(Key, &[f32])> = vectors
                .iter()
                .map(|(key, vector)| (*key, vector.as_slice()))
                .collect();
            cache.put(&vectors)
        });
        // A failure was told in the log.
        stored.await.unwrap_or_default();
    }

    /// Computes what is missing in `known`.
    async fn compute(
        &self,
        wanted: &[(Key, &str)],
        known: &mut HashMap<Key, Vec<f32>>,
    ) -> Result<(), EmbedError> {
        let mut missing: Vec<(Key, &str)> = Vec::new();
        let mut seen: std::collections::HashSet<Key> = known.keys().copied().collect();
        for (key, text) in wanted {
            if seen.insert(*key) {
                missing.push((*key, text));
            }
        }
        for part in missing.chunks(AT_ONCE) {
            let texts: Vec<&str> = part.iter().map(|(_, text)| *text).collect();
            let vectors = self.inner.embed(&texts).await?;
            let keyed: Vec<(Key, Vec<f32>)> =
                part.iter().map(|(key, _)| *key).zip(vectors).collect();
            known.extend(keyed.iter().cloned());
            self.store(keyed).await;
        }
        Ok(())
    }
}

#[async_trait]
impl Embedder for Cached {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn dimensions(&self) -> Option<usize> {
        self.inner.dimensions()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let wanted: Vec<(Key, &str)> = texts
            .iter()
            .map(|text| (Key::of(said(text)), *text))
            .collect();
        let keys: Vec<Key> = wanted.iter().map(|(key, _)| *key).collect();
        let mut known = self.look_up(&keys).await;
        self.compute(&wanted, &mut known).await?;
        let mut lengths = known.values().map(Vec::len);
        let first = lengths.next();
        if lengths.any(|length| Some(length) != first) {
            // The server has another model under that name by now.
            known.clear();
            self.compute(&wanted, &mut known).await?;
        }
        let vectors = keys.iter().map(|key| known.get(key).cloned());
        Ok(vectors.map(Option::unwrap_or_default).collect())
    }

    async fn known(&self, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let keys: Vec<Key> = texts.iter().map(|text| Key::of(said(text))).collect();
        let found = self.look_up(&keys).await;
        keys.iter().map(|key| found.get(key).cloned()).collect()
    }

    async fn probe(&self) -> Result<usize, EmbedError> {
        if let Some(dimensions) = self.inner.dimensions() {
            return Ok(dimensions);
        }
        match self.with(Cache::dimension).await.flatten() {
            Some(dimensions) => Ok(dimensions),
            None => self.inner.probe().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::embed::Hashed;
    use crate::files::MemoryDisk;

    /// Counts what it is asked for.
    #[derive(Debug)]
    struct Counting(Hashed, AtomicUsize);

    #[async_trait]
    impl Embedder for Counting {
        fn model(&self) -> &'static str {
            "counting"
        }

        fn dimensions(&self) -> Option<usize> {
            None
        }

        async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            self.1.fetch_add(texts.len(), Ordering::Relaxed);
            self.0.embed(texts).await
        }
    }

    fn cached(disk: &MemoryDisk, dimensions: usize) -> (Cached, Arc<Counting>) {
        let inner = Arc::new(Counting(Hashed::new(dimensions), AtomicUsize::new(0)));
        let disk = Arc::new(disk.clone());
        let settings = CacheSettings::new("cache");
        let counting: Arc<dyn Embedder> = Arc::<Counting>::clone(&inner);
        (Cached::new(counting, disk, &settings), inner)
    }

    #[tokio::test]
    async fn a_text_is_computed_once_even_after_opening_again() {
        let disk = MemoryDisk::default();
        let texts = ["a", "b", "a", "c"];
        let plain = Hashed::new(8).embed(&texts).await;
        let (embedder, inner) = cached(&disk, 8);
        assert_eq!(embedder.embed(&texts).await, plain);
        assert_eq!(inner.1.load(Ordering::Relaxed), 3);
        let (embedder, inner) = cached(&disk, 8);
        assert_eq!(embedder.embed(&texts).await, plain);
        assert_eq!(embedder.probe().await, Ok(8));
        assert_eq!(inner.1.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_disk_that_fails_costs_no_answer() {
        let disk = MemoryDisk::default();
        disk.make_read_only();
        let (embedder, _) = cached(&disk, 8);
        let plain = Hashed::new(8).embed(&["a"]).await;
        assert_eq!(embedder.embed(&["a"]).await, plain);
        assert_eq!(embedder.embed(&["a"]).await, plain);
    }

    #[tokio::test]
    async fn a_model_that_changed_its_length_is_asked_for_everything_again() {
        let disk = MemoryDisk::default();
        cached(&disk, 8).0.embed(&["a"]).await.unwrap();
        let (embedder, _) = cached(&disk, 4);
        let plain = Hashed::new(4).embed(&["a", "b"]).await;
        assert_eq!(embedder.embed(&["a", "b"]).await, plain);
        assert_eq!(cached(&disk, 4).0.probe().await, Ok(4));
    }
}
