//! The way to a server: where it is, which key it gets, a client to reach it, and its words made fit to be
//! shown. Unit: one endpoint. What is asked and what the answer means is left to `provider` and `embed`.

mod client;
mod endpoint;
mod error;
mod models;
mod words;

pub use client::{Patience, body, causes, client, fetching, guarded};
pub use endpoint::{Endpoint, Key, KeySource, Scheme, base_url, ollama_host};
pub use error::NetError;
pub use models::is_embedding_model;
pub use words::{LONGEST, complaint, html_title, one_line, retry_after, said};
