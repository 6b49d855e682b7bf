//! What a wire format needs to know about the model it speaks for, put together by the catalog. Also what all of them
//! do the same way: finding the names that a server offers when it does not have the one that was asked for.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::OnceCell;

use super::known::{KnownModel, Limits, Told};
use super::{ModelName, NetworkSettings, Price, ProviderError};
use crate::chat::Tokens;
use crate::net::{Endpoint, is_embedding_model};

/// Questions beside the conversation (which models are there, how much do they hold) wait this long.
pub(super) const ASIDE: Duration = Duration::from_secs(2);
/// So many names are shown with an unknown model.
const SHOWN_MODELS: usize = 8;

/// A model on a server.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) name: ModelName,
    pub(super) endpoint: Endpoint,
    pub(super) limits: Limits,
    pub(super) known: Option<KnownModel>,
    pub(super) network: NetworkSettings,
}

/// Waits for an answer to a question aside, but not long.
pub(super) async fn aside<T>(
    url: &str,
    answer: impl Future<Output = Result<T, ProviderError>>,
) -> Result<T, ProviderError> {
    let waited = tokio::time::timeout(ASIDE, answer).await;
    waited.unwrap_or_else(|_| {
        Err(ProviderError::Idle {
            url: url.to_owned(),
            idle: ASIDE,
        })
    })
}

/// Opens a reply; if the server does not have the model, the error gets what it does offer.
pub(super) async fn open<T>(
    opened: impl Future<Output = Result<T, ProviderError>>,
    models: impl Future<Output = Result<Vec<String>, ProviderError>>,
) -> Result<T, ProviderError> {
    match opened.await {
        Ok(opened) => Ok(opened),
        Err(error) => Err(name_others(error, models).await),
    }
}

async fn name_others(
    error: ProviderError,
    models: impl Future<Output = Result<Vec<String>, ProviderError>>,
) -> ProviderError {
    let ProviderError::UnknownModel {
        url,
        model,
        message,
        ..
    } = error
    else {
        return error;
    };
    let known = aside(&url, models).await.unwrap_or_default();
    let known = nearest(&model, known);
    ProviderError::UnknownModel {
        url,
        model,
        message,
        known,
    }
}

/// The names as they are shown: sorted; those most like `wanted`, most like first, if there are too many to show them
/// all.
pub(super) fn nearest(wanted: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort();
    if names.len() > SHOWN_MODELS {
        let likeness = |name: &String| strsim::jaro_winkler(wanted, name);
        names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        names.truncate(SHOWN_MODELS);
    }
    names
}

/// Returns whether one name may be a slip of another, or its beginning.
pub fn is_like(typed: &str, name: &str) -> bool {
    let (typed, name) = (typed.to_lowercase(), name.to_lowercase());
    let chars = typed.chars().count();
    let max = if chars < 6 { 1 } else { 2 };
    chars >= 3
        && typed != name
        && (name.starts_with(&typed) || strsim::osa_distance(&typed, &name) <= max)
}

/// One entry of `/v1/models`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    pub id: String,
    /// The window, where the server tells it, in any of the ways servers do.
    pub window: Option<Tokens>,
    pub price: Option<Price>,
    /// Whether it replies in a chat, where the server tells.
    pub chats: Option<bool>,
}

impl Offered {
    /// Of which nothing but the name is known.
    pub fn named(id: String) -> Self {
        Self {
            id,
            window: None,
            price: None,
            chats: None,
        }
    }
}

/// Reads what an entry says its model can do: llama.cpp and Ollama list it, Mistral has a flag for each ability. Who
/// names other abilities than those of an embedder may well chat.
pub(super) fn chats(entry: &Value) -> Option<bool> {
    let able = entry.get("capabilities")?;
    match able.as_array() {
        Some(able) if able.is_empty() => None,
        Some(able) if able.iter().any(|one| one == "completion" || one == "chat") => Some(true),
        Some(able) => able
            .iter()
            .all(|one| {
                one.as_str()
                    .is_some_and(|it| it.contains("embed") || it.contains("rerank"))
            })
            .then_some(false),
        None => able.get("completion_chat")?.as_bool(),
    }
}

/// Where an entry may hold the window: llama.cpp, vLLM, gateways.
const WINDOWS: [&str; 5] = [
    "/meta/n_ctx",
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
];

/// Reads `/v1/models`, in the vendors' shape or as a bare list.
pub(super) fn offered(list: &Value) -> Option<Vec<Offered>> {
    let entries = list.get("data").or_else(|| list.get("models"));
    let entries = entries.unwrap_or(list).as_array()?;
    let read = |entry: &Value| {
        let id = entry.get("id").or_else(|| entry.get("name"));
        let id = id.unwrap_or(entry).as_str()?.to_owned();
        let window = WINDOWS
            .iter()
            .find_map(|path| entry.pointer(path)?.as_u64());
        let window = window
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| *n > 0);
        Some(Offered {
            id,
            window: window.map(Tokens),
            price: Price::listed(entry),
            chats: chats(entry),
        })
    };
    Some(entries.iter().filter_map(read).collect())
}

/// Returns what is told of `model`, or of the only model there is: such servers take any name.
fn told_of(model: &str, offered: &[Offered]) -> Told {
    let one = match offered {
        [only] => Some(only),
        several => several.iter().find(|one| one.id == model),
    };
    one.map_or_else(Told::default, |one| Told {
        window: one.window,
        price: one.price,
    })
}

/// Returns what a server's list tells of `model`; it is asked for until the server answers once.
pub(super) async fn listed(
    answered: &OnceCell<Told>,
    model: &str,
    url: &str,
    list: impl Future<Output = Result<Vec<Offered>, ProviderError>>,
) -> Told {
    let asked = answered.get_or_try_init(|| async {
        let offered = aside(url, list).await?;
        Ok::<_, ProviderError>(told_of(model, &offered))
    });
    asked.await.copied().unwrap_or_else(|error| {
        tracing::debug!("no context window from the server: {error}");
        Told::default()
    })
}

/// Returns the names of those to choose from, each once, in order. Where the server does not say which chat, one whose
/// name speaks of embedding does not.
pub fn chat_models(mut offered: Vec<Offered>) -> Vec<String> {
    offered.retain(|one| one.chats.unwrap_or_else(|| !is_embedding_model(&one.id)));
    offered.sort_by(|a, b| a.id.cmp(&b.id));
    names(offered)
}

/// Returns the names in the order of the server, each once.
pub(super) fn names(offered: Vec<Offered>) -> Vec<String> {
    let mut names = Vec::new();
    for one in offered {
        if !names.contains(&one.id) {
            names.push(one.id);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_window_is_found_where_each_server_puts_it() {
        for (entry, expected) in [
            (
                json!({"id": "m", "meta": {"n_ctx": 1024, "n_ctx_train": 4096}}),
                Some(1024),
            ),
            (json!({"id": "m", "max_model_len": 4096}), Some(4096)),
            (json!({"id": "m", "context_length": 5}), Some(5)),
            (
                json!({"id": "m", "context_window": 6, "created": 1.5}),
                Some(6),
            ),
            (json!({"id": "m", "meta": null}), None),
            (json!({"id": "m", "context_length": 0}), None),
        ] {
            let list = json!({"object": "list", "data": [entry, {"id": "other"}]});
            let offered = offered(&list).unwrap();
            assert_eq!(
                told_of("m", &offered).window,
                expected.map(Tokens),
                "{list}"
            );
        }
    }

    #[test]
    fn the_only_model_answers_to_any_name() {
        let one = offered(&json!({"data": [{"id": "x.gguf", "meta": {"n_ctx": 7}}]})).unwrap();
        assert_eq!(told_of("gpt-4o", &one).window, Some(Tokens(7)));
        assert_eq!(offered(&json!({"error": "no"})), None);
    }

    #[test]
    fn who_embeds_by_its_server_or_by_its_name_is_not_offered() {
        let list = json!({"data": [
            {"id": "text-embedding-3-small"},
            {"id": "gpt"},
            {"id": "vectors", "capabilities": ["embedding"]},
            {"id": "chatty-embed", "capabilities": ["chat"]},
            {"id": "snowflake-arctic"},
            {"id": "all-minilm:latest"},
        ]});
        let offered = offered(&list).unwrap();
        assert_eq!(
            chat_models(offered),
            ["chatty-embed", "gpt", "snowflake-arctic"]
        );
    }

    #[test]
    fn of_many_names_the_most_similar_are_shown() {
        let many = (0..40).map(|n| format!("other-{n}"));
        let many = many.chain(["qwen3:8b".to_owned()]).collect();
        let shown = nearest("qwen3:8", many);
        assert_eq!((shown[0].as_str(), shown.len()), ("qwen3:8b", SHOWN_MODELS));
    }
}
