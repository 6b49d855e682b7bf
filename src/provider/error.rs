//! What can go wrong on the way to a reply, sorted by what can be done about it. Status and delay are
//! data; the server's own words are quoted, with secrets masked before they come here.

use std::borrow::Cow;
use std::time::Duration;

use crate::chat::Tokens;
use crate::hint::Hint;
use crate::net::{KeySource, NetError};
use crate::provider::target::is_like;

/// Every variant names the URL it happened at.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProviderError {
    #[error("cannot reach {url}: {why}")]
    Unreachable { url: String, why: String },

    /// 401 or 403. `key` says where the key came from, never what it is.
    #[error("{url} {}", refused_key(*status, message, key))]
    Unauthorized {
        url: String,
        status: u16,
        message: String,
        key: KeySource,
    },

    /// 404 for a model. `known` is what the server offers, as far as it says.
    #[error("{url} does not have the model {model:?}: {message}")]
    UnknownModel {
        url: String,
        model: String,
        message: String,
        known: Vec<String>,
    },

    /// 429, or 503 and 529 where the server is full. Retrying helps unless it is the quota.
    #[error("{url} reports a rate limit or overload ({status}): {message}")]
    RateLimited {
        url: String,
        status: u16,
        message: String,
        retry_after: Option<Duration>,
        quota: bool,
    },

    /// The request was larger than the server's window. `prompt` and `window` as the server counts.
    #[error("the request is too long for {url}: {message}")]
    ContextTooLong {
        url: String,
        message: String,
        prompt: Option<Tokens>,
        window: Option<Tokens>,
    },

    /// The model, or its server, cannot call tools.
    #[error("{url} does not support tools with {model:?}: {message}")]
    NoTools {
        url: String,
        model: String,
        message: String,
    },

    /// Another 4xx or 5xx.
    #[error("{url} answered {status}: {message}")]
    Status {
        url: String,
        status: u16,
        message: String,
        retry_after: Option<Duration>,
    },

    /// An error object in the middle of a stream that began well.
    #[error("{url} failed in the middle of the reply: {message}")]
    Stream { url: String, message: String },

    /// The stream ended without its end mark.
    #[error("{url} ended the reply before it was complete{}", why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    Truncated { url: String, why: Option<String> },

    /// Nothing arrived for the idle time.
    #[error("{url} sent nothing for {} s", idle.as_secs())]
    Idle { url: String, idle: Duration },

    /// What arrived is not what the protocol says.
    #[error("unexpected response from {url}: {what}")]
    Protocol { url: String, what: String },

    /// Nothing was sent: the settings cannot work.
    #[error("{what}")]
    Setup { what: String, hint: String },
}

/// Tells a refused key from a request without one.
fn refused_key(status: u16, message: &str, key: &KeySource) -> String {
    match (key, status) {
        (KeySource::None | KeySource::Unset(_), 401) => {
            format!("needs an API key (401): {message}")
        }
        (KeySource::None | KeySource::Unset(_), _) => {
            format!("refused a request without an API key ({status}): {message}")
        }
        (KeySource::Environment(_) | KeySource::Config(_), _) => {
            format!("rejected the API key ({status}): {message}")
        }
    }
}

impl From<NetError> for ProviderError {
    fn from(NetError { what, hint }: NetError) -> Self {
        Self::Setup { what, hint }
    }
}

impl ProviderError {
    /// Returns whether the same request may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::RateLimited { quota, .. } => !quota,
            Self::Status { status, .. } => {
                (*status >= 500 || matches!(status, 408 | 409)) && !self.refuses_images()
            }
            Self::Unauthorized { .. }
            | Self::UnknownModel { .. }
            | Self::ContextTooLong { .. }
            | Self::NoTools { .. }
            | Self::Stream { .. }
            | Self::Truncated { .. }
            | Self::Idle { .. }
            | Self::Protocol { .. }
            | Self::Setup { .. } => false,
        }
    }

    /// Tells whether the model could not be had at all, rather than that it refused this request or broke off.
    pub fn is_no_answer(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::UnknownModel { .. }
            | Self::RateLimited { .. }
            | Self::Idle { .. }
            | Self::Protocol { .. } => true,
            Self::Status { status, .. } => *status >= 500,
            Self::ContextTooLong { .. }
            | Self::NoTools { .. }
            | Self::Stream { .. }
            | Self::Truncated { .. }
            | Self::Setup { .. } => false,
        }
    }

    /// Returns whether a request with pictures was refused because of them; some servers say so as if they had broken
    /// down.
    pub fn refuses_images(&self) -> bool {
        const WORDS: [&str; 5] = ["image", "vision", "multimodal", "multi-modal", "mmproj"];
        let Self::Status {
            status, message, ..
        } = self
        else {
            return false;
        };
        let message = message.to_lowercase();
        matches!(status, 400 | 413 | 415 | 422 | 500 | 501)
            && WORDS.iter().any(|word| message.contains(word))
    }

    /// Returns whether a request was refused because of a tool that the vendor's own models were trained with, which a
    /// server that only speaks the protocol may not know.
    pub fn refuses_trained_tools(&self) -> bool {
        const WORDS: [&str; 3] = ["memory_20", "anthropic-beta", "context-management"];
        let Self::Status {
            status, message, ..
        } = self
        else {
            return false;
        };
        let message = message.to_lowercase();
        matches!(status, 400 | 422) && WORDS.iter().any(|word| message.contains(word))
    }

    /// Returns how long the server asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Status { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}

impl Hint for ProviderError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Unreachable { .. } => {
                "check that the server is running and base_url is correct".into()
            }
            Self::Unauthorized { key, .. } => match key {
                KeySource::None => "set api_key_env (or api_key) for this provider".into(),
                KeySource::Unset(name) => format!("export {name}=…"),
                KeySource::Environment(name) => format!("check the key in ${name}"),
                KeySource::Config(path) => format!("check the key at {path} in the config file"),
            },
            Self::UnknownModel { known, .. } if known.is_empty() => {
                "choose another with `-m` or `/model`".into()
            }
            Self::UnknownModel { model, known, .. } => {
                let like = known.iter().find(|it| is_like(model, it));
                let like = like.map_or(String::new(), |it| format!("did you mean {it}? "));
                format!("{like}available: {}", known.join(", "))
            }
            Self::RateLimited { quota: true, .. } => {
                "the account's quota is used up; retrying will not help".into()
            }
            Self::RateLimited {
                retry_after: Some(after),
                ..
            } => {
                format!("the server says to wait {} s", after.as_secs().max(1))
            }
            Self::RateLimited { .. } | Self::Status { status: 500.., .. } | Self::Idle { .. } => {
                "wait a moment and try again".into()
            }
            Self::ContextTooLong { .. } => {
                "set the model's context_window (Ollama: num_ctx) to the server's actual size"
                    .into()
            }
            Self::NoTools { .. } => "choose another model, or run with `--tools none`".into(),
            Self::Stream { .. } | Self::Truncated { .. } => "try again".into(),
            Self::Protocol { .. } => "check that base_url points to the API".into(),
            Self::Setup { hint, .. } => hint.clone(),
            Self::Status { .. } => return None,
        };
        Some(hint.into())
    }
}
