//! What a person may set about providers, models and the network: the `providers`, `models` and
//! `network` blocks of the config file.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use secrecy::SecretString;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Price;

use crate::declare::settings;

/// The three blocks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub providers: BTreeMap<String, ProviderSettings>,
    pub models: ModelsSettings,
    pub network: NetworkSettings,
}

/// The protocol a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ollama,
    Openai,
    Anthropic,
    Offline,
}

impl Kind {
    /// Returns whether the protocol has embeddings.
    pub fn embeds(self) -> bool {
        match self {
            Self::Ollama | Self::Openai => true,
            Self::Anthropic | Self::Offline => false,
        }
    }
}

/// One entry of `providers`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Of `openai` with `/v1`, of the others without; empty: `OPENAI_BASE_URL` or `OLLAMA_HOST` if set,
    /// else the vendor's own.
    #[serde(default)]
    pub base_url: String,
    /// A literal key; masked wherever settings are shown.
    #[serde(default)]
    pub api_key: Option<SecretString>,
    /// The environment variable that holds the key. Without either key, the vendor's own variable counts,
    /// but only where `base_url` is empty too.
    #[serde(default)]
    pub api_key_env: String,
}

/// The `models` block: aliases, and which of them is used when nothing is said.
#[derive(Clone, Debug)]
pub struct ModelsSettings {
    /// An alias, `provider/model`, or `auto`.
    pub default: String,
    pub aliases: BTreeMap<String, ModelSettings>,
}

impl Default for ModelsSettings {
    fn default() -> Self {
        Self {
            default: "auto".to_owned(),
            aliases: BTreeMap::new(),
        }
    }
}

/// By hand: `flatten` would lose the path of a mistake, and `*` says that other keys are aliases.
impl<'de> Deserialize<'de> for ModelsSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Models;

        impl<'de> Visitor<'de> for Models {
            type Value = ModelsSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct ModelsSettings")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut entries: A,
            ) -> Result<ModelsSettings, A::Error> {
                let mut models = ModelsSettings::default();
                while let Some(name) = entries.next_key::<String>()? {
                    if name == "default" {
                        models.default = entries.next_value()?;
                    } else {
                        models.aliases.insert(name, entries.next_value()?);
                    }
                }
                Ok(models)
            }
        }

        deserializer.deserialize_struct("ModelsSettings", &["default", "*"], Models)
    }
}

/// One alias. Numbers are tokens; 0 means "find out".
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// An entry of `providers`, or `ollama`, `openai`, `anthropic`, `offline`.
    pub provider: String,
    pub model: String,
    #[serde(default)]
    pub context_window: u32,
    /// Cap of one reply.
    #[serde(default)]
    pub max_tokens: u32,
    /// Ollama only: the window the server is told to load.
    #[serde(default)]
    pub num_ctx: u32,
    /// Dollars for a million tokens, for `/cost`.
    #[serde(default)]
    pub price: Option<Price>,
}

settings! {
    /// Time limits and tries of requests.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NetworkSettings {
        #[serde(with = "humantime_serde")]
        pub connect: Duration = Duration::from_secs(10),
        /// Longest silence inside a reply; generous, because slow local models think long.
        #[serde(with = "humantime_serde")]
        pub idle: Duration = Duration::from_mins(10),
        /// Tries of one request, the first included.
        pub tries: u32 = 3,
        /// For a run of one prompt in all; zero: as long as it takes.
        #[serde(with = "humantime_serde")]
        pub timeout: Duration = Duration::from_hours(1),
    }
}

/// The environment as it was at start: variables by name. Only `config` reads the real one.
#[derive(Clone, Default)]
pub struct Environment(pub BTreeMap<String, String>);

impl Environment {
    /// A variable's value; empty counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// Names only: values may be keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
