//! What a person may set about embedders: the `embedding` block of the config file.

use serde::Deserialize;

use super::PUBLIC_SOURCE;

/// Where the local encoder's files are below the data root, where nothing else is set.
pub const FOLDER: &str = "models/all-MiniLM-L6-v2";

/// The block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub provider: Wanted,
    /// Dimensions of `hashed`.
    pub dim: usize,
    /// Folder of `local`, as it is written; empty: [`FOLDER`].
    pub path: String,
    /// Base address that the files of `local` are fetched from.
    pub source: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: Wanted::Auto,
            dim: 256,
            path: String::new(),
            source: PUBLIC_SOURCE.to_owned(),
        }
    }
}

/// Who computes vectors (C21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// The first that is there: Ollama, an OpenAI-compatible server, the local encoder.
    Auto,
    Ollama,
    Openai,
    Local,
    Hashed,
    /// Nobody, and nobody is asked.
    None,
}

impl Wanted {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ollama => "ollama",
            Self::Openai => "openai",
            Self::Local => "local",
            Self::Hashed => "hashed",
            Self::None => "none",
        }
    }
}
