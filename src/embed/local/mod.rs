//! A sentence encoder in this process: BERT, from `config.json`, `vocab.txt` and `model.safetensors` in one folder, and
//! from `1_Pooling/config.json` where it says which states make a vector. Invariant: the weights are read for the first
//! text or where it is asked to be ready for it; computing happens off the threads that serve the chat.

mod config;
mod encoder;
mod quantised;
#[cfg(test)]
mod tests;
mod tokens;
mod weights;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use sha2::{Digest, Sha256};

use self::config::Config;
use self::tokens::Vocabulary;
use self::weights::{Source, Weights};
use super::framing::{Pooling, known};
use super::{EmbedError, Embedder, unit};
use crate::files::{Disk, hex};

pub(super) use quantised::is_made_of;

const CONFIG: &str = "config.json";
const VOCABULARY: &str = "vocab.txt";
const WEIGHTS: &str = "model.safetensors";
const POOLING: &str = "1_Pooling/config.json";

/// Tokens of a text; sentence encoders are trained on short ones.
const LONGEST: usize = 256;
/// Texts computed together: between two such groups the work can be given up.
const TOGETHER: usize = 16;
/// Groups computed side by side at most.
const MAX_AT_ONCE: usize = 4;
/// Of the weights, this much at the start tells one file from another, together with its size.
const TELLING: usize = 256 << 10;

/// An encoder; clones share it.
#[derive(Clone, Debug)]
pub struct Local(Arc<Inner>);

struct Inner {
    model: String,
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    config: Config,
    pooling: Pooling,
    vocabulary: Vocabulary,
    /// Read at the first text. Held while reading, so that nobody else reads them too.
    weights: Mutex<Option<Arc<Weights>>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local")
            .field("model", &self.model)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Local {
    /// Looks at the files in `folder`. The model's name comes from what they hold, so that other weights in
    /// the same place count as another model.
    pub fn open(folder: &Path, disk: Arc<dyn Disk>) -> Result<Self, EmbedError> {
        let read = |name: &str| {
            let path = folder.join(name);
            let bytes = disk.read(&path);
            bytes.map_err(|error| EmbedError::weights(&path, &error))
        };
        let bytes = read(CONFIG)?;
        let config = Config::read(&bytes);
        let config = config.map_err(|why| EmbedError::weights(&folder.join(CONFIG), &why))?;
        let words = read(VOCABULARY)?;
        let text = String::from_utf8_lossy(&words);
        let vocabulary = Vocabulary::read(&text);
        let vocabulary =
            vocabulary.map_err(|why| EmbedError::weights(&folder.join(VOCABULARY), &why))?;
        let path = folder.join(WEIGHTS);
        let failed = |error: std::io::Error| EmbedError::weights(&path, &error);
        let size = disk.size(&path).map_err(failed)?;
        let head = disk.read_head(&path, TELLING).map_err(failed)?;
        let mut digest = Sha256::new();
        for part in [&bytes, &words, &head, &size.to_le_bytes().to_vec()] {
            digest.update(part);
        }
        let digest = hex(&digest.finalize()[..4]);
        // Weights that were made smaller are those of the same model.
        let digest = smaller(&head).unwrap_or(digest);
        let (layers, size) = (config.num_hidden_layers, config.hidden_size);
        let called = folder.file_name().unwrap_or_default().to_string_lossy();
        let known = known(&called).or_else(|| known(&config.name));
        let pooling = disk.read(&folder.join(POOLING)).ok();
        let pooling = pooling.and_then(|bytes| Pooling::read(&bytes));
        let usual = known.map_or(Pooling::Mean, |model| model.pooling);
        let pooling = pooling.unwrap_or(usual);
        // Vectors that were pooled otherwise are those of another model.
        let pooled = match pooling {
            _ if pooling == usual => "",
            Pooling::Mean => "-mean",
            Pooling::First => "-first",
        };
        Ok(Self(Arc::new(Inner {
            model: format!(
                "local/{}{pooled}-{layers}x{size}-{digest}",
                known.map_or("bert", |it| it.part)
            ),
            folder: folder.to_owned(),
            disk,
            pooling,
            config,
            vocabulary,
            weights: Mutex::new(None),
        })))
    }
}

/// Writes the weights in `folder` a byte each in place of what is there, where they are not so already; says how many
/// bytes they took, and take now.
pub(super) fn make_smaller(
    folder: &Path,
    disk: &Arc<dyn Disk>,
) -> Result<Option<(u64, u64)>, EmbedError> {
    let path = folder.join(WEIGHTS);
    let failed = |error: std::io::Error| EmbedError::weights(&path, &error);
    let opened = Local::open(folder, Arc::clone(disk))?;
    let whole = disk.read(&path).map_err(failed)?;
    let (_, model) = opened.0.model.rsplit_once('-').unwrap_or_default();
    let Some(smaller) = quantised::quantised(&whole, model) else {
        return Ok(None);
    };
    disk.replace(&path, &smaller).map_err(failed)?;
    Ok(Some((whole.len() as u64, smaller.len() as u64)))
}

/// The digest in the model's name, where the weights were made of others.
fn smaller(head: &[u8]) -> Option<String> {
    let read_at = |at: u64, limit: usize| {
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(head.len());
        Ok(head[from..head.len().min(from.saturating_add(limit))].to_vec())
    };
    let source = Source::open(&read_at).ok()?;
    source.says(quantised::MODEL).map(str::to_owned)
}

#[async_trait]
impl Embedder for Local {
    fn model(&self) -> &str {
        &self.0.model
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.0.config.hidden_size)
    }

    fn warm_up(&self) {
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = inner.weights() {
                // The first text tells it, too.
                tracing::debug!("{error}");
            }
        });
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let owned = |group: &[&str]| group.iter().map(|text| (*text).to_owned()).collect();
        let groups: Vec<Vec<String>> = texts.chunks(TOGETHER).map(owned).collect();
        let groups = groups.into_iter().map(|group| {
            let inner = Arc::clone(&self.0);
            async move {
                let folder = inner.folder.clone();
                let computed = tokio::task::spawn_blocking(move || inner.embed(&group)).await;
                computed.map_err(|error| EmbedError::weights(&folder, &error))?
            }
        });
        let mut computed = stream::iter(groups).buffered(side_by_side());
        let mut vectors = Vec::with_capacity(texts.len());
        while let Some(group) = computed.next().await {
            vectors.extend(group?);
        }
        Ok(vectors)
    }
}

/// Groups computed at once: half of the processors stay free for everything else.
fn side_by_side() -> usize {
    std::thread::available_parallelism().map_or(1, |n| (n.get() / 2).clamp(1, MAX_AT_ONCE))
}

impl Inner {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let weights = self.weights()?;
        let longest = LONGEST.min(self.config.max_position_embeddings);
        let ids = texts
            .iter()
            .map(|text| self.vocabulary.encode(text, longest));
        let ids: Vec<Vec<u32>> = ids.collect();
        let vectors = encoder::encode((&self.config, self.pooling), &weights, &ids);
        let vectors = vectors.into_iter().map(unit).collect::<Option<_>>();
        vectors.ok_or_else(|| {
            EmbedError::weights(&self.folder.join(WEIGHTS), &"they produce zero vectors")
        })
    }

    fn weights(&self) -> Result<Arc<Weights>, EmbedError> {
        let mut weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(weights) = &*weights {
            return Ok(Arc::clone(weights));
        }
        let path = self.folder.join(WEIGHTS);
        let read_at = |at: u64, limit: usize| {
            let bytes = self.disk.read_at(&path, at, limit);
            bytes.map_err(|error| error.to_string())
        };
        let read = Weights::read(&read_at, &self.config, self.vocabulary.len());
        let read = Arc::new(read.map_err(|why| EmbedError::weights(&path, &why))?);
        *weights = Some(Arc::clone(&read));
        Ok(read)
    }
}
