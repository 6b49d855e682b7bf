//! The way to a server: where it is, which key it gets, a client to reach it, and its words made fit to be
//! shown. Unit: one endpoint. What is asked and what the answer means is left to `provider` and `embed`.

mod client;
mod endpoint;
mod openai;
mod words;

use std::borrow::Cow;

use crate::hint::Hint;

pub use client::{Patience, body, causes, client, fetching, guarded, no_answer};
pub use endpoint::{Endpoint, Key, KeySource, Scheme, base_url, ollama_host};
pub use openai::OpenAiPlace;
pub use words::{LONGEST, complaint, html_title, is_embedding_model, one_line, retry_after, said};

/// Nothing was sent: the address or the key cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NetError {
    pub what: String,
    pub hint: String,
}

impl Hint for NetError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.hint))
    }
}
