//! What a person may set about memory: the `memory` block of the config file (C60).

use serde::Deserialize;

use super::capture::{Capturing, Learning, WalSettings};
use super::facts::FactsSettings;
use crate::long_term::entries::StoreSettings;
use crate::long_term::notes::{DailySettings, WorkspaceSettings};

/// The block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each switch, as written"
)]
pub struct Settings {
    /// The mode a session starts in.
    pub mode: String,
    pub timestamps: Timestamps,
    /// Sends what has left the window and is not summarised yet in front of the window (C7).
    pub carry_pending: bool,
    /// Summarises and indexes after the reply; `false`: before the next prompt is read.
    pub background: bool,
    /// Alias or name of the model that summarises; empty: the one that answers.
    pub summarization_model: String,
    pub recall: RecallSettings,
    pub modes: ModesSettings,
    pub capture: Capturing,
    pub learn: Learning,
    pub wal: WalSettings,
    pub facts: FactsSettings,
    pub daily_notes: DailySettings,
    pub workspace: WorkspaceSettings,
    /// The workspace's root; empty: `workspace` in the data folder (X15).
    pub path: String,
    /// Where what outlives a session is kept (X35).
    pub backend: Backend,
    pub store: StoreSettings,
    pub scratchpad: ScratchpadSettings,
    /// Puts entries that speak of what is asked into a request (G14).
    pub auto_inject: bool,
    pub auto_recall: AutoRecallSettings,
    /// Offers the model files of its own (Q35).
    pub memories_tool: bool,
    pub mem0: Mem0Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: "conversation".to_owned(),
            timestamps: Timestamps::All,
            carry_pending: true,
            background: true,
            summarization_model: String::new(),
            recall: RecallSettings::default(),
            modes: ModesSettings::default(),
            capture: Capturing::On,
            learn: Learning::Both,
            wal: WalSettings::default(),
            facts: FactsSettings::default(),
            daily_notes: DailySettings::default(),
            workspace: WorkspaceSettings::default(),
            path: String::new(),
            backend: Backend::Files,
            store: StoreSettings::default(),
            scratchpad: ScratchpadSettings::default(),
            auto_inject: true,
            auto_recall: AutoRecallSettings::default(),
            memories_tool: true,
            mem0: Mem0Settings::default(),
        }
    }
}

/// Where what outlives a session is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    #[default]
    Files,
    /// Nothing outlives a session but its history.
    None,
    /// Known from other programs; files are used, and a warning says so.
    Sqlite,
}

/// A mistake lists what is here, which a derived list would not.
impl<'de> Deserialize<'de> for Backend {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::{EnumAccess, Error, VariantAccess, Visitor};

        const HERE: [&str; 2] = ["files", "none"];

        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Backend;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("files or none")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Backend, A::Error> {
                let (name, variant) = data.variant::<String>()?;
                variant.unit_variant()?;
                match name.as_str() {
                    "files" => Ok(Backend::Files),
                    "none" => Ok(Backend::None),
                    "sqlite" => Ok(Backend::Sqlite),
                    other => Err(A::Error::unknown_variant(other, &HERE)),
                }
            }
        }
        deserializer.deserialize_enum("Backend", &HERE, Name)
    }
}

/// `memory.scratchpad` (X22).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScratchpadSettings {
    pub max_keys: usize,
    /// Characters of one text; a longer one is cut.
    pub max_value_chars: usize,
}

impl Default for ScratchpadSettings {
    fn default() -> Self {
        Self {
            max_keys: 50,
            max_value_chars: 10_000,
        }
    }
}

/// `memory.auto_recall`: what of the long-term memory comes into a request by itself (X16-X19).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoRecallSettings {
    pub enabled: bool,
    /// Messages of the person that make the query, the newest of them.
    pub user_messages: usize,
    /// Characters of each.
    pub per_message_chars: usize,
    /// Characters of the query.
    pub query_chars: usize,
    /// Hits at most.
    pub limit: usize,
    /// Characters of all of them together.
    pub total_chars: usize,
    /// Over the hits; empty: in the language of the conversation.
    pub heading: String,
}

impl Default for AutoRecallSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            user_messages: 5,
            per_message_chars: 200,
            query_chars: 500,
            limit: 5,
            total_chars: 500,
            heading: String::new(),
        }
    }
}

/// `memory.mem0`: a further store behind an address, off where that is empty (X21).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mem0Settings {
    pub base_url: String,
    /// The variable that holds the key.
    pub api_key_env: String,
    pub user_id: String,
}

/// How past exchanges are found (C18).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecallSettings {
    /// Cosine from which on the vector of an exchange counts as like the input.
    pub min_similarity: f32,
    /// An input of fewer words recalls nothing.
    pub min_words: usize,
    /// The share of the room for the prompt that recalled exchanges may take.
    pub share: f32,
    /// Vectors from which on a graph is searched instead of each of them.
    pub hnsw_min: usize,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            min_similarity: 0.25,
            min_words: 3,
            share: 0.25,
            hnsw_min: 50_000,
        }
    }
}

/// Which messages carry their time when a model reads them (C32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timestamps {
    All,
    User,
    Off,
}

/// Options of each mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModesSettings {
    pub conversation: ConversationSettings,
    pub code: CodeSettings,
    pub reasoning: ReasoningSettings,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationSettings {
    /// Messages of the sliding window (C1).
    pub working_memory_size: usize,
    pub summarization: bool,
    pub vector_recall_k: usize,
    /// Puts topics, names and facts into each request, as one short block (C38).
    pub inject_entities: bool,
}

impl Default for ConversationSettings {
    fn default() -> Self {
        Self {
            working_memory_size: 25,
            summarization: true,
            vector_recall_k: 3,
            inject_entities: true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodeSettings {
    pub working_memory_size: usize,
    pub max_files: usize,
    pub max_errors: usize,
    pub summarization: bool,
    pub vector_recall_k: usize,
}

impl Default for CodeSettings {
    fn default() -> Self {
        Self {
            working_memory_size: 30,
            max_files: 20,
            max_errors: 5,
            summarization: true,
            vector_recall_k: 3,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReasoningSettings {
    pub working_memory_size: usize,
    pub max_decisions: usize,
    pub max_alternatives: usize,
    pub summarization: bool,
    pub vector_recall_k: usize,
    /// Turns a section may go untouched before it leaves the prompt (C58).
    pub prefix_max_stale_turns: u32,
}

impl Default for ReasoningSettings {
    fn default() -> Self {
        Self {
            working_memory_size: 30,
            max_decisions: 20,
            max_alternatives: 10,
            summarization: true,
            vector_recall_k: 3,
            prefix_max_stale_turns: 3,
        }
    }
}
