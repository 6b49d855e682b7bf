//! From the name of a provider to where it is and which key it gets: the entries of the config, and the built-in ones.
//! Invariant: a vendor's own key is never sent to a server that the config names.

use secrecy::{ExposeSecret, SecretString};

use super::catalog::Catalog;
use super::{Kind, ProviderError, ProviderSettings, anthropic, ollama, openai};
use crate::net::{self, Endpoint, Key, KeySource, Scheme};

/// What each kind goes by where the config says nothing.
struct Usual {
    kind: Kind,
    name: &'static str,
    base: &'static str,
    base_variable: Option<&'static str>,
    key_variable: Option<&'static str>,
    scheme: Scheme,
}

const USUAL: [Usual; 4] = [
    Usual {
        kind: Kind::Ollama,
        name: "ollama",
        base: ollama::USUAL,
        base_variable: Some("OLLAMA_HOST"),
        key_variable: None,
        scheme: Scheme::Bearer,
    },
    Usual {
        kind: Kind::Openai,
        name: "openai",
        base: openai::OFFICIAL,
        base_variable: Some("OPENAI_BASE_URL"),
        key_variable: Some("OPENAI_API_KEY"),
        scheme: Scheme::Bearer,
    },
    Usual {
        kind: Kind::Anthropic,
        name: "anthropic",
        base: anthropic::OFFICIAL,
        base_variable: Some("ANTHROPIC_BASE_URL"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        scheme: Scheme::ApiKey,
    },
    Usual {
        kind: Kind::Offline,
        name: "offline",
        base: "http://127.0.0.1",
        base_variable: None,
        key_variable: None,
        scheme: Scheme::Bearer,
    },
];

fn usual(kind: Kind) -> &'static Usual {
    let row = USUAL.iter().find(|usual| usual.kind == kind);
    row.expect("USUAL has a row for each kind")
}

/// An entry of `providers`, or the built-in one of that name.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) settings: ProviderSettings,
}

impl Catalog {
    /// An entry by name.
    pub(super) fn entry(&self, name: &str) -> Result<Entry, ProviderError> {
        if let Some(settings) = self.settings.providers.get(name) {
            return Ok(Entry {
                name: name.to_owned(),
                settings: settings.clone(),
            });
        }
        if let Some(usual) = USUAL.iter().find(|usual| usual.name == name) {
            return Ok(built_in(usual));
        }
        let configured = self.settings.providers.keys().map(String::as_str);
        let names: Vec<&str> = configured.chain(USUAL.map(|usual| usual.name)).collect();
        Err(ProviderError::Setup {
            what: format!("unknown provider {name:?}"),
            hint: format!("available: {}", names.join(", ")),
        })
    }

    /// The entry to take where only a kind is asked for: the one of that name, else the first of the
    /// config, else the built-in one.
    pub(super) fn entry_of(&self, kind: Kind) -> Entry {
        let usual = usual(kind);
        let configured = &self.settings.providers;
        let named = configured.get_key_value(usual.name);
        let named = named.filter(|(_, settings)| settings.kind == kind);
        let found = named.or_else(|| {
            configured
                .iter()
                .find(|(_, settings)| settings.kind == kind)
        });
        found.map_or_else(
            || built_in(usual),
            |(name, settings)| Entry {
                name: name.clone(),
                settings: settings.clone(),
            },
        )
    }

    /// Returns whether requests to this entry would carry a key.
    pub(super) fn has_key(&self, entry: &Entry) -> bool {
        self.key_name(entry).is_some()
    }

    /// Returns where the key comes from that requests to this entry would carry: a variable or the config file.
    pub(super) fn key_name(&self, entry: &Entry) -> Option<String> {
        match self.key(entry).ok()?.source {
            KeySource::Environment(name) | KeySource::Config(name) => Some(name),
            KeySource::None | KeySource::Unset(_) => None,
        }
    }

    /// Returns what puts this entry somewhere else than at the vendor's: a variable or the config file.
    pub(super) fn elsewhere(&self, entry: &Entry) -> Option<&'static str> {
        if !entry.settings.base_url.trim().is_empty() {
            return Some("the config file");
        }
        let variable = usual(entry.settings.kind).base_variable?;
        self.environment.get(variable).map(|_| variable)
    }

    fn key(&self, entry: &Entry) -> Result<Key, ProviderError> {
        let settings = &entry.settings;
        let literal = settings.api_key.as_ref();
        if let Some(secret) = literal.filter(|key| !key.expose_secret().is_empty()) {
            return Ok(Key {
                secret: Some(secret.clone()),
                source: KeySource::Config(format!("providers.{}.api_key", entry.name)),
            });
        }
        let from = |name: &str| {
            let value = self.environment.get(name)?;
            Some(Key {
                secret: Some(SecretString::from(value)),
                source: KeySource::Environment(name.to_owned()),
            })
        };
        match settings.api_key_env.trim() {
            // The vendor's key is for the vendor, not for whatever server a config names.
            "" if settings.base_url.trim().is_empty() => {
                Ok(match usual(settings.kind).key_variable {
                    None => Key::none(),
                    Some(variable) => from(variable).unwrap_or(Key {
                        secret: None,
                        source: KeySource::Unset(variable),
                    }),
                })
            }
            "" => Ok(Key::none()),
            name => from(name).ok_or_else(|| ProviderError::Setup {
                what: format!("${name} (API key for {}) is not set", entry.name),
                hint: format!(
                    "export {name}=…, or remove providers.{}.api_key_env",
                    entry.name
                ),
            }),
        }
    }

    pub(super) fn endpoint(&self, entry: &Entry) -> Result<Endpoint, ProviderError> {
        let usual = usual(entry.settings.kind);
        let configured = entry.settings.base_url.trim();
        let variable = usual.base_variable;
        let variable = variable.and_then(|name| Some((name, self.environment.get(name)?)));
        let base = match variable {
            _ if !configured.is_empty() => {
                net::base_url(&format!("providers.{}.base_url", entry.name), configured)
            }
            Some((name, value)) if usual.kind == Kind::Ollama => {
                net::ollama_host(&format!("${name}"), value)
            }
            Some((name, value)) => net::base_url(&format!("${name}"), value),
            None => net::base_url("base_url", usual.base),
        }?;
        let key = self.key(entry)?;
        match usual.key_variable {
            Some(variable) if key.secret.is_none() && self.elsewhere(entry).is_none() => {
                Err(ProviderError::Setup {
                    what: format!("no API key for {}", entry.name),
                    hint: format!(
                        "export {variable}=…, or set providers.{}.api_key_env",
                        entry.name
                    ),
                })
            }
            _ => Ok(Endpoint::new(base, key, usual.scheme)?),
        }
    }
}

fn built_in(usual: &Usual) -> Entry {
    Entry {
        name: usual.name.to_owned(),
        settings: ProviderSettings {
            kind: usual.kind,
            base_url: String::new(),
            api_key: None,
            api_key_env: String::new(),
        },
    }
}
