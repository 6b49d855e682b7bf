//! What a person may set about embedders: the `embedding` block of the config file.

use serde::Deserialize;

use super::PUBLIC_SOURCE;

use crate::declare::{named, settings};

/// Where the local encoder's files are below the data root, where nothing else is set.
pub const FOLDER: &str = "models/all-MiniLM-L6-v2";

settings! {
    /// The block.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Settings {
        pub provider: Wanted = Wanted::Auto,
        /// Dimensions of `hashed`.
        pub dim: usize = 256,
        /// Folder of `local`, as it is written; empty: [`FOLDER`].
        pub path: String = String::new(),
        /// Base address that the files of `local` are fetched from.
        pub source: String = PUBLIC_SOURCE.to_owned(),
    }
}

named! {
    /// Who computes vectors (C21).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Wanted {
        /// The first that is there: Ollama, an OpenAI-compatible server, the local encoder.
        Auto = "auto",
        Ollama = "ollama",
        Openai = "openai",
        Local = "local",
        Hashed = "hashed",
        /// Nobody, and nobody is asked.
        None = "none",
    }
}
