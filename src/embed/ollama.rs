//! Embeddings of an Ollama server, through ollama-rs. Unit: one model on one server. The server cuts texts
//! that are too long for the model by itself.

use std::sync::OnceLock;

use async_trait::async_trait;
use ollama_rs::Ollama as Crate;
use ollama_rs::error::OllamaError;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};

use super::error::Refusal;
use super::remote::{self, Ask, RemoteSettings};
use super::{EmbedError, Embedder};
use crate::net::{self, Endpoint};

/// A model of an Ollama server.
#[derive(Debug)]
pub struct Ollama {
    endpoint: Endpoint,
    settings: RemoteSettings,
    model: String,
    dimensions: OnceLock<usize>,
    client: OnceLock<Crate>,
}

impl Ollama {
    /// The model that is asked for where nobody says otherwise.
    pub const USUAL_MODEL: &str = "nomic-embed-text";

    /// Sends nothing yet.
    pub fn new(endpoint: Endpoint, settings: RemoteSettings) -> Self {
        // The server takes both for the same.
        let name = settings.model.trim_end_matches(":latest");
        Self {
            model: format!("ollama/{name}"),
            endpoint,
            settings,
            dimensions: OnceLock::new(),
            client: OnceLock::new(),
        }
    }

    /// Built at the first call: it costs time, and fails where there are no certificates.
    fn client(&self) -> Result<&Crate, EmbedError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let url = self.endpoint.url("/").parse();
        let url: reqwest::Url = url.map_err(|_| self.protocol("no URL".to_owned()))?;
        let http = net::old_client(&self.endpoint, self.settings.patience)?;
        let client = Crate::builder().url(url).reqwest_client(http).build();
        Ok(self.client.get_or_init(|| client))
    }

    fn failed(&self, error: OllamaError) -> EmbedError {
        let url = self.endpoint.shown();
        match error {
            OllamaError::ReqwestError(error) if error.is_timeout() && !error.is_connect() => {
                EmbedError::Silent {
                    url,
                    idle: self.settings.patience.idle,
                }
            }
            OllamaError::ReqwestError(error) => EmbedError::Unreachable {
                url,
                why: net::causes(&error.without_url()),
            },
            // The body of whatever was no success; the crate drops the status.
            OllamaError::Other(body) => {
                let mask = |text: &str| self.endpoint.mask(text);
                let refusal = Refusal {
                    status: None,
                    message: net::complaint(body.as_bytes(), mask),
                    retry_after: None,
                };
                let key = &self.endpoint.key().source;
                EmbedError::refused(url, &self.settings.model, key, refusal)
            }
            OllamaError::JsonError(error) => self.protocol(format!("no list of vectors ({error})")),
            other @ (OllamaError::ToolCallError(_) | OllamaError::InternalError(_)) => {
                self.protocol(net::one_line(&self.endpoint.mask(&other.to_string())))
            }
        }
    }
}

#[async_trait]
impl Ask for Ollama {
    async fn ask(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = self.settings.model.clone();
        let request = GenerateEmbeddingsRequest::new(model, EmbeddingsInput::Multiple(texts));
        let answer = self.client()?.generate_embeddings(request).await;
        let answer = answer.map_err(|error| self.failed(error))?;
        Ok(answer.embeddings)
    }

    fn protocol(&self, what: String) -> EmbedError {
        EmbedError::Protocol {
            url: self.endpoint.shown(),
            what,
        }
    }
}

#[async_trait]
impl Embedder for Ollama {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> Option<usize> {
        self.dimensions.get().copied()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        remote::embed(self, &self.settings, &self.dimensions, texts).await
    }
}
