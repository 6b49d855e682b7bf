//! From texts to vectors whose angle tells how near their meanings are: one trait, whoever computes them. What is
//! embedded, when, and where the vectors are kept for searching is left to the caller.
//!
//! ```text
//!   ollama, openai    servers; `remote` is what they do alike: batches, texts that are too long
//!   local             a sentence encoder in this process, from weights on disk
//!   install           brings such weights onto the disk
//!   rerank            a server that orders what was found
//!   hashed            no meaning, but the same everywhere: for tests
//!   choice            which of them is there; `listing` asks servers, `settings` is what a person may say
//! ```

mod choice;
mod error;
mod framing;
mod hashed;
mod install;
mod listing;
#[cfg(feature = "local-embeddings")]
mod local;
mod ollama;
mod openai;
mod remote;
mod rerank;
mod settings;

use std::fmt;

use async_trait::async_trait;

pub use choice::{
    Candidate, ChoiceSettings, EmbedderChoice, Looked, Named, NoEmbedder, PROBE, described, look,
};
pub use error::EmbedError;
pub use framing::{Purpose, framed};
pub use hashed::Hashed;
#[cfg(feature = "local-embeddings")]
pub use install::make_smaller;
pub use install::{
    ALL_MINILM_L6_V2, InstallError, PUBLIC_SOURCE, Pinned, Progress, copy, install, missing,
};
#[cfg(feature = "local-embeddings")]
pub use local::Local;
pub use ollama::Ollama;
pub use openai::OpenAi;
pub use remote::RemoteSettings;
pub use rerank::Reranker;
pub use settings::{FOLDER, Settings, Wanted};

/// Servers are sent this for a blank text, for which they return nothing.
const BLANK: &str = "(nothing)";

/// Computes vectors.
#[async_trait]
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Returns what computes them. Vectors of one such name can be compared, vectors of two cannot.
    fn model(&self) -> &str;

    /// Numbers in a vector; `None` until a server has answered once.
    fn dimensions(&self) -> Option<usize>;

    /// A vector of unit length for each text, in their order. Texts longer than the model can take are cut.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Begins to get ready for the first text, where that takes a while and costs nobody anything.
    fn warm_up(&self) {}

    /// The number of dimensions, asking the server if need be; so also a way to see whether it is there.
    async fn probe(&self) -> Result<usize, EmbedError> {
        if let Some(dimensions) = self.dimensions() {
            return Ok(dimensions);
        }
        let vectors = self.embed(&[BLANK]).await?;
        Ok(vectors.first().map_or(0, Vec::len))
    }
}

/// Returns what is embedded in place of `text`.
fn said(text: &str) -> &str {
    if text.trim().is_empty() { BLANK } else { text }
}

/// `vector` with unit length; `None` where it has no direction.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = squares.sqrt();
    if !length.is_normal() {
        return None;
    }
    for x in &mut vector {
        #[expect(clippy::cast_possible_truncation, reason = "as precise as it came")]
        let scaled = (f64::from(*x) / length) as f32;
        *x = scaled;
    }
    Some(vector)
}
