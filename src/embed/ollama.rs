//! Embeddings of an Ollama server, with the types of ollama-rs. The server cuts texts that are too long for the model
//! by itself.

use async_trait::async_trait;
use ollama_rs::generation::embeddings::GenerateEmbeddingsResponse;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};

use super::EmbedError;
use super::remote::{Ask, RemoteSettings, Server};
use crate::net::Endpoint;

/// A model of an Ollama server.
#[derive(Debug)]
pub struct Ollama {
    server: Server,
}

impl Ollama {
    /// The model that is asked for where nobody says otherwise.
    pub const USUAL_MODEL: &str = "nomic-embed-text";

    /// Sends nothing yet.
    pub fn new(endpoint: Endpoint, settings: RemoteSettings) -> Self {
        // The server takes both for the same.
        let name = settings.model.trim_end_matches(":latest");
        let name = format!("ollama/{name}");
        Self {
            server: Server::new(name, endpoint, settings),
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

    fn server(&self) -> &Server {
        &self.server
    }
}
