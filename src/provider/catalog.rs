//! From what a person calls a model to a provider that answers: aliases, `provider/model`, `auto`. Invariant: a
//! provider that comes from here retries (but for the offline one), and choosing sends nothing unless the model has to
//! be found out. Which model `auto` takes is in `detect`, where a provider is and which key it gets in `places`.

use std::sync::Arc;

use super::anthropic::Anthropic;
use super::known::{Known, Limits};
use super::offline::Offline;
use super::ollama::Ollama;
use super::openai::OpenAi;
use super::places::Entry;
use super::target::{self, Target, is_like, nearest};
use super::{
    Environment, Kind, Meter, ModelName, ModelSettings, Price, Provider, ProviderError, Retry,
    Settings, detect,
};
use crate::net::{Endpoint, is_embedding_model};

/// The word for "find one".
const AUTO: &str = "auto";

/// A chosen provider, and what the person should be told about the choice.
#[derive(Clone, Debug)]
pub struct Choice {
    pub provider: Arc<dyn Provider>,
    /// What led to it where nobody named a model: `OPENAI_BASE_URL`, `a running Ollama`.
    pub because: Option<String>,
    /// How to get a model, where none was found; or that a server did not say which it has.
    pub notice: Option<String>,
}

impl Choice {
    /// Returns whether the model is a guess, because its server did not say which it has.
    pub fn is_assumed(&self) -> bool {
        self.notice.is_some() && !self.provider.is_offline()
    }

    pub(super) fn because(mut self, why: &str) -> Self {
        self.because = Some(why.to_owned());
        self
    }
}

/// Where a model is, for those who ask it something else than a reply.
#[derive(Clone, Debug)]
pub struct Place {
    pub kind: Kind,
    pub endpoint: Endpoint,
    /// Empty where only a provider was named.
    pub model: String,
    pub host: Host,
}

/// Whose server a place is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Where the kind usually is.
    Usual,
    /// Where config or environment say.
    Own,
}

/// All that can be chosen.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) settings: Settings,
    pub(super) environment: Environment,
    pub(super) known: Known,
    meter: Meter,
    /// Whether what is said to its models is saved.
    saves: bool,
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
            meter: Meter::default(),
            saves: true,
        }
    }

    /// Uses another table of known models.
    #[must_use]
    pub fn with_known(mut self, known: Known) -> Self {
        self.known = known;
        self
    }

    /// Has the offline model say that nothing is saved.
    #[must_use]
    pub fn saving_nothing(mut self) -> Self {
        self.saves = false;
        self
    }

    /// Returns what the requests of every provider that comes from here took.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns what the config says a model costs, by `provider/model`.
    pub fn configured_price(&self, model: &str) -> Option<Price> {
        let mut aliases = self.settings.models.aliases.values();
        aliases.find_map(|alias| {
            let is_meant = model == format!("{}/{}", alias.provider, alias.model);
            alias.price.filter(|_| is_meant)
        })
    }

    /// Returns what a model costs by the config or by its server's list; asks the server.
    pub async fn price(&self, model: &str) -> Option<Price> {
        let choice = self.choose(Some(model)).await.ok()?;
        choice.provider.abilities().await.price
    }

    /// The aliases of the config, sorted.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.settings.models.aliases.keys().map(String::as_str)
    }

    /// The aliases with what they stand for: `openai/gpt-5 · 128,000 tokens`.
    pub fn described_aliases(&self) -> impl Iterator<Item = (&str, String)> {
        self.settings.models.aliases.iter().map(|(alias, model)| {
            let window = match model.context_window {
                0 => String::new(),
                tokens => format!(", {tokens} tokens"),
            };
            let provider = &model.provider;
            (
                alias.as_str(),
                format!("{provider}/{}{window}", model.model),
            )
        })
    }

    /// Finds the provider for an alias, `provider/model`, a provider's name, a model's name or `auto`; without a
    /// choice, for `models.default`.
    pub async fn choose(&self, choice: Option<&str>) -> Result<Choice, ProviderError> {
        let choice = choice.unwrap_or(&self.settings.models.default).trim();
        if self.is_certain(choice) {
            self.resolved(choice).await
        } else {
            self.find(choice).await
        }
    }

    /// Returns whether a choice stands for one model, whatever servers have.
    pub fn is_certain(&self, choice: &str) -> bool {
        let is_bare = !self.settings.models.aliases.contains_key(choice) && !choice.contains('/');
        match self.resolve(choice) {
            // A name that everybody knows; more than one server may have it, or only another one than the first.
            Ok(Wanted::Model(model)) if is_bare => self.entry(&model.provider).is_ok_and(|entry| {
                let configured = self.settings.providers.values();
                let alike = configured.filter(|it| it.kind == entry.settings.kind);
                alike.count() < 2
            }),
            resolved => resolved.is_ok(),
        }
    }

    /// The same without a look at what servers have.
    pub(super) async fn resolved(&self, choice: &str) -> Result<Choice, ProviderError> {
        match self.resolve(choice)? {
            Wanted::Auto => detect::auto(self).await,
            Wanted::Provider(name) => detect::usual(self, &self.entry(&name)?).await,
            Wanted::Model(model) => {
                let entry = self.entry(&model.provider)?;
                self.choice(&entry, &model.model, Limits::from(&model))
            }
        }
    }

    /// Returns the provider that a chat begins with, by its name; asks Ollama at most, unless servers have to be looked
    /// at for a name.
    pub async fn provider(&self) -> Result<String, ProviderError> {
        let default = self.settings.models.default.trim();
        if !self.is_certain(default) {
            let found = self.find(default).await?;
            return Ok(found.provider.model().provider.clone());
        }
        match self.resolve(default)? {
            Wanted::Auto => detect::provider(self).await,
            Wanted::Provider(name) => Ok(name),
            Wanted::Model(model) => Ok(model.provider),
        }
    }

    /// Asks the server whether it has a chosen model. One that does not tell what it has is believed, and so is a
    /// vendor about names that its list leaves out but everybody knows.
    pub async fn check(&self, choice: &Choice) -> Result<(), ProviderError> {
        let ModelName { provider, model } = choice.provider.model();
        let offered = match choice.provider.offers().await {
            Ok(offered) => offered,
            // A server without a list.
            Err(ProviderError::Protocol { .. }) => return Ok(()),
            Err(error) if error.is_no_answer() => return Err(error),
            Err(_) => return Ok(()),
        };
        let latest = format!("{model}:latest");
        let listed = offered
            .iter()
            .find(|one| one.id == *model || one.id == latest);
        let chats = match listed {
            Some(one) if one.chats.is_none() => choice.provider.chats().await,
            listed => listed.and_then(|one| one.chats),
        };
        if chats == Some(false) {
            let model = model.strip_suffix(":latest").unwrap_or(model);
            let kind = if is_embedding_model(model) {
                "an embedding model, "
            } else {
                ""
            };
            return Err(ProviderError::Setup {
                what: format!("{provider}/{model} is {kind}not a chat model"),
                hint: "`cogtrix models` lists others".to_owned(),
            });
        }
        let entry = self.entry(provider)?;
        let is_vendor = self.elsewhere(&entry).is_none() && entry.settings.kind != Kind::Ollama;
        if listed.is_some() || offered.is_empty() || (is_vendor && self.known.find(model).is_some())
        {
            return Ok(());
        }
        Err(ProviderError::UnknownModel {
            url: self.endpoint(&entry)?.shown(),
            message: "not in its model list".to_owned(),
            known: nearest(model, target::chat_models(offered)),
            model: model.clone(),
        })
    }

    /// Returns where the model is that an alias, `provider/model`, or a provider's name stands for; `auto` is Ollama's
    /// usual place. Sends nothing.
    pub fn place(&self, choice: &str) -> Result<Place, ProviderError> {
        let model = self.one_model(choice)?;
        self.place_in(&self.entry(&model.provider)?, model.model)
    }

    /// Returns what kind of provider [`place`](Self::place) leads to, even where there is no key for it.
    pub fn kind(&self, choice: &str) -> Result<Kind, ProviderError> {
        let model = self.one_model(choice)?;
        Ok(self.entry(&model.provider)?.settings.kind)
    }

    /// Returns whether a choice names anything at all, even where it cannot be used. Sends nothing.
    pub fn knows(&self, choice: &str) -> Result<(), ProviderError> {
        self.resolve(choice.trim()).map(drop)
    }

    fn one_model(&self, choice: &str) -> Result<ModelSettings, ProviderError> {
        Ok(match self.resolve(choice.trim())? {
            Wanted::Auto => self.model_of(&self.entry_of(Kind::Ollama).name, ""),
            Wanted::Provider(name) => self.model_of(&name, ""),
            Wanted::Model(model) => model,
        })
    }

    /// Returns where a provider is, by its own name. Sends nothing.
    pub fn place_at(&self, provider: &str) -> Result<Place, ProviderError> {
        self.place_in(&self.entry(provider)?, String::new())
    }

    /// Returns where a kind of provider is, if only the kind is asked for. Sends nothing.
    pub fn place_of(&self, kind: Kind) -> Result<Place, ProviderError> {
        self.place_in(&self.entry_of(kind), String::new())
    }

    fn place_in(&self, entry: &Entry, model: String) -> Result<Place, ProviderError> {
        Ok(Place {
            kind: entry.settings.kind,
            endpoint: self.endpoint(entry)?,
            model,
            host: if self.elsewhere(entry).is_some() {
                Host::Own
            } else {
                Host::Usual
            },
        })
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
        if let Some(kind) = known {
            let provider = self.entry_of(kind).name;
            return Ok(Wanted::Model(self.model_of(&provider, choice)));
        }
        if let Some((provider, _)) = choice.split_once('/') {
            self.entry(provider)?;
        }
        Err(self.no_such(choice))
    }

    /// A model by its own name, with the numbers of an alias that stands for the same.
    pub(super) fn model_of(&self, provider: &str, model: &str) -> ModelSettings {
        let mut aliases = self.settings.models.aliases.values();
        let alias = aliases.find(|alias| alias.provider == provider && alias.model == model);
        alias.cloned().unwrap_or_else(|| ModelSettings {
            provider: provider.to_owned(),
            model: model.to_owned(),
            context_window: 0,
            max_tokens: 0,
            num_ctx: 0,
            price: None,
        })
    }

    pub(super) fn no_such(&self, choice: &str) -> ProviderError {
        let aliases: Vec<String> = self.aliases().map(str::to_owned).collect();
        let known = match aliases.len() {
            0 => String::new(),
            _ => format!(
                "configured: {}; or ",
                nearest(choice, aliases.clone()).join(", ")
            ),
        };
        let near = aliases.iter().find(|alias| is_like(choice, alias));
        let near = near.map_or(String::new(), |alias| format!("did you mean {alias}? "));
        ProviderError::Setup {
            what: format!("unknown model {choice:?}"),
            hint: format!("{near}{known}use PROVIDER/MODEL; `cogtrix models` lists them"),
        }
    }

    pub(super) fn choice(
        &self,
        entry: &Entry,
        model: &str,
        limits: Limits,
    ) -> Result<Choice, ProviderError> {
        if entry.settings.kind == Kind::Offline {
            return Ok(self.offline(None));
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
            Kind::Offline => return Ok(self.offline(None)),
        };
        Ok(Choice {
            provider: Arc::new(
                Retry::new(inner, self.settings.network.tries).with_meter(self.meter.clone()),
            ),
            because: None,
            notice: None,
        })
    }

    pub(super) fn offline(&self, notice: Option<String>) -> Choice {
        Choice {
            provider: Arc::new(Offline::new(self.saves)),
            because: None,
            notice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_by_alias_by_path_and_by_provider_without_asking_anybody() {
        let mut settings = Settings::default();
        let alias = ModelSettings {
            provider: "ollama".to_owned(),
            model: "bge-m3".to_owned(),
            context_window: 0,
            max_tokens: 0,
            num_ctx: 0,
            price: None,
        };
        settings.models.aliases.insert("vectors".to_owned(), alias);
        let host = [("OLLAMA_HOST".to_owned(), "box:7".to_owned())];
        let catalog = Catalog::new(settings, Environment(host.into()));
        for (choice, model) in [
            ("vectors", "bge-m3"),
            ("ollama/nomic-embed-text", "nomic-embed-text"),
            ("ollama", ""),
            ("auto", ""),
        ] {
            let place = catalog.place(choice).unwrap();
            assert_eq!((place.kind, place.model.as_str()), (Kind::Ollama, model));
            assert_eq!(place.endpoint.shown(), "http://box:7", "{choice}");
        }
        assert!(catalog.place("openai/x").is_err(), "no API key");
        assert!(catalog.place("nothing/of/the/kind").is_err());
    }
}
