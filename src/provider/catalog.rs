//! From what a person calls a model to a provider that answers: aliases, `provider/model`, `auto`. Unit:
//! one choice. Invariant: a provider that comes from here retries (but for the offline one), and choosing
//! sends nothing unless the model has to be found out. Which model `auto` takes is in `detect`.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use super::anthropic::{self, Anthropic};
use super::endpoint::{self, Endpoint, Key, Scheme};
use super::known::{Known, Limits};
use super::offline::Offline;
use super::ollama::{self, Ollama};
use super::openai::{self, OpenAi};
use super::target::{Target, nearest};
use super::{
    Environment, KeySource, Kind, ModelName, ModelSettings, Provider, ProviderError,
    ProviderSettings, Retry, Settings, detect,
};

/// The word for "find one".
const AUTO: &str = "auto";

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
        base_variable: None,
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

/// A chosen provider, and what the person should be told about the choice.
#[derive(Clone, Debug)]
pub struct Choice {
    pub provider: Arc<dyn Provider>,
    pub notice: Option<String>,
}

/// All that can be chosen.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) settings: Settings,
    pub(super) environment: Environment,
    pub(super) known: Known,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Auto,
    /// A provider, whatever its model.
    Provider(String),
    Model(ModelSettings),
}

impl Catalog {
    pub fn new(settings: Settings, environment: Environment) -> Self {
        Self {
            settings,
            environment,
            known: Known::embedded(),
        }
    }

    /// Uses another table of known models.
    #[must_use]
    pub fn with_known(mut self, known: Known) -> Self {
        self.known = known;
        self
    }

    /// The aliases of the config, sorted.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.settings.models.aliases.keys().map(String::as_str)
    }

    /// Finds the provider for an alias, `provider/model`, a provider's name, a known model's name or
    /// `auto`; without a choice, for `models.default`.
    pub async fn choose(&self, choice: Option<&str>) -> Result<Choice, ProviderError> {
        let choice = choice.unwrap_or(&self.settings.models.default).trim();
        match self.resolve(choice)? {
            Wanted::Auto => detect::auto(self).await,
            Wanted::Provider(name) => {
                let entry = self.entry(&name)?;
                let model = detect::usual_model(self, &entry).await?;
                self.choice(&entry, &model, Limits::default())
            }
            Wanted::Model(model) => {
                let entry = self.entry(&model.provider)?;
                let limits = Limits {
                    context_window: model.context_window,
                    max_tokens: model.max_tokens,
                    num_ctx: model.num_ctx,
                };
                self.choice(&entry, &model.model, limits)
            }
        }
    }

    fn resolve(&self, choice: &str) -> Result<Wanted, ProviderError> {
        let aliases = &self.settings.models.aliases;
        if let Some(model) = aliases.get(choice) {
            return Ok(Wanted::Model(model.clone()));
        }
        if choice.is_empty() || choice == AUTO {
            return Ok(Wanted::Auto);
        }
        if self.entry(choice).is_ok() {
            return Ok(Wanted::Provider(choice.to_owned()));
        }
        if let Some((provider, model)) = choice.split_once('/')
            && self.entry(provider).is_ok()
            && !model.is_empty()
        {
            return Ok(Wanted::Model(self.model_of(provider, model)));
        }
        let known = self.known.find(choice).and_then(|row| row.provider);
        match known {
            Some(kind) => Ok(Wanted::Model(
                self.model_of(&self.entry_of(kind).name, choice),
            )),
            None => Err(self.no_such(choice)),
        }
    }

    /// A model by its own name, with the numbers of an alias that stands for the same.
    fn model_of(&self, provider: &str, model: &str) -> ModelSettings {
        let mut aliases = self.settings.models.aliases.values();
        let alias = aliases.find(|alias| alias.provider == provider && alias.model == model);
        alias.cloned().unwrap_or_else(|| ModelSettings {
            provider: provider.to_owned(),
            model: model.to_owned(),
            context_window: 0,
            max_tokens: 0,
            num_ctx: 0,
        })
    }

    fn no_such(&self, choice: &str) -> ProviderError {
        let aliases: Vec<String> = self.aliases().map(str::to_owned).collect();
        let known = match aliases.len() {
            0 => String::new(),
            _ => format!(
                "known here: {}; or ",
                nearest(choice, aliases.clone()).join(", ")
            ),
        };
        let near = aliases
            .iter()
            .find(|alias| strsim::jaro_winkler(alias, choice) > 0.8);
        let near = near.map_or(String::new(), |alias| format!("did you mean {alias}? "));
        ProviderError::Setup {
            what: format!("there is no model {choice:?}"),
            hint: format!("{near}{known}write provider/model, such as ollama/{choice}"),
        }
    }

    /// An entry by name.
    fn entry(&self, name: &str) -> Result<Entry, ProviderError> {
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
            what: format!("there is no provider {name:?}"),
            hint: format!("there are: {}", names.join(", ")),
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

    /// Whether requests to this entry would carry a key.
    pub(super) fn has_key(&self, entry: &Entry) -> bool {
        matches!(
            self.key(entry),
            Ok(Key {
                secret: Some(_),
                ..
            })
        )
    }

    /// Whether this entry is somewhere else than at the vendor's.
    pub(super) fn is_elsewhere(&self, entry: &Entry) -> bool {
        let variable = usual(entry.settings.kind).base_variable;
        !entry.settings.base_url.trim().is_empty()
            || variable.is_some_and(|name| self.environment.get(name).is_some())
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
                let variable = usual(settings.kind).key_variable;
                Ok(variable.and_then(from).unwrap_or_else(Key::none))
            }
            "" => Ok(Key::none()),
            name => from(name).ok_or_else(|| ProviderError::Setup {
                what: format!(
                    "${name}, which should hold the key of {}, is not set",
                    entry.name
                ),
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
                endpoint::base_url(&format!("providers.{}.base_url", entry.name), configured)
            }
            Some((name, value)) if usual.kind == Kind::Ollama => {
                endpoint::ollama_host(&format!("${name}"), value)
            }
            Some((name, value)) => endpoint::base_url(&format!("${name}"), value),
            None => endpoint::base_url("base_url", usual.base),
        }?;
        let key = self.key(entry)?;
        match usual.key_variable {
            Some(variable) if key.secret.is_none() && !self.is_elsewhere(entry) => {
                Err(ProviderError::Setup {
                    what: format!("there is no key for {}", entry.name),
                    hint: format!(
                        "export {variable}=…, or set providers.{}.api_key_env",
                        entry.name
                    ),
                })
            }
            _ => Endpoint::new(base, key, usual.scheme),
        }
    }

    pub(super) fn choice(
        &self,
        entry: &Entry,
        model: &str,
        limits: Limits,
    ) -> Result<Choice, ProviderError> {
        if entry.settings.kind == Kind::Offline {
            return Ok(offline(None));
        }
        let target = Target {
            name: ModelName {
                provider: entry.name.clone(),
                model: model.to_owned(),
            },
            endpoint: self.endpoint(entry)?,
            limits,
            known: self.known.find(model).cloned(),
            network: self.settings.network.clone(),
        };
        let inner: Arc<dyn Provider> = match entry.settings.kind {
            Kind::Ollama => Arc::new(Ollama::new(target)),
            Kind::Openai => Arc::new(OpenAi::new(target)),
            Kind::Anthropic => Arc::new(Anthropic::new(target)),
            Kind::Offline => return Ok(offline(None)),
        };
        Ok(Choice {
            provider: Arc::new(Retry::new(inner, self.settings.network.tries)),
            notice: None,
        })
    }
}

pub(super) fn offline(notice: Option<String>) -> Choice {
    Choice {
        provider: Arc::new(Offline::new()),
        notice,
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
