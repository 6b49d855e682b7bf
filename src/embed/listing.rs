//! Which models a server has, asked in one short question. Names only: whether a model embeds is not told by either
//! protocol.

use std::time::Duration;

use serde_json::Value;

use super::EmbedError;
use super::error::Refusal;
use crate::net::{self, Endpoint, Patience};

/// A list longer than this is none.
const MAX_BYTES: usize = 4 << 20;

/// What a compatible server says about its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    Names(Vec<String>),
    /// It answers, but keeps no list.
    Unlisted,
}

/// Models of an Ollama server.
pub(super) async fn ollama_models(
    endpoint: &Endpoint,
    wait: Duration,
) -> Result<Vec<String>, EmbedError> {
    let (status, body) = get(endpoint, "/api/tags", wait).await?;
    if status != 200 {
        return Err(refused(endpoint, status, &body));
    }
    let list: Option<Value> = serde_json::from_slice(&body).ok();
    let names = list.as_ref().and_then(|list| names(list.get("models")?));
    names.ok_or_else(|| EmbedError::Protocol {
        url: endpoint.shown(),
        what: "something that is not a list of models".to_owned(),
    })
}

/// Models of a server like `OpenAI`'s. Some have no such list and embed all the same.
pub(super) async fn openai_models(
    endpoint: &Endpoint,
    wait: Duration,
) -> Result<Listed, EmbedError> {
    let (status, body) = get(endpoint, "/models", wait).await?;
    match status {
        200 => {
            let list: Option<Value> = serde_json::from_slice(&body).ok();
            let list = list.as_ref().map(|list| list.get("data").unwrap_or(list));
            let names = list.and_then(names);
            Ok(names.map_or(Listed::Unlisted, Listed::Names))
        }
        404 | 405 => Ok(Listed::Unlisted),
        status => Err(refused(endpoint, status, &body)),
    }
}

/// The name to ask a server for if it lists `wanted`: itself, or, where it has no tag, with any the server has.
pub(super) fn listed_as<'a>(wanted: &'a str, names: &'a [String]) -> Option<&'a str> {
    let bare = |name: &'a str| name.trim_end_matches(":latest");
    if names.iter().any(|name| bare(name) == bare(wanted)) {
        return Some(wanted);
    }
    let is_tagged = |name: &&String| {
        let parts = name.split_once(':');
        parts.is_some_and(|(model, _)| model == wanted)
    };
    names.iter().find(is_tagged).map(String::as_str)
}

fn names(list: &Value) -> Option<Vec<String>> {
    let name = |entry: &Value| {
        let name = ["id", "name", "model"]
            .iter()
            .find_map(|key| entry.get(key)?.as_str());
        name.map(str::to_owned)
    };
    Some(list.as_array()?.iter().filter_map(name).collect())
}

async fn get(
    endpoint: &Endpoint,
    path: &str,
    wait: Duration,
) -> Result<(u16, Vec<u8>), EmbedError> {
    let patience = Patience {
        connect: wait,
        idle: wait,
    };
    let client = net::client(endpoint, patience)?;
    let failed = |error| EmbedError::no_answer(endpoint, error, wait);
    let asked = client.get(endpoint.url(path)).send().await;
    let response = asked.map_err(failed)?;
    let status = response.status().as_u16();
    let body = net::body(response, MAX_BYTES).await.map_err(failed)?;
    Ok((status, body.unwrap_or_default()))
}

fn refused(endpoint: &Endpoint, status: u16, body: &[u8]) -> EmbedError {
    let refusal = Refusal {
        status: Some(status),
        message: net::complaint(body, |text| endpoint.mask(text)),
        retry_after: None,
    };
    EmbedError::refused(endpoint.shown(), "", &endpoint.key().source, refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_under_the_name_the_server_gives_it() {
        let names = ["qwen3:8b", "nomic-embed-text:v1.5", "bge-m3:latest", "x"];
        let names = names.map(str::to_owned);
        for (wanted, found) in [
            ("bge-m3", Some("bge-m3")),
            ("bge-m3:latest", Some("bge-m3:latest")),
            ("x:latest", Some("x:latest")),
            ("nomic-embed-text", Some("nomic-embed-text:v1.5")),
            ("nomic-embed-text:v1", None),
            ("nomic", None),
            ("qwen3:8b", Some("qwen3:8b")),
        ] {
            assert_eq!(listed_as(wanted, &names), found, "{wanted}");
        }
    }

    #[test]
    fn names_are_read_in_either_shape() {
        let list = serde_json::json!([{"id": "a"}, {"name": "b", "model": "b"}, {"model": "c"}, 3]);
        assert_eq!(
            names(&list),
            Some(["a", "b", "c"].map(str::to_owned).into())
        );
        assert_eq!(names(&serde_json::json!({"error": "no"})), None);
    }
}
