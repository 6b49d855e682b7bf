//! What a person may set about memory: the `memory` block of the config file (C60).

use serde::Deserialize;

use super::capture::{Capturing, Learning, WalSettings};
use super::facts::FactsSettings;
use crate::chat::ScratchpadLimits;
use crate::declare::settings;
use crate::long_term::entries::StoreSettings;
use crate::long_term::notes::{DailySettings, WorkspaceSettings};

settings! {
    /// The block.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Settings {
        /// The mode a session starts in.
        pub mode: String = "conversation".to_owned(),
        pub timestamps: Timestamps = Timestamps::All,
        /// Sends what has left the window and is not summarised yet in front of the window (C7).
        pub carry_pending: bool = true,
        /// Summarises and indexes after the reply; `false`: before the next prompt is read.
        pub background: bool = true,
        /// Alias or name of the model that summarises; empty: the one that answers.
        pub summarization_model: String = String::new(),
        pub recall: RecallSettings = RecallSettings::default(),
        pub modes: ModesSettings = ModesSettings::default(),
        pub capture: Capturing = Capturing::On,
        pub learn: Learning = Learning::Both,
        pub wal: WalSettings = WalSettings::default(),
        pub facts: FactsSettings = FactsSettings::default(),
        pub daily_notes: DailySettings = DailySettings::default(),
        pub workspace: WorkspaceSettings = WorkspaceSettings::default(),
        /// The workspace's root; empty: `workspace` in the data folder (X15).
        pub path: String = String::new(),
        /// Where what outlives a session is kept (X35).
        pub backend: Backend = Backend::Files,
        pub store: StoreSettings = StoreSettings::default(),
        pub scratchpad: ScratchpadSettings = ScratchpadSettings::default(),
        /// Puts entries that speak of what is asked into a request (G14).
        pub auto_inject: bool = true,
        pub auto_recall: AutoRecallSettings = AutoRecallSettings::default(),
        /// Offers the model files of its own (Q35).
        pub memories_tool: bool = true,
        pub mem0: Mem0Settings = Mem0Settings::default(),
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

settings! {
    /// `memory.scratchpad` (X22).
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ScratchpadSettings {
        pub max_keys: usize = 50,
        /// Characters of one text; a longer one is cut.
        pub max_value_chars: usize = 10_000,
    }
}

impl ScratchpadSettings {
    pub fn limits(&self) -> ScratchpadLimits {
        ScratchpadLimits {
            keys: self.max_keys,
            chars: self.max_value_chars,
        }
    }
}

settings! {
    /// `memory.auto_recall`: what of the long-term memory comes into a request by itself (X16-X19).
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct AutoRecallSettings {
        pub enabled: bool = true,
        /// Messages of the person that make the query, the newest of them.
        pub user_messages: usize = 5,
        /// Characters of each.
        pub per_message_chars: usize = 200,
        /// Characters of the query.
        pub query_chars: usize = 500,
        /// Hits at most.
        pub limit: usize = 5,
        /// Characters of all of them together.
        pub total_chars: usize = 500,
        /// Over the hits; empty: in the language of the conversation.
        pub heading: String = String::new(),
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

settings! {
    /// How past exchanges are found (C18).
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RecallSettings {
        /// Cosine from which on the vector of an exchange counts as like the input.
        pub min_similarity: f32 = 0.25,
        /// An input of fewer words recalls nothing.
        pub min_words: usize = 3,
        /// The share of the room for the prompt that recalled exchanges may take.
        pub share: f32 = 0.25,
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

settings! {
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ConversationSettings {
        /// Messages of the sliding window (C1).
        pub working_memory_size: usize = 25,
        pub summarization: bool = true,
        pub vector_recall_k: usize = 3,
        /// Puts topics, names and facts into each request, as one short block (C38).
        pub inject_entities: bool = true,
    }
}

settings! {
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct CodeSettings {
        pub working_memory_size: usize = 30,
        pub max_files: usize = 20,
        pub max_errors: usize = 5,
        pub summarization: bool = true,
        pub vector_recall_k: usize = 3,
    }
}

settings! {
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ReasoningSettings {
        pub working_memory_size: usize = 30,
        pub max_decisions: usize = 20,
        pub max_alternatives: usize = 10,
        pub summarization: bool = true,
        pub vector_recall_k: usize = 3,
        /// Turns a section may go untouched before it leaves the prompt (C58).
        pub prefix_max_stale_turns: u32 = 3,
    }
}
