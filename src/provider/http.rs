//! HTTP to one server: a client built when it is first needed, requests that come back as a good response or a
//! [`ProviderError`], bodies of bounded size. Invariant: nothing here waits longer than `connect` for a connection and
//! `idle` for the next byte, and nothing limits a reply that keeps coming. What the bytes mean is left to the wire
//! formats.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
#[cfg(any(test, feature = "testing"))]
use std::sync::{Mutex, PoisonError};

use futures_util::{Stream, StreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Request, Response};
use serde_json::Value;

use super::failure::{Asked, Complaint, Refusal};
use super::reply::{Frames, Reply};
use super::target::Target;
use super::{ChatRequest, NetworkSettings, ProviderError, wire};
use crate::clock::{Clock, SystemClock};
use crate::net::{self, Endpoint, Patience, causes};

/// A body that is read whole may not be longer.
const LONGEST_BODY: usize = 64 << 20;
/// Of a body that only explains a failure, this much is read.
const LONGEST_COMPLAINT: usize = 64 << 10;

/// How a connection that closed too early is reported, our words first.
const CLOSED: [&str; 4] = [
    "the connection was closed",
    "unexpected EOF",
    "end of file",
    "incomplete message",
];

/// Speaks HTTP to one endpoint, for one model.
#[derive(Debug)]
pub(super) struct Http {
    endpoint: Endpoint,
    model: String,
    network: NetworkSettings,
    client: OnceLock<Client>,
    /// Whether a response has come, so that the next request may travel on a used connection.
    used: AtomicBool,
    /// Taken for the server's answer to the next request.
    #[cfg(any(test, feature = "testing"))]
    recorded: Mutex<Option<Response>>,
}

impl Http {
    /// Speaks to the server of a model.
    pub(super) fn of(target: &Target) -> Arc<Self> {
        let Target {
            name,
            endpoint,
            network,
            ..
        } = target;
        let http = Self::new(endpoint.clone(), name.model.clone(), network.clone());
        Arc::new(http)
    }

    pub(super) fn new(endpoint: Endpoint, model: String, network: NetworkSettings) -> Self {
        Self {
            endpoint,
            model,
            network,
            client: OnceLock::new(),
            used: AtomicBool::new(false),
            #[cfg(any(test, feature = "testing"))]
            recorded: Mutex::new(None),
        }
    }

    /// Answers the next request with this, without asking the server.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn answer_once(&self, response: Response) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
    }

    #[cfg(any(test, feature = "testing"))]
    fn recorded(&self) -> Option<Response> {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.take()
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A reply to a request that is about to be sent.
    pub(super) fn reply_to(&self, request: &ChatRequest) -> Reply {
        Reply::new(self.endpoint.clone(), wire::spare_id(&request.messages))
    }

    /// The endpoint as errors name it.
    pub(super) fn shown(&self) -> String {
        self.endpoint.shown()
    }

    /// Built at the first call: it costs time, and fails where there are no certificates.
    pub(super) fn client(&self) -> Result<&Client, ProviderError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let patience = Patience {
            connect: self.network.connect,
            idle: self.network.idle,
        };
        let client = net::client(&self.endpoint, patience)?;
        Ok(self.client.get_or_init(|| client))
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Request, ProviderError> {
        let request = self.client()?.post(self.endpoint.url(path)).json(body);
        request.build().map_err(|error| self.failed(error))
    }

    pub(super) fn get(&self, path: &str) -> Result<Request, ProviderError> {
        let request = self.client()?.get(self.endpoint.url(path));
        request.build().map_err(|error| self.failed(error))
    }

    /// Sends, and sends once more if a used connection turns out to be closed: servers drop idle ones
    /// without a word, and that is no failure of theirs.
    pub(super) async fn send(&self, request: Request) -> Result<Response, ProviderError> {
        #[cfg(any(test, feature = "testing"))]
        if let Some(response) = self.recorded() {
            return self.accept(response).await;
        }
        let client = self.client()?;
        let again = request.try_clone();
        let response = match client.execute(request).await {
            Err(error) if is_stale(&error) && self.used.swap(false, Ordering::Relaxed) => {
                match again {
                    Some(again) => client.execute(again).await,
                    None => Err(error),
                }
            }
            first => first,
        };
        let response = response.map_err(|error| self.failed(error))?;
        self.used.store(true, Ordering::Relaxed);
        self.accept(response).await
    }

    /// Refuses what is no success, and web pages that say 200.
    async fn accept(&self, response: Response) -> Result<Response, ProviderError> {
        let status = response.status();
        if status.is_success() && !is_type(&response, "text/html") {
            return Ok(response);
        }
        let moved = response.headers().get("location");
        let moved = moved.and_then(|to| Some(format!("redirected to {}", to.to_str().ok()?)));
        let retry_after = net::retry_after(response.headers(), SystemClock.now());
        let (body, _) = read(response, LONGEST_COMPLAINT).await;
        let mask = |text: &str| self.endpoint.mask(text);
        let mut complaint = Complaint::read(&body, mask);
        if let Some(moved) = moved.filter(|_| status.is_redirection()) {
            complaint.message = net::one_line(&mask(&moved));
        }
        if status.is_success() {
            return Err(self.protocol(complaint.message));
        }
        let refusal = Refusal {
            status: status.as_u16(),
            retry_after,
            complaint,
        };
        Err(refusal.into_error(Asked {
            url: self.shown(),
            model: &self.model,
            key: self.endpoint.key().source.clone(),
        }))
    }

    /// A whole body as JSON.
    pub(super) async fn json(&self, request: Request) -> Result<Value, ProviderError> {
        let response = self.send(request).await?;
        let body = self.body(response).await?;
        serde_json::from_slice(&body).map_err(|error| {
            let text = String::from_utf8_lossy(&body);
            let start = net::one_line(&self.endpoint.mask(&text));
            let start: String = start.chars().take(80).collect();
            self.protocol(format!("{start:?} is not JSON ({error})"))
        })
    }

    pub(super) async fn body(&self, response: Response) -> Result<Vec<u8>, ProviderError> {
        match read(response, LONGEST_BODY).await {
            (_, Some(Stopped::Failed(error))) => Err(self.broken(&error)),
            (_, Some(Stopped::TooLong)) => {
                Err(self.protocol(format!("more than {} MiB", LONGEST_BODY >> 20)))
            }
            (body, None) => Ok(body),
        }
    }

    /// A whole body as one frame; none where it is blank.
    pub(super) async fn text(&self, response: Response) -> Result<Frames<String>, ProviderError> {
        let body = self.body(response).await?;
        let text = String::from_utf8_lossy(&body);
        let whole = (!text.trim().is_empty()).then(|| Ok(text.into_owned()));
        Ok(stream::iter(whole).boxed())
    }

    /// The bytes of a response as they come.
    pub(super) fn bytes(
        self: Arc<Self>,
        response: Response,
    ) -> impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static {
        let bytes = response.bytes_stream();
        bytes.map(move |bytes| match bytes {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(self.broken(&error)),
        })
    }

    pub(super) fn protocol(&self, what: String) -> ProviderError {
        ProviderError::Protocol {
            url: self.shown(),
            what,
        }
    }

    /// A request that got no response.
    pub(super) fn failed(&self, error: reqwest::Error) -> ProviderError {
        if error.is_timeout() && !error.is_connect() {
            return ProviderError::Idle {
                url: self.shown(),
                idle: self.network.idle,
            };
        }
        let why = if error.is_timeout() {
            format!("no connection within {} s", self.network.connect.as_secs())
        } else {
            causes(&error.without_url())
        };
        ProviderError::Unreachable {
            url: self.shown(),
            why: net::one_line(&self.endpoint.mask(&why)),
        }
    }

    /// A response that broke off.
    fn broken(&self, error: &reqwest::Error) -> ProviderError {
        let url = self.shown();
        if error.is_timeout() {
            let idle = self.network.idle;
            return ProviderError::Idle { url, idle };
        }
        let why = match causes(error) {
            why if CLOSED.iter().any(|words| why.contains(words)) => CLOSED[0].to_owned(),
            why => why,
        };
        ProviderError::Truncated {
            url,
            why: Some(net::one_line(&why)),
        }
    }
}

/// Returns whether `error` is what a request on a connection closed meanwhile looks like.
fn is_stale(error: &reqwest::Error) -> bool {
    error.is_request() && !error.is_connect() && !error.is_timeout()
}

pub(super) fn is_type(response: &Response, wanted: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with(wanted))
}

enum Stopped {
    Failed(reqwest::Error),
    TooLong,
}

/// Reads up to `longest` bytes, and says why it did not read to the end.
async fn read(mut response: Response, longest: usize) -> (Vec<u8>, Option<Stopped>) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > longest => {
                body.extend_from_slice(&chunk[..longest - body.len()]);
                return (body, Some(Stopped::TooLong));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return (body, None),
            Err(error) => return (body, Some(Stopped::Failed(error))),
        }
    }
}
