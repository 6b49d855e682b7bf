//! Embeddings of an Ollama server, with the types of ollama-rs. Unit: one model on one server. The server cuts texts
//! that are too long for the model by itself.

use std::sync::OnceLock;

use async_trait::async_trait;
use ollama_rs::generation::embeddings::GenerateEmbeddingsResponse;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};

use super::remote::{self, Ask, RemoteSettings, Server};
use super::{EmbedError, Embedder};
use crate::net::Endpoint;

/// A model of an Ollama server.
#[derive(Debug)]
pub struct Ollama {
    server: Server,
    model: String,
    dimensions: OnceLock<usize>,
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
            server: Server::new(endpoint, settings),
            dimensions: OnceLock::new(),
        }
    }
}

#[async_trait]
impl Ask for Ollama {
    async fn ask(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let server = &self.server;
        let model = server.settings.model.clone();
        let asked = GenerateEmbeddingsRequest::new(model, EmbeddingsInput::Multiple(texts));
        let request = server.http()?.post(server.endpoint.url("/api/embed"));
        let request = request.json(&asked).build();
        let answer = server
            .answer(request.map_err(|error| server.failed(error))?)
            .await?;
        let answer: Result<GenerateEmbeddingsResponse, _> = serde_json::from_slice(&answer);
        let answer = answer.map_err(|error| {
            server.protocol(format!("something that is not a list of vectors ({error})"))
        })?;
        Ok(answer.embeddings)
    }

    fn protocol(&self, what: String) -> EmbedError {
        self.server.protocol(what)
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
        remote::embed(self, &self.server.settings, &self.dimensions, texts).await
    }
}
