//! Anthropic's Messages API, over our own HTTP; no kept crate speaks it. What a request and an event look like is in
//! `encode` and `decode`; this is the thin call around them.

mod decode;
mod encode;
mod names;

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Request;
use reqwest::header::HeaderValue;
use serde_json::Value;
use tokio::sync::OnceCell;

use self::decode::Decoder;
use self::names::Names;
use super::http::{self, Http};
use super::known::{self, Told};
use super::reply::{self, Frames};
use super::target::{self, Offered, Target};
use super::{
    Abilities, ChatRequest, Delivery, EventStream, ModelName, Provider, ProviderError, sse,
};
use crate::chat::Tokens;

/// The vendor's own server.
pub(super) const OFFICIAL: &str = "https://api.anthropic.com";
/// The version of the protocol, sent with every request.
pub(super) const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// What a request wants that is not for everybody yet.
const BETA: &str = "anthropic-beta";

/// A model behind the Messages API.
#[derive(Clone, Debug)]
pub(super) struct Anthropic(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: Target,
    http: Arc<Http>,
    /// What the server says of the model, once it was reached.
    told: OnceCell<Told>,
}

impl Anthropic {
    pub(super) fn new(mut target: Target) -> Self {
        target.endpoint = target.endpoint.with(VERSION.0, VERSION.1);
        Self(Arc::new(Inner {
            http: Http::of(&target),
            told: OnceCell::new(),
            target,
        }))
    }

    /// The way to the server, for a recorded answer.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn http(&self) -> &Arc<Http> {
        &self.0.http
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn model(&self) -> &ModelName {
        &self.0.target.name
    }

    /// The vendor does not tell windows; another server behind the same protocol may.
    async fn abilities(&self) -> Abilities {
        let target = &self.0.target;
        let known = target.known.as_ref();
        let is_told = target.limits.context_window > 0 || known.is_some();
        let told = if is_told {
            Told::default()
        } else {
            self.0.told().await
        };
        known::settle(target.limits, told, known)
    }

    fn knows_trained_tools(&self) -> bool {
        true
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        target::aside(&self.0.http.shown(), self.0.models()).await
    }

    async fn offers(&self) -> Result<Vec<Offered>, ProviderError> {
        target::aside(&self.0.http.shown(), self.0.offered()).await
    }

    async fn count(&self, request: &ChatRequest) -> Option<Tokens> {
        let counted = target::aside(&self.0.http.shown(), self.0.count(request)).await;
        counted
            .inspect_err(|error| tracing::debug!("no count from the server: {error}"))
            .ok()
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let inner = Arc::clone(&self.0);
        let reply = inner.http.reply_to(&request);
        let decoder = Decoder::new(Names::of(&request.tools));
        reply::events(reply, decoder, async move {
            target::open(inner.open(&request), inner.models()).await
        })
    }
}

impl Inner {
    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(target::names(self.offered().await?))
    }

    async fn offered(&self) -> Result<Vec<Offered>, ProviderError> {
        let list = self
            .http
            .json(self.http.get("/v1/models?limit=1000")?)
            .await?;
        let list = target::offered(&list);
        list.ok_or_else(|| self.http.protocol("not a model list".to_owned()))
    }

    async fn told(&self) -> Told {
        let (model, url) = (&self.target.name.model, self.http.shown());
        target::listed(&self.told, model, &url, self.offered()).await
    }

    async fn count(&self, request: &ChatRequest) -> Result<Tokens, ProviderError> {
        let prompt = encode::prompt(&self.target.name.model, request);
        let question = self.post("/v1/messages/count_tokens", &prompt, request)?;
        let answer = self.http.json(question).await?;
        let tokens = answer["input_tokens"].as_u64();
        let tokens = tokens.and_then(|tokens| u32::try_from(tokens).ok());
        tokens
            .map(Tokens)
            .ok_or_else(|| self.http.protocol("no token count".to_owned()))
    }

    /// With what has to be announced of its tools.
    fn post(
        &self,
        path: &str,
        body: &Value,
        asking: &ChatRequest,
    ) -> Result<Request, ProviderError> {
        let mut request = self.http.post(path, body)?;
        for beta in Names::of(&asking.tools).betas() {
            request
                .headers_mut()
                .append(BETA, HeaderValue::from_static(beta));
        }
        Ok(request)
    }

    async fn open(&self, request: &ChatRequest) -> Result<Frames<String>, ProviderError> {
        let body = encode::body(&self.target.name.model, request);
        let question = self.post("/v1/messages", &body, request)?;
        let response = self.http.send(question).await?;
        // A server that was asked for a stream may still answer with one object.
        let is_whole = http::is_type(&response, "application/json");
        if request.delivery == Delivery::Streamed && !is_whole {
            let bytes = Arc::clone(&self.http).bytes(response);
            return Ok(sse::data(self.http.shown(), bytes));
        }
        self.http.text(response).await
    }
}
