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

use super::error::Refusal;
use super::remote::{self, Ask, RemoteSettings};
use super::{EmbedError, Embedder};
use crate::clock::{Clock, SystemClock};
use crate::net::{self, Endpoint};

/// Of a body that only explains a failure, this much is read.
const LONGEST_COMPLAINT: usize = 64 << 10;

/// A model behind `/embeddings`.
#[derive(Debug)]
pub struct OpenAi {
    server: Arc<Server>,
    model: String,
    dimensions: OnceLock<usize>,
    http: OnceLock<reqwest::Client>,
}

#[derive(Debug)]
struct Server {
    endpoint: Endpoint,
    settings: RemoteSettings,
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
            server: Arc::new(Server { endpoint, settings }),
            dimensions: OnceLock::new(),
            http: OnceLock::new(),
        }
    }

    /// Built at the first call: it costs time, and fails where there are no certificates.
    fn http(&self) -> Result<reqwest::Client, EmbedError> {
        if let Some(http) = self.http.get() {
            return Ok(http.clone());
        }
        let Server { endpoint, settings } = &*self.server;
        let http = net::client(endpoint, settings.patience)?;
        Ok(self.http.get_or_init(|| http).clone())
    }

    /// A client of the crate that sends through us: one request, no retry, our errors.
    fn client(&self) -> Result<Client<Place>, EmbedError> {
        let http = self.http()?;
        let place = Place(Arc::clone(&self.server), SecretString::default());
        let client = Client::build(http.clone(), place);
        let server = Arc::clone(&self.server);
        let service = tower::service_fn(move |factory: HttpRequestFactory| {
            let (http, server) = (http.clone(), Arc::clone(&server));
            async move {
                let response = http.execute(factory.build().await?).await;
                let response = response.map_err(|error| server.failed(error));
                let accepted = match response {
                    Ok(response) => server.accept(response).await,
                    Err(error) => Err(error),
                };
                accepted.map_err(|error| OpenAIError::Boxed(Box::new(error)))
            }
        });
        Ok(client.with_http_service(service))
    }
}

impl Server {
    /// Refuses what is no success, and web pages that say 200.
    async fn accept(&self, mut response: Response) -> Result<Response, EmbedError> {
        let status = response.status();
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
        let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if status.is_success() && !is_page {
            return Ok(response);
        }
        let retry_after = net::retry_after(response.headers(), SystemClock.now());
        let mut body = Vec::new();
        while body.len() < LONGEST_COMPLAINT
            && let Ok(Some(chunk)) = response.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
        let message = net::complaint(&body, |text| self.endpoint.mask(text));
        if status.is_success() {
            return Err(self.protocol(message));
        }
        let refusal = Refusal {
            status: Some(status.as_u16()),
            message,
            retry_after,
        };
        let url = self.endpoint.shown();
        let key = &self.endpoint.key().source;
        Err(EmbedError::refused(url, &self.settings.model, key, refusal))
    }

    fn failed(&self, error: reqwest::Error) -> EmbedError {
        let url = self.endpoint.shown();
        if error.is_timeout() && !error.is_connect() {
            let idle = self.settings.patience.idle;
            return EmbedError::Silent { url, idle };
        }
        EmbedError::Unreachable {
            url,
            why: net::one_line(&self.endpoint.mask(&net::causes(&error.without_url()))),
        }
    }

    fn protocol(&self, what: String) -> EmbedError {
        EmbedError::Protocol {
            url: self.endpoint.shown(),
            what,
        }
    }

    /// The crate's errors as ours.
    fn translate(&self, error: OpenAIError) -> EmbedError {
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<EmbedError>() {
                Ok(ours) => *ours,
                Err(other) => self.protocol(other.to_string()),
            },
            OpenAIError::Reqwest(error) => self.failed(error),
            OpenAIError::JSONDeserialize(error, text) => {
                let text: String = self.endpoint.mask(&text).chars().take(80).collect();
                self.protocol(format!("{text:?}, which is no list of vectors ({error})"))
            }
            other => self.protocol(net::one_line(&other.to_string())),
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
        let mut answer = answer.map_err(|error| self.server.translate(error))?.data;
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
