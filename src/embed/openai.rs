//! Embeddings of `OpenAI` and everything compatible, on async-openai with a transport of our own: the crate's errors
//! lose the status, and its own retries sleep however long a server asks.

use std::sync::Arc;

use async_openai::Client;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput};
use async_trait::async_trait;
use reqwest::Response;
use serde::Deserialize;

use super::EmbedError;
use super::remote::{Ask, RemoteSettings, Server};
use crate::net::{self, Endpoint, OpenAiPlace};

/// A model behind `/embeddings`.
#[derive(Debug)]
pub struct OpenAi {
    server: Arc<Server>,
}

/// An answer, as far as it matters: servers leave out fields that the crate's type demands.
#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Debug, Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl OpenAi {
    /// The model that is asked for where nobody says otherwise.
    pub const USUAL_MODEL: &str = "text-embedding-3-small";

    /// Sends nothing yet.
    pub fn new(endpoint: Endpoint, settings: RemoteSettings) -> Self {
        let name = format!("openai/{}", settings.model);
        Self {
            server: Arc::new(Server::new(name, endpoint, settings)),
        }
    }

    /// A client of the crate that sends through us: one request, no retry, our errors.
    fn client(&self) -> Result<Client<OpenAiPlace>, EmbedError> {
        let place = OpenAiPlace::new(self.server.endpoint.clone());
        let client = Client::build(self.server.http()?.clone(), place);
        let server = Arc::clone(&self.server);
        let service = tower::service_fn(move |factory: HttpRequestFactory| {
            let server = Arc::clone(&server);
            async move {
                let answer = server.answer(factory.build().await?).await;
                let answer = answer.map_err(|error| OpenAIError::Boxed(Box::new(error)))?;
                Ok::<_, OpenAIError>(Response::from(http::Response::new(answer)))
            }
        });
        Ok(client.with_http_service(service))
    }

    /// The crate's errors as ours.
    fn translate(&self, error: OpenAIError) -> EmbedError {
        let server = &self.server;
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<EmbedError>() {
                Ok(ours) => *ours,
                Err(other) => server.protocol(other.to_string()),
            },
            OpenAIError::Reqwest(error) => server.failed(error),
            OpenAIError::JSONDeserialize(error, text) => {
                let text: String = server.endpoint.mask(&text).chars().take(80).collect();
                server.protocol(format!(
                    "{text:?}, which is not a list of vectors ({error})"
                ))
            }
            other => server.protocol(net::one_line(&other.to_string())),
        }
    }
}

#[async_trait]
impl Ask for OpenAi {
    async fn ask(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let request = CreateEmbeddingRequest {
            model: self.server.settings.model.clone(),
            input: EmbeddingInput::StringArray(texts),
            ..CreateEmbeddingRequest::default()
        };
        let client = self.client()?;
        let answer = client.embeddings().create_byot::<_, Answer>(&request).await;
        let mut answer = answer.map_err(|error| self.translate(error))?.data;
        // In whatever order they come, if the server says which is which.
        answer.sort_by_key(|one| one.index);
        Ok(answer.into_iter().map(|one| one.embedding).collect())
    }

    fn server(&self) -> &Server {
        &self.server
    }
}
