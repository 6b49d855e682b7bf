//! Finds a model where nobody named one: a base URL of a hosted kind, then a running Ollama, then a key, else offline
//! with a line on how to get one. Invariant: no question waits longer than [`ASIDE`](super::target::ASIDE), and a
//! server that is not there costs one refused connection.

use serde_json::Value;

use super::catalog::{Catalog, Choice};
use super::http::Http;
use super::known::Limits;
use super::places::Entry;
use super::{Kind, Offered, ProviderError, ollama, target};
use crate::net::is_embedding_model;

const HOW: &str = "no model found: run `cogtrix init`, start Ollama, or set OPENAI_BASE_URL, OPENAI_API_KEY or ANTHROPIC_API_KEY";
const PULL: &str = "Ollama is running but has no chat model: run `ollama pull qwen3:8b`";

/// What an Ollama server is good for.
enum Found {
    Model(String),
    NoModel,
    NotThere,
}

/// Who answers where nobody named a model.
enum Auto {
    /// A hosted kind, by a variable or the config file.
    Hosted(Entry, String),
    Ollama(Entry, String),
    /// Nobody; how to get one.
    Nobody(&'static str),
}

async fn look(catalog: &Catalog) -> Result<Auto, ProviderError> {
    const HOSTED: [Kind; 2] = [Kind::Openai, Kind::Anthropic];
    for kind in HOSTED {
        let entry = catalog.entry_of(kind);
        if let Some(why) = catalog.elsewhere(&entry) {
            return Ok(Auto::Hosted(entry, why.to_owned()));
        }
    }
    let entry = catalog.entry_of(Kind::Ollama);
    let notice = match ollama_model(catalog, &entry).await? {
        Found::Model(model) => return Ok(Auto::Ollama(entry, model)),
        Found::NoModel => PULL,
        Found::NotThere => HOW,
    };
    for kind in HOSTED {
        let entry = catalog.entry_of(kind);
        if let Some(why) = catalog.key_name(&entry) {
            return Ok(Auto::Hosted(entry, why));
        }
    }
    Ok(Auto::Nobody(notice))
}

/// Returns the name of the provider that `auto` takes; asks Ollama at most.
pub(super) async fn provider(catalog: &Catalog) -> Result<String, ProviderError> {
    Ok(match look(catalog).await? {
        Auto::Hosted(entry, _) | Auto::Ollama(entry, _) => entry.name,
        Auto::Nobody(_) => catalog.entry_of(Kind::Offline).name,
    })
}

pub(super) async fn auto(catalog: &Catalog) -> Result<Choice, ProviderError> {
    let notice = match look(catalog).await? {
        Auto::Hosted(entry, why) => return Ok(usual(catalog, &entry).await?.because(&why)),
        Auto::Ollama(entry, model) => {
            let choice = catalog.choice(&entry, &model, Limits::default())?;
            return Ok(choice.because("a running Ollama"));
        }
        Auto::Nobody(notice) => notice,
    };
    let aliases: Vec<&str> = catalog.aliases().collect();
    let notice = match aliases.as_slice() {
        [] => notice.to_owned(),
        aliases => format!("{notice}; or choose with -m: {}", aliases.join(", ")),
    };
    Ok(catalog.offline(Some(notice)))
}

/// Chooses the model to take from a provider when only the provider was named.
pub(super) async fn usual(catalog: &Catalog, entry: &Entry) -> Result<Choice, ProviderError> {
    let (model, no_list) = usual_model(catalog, entry).await?;
    let choice = catalog.choice(entry, &model, Limits::default())?;
    let notice = no_list.map(|error| {
        format!(
            "{error}; assuming {model}, `/model {}/NAME` chooses another",
            entry.name
        )
    });
    Ok(Choice { notice, ..choice })
}

/// The name of that model, and why its server did not list its own.
async fn usual_model(
    catalog: &Catalog,
    entry: &Entry,
) -> Result<(String, Option<ProviderError>), ProviderError> {
    let kind = entry.settings.kind;
    let first = catalog.known.first_of(kind).map(|row| row.name.clone());
    match kind {
        Kind::Offline => Ok((String::new(), None)),
        Kind::Ollama => match ollama_model(catalog, entry).await? {
            Found::Model(model) => Ok((model, None)),
            Found::NoModel => Err(ProviderError::Setup {
                what: format!("{} has no chat model", entry.name),
                hint: "run `ollama pull qwen3:8b`".to_owned(),
            }),
            Found::NotThere => Err(ProviderError::Unreachable {
                url: catalog.endpoint(entry)?.shown(),
                why: "Ollama is not answering".to_owned(),
            }),
        },
        Kind::Openai | Kind::Anthropic => {
            let first = first.ok_or_else(|| ProviderError::Setup {
                what: format!("no default model for {}", entry.name),
                hint: format!("use {}/MODEL", entry.name),
            })?;
            if kind == Kind::Openai && catalog.elsewhere(entry).is_some() {
                return Ok(offered_model(catalog, entry, first).await);
            }
            Ok((first, None))
        }
    }
}

/// A compatible server has models of its own: the usual one if it is among them, else the first in its list that chats.
async fn offered_model(
    catalog: &Catalog,
    entry: &Entry,
    usual: String,
) -> (String, Option<ProviderError>) {
    let Ok(choice) = catalog.choice(entry, &usual, Limits::default()) else {
        return (usual, None);
    };
    match target::aside(&entry.name, choice.provider.offers()).await {
        Ok(offered) if offered.iter().any(|one| one.id == usual) => (usual, None),
        Ok(offered) => {
            let is_empty = offered.is_empty();
            let chats = |one: &Offered| one.chats.unwrap_or_else(|| !is_embedding_model(&one.id));
            match offered.into_iter().find(chats) {
                Some(model) => (model.id, None),
                None if is_empty => (usual, None),
                None => {
                    let only = ProviderError::Setup {
                        what: format!("{} lists only models for embedding", entry.name),
                        hint: String::new(),
                    };
                    (usual, Some(only))
                }
            }
        }
        Err(error) => (usual, Some(error)),
    }
}

/// A chat model that is loaded, else the one that was installed last.
async fn ollama_model(catalog: &Catalog, entry: &Entry) -> Result<Found, ProviderError> {
    let endpoint = catalog.endpoint(entry)?;
    let http = Http::new(endpoint, String::new(), catalog.settings.network.clone());
    match list(&http, "/api/ps").await {
        Ok(loaded) => {
            if let Some(model) = ollama::chat_models(&loaded).into_iter().next() {
                return Ok(Found::Model(model.name));
            }
        }
        // A server too old for this question still answers the next.
        Err(ProviderError::Protocol { .. }) => {}
        Err(_) => return Ok(Found::NotThere),
    }
    Ok(match list(&http, "/api/tags").await {
        Ok(installed) => match ollama::newest(ollama::chat_models(&installed)) {
            Some(model) => Found::Model(model.name),
            None => Found::NoModel,
        },
        Err(_) => Found::NotThere,
    })
}

async fn list(http: &Http, path: &str) -> Result<Value, ProviderError> {
    target::aside(&http.shown(), http.json(http.get(path)?)).await
}
