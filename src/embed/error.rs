//! What can go wrong on the way to a vector. None of it may stop a reply: whoever asks goes on without.

use std::borrow::Cow;
#[cfg(feature = "local-embeddings")]
use std::fmt;
#[cfg(feature = "local-embeddings")]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use crate::hint::Hint;
use crate::net::{self, Endpoint, KeySource, NetError};

/// Errors of servers name the URL, errors of files the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    #[error("cannot reach {url}: {why}")]
    Unreachable { url: String, why: String },

    #[error("{url} sent nothing for {} s", idle.as_secs())]
    Silent { url: String, idle: Duration },

    /// 401 or 403. `key` says where the key came from, never what it is.
    #[error("{url} rejected the API key ({status}): {message}")]
    Unauthorized {
        url: String,
        status: u16,
        message: String,
        key: KeySource,
    },

    #[error("{url} does not have the model {model:?}: {message}")]
    UnknownModel {
        url: String,
        model: String,
        message: String,
    },

    /// A compatible server whose list holds chat models alone.
    #[error("{url} lists no embedding model")]
    NoEmbeddingModel { url: String },

    /// A text is longer than the model can take, even when it was cut short.
    #[error("a text is too long for {url}: {message}")]
    TooLong { url: String, message: String },

    /// Another refusal. ollama-rs does not tell the status.
    #[error("{url} refused to embed{}: {message}", status.map(|status| format!(" ({status})")).unwrap_or_default())]
    Refused {
        url: String,
        status: Option<u16>,
        message: String,
        retry_after: Option<Duration>,
    },

    #[error("{url} answered with {what}")]
    Protocol { url: String, what: String },

    /// The files of the encoder in this process.
    #[error("{}: {why}", path.display())]
    Weights { path: PathBuf, why: String },

    /// Nothing was tried: the settings cannot work.
    #[error("{what}")]
    Setup { what: String, hint: String },
}

impl From<NetError> for EmbedError {
    fn from(NetError { what, hint }: NetError) -> Self {
        Self::Setup { what, hint }
    }
}

/// Words of a refusal because of a text's length; together with "input", "token" or the like.
const LENGTH: [&str; 7] = [
    "too long",
    "too large",
    "exceed",
    "maximum",
    "too many",
    "longer than",
    "larger than",
];
const OF_TEXT: [&str; 5] = ["token", "input", "context", "length", "batch size"];

/// A refusal, as far as a client passes it on.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: Option<u16>,
    pub(super) message: String,
    pub(super) retry_after: Option<Duration>,
}

impl EmbedError {
    /// Returns whether another text might have been taken.
    pub fn may_be_of_a_text(&self) -> bool {
        match self {
            Self::TooLong { .. } | Self::Protocol { .. } => true,
            Self::Refused { status, .. } => {
                status.is_none_or(|status| matches!(status, 400 | 413 | 422))
            }
            _ => false,
        }
    }

    #[cfg(feature = "local-embeddings")]
    pub(super) fn weights(path: &Path, why: &dyn fmt::Display) -> Self {
        Self::Weights {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }

    /// Tells why a request got no answer in `idle`.
    pub(super) fn no_answer(endpoint: &Endpoint, error: reqwest::Error, idle: Duration) -> Self {
        let url = endpoint.shown();
        match net::no_answer(endpoint, error) {
            Some(why) => Self::Unreachable { url, why },
            None => Self::Silent { url, idle },
        }
    }

    /// Sorts a refusal by what can be done about it.
    pub(super) fn refused(url: String, model: &str, key: &KeySource, refusal: Refusal) -> Self {
        let Refusal {
            status,
            message,
            retry_after,
        } = refusal;
        let lower = message.to_lowercase();
        let speaks_of = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let model = model.to_owned();
        match status {
            Some(status @ (401 | 403)) => Self::Unauthorized {
                url,
                status,
                message,
                key: key.clone(),
            },
            None | Some(400 | 404) if speaks_of(&["model"]) && speaks_of(&["not found"]) => {
                Self::UnknownModel {
                    url,
                    model,
                    message,
                }
            }
            None | Some(400 | 413 | 422 | 500) if speaks_of(&LENGTH) && speaks_of(&OF_TEXT) => {
                Self::TooLong { url, message }
            }
            // Nobody answers there for the API at all.
            None | Some(404 | 405) if speaks_of(&["page not found", "an html page"]) => {
                Self::Protocol { url, what: message }
            }
            Some(404 | 405) => Self::Protocol { url, what: message },
            None | Some(_) => Self::Refused {
                url,
                status,
                message,
                retry_after,
            },
        }
    }

    /// Returns whether the same may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Silent { .. } => true,
            Self::Refused {
                status, message, ..
            } => match status {
                Some(status) => *status >= 500 || matches!(status, 408 | 409 | 429),
                None => message.contains("busy"),
            },
            Self::Unauthorized { .. }
            | Self::UnknownModel { .. }
            | Self::NoEmbeddingModel { .. }
            | Self::TooLong { .. }
            | Self::Protocol { .. }
            | Self::Weights { .. }
            | Self::Setup { .. } => false,
        }
    }

    /// Returns how long the server asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

impl Hint for EmbedError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Unreachable { .. } => "is the server running, and is the URL right?".into(),
            Self::Silent { .. } => "the model may still be loading; try again".into(),
            Self::Unauthorized { key, .. } => match key {
                KeySource::None => "no key was sent".into(),
                KeySource::Unset(name) => format!("export {name}=…").into(),
                KeySource::Environment(name) => format!("the key came from ${name}").into(),
                KeySource::Config(path) => {
                    format!("the key came from {path} in the config file").into()
                }
            },
            Self::UnknownModel { model, .. } => {
                format!("install it on the server, for example with `ollama pull {model}`")
                    .into()
            }
            Self::NoEmbeddingModel { .. } => {
                "set one with `rag: {model: provider/model}`, or run `cogtrix embedder install` for a local one".into()
            }
            Self::Protocol { .. } => "does the URL point to an embeddings API?".into(),
            Self::Weights { .. } => "run `cogtrix embedder install` to fetch the files again".into(),
            Self::Setup { hint, .. } => Cow::Borrowed(hint.as_str()),
            Self::TooLong { .. } | Self::Refused { .. } => return None,
        };
        Some(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_sorted_by_what_can_be_done() {
        use EmbedError as E;
        type Is = fn(&EmbedError) -> bool;
        let cases: [(Option<u16>, &str, Is); 12] = [
            (Some(401), "no", |e| matches!(e, E::Unauthorized { .. })),
            (
                None,
                r#"model "nope" not found, try pulling it first"#,
                |e| matches!(e, E::UnknownModel { .. }),
            ),
            (Some(404), "The model `x` was not found", |e| {
                matches!(e, E::UnknownModel { .. })
            }),
            (None, "404 page not found", |e| {
                matches!(e, E::Protocol { .. })
            }),
            (Some(404), "File Not Found", |e| {
                matches!(e, E::Protocol { .. })
            }),
            (None, "input length exceeds maximum context length", |e| {
                matches!(e, E::TooLong { .. })
            }),
            (
                Some(500),
                "input is too large to process. increase the physical batch size",
                |e| matches!(e, E::TooLong { .. }),
            ),
            (
                Some(400),
                "This model's maximum context length is 8192 tokens, however you requested 9000",
                |e| matches!(e, E::TooLong { .. }),
            ),
            (
                Some(400),
                "input (832 tokens) is larger than the max context size (512 tokens). skipping",
                |e| matches!(e, E::TooLong { .. }),
            ),
            (Some(429), "slow down", EmbedError::is_transient),
            (
                None,
                "server busy, please try again.  maximum pending requests exceeded",
                EmbedError::is_transient,
            ),
            (Some(400), "model is required", |e| {
                matches!(e, E::Refused { .. }) && !e.is_transient()
            }),
        ];
        for (status, message, is) in cases {
            let refusal = Refusal {
                status,
                message: message.to_owned(),
                retry_after: None,
            };
            let error = EmbedError::refused("http://h".into(), "m", &KeySource::None, refusal);
            assert!(is(&error), "{status:?} {message}: {error:?}");
        }
    }
}
