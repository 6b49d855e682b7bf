//! `OpenAI`'s chat completions and everything compatible, on async-openai with a transport of our own: its errors lose
//! the status and its own retries know nothing of ours. What a request and a chunk look like is in `encode` and
//! `decode`; this is the thin call around them.

mod decode;
mod encode;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_openai::Client;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use reqwest::Response;
use serde_json::Value;
use tokio::sync::OnceCell;

use self::decode::{Chunk, Decoder};
use self::encode::Dialect;
use super::http::{self, Http};
use super::known::{self, LimitField, Told};
use super::reply::{self, Frames};
use super::target::{self, Offered, Target};
use super::{
    Abilities, ChatRequest, Delivery, EventStream, ModelName, Provider, ProviderError, sse,
};
use crate::net::{self, OpenAiPlace};

/// The vendor's own server, which does not tell how much its models hold.
pub(super) const OFFICIAL: &str = "https://api.openai.com/v1";

/// A model behind chat completions.
#[derive(Clone, Debug)]
pub(super) struct OpenAi(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: Target,
    http: Arc<Http>,
    /// Behind a lock because requests may run side by side; held for a copy only.
    dialect: Mutex<Dialect>,
    /// What the server says of the model, once it was reached.
    told: OnceCell<Told>,
}

impl OpenAi {
    pub(super) fn new(target: Target) -> Self {
        let official = is_official(&target);
        let limit = match &target.known {
            _ if official => LimitField::MaxCompletionTokens,
            Some(row) => row.limit,
            None => LimitField::default(),
        };
        let dialect = Dialect {
            limit,
            ..Dialect::default()
        };
        Self(Arc::new(Inner {
            http: Http::of(&target),
            dialect: Mutex::new(dialect),
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

fn is_official(target: &Target) -> bool {
    target.endpoint.base().host_str() == Some("api.openai.com")
}

#[async_trait]
impl Provider for OpenAi {
    fn model(&self) -> &ModelName {
        &self.0.target.name
    }

    async fn abilities(&self) -> Abilities {
        let target = &self.0.target;
        let known = target.known.as_ref();
        let is_told = target.limits.context_window > 0 || (is_official(target) && known.is_some());
        let told = if is_told {
            Told::default()
        } else {
            self.0.told().await
        };
        known::settle(target.limits, told, known)
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        target::aside(&self.0.http.shown(), self.0.models()).await
    }

    async fn offers(&self) -> Result<Vec<Offered>, ProviderError> {
        target::aside(&self.0.http.shown(), self.0.offered()).await
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let inner = Arc::clone(&self.0);
        let reply = inner.http.reply_to(&request);
        reply::events(reply, Decoder::default(), async move {
            target::open(inner.open(&request), inner.models()).await
        })
    }
}

impl Inner {
    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(target::names(self.offered().await?))
    }

    async fn told(&self) -> Told {
        let (model, url) = (&self.target.name.model, self.http.shown());
        target::listed(&self.told, model, &url, self.offered()).await
    }

    async fn offered(&self) -> Result<Vec<Offered>, ProviderError> {
        let client = client(&self.http, Transport::of(Delivery::Whole))?;
        let list: Value = client.models().list_byot().await.map_err(|error| {
            match translate(&self.http, error, None) {
                // No model was asked for: the path is what is not there.
                ProviderError::UnknownModel { message, .. } => self.http.protocol(message),
                error => error,
            }
        })?;
        let list = target::offered(&list);
        list.ok_or_else(|| self.http.protocol("not a model list".to_owned()))
    }

    /// Sends, and once more if the server refuses a field that others want to have.
    async fn open(&self, request: &ChatRequest) -> Result<Frames<Chunk>, ProviderError> {
        let dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = match self.open_in(dialect, request).await {
            Err(
                refused @ ProviderError::Status {
                    status: 400 | 422, ..
                },
            ) => refused,
            other => return other,
        };
        let Some(other) = dialect.after(&refused.to_string()) else {
            return Err(refused);
        };
        let frames = self.open_in(other, request).await?;
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = other;
        Ok(frames)
    }

    async fn open_in(
        &self,
        dialect: Dialect,
        request: &ChatRequest,
    ) -> Result<Frames<Chunk>, ProviderError> {
        let body = encode::body(&self.target.name.model, request, dialect);
        let transport = Transport::of(request.delivery);
        let client = client(&self.http, transport.clone())?;
        let http = Arc::clone(&self.http);
        match request.delivery {
            Delivery::Whole => {
                let whole = client.chat().create_byot::<_, Chunk>(&body).await;
                let whole = whole.map_err(|error| translate(&http, error, None))?;
                Ok(stream::iter([Ok(whole), Ok(Chunk::last())]).boxed())
            }
            Delivery::Streamed => {
                let marked = Arc::clone(&transport.marked);
                let last = stream::once(async move { marked.get().map(|()| Ok(Chunk::last())) });
                let chunks = client.chat().create_stream_byot::<_, Chunk>(&body).await;
                let chunks = chunks.map_err(|error| translate(&http, error, None))?;
                let read = move |chunk: Result<Chunk, OpenAIError>| {
                    chunk.map_err(|error| translate(&http, error, transport.broken.get()))
                };
                let last = last.filter_map(std::future::ready);
                Ok(chunks.map(read).chain(last).boxed())
            }
        }
    }
}

impl Dialect {
    /// The dialect to try after a refusal in these words, if it is about a field.
    fn after(self, refusal: &str) -> Option<Self> {
        let names = |field: &str| refusal.contains(field);
        if names("stream_options") || names("include_usage") {
            return (!self.no_stream_options).then_some(Self {
                no_stream_options: true,
                ..self
            });
        }
        if names("temperature") {
            return (!self.no_temperature).then_some(Self {
                no_temperature: true,
                ..self
            });
        }
        // "Use 'max_completion_tokens' instead" names both; an older server names the one it was sent.
        let limit = match self.limit {
            LimitField::MaxTokens if names("max_completion_tokens") => {
                LimitField::MaxCompletionTokens
            }
            LimitField::MaxCompletionTokens if names("max_completion_tokens") => {
                LimitField::MaxTokens
            }
            LimitField::MaxTokens | LimitField::MaxCompletionTokens => return None,
        };
        Some(Self { limit, ..self })
    }
}

/// How one request travels, and what it tells us past async-openai, which passes only a string on.
#[derive(Clone, Debug)]
struct Transport {
    delivery: Delivery,
    broken: Arc<OnceLock<ProviderError>>,
    /// Set once `[DONE]` came, or a body that is whole in itself: the crate ends its stream there, and
    /// does the same where the stream was cut.
    marked: Arc<OnceLock<()>>,
}

impl Transport {
    fn of(delivery: Delivery) -> Self {
        Self {
            delivery,
            broken: Arc::default(),
            marked: Arc::default(),
        }
    }

    /// Guards a body on its way to the crate. A server that was asked for a stream and sends one JSON
    /// object (a gateway's error under status 200, say) gets it turned into one event.
    async fn guard(self, http: Arc<Http>, response: Response) -> Result<Response, ProviderError> {
        let is_json = http::is_type(&response, "application/json");
        let (head, body) = ::http::Response::<reqwest::Body>::from(response).into_parts();
        let response = Response::from(::http::Response::new(body));
        let body = match self.delivery {
            Delivery::Whole => http.body(response).await?.into(),
            Delivery::Streamed if is_json => {
                let object: Value = serde_json::from_slice(&http.body(response).await?)
                    .map_err(|error| http.protocol(format!("invalid JSON ({error})")))?;
                self.marked.get_or_init(|| ());
                format!("data: {object}\n\n").into()
            }
            Delivery::Streamed => {
                let bytes = sse::bounded(http.shown(), http.bytes(response));
                reqwest::Body::wrap_stream(bytes.map(move |bytes| {
                    if bytes.as_ref().is_ok_and(|event| is_done(event)) {
                        self.marked.get_or_init(|| ());
                    }
                    bytes.inspect_err(|error| drop(self.broken.set(error.clone())))
                }))
            }
        };
        Ok(Response::from(::http::Response::from_parts(head, body)))
    }
}

/// Returns whether an event, or lines of it, hold the protocol's end mark. Events come one by one, see
/// [`sse::bounded`].
fn is_done(event: &[u8]) -> bool {
    let mut lines = event.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let data = line.strip_prefix(b"data:");
        data.is_some_and(|data| data.trim_ascii() == b"[DONE]")
    })
}

/// A client of the crate that sends through us: one request, no retry, our errors.
fn client(http: &Arc<Http>, transport: Transport) -> Result<Client<OpenAiPlace>, ProviderError> {
    let place = OpenAiPlace::new(http.endpoint().clone());
    let client = Client::build(http.client()?.clone(), place);
    let http = Arc::clone(http);
    let service = tower::service_fn(move |factory: HttpRequestFactory| {
        let (http, transport) = (Arc::clone(&http), transport.clone());
        async move {
            let response = match http.send(factory.build().await?).await {
                Ok(response) => transport.guard(http, response).await,
                Err(error) => Err(error),
            };
            response.map_err(|error| OpenAIError::Boxed(Box::new(error)))
        }
    });
    Ok(client.with_http_service(service))
}

/// The crate's errors as ours; `broken` is what the transport knows better.
fn translate(http: &Http, error: OpenAIError, broken: Option<&ProviderError>) -> ProviderError {
    let error = match error {
        OpenAIError::Boxed(error) => match error.downcast::<ProviderError>() {
            Ok(ours) => *ours,
            Err(other) => http.protocol(other.to_string()),
        },
        OpenAIError::Reqwest(error) => http.failed(error),
        OpenAIError::JSONDeserialize(error, text) => {
            let text: String = http.endpoint().mask(&text).chars().take(80).collect();
            http.protocol(format!("{text:?} is not a completion ({error})"))
        }
        other => match broken {
            Some(broken) => broken.clone(),
            None => http.protocol(net::one_line(&other.to_string())),
        },
    };
    match error {
        ProviderError::Protocol { url, what } if !url.ends_with("/v1") => ProviderError::Protocol {
            url,
            what: format!("{what} (base_url of an OpenAI-compatible server ends in /v1)"),
        },
        error => error,
    }
}
