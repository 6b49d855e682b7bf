//! Embeddings of `OpenAI` and everything compatible, on async-openai with a transport of our own: the
//! crate's errors lose the status, and its own retries sleep however long a server asks. Unit: one model on
//! one server.

use std::sync::{Arc, OnceLock};

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput};
use async_trait::async_trait;
use reqwest::Response;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde::Deserialize;

use super::remote::{self, Ask, RemoteSettings, Server};
use super::{EmbedError, Embedder};
use crate::net::{self, Endpoint};

/// A model behind `/embeddings`.
#[derive(Debug)]
pub struct OpenAi {
    server: Arc<Server>,
    model: String,
    dimensions: OnceLock<usize>,
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
        Self {
            model: format!("openai/{}", settings.model),
            server: Arc::new(Server::new(endpoint, settings)),
            dimensions: OnceLock::new(),
        }
    }

    /// A client of the crate that sends through us: one request, no retry, our errors.
    fn client(&self) -> Result<Client<Place>, EmbedError> {
        let place = Place(Arc::clone(&self.server), SecretString::default());
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

    fn protocol(&self, what: String) -> EmbedError {
        self.server.protocol(what)
    }
}

#[async_trait]
impl Embedder for OpenAi {
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

/// Where the crate sends to.
#[derive(Debug)]
struct Place(Arc<Server>, SecretString);

impl Config for Place {
    /// The client itself carries ours.
    fn headers(&self) -> HeaderMap {
        HeaderMap::new()
    }

    fn url(&self, path: &str) -> String {
        self.0.endpoint.url(path)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        self.0.endpoint.base().as_str()
    }

    fn api_key(&self) -> &SecretString {
        &self.1
    }
}
