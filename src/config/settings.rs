//! Everything that may be set, as it is written ([`Document`]) and as it is meant ([`Settings`]).
//!
//! Each capability owns its own block; a new one is one field here, and its rows in the tables beside.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::ExposeSecret;
use serde::Deserialize;

use super::overrides::{TextError, read_text};
use crate::agent::ThinkSettings;
use crate::chat::SessionName;
use crate::declare::settings;
use crate::tools::mcp::ServerSettings;
use crate::{context, embed, index, memory, provider, term, tools};

/// The settled values, each part for the layer that reads it.
#[derive(Clone, Debug)]
pub struct Settings {
    pub session: SessionName,
    /// The data root, absolute (A6).
    pub data_dir: PathBuf,
    /// A text that stands in for the built-in base prompt; absolute.
    pub system_prompt_file: Option<PathBuf>,
    pub provider: provider::Settings,
    pub embedding: embed::Settings,
    /// Where the local encoder's files are; absolute.
    pub embedding_folder: PathBuf,
    /// Where the files are that outlive sessions; absolute (X15).
    pub workspace: PathBuf,
    /// The folder of `rag.docs_dir`, where one is set.
    pub documents: Option<PathBuf>,
    pub rag: RagSettings,
    pub index: index::Settings,
    pub memory: memory::Settings,
    pub context: context::Settings,
    pub tools: tools::Settings,
    pub deep_think: ThinkSettings,
    /// Servers whose tools a model may be offered, by name.
    pub mcp_servers: BTreeMap<String, ServerSettings>,
    /// How things look on a terminal.
    pub ui: term::Settings,
    /// How long a one-shot run waits for a session that is open elsewhere.
    pub lock_wait: Duration,
    /// How long leaving waits for work in the background.
    pub shutdown_grace: Duration,
}

settings! {
    /// What is used for finding things in texts of every kind: the `rag` block.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RagSettings {
        /// Alias of the model that embeds (C22), or `provider/model`; empty: as `embedding` says.
        pub model: String = String::new(),
        /// A folder with texts that are searched like notes; empty: none.
        pub docs_dir: String = String::new(),
        /// Bytes that an embedder gets as one text.
        pub chunk_size: usize = 2_000,
        /// Bytes of the text before it that go with one of a document.
        pub chunk_overlap: usize = 200,
    }
}

/// Paths as they come to, absolute.
#[derive(Debug)]
pub(super) struct Paths {
    pub(super) data_dir: PathBuf,
    pub(super) system_prompt_file: Option<PathBuf>,
    pub(super) embedding_folder: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) documents: Option<PathBuf>,
}

/// A config file, key by key.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Document {
    pub(super) session: String,
    pub(super) data_dir: String,
    pub(super) system_prompt_file: String,
    pub(super) providers: BTreeMap<String, provider::ProviderSettings>,
    pub(super) models: provider::ModelsSettings,
    pub(super) network: provider::NetworkSettings,
    pub(super) embedding: embed::Settings,
    pub(super) rag: RagSettings,
    pub(super) index: index::Settings,
    pub(super) memory: memory::Settings,
    pub(super) context: context::Settings,
    pub(super) tools: tools::Settings,
    pub(super) deep_think: ThinkSettings,
    pub(super) mcp_servers: BTreeMap<String, ServerSettings>,
    pub(super) ui: term::Settings,
    #[serde(with = "humantime_serde")]
    pub(super) lock_wait: Duration,
    #[serde(with = "humantime_serde")]
    pub(super) shutdown_grace: Duration,
}

impl Default for Document {
    fn default() -> Self {
        let provider::Settings {
            providers,
            models,
            network,
        } = provider::Settings::default();
        Self {
            session: "default".to_owned(),
            data_dir: "auto".to_owned(),
            system_prompt_file: String::new(),
            providers,
            models,
            network,
            embedding: embed::Settings::default(),
            rag: RagSettings::default(),
            index: index::Settings::default(),
            memory: memory::Settings::default(),
            context: context::Settings::default(),
            tools: tools::Settings::default(),
            deep_think: ThinkSettings::default(),
            mcp_servers: BTreeMap::new(),
            ui: term::Settings::default(),
            lock_wait: Duration::from_secs(10),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}

impl Settings {
    /// The text that stands in for the built-in base prompt, if one is set.
    pub fn system_prompt(&self) -> Result<Option<String>, TextError> {
        self.system_prompt_file
            .as_deref()
            .map(read_text)
            .transpose()
    }
}

impl Document {
    /// The document with what only the outside knows. An empty key is none.
    pub(super) fn settle(mut self, session: SessionName, paths: Paths) -> Settings {
        for provider in self.providers.values_mut() {
            provider.api_key = provider
                .api_key
                .take()
                .filter(|key| !key.expose_secret().is_empty());
        }
        Settings {
            session,
            data_dir: paths.data_dir,
            system_prompt_file: paths.system_prompt_file,
            provider: provider::Settings {
                providers: self.providers,
                models: self.models,
                network: self.network,
            },
            embedding: self.embedding,
            embedding_folder: paths.embedding_folder,
            workspace: paths.workspace,
            documents: paths.documents,
            rag: self.rag,
            index: self.index,
            memory: self.memory,
            context: self.context,
            tools: self.tools,
            deep_think: self.deep_think,
            mcp_servers: self.mcp_servers,
            ui: self.ui,
            lock_wait: self.lock_wait,
            shutdown_grace: self.shutdown_grace,
        }
    }
}
