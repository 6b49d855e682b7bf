//! The server of an [`Endpoint`] as async-openai wants it.

use async_openai::config::Config;
use reqwest::header::HeaderMap;
use secrecy::SecretString;

use super::Endpoint;

/// Where async-openai sends to.
#[derive(Clone, Debug)]
pub struct OpenAiPlace(Endpoint, SecretString);

impl OpenAiPlace {
    pub fn new(endpoint: Endpoint) -> Self {
        Self(endpoint, SecretString::default())
    }
}

impl Config for OpenAiPlace {
    /// The client itself carries ours.
    fn headers(&self) -> HeaderMap {
        HeaderMap::new()
    }

    fn url(&self, path: &str) -> String {
        self.0.url(path)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        self.0.base().as_str()
    }

    fn api_key(&self) -> &SecretString {
        &self.1
    }
}
