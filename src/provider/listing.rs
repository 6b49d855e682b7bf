//! All providers that may be asked, and what each has: for whoever looks at them side by side.

use futures_util::future::join_all;
use serde_json::json;

use super::catalog::{Catalog, Choice};
use super::http::Http;
use super::known::{Limits, Told, settle};
use super::places::Entry;
use super::{KeySource, Kind, ModelName, Offered, ProviderError, WindowSource, is_like, target};
use crate::net::is_embedding_model;

/// A provider by its name, and whether somebody set it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub set_up: SetUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetUp {
    /// By the config, or by a variable that names its address or its key.
    Yes,
    /// It goes without: what has to be there may be there.
    No,
}

/// What a provider answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Its address, fit to be shown.
    pub url: String,
    pub key: KeySource,
    pub models: Vec<Offered>,
}

struct ListedModel {
    name: ModelName,
    /// Where its server does not say, its name is believed.
    may_chat: bool,
}

/// Models that are named where none has the name that was typed.
const SHOWN: usize = 3;

impl Catalog {
    /// Those of the config, then the built-in ones of other kinds.
    pub fn providers(&self) -> Vec<Listed> {
        let configured = &self.settings.providers;
        let own = configured.keys().map(|name| Listed {
            name: name.clone(),
            set_up: SetUp::Yes,
        });
        let usual = [Kind::Ollama, Kind::Openai, Kind::Anthropic].into_iter();
        let usual = usual
            .filter(|kind| !configured.values().any(|settings| settings.kind == *kind))
            .map(|kind| {
                let entry = self.entry_of(kind);
                let is_set_up = self.has_key(&entry) || self.elsewhere(&entry).is_some();
                Listed {
                    name: entry.name,
                    set_up: if is_set_up { SetUp::Yes } else { SetUp::No },
                }
            });
        own.chain(usual).collect()
    }

    /// Asks a provider for its models, with the window and price that a chat would go by where they are known.
    pub async fn offers(&self, provider: &str) -> Result<Vec<Offered>, ProviderError> {
        let entry = self.entry(provider)?;
        let asked = self.choice(&entry, "", Limits::default())?.provider;
        let mut offered = asked.offers().await?;
        offered.sort_by(|a, b| a.id.cmp(&b.id));
        offered.dedup_by(|a, b| a.id == b.id);
        let settled = offered.into_iter().map(|one| self.settled(&entry, one));
        join_all(settled).await.into_iter().collect()
    }

    /// The config goes before what the list says, and that before the table of known models. Ollama, whose list says
    /// nothing, is asked for each.
    async fn settled(&self, entry: &Entry, one: Offered) -> Result<Offered, ProviderError> {
        let limits = Limits::from(&self.model_of(&entry.name, &one.id));
        let abilities = if entry.settings.kind == Kind::Ollama {
            let chosen = self.choice(entry, &one.id, limits)?;
            chosen.provider.abilities().await
        } else {
            let told = Told {
                window: one.window,
                price: one.price,
            };
            settle(limits, told, self.known.find(&one.id))
        };
        let is_known = abilities.window_source != WindowSource::Fallback;
        Ok(Offered {
            window: is_known.then_some(abilities.context_window),
            price: abilities.price,
            ..one
        })
    }

    /// Finds the model of this name without its provider: at all of them. Its tag may be left out where only one has
    /// it or one is the latest: `tiny` is `ollama/tiny:latest`.
    pub(super) async fn find(&self, name: &str) -> Result<Choice, ProviderError> {
        let usual = self.resolved(name).await;
        if let Ok(choice) = &usual
            && !matches!(
                self.check(choice).await,
                Err(ProviderError::UnknownModel { .. } | ProviderError::Setup { .. })
            )
        {
            return usual;
        }
        let is_exact = |it: &&ListedModel| it.name.model == name;
        // That is what a name without a tag means to Ollama.
        let is_latest = |it: &&ListedModel| it.name.model.strip_prefix(name) == Some(":latest");
        let is_tagged = |it: &&ListedModel| {
            let tag = it.name.model.strip_prefix(name);
            tag.is_some_and(|tag| tag.starts_with(':'))
        };
        let is_near = |it: &&ListedModel| it.may_chat && is_like(name, &it.name.model);
        let listed = self.listed_models().await;
        let mut named: Vec<&ListedModel> = listed.iter().filter(is_exact).collect();
        if named.is_empty() {
            named = listed.iter().filter(is_latest).collect();
        }
        if named.is_empty() {
            named = listed.iter().filter(is_tagged).collect();
        }
        let meant: Vec<String> = match named.as_slice() {
            [one] => return self.resolved(&one.name.to_string()).await,
            // Whoever is to use it says what is wrong with it.
            [] if usual.is_ok() => return usual,
            [] => {
                let near = listed.iter().filter(is_near).take(SHOWN);
                near.map(|it| it.name.to_string()).collect()
            }
            several => several.iter().map(|it| it.name.to_string()).collect(),
        };
        if meant.is_empty() {
            return usual;
        }
        Err(ProviderError::Setup {
            what: self.no_such(name).to_string(),
            hint: format!("did you mean {}?", meant.join(" or ")),
        })
    }

    /// Asks every provider for its models.
    async fn listed_models(&self) -> Vec<ListedModel> {
        let asked = self.providers().into_iter().map(async |provider| {
            let answered = self.ask(&provider.name).await;
            let models = answered.map_or_else(|_| Vec::new(), |answered| answered.models);
            models.into_iter().map(move |model| ListedModel {
                may_chat: model
                    .chats
                    .unwrap_or_else(|| !is_embedding_model(&model.id)),
                name: ModelName {
                    provider: provider.name.clone(),
                    model: model.id,
                },
            })
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Tells whether a server without a list of models has a chat: asked for nothing, it misses a model or messages.
    pub async fn has_chat(&self, provider: &str) -> bool {
        let asked = async {
            let entry = self.entry(provider)?;
            let endpoint = self.endpoint(&entry)?;
            let http = Http::new(endpoint, String::new(), self.settings.network.clone());
            let request = http.post("/chat/completions", &json!({}))?;
            target::aside(&http.shown(), http.send(request)).await
        };
        match asked.await {
            Ok(_) | Err(ProviderError::UnknownModel { .. }) => true,
            Err(ProviderError::Status {
                status: 400 | 422,
                message,
                ..
            }) => {
                let message = message.to_lowercase();
                ["message", "model"].iter().any(|it| message.contains(it))
            }
            Err(_) => false,
        }
    }

    /// Asks a provider which models it has; the wait is the one of [`Provider::offers`](super::Provider::offers).
    pub async fn ask(&self, provider: &str) -> Result<Answered, ProviderError> {
        let entry = self.entry(provider)?;
        let asked = self.choice(&entry, "", Limits::default())?.provider;
        if entry.settings.kind == Kind::Offline {
            return Ok(Answered {
                url: "this program".to_owned(),
                key: KeySource::None,
                models: Vec::new(),
            });
        }
        let endpoint = self.endpoint(&entry)?;
        Ok(Answered {
            url: endpoint.shown(),
            key: endpoint.key().source.clone(),
            models: asked.offers().await?,
        })
    }
}
