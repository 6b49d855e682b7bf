//! What servers say when they fail, in all the shapes they say it, sorted into [`ProviderError`]. Pure: it
//! is given a status, headers and a body. Unit: one failed response, or one error inside a stream.
//! Invariant: a message is one line of bounded length, without control characters.

use std::time::Duration;

use serde_json::Value;

use super::ProviderError;
use super::overflow::{Overflow, Sizes};
use crate::chat::Tokens;
use crate::net::{html_title, one_line, said};

/// What a server says about its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) message: String,
    /// `type` and `code`, as far as there are any.
    labels: Vec<String>,
    sizes: Sizes,
}

/// What kind of failure labels and messages speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    TooLong,
    /// Only with a status that fits.
    PerhapsTooLong,
    Quota,
    Overloaded,
    NoModel,
    NoTools,
    Other,
}

/// Labels that mean one thing, whatever the status.
const LABELS: [(&str, Sort); 11] = [
    ("context_length_exceeded", Sort::TooLong),
    ("exceed_context_size_error", Sort::TooLong),
    ("model_context_window_exceeded", Sort::TooLong),
    ("insufficient_quota", Sort::Quota),
    ("billing_error", Sort::Quota),
    ("model_not_found", Sort::NoModel),
    ("overloaded_error", Sort::Overloaded),
    ("rate_limit_error", Sort::Overloaded),
    ("rate_limit_exceeded", Sort::Overloaded),
    ("too_many_requests", Sort::Overloaded),
    ("requests", Sort::Overloaded),
];

/// How servers say that a model takes no tools: Ollama, llama.cpp, gateways.
const NO_TOOLS: [&str; 10] = [
    "does not support tools",
    "support tool use",
    "tools are not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "tools param requires",
    "tool choice requires",
    "does not support function calling",
    "function calling is not supported",
    "does not support tool calling",
];

impl Complaint {
    /// Reads a body: JSON in any vendor's shape, HTML, or text.
    pub(super) fn read(body: &[u8], mask: impl Fn(&str) -> String) -> Self {
        let text = String::from_utf8_lossy(body);
        let mut complaint = match serde_json::from_str::<Value>(&text) {
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                sizes: Sizes::of(&text),
                message: html_title(&text).unwrap_or_else(|| text.into_owned()),
                labels: Vec::new(),
            },
        };
        complaint.message = one_line(&mask(&complaint.message));
        complaint
    }

    /// Reads an error object that stands inside a stream.
    pub(super) fn within(value: &Value, mask: impl Fn(&str) -> String) -> Self {
        let mut complaint = Self::of(value);
        complaint.message = one_line(&mask(&complaint.message));
        complaint
    }

    fn of(value: &Value) -> Self {
        // Some gateways wrap the object into a list, most into `error`.
        let outer = match value {
            Value::Array(list) => list.first().unwrap_or(&Value::Null),
            other => other,
        };
        let inner = match outer.get("error") {
            Some(Value::Null) | None => outer,
            Some(inner) => inner,
        };
        let message = said(inner)
            .or_else(|| said(outer))
            .unwrap_or_else(|| value.to_string());
        let labels = ["type", "code", "status"].into_iter();
        let labels = labels.filter_map(|name| inner.get(name)?.as_str().map(str::to_owned));
        let said = Sizes::of(&message);
        let field = |names: [&str; 2]| {
            let number = names
                .into_iter()
                .find_map(|name| inner.get(name)?.as_u64())?;
            u32::try_from(number).ok().map(Tokens)
        };
        Self {
            sizes: Sizes {
                prompt: field(["n_prompt_tokens", "prompt_tokens"]).or(said.prompt),
                window: field(["n_ctx", "context_window"]).or(said.window),
            },
            labels: labels.collect(),
            message,
        }
    }

    fn sort(&self) -> Sort {
        let labelled = LABELS
            .iter()
            .find(|(label, _)| self.labels.iter().any(|said| said == label));
        let lower = self.message.to_lowercase();
        let no_tools = NO_TOOLS.iter().any(|phrase| lower.contains(phrase));
        match (labelled, Overflow::of(&self.message)) {
            (Some((_, sort)), _) => *sort,
            (None, _) if no_tools => Sort::NoTools,
            (None, Some(Overflow::Named)) => Sort::TooLong,
            (None, Some(Overflow::Likely)) => Sort::PerhapsTooLong,
            (None, None) => Sort::Other,
        }
    }
}

/// A response that is no success.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) complaint: Complaint,
}

/// Whom an error is about.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) url: String,
    pub(super) model: &'a str,
    pub(super) key: super::KeySource,
}

impl Refusal {
    /// Sorts by what can be done about it.
    pub(super) fn into_error(self, asked: Asked<'_>) -> ProviderError {
        let Self {
            status,
            retry_after,
            complaint,
        } = self;
        let url = asked.url;
        let sort = complaint.sort();
        let message = if complaint.message.is_empty() {
            "no reason given".to_owned()
        } else {
            complaint.message
        };
        match (status, sort) {
            (400 | 413 | 422 | 500, Sort::TooLong) | (400 | 413, Sort::PerhapsTooLong) => {
                too_long(url, message, complaint.sizes)
            }
            (401 | 403, _) => ProviderError::Unauthorized {
                url,
                status,
                message,
                key: asked.key,
            },
            (402 | 429 | 503 | 529, _) | (400..500, Sort::Quota) => ProviderError::RateLimited {
                url,
                status,
                message,
                retry_after,
                quota: status == 402 || sort == Sort::Quota,
            },
            (400..600, Sort::NoTools) => ProviderError::NoTools {
                url,
                model: asked.model.to_owned(),
                message,
            },
            (400 | 404, Sort::NoModel) => unknown_model(url, asked.model, message),
            (404, _) if message.to_lowercase().contains("model") => {
                unknown_model(url, asked.model, message)
            }
            // Nobody answers there for the API at all.
            (404 | 405, _) => ProviderError::Protocol {
                url,
                what: format!("{status}: {message}"),
            },
            _ => ProviderError::Status {
                url,
                status,
                message,
                retry_after,
            },
        }
    }
}

fn too_long(url: String, message: String, sizes: Sizes) -> ProviderError {
    let Sizes { prompt, window } = sizes;
    ProviderError::ContextTooLong {
        url,
        message,
        prompt,
        window,
    }
}

fn unknown_model(url: String, model: &str, message: String) -> ProviderError {
    ProviderError::UnknownModel {
        url,
        model: model.to_owned(),
        message,
        known: Vec::new(),
    }
}

/// An error in the middle of a stream whose status was 200.
pub(super) fn in_stream(url: String, complaint: Complaint) -> ProviderError {
    let sort = complaint.sort();
    let Complaint {
        message,
        sizes,
        labels: _,
    } = complaint;
    match sort {
        // An error inside a stream has no status that could speak against it.
        Sort::TooLong | Sort::PerhapsTooLong => too_long(url, message, sizes),
        Sort::Overloaded | Sort::Quota => ProviderError::RateLimited {
            url,
            // The status such an error has when it comes before the stream.
            status: 429,
            message,
            retry_after: None,
            quota: sort == Sort::Quota,
        },
        Sort::NoModel | Sort::NoTools | Sort::Other => ProviderError::Stream { url, message },
    }
}

#[cfg(test)]
mod tests;
