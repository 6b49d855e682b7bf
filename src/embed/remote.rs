//! What embedders behind a server do alike: requests, batches, texts cut to a length, a look at what came back. Unit:
//! one call of [`Embedder::embed`]. Invariant: as many vectors as texts, in their
//! order, of one length, each a unit vector.

use std::collections::VecDeque;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;

use super::error::Refusal;
use super::{EmbedError, Embedder, said, unit};
use crate::clock::{Clock, SystemClock};
use crate::net::{self, Endpoint, Patience};

/// A longer answer is none of vectors.
const MAX_ANSWER: usize = 64 << 20;

/// A refused text is halved, but never below this many characters.
const SHORTEST: usize = 100;

/// How a server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// The model's name, as the server knows it.
    pub model: String,
    /// Texts of one request at most.
    pub batch: usize,
    /// Characters of one text at most.
    pub longest: usize,
    pub patience: Patience,
}

impl RemoteSettings {
    /// The usual settings for a model: time enough for a server that has to load it first.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            batch: 32,
            longest: 8_000,
            patience: Patience {
                connect: Duration::from_secs(5),
                idle: Duration::from_mins(1),
            },
        }
    }
}

/// One server and how it is asked.
#[derive(Debug)]
pub(super) struct Server {
    /// As vectors are labelled with it.
    name: String,
    /// Known once it has answered.
    dimensions: OnceLock<usize>,
    pub(super) endpoint: Endpoint,
    pub(super) settings: RemoteSettings,
    http: OnceLock<reqwest::Client>,
}

impl Server {
    /// Sends nothing yet.
    pub(super) fn new(name: String, endpoint: Endpoint, settings: RemoteSettings) -> Self {
        Self {
            name,
            dimensions: OnceLock::new(),
            endpoint,
            settings,
            http: OnceLock::new(),
        }
    }

    /// Built at the first call: it costs time, and fails where there are no certificates.
    pub(super) fn http(&self) -> Result<&reqwest::Client, EmbedError> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let http = net::client(&self.endpoint, self.settings.patience)?;
        Ok(self.http.get_or_init(|| http))
    }

    /// Sends a request and reads its answer. Refuses what is no success, and web pages that say 200.
    pub(super) async fn answer(&self, request: reqwest::Request) -> Result<Vec<u8>, EmbedError> {
        let response = self.http()?.execute(request).await;
        let response = response.map_err(|error| self.failed(error))?;
        let status = response.status();
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
        let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        let retry_after = net::retry_after(response.headers(), SystemClock.now());
        let body = net::body(response, MAX_ANSWER).await;
        let body = body.map_err(|error| self.failed(error))?;
        let body =
            body.ok_or_else(|| self.protocol(format!("more than {} MiB", MAX_ANSWER >> 20)))?;
        if status.is_success() && !is_page {
            return Ok(body);
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

    pub(super) fn failed(&self, error: reqwest::Error) -> EmbedError {
        EmbedError::no_answer(&self.endpoint, error, self.settings.patience.idle)
    }

    pub(super) fn protocol(&self, what: String) -> EmbedError {
        EmbedError::Protocol {
            url: self.endpoint.shown(),
            what,
        }
    }
}

/// One request.
#[async_trait]
pub(super) trait Ask: Send + Sync + fmt::Debug {
    fn server(&self) -> &Server;

    async fn ask(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError>;
}

#[async_trait]
impl<T: Ask> Embedder for T {
    fn model(&self) -> &str {
        &self.server().name
    }

    fn dimensions(&self) -> Option<usize> {
        self.server().dimensions.get().copied()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        embed(self, texts).await
    }
}

/// Texts with their places among all.
type Batch = Vec<(usize, String)>;

/// Embeds `texts` request by request. A batch with a text that is too long for the server is halved, a
/// single one cut in half, until it takes them.
async fn embed(asked: &impl Ask, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
    let settings = &asked.server().settings;
    let mut vectors = vec![Vec::new(); texts.len()];
    let cut: Batch = (0..)
        .zip(texts.iter().map(|text| head(said(text), settings.longest)))
        .collect();
    let mut waiting: VecDeque<Batch> = cut
        .chunks(settings.batch.max(1))
        .map(<[_]>::to_vec)
        .collect();
    while let Some(batch) = waiting.pop_front() {
        let sent = batch.iter().map(|(_, text)| text.clone()).collect();
        match asked.ask(sent).await {
            Ok(answer) => {
                let answer = checked(asked.server(), answer, batch.len())?;
                for ((at, _), vector) in batch.into_iter().zip(answer) {
                    vectors[at] = vector;
                }
            }
            Err(error @ EmbedError::TooLong { .. }) => {
                for part in smaller(batch).ok_or(error)?.into_iter().rev() {
                    waiting.push_front(part);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(vectors)
}

/// Returns what to try after a refusal because of length; `None` where nothing is left to try.
fn smaller(mut batch: Batch) -> Option<Vec<Batch>> {
    if batch.len() > 1 {
        let rest = batch.split_off(batch.len() / 2);
        return Some(vec![batch, rest]);
    }
    let (at, text) = batch.pop()?;
    let half = text.chars().count() / 2;
    (half >= SHORTEST).then(|| vec![vec![(at, head(&text, half))]])
}

/// The first `n` characters, with something in them if there is anything.
fn head(text: &str, n: usize) -> String {
    let text = text.trim_start();
    match text.char_indices().nth(n) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

fn checked(
    server: &Server,
    answer: Vec<Vec<f32>>,
    n_asked: usize,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    if answer.len() != n_asked {
        let what = format!("{} vectors for {n_asked} texts", answer.len());
        return Err(server.protocol(what));
    }
    let first = answer.first().map_or(0, Vec::len);
    let wanted = *server.dimensions.get_or_init(|| first);
    let check = |vector: Vec<f32>| {
        if vector.len() != wanted {
            let what = format!("a vector of {} numbers, not {wanted}", vector.len());
            return Err(server.protocol(what));
        }
        unit(vector).ok_or_else(|| server.protocol("a zero vector".to_owned()))
    };
    answer.into_iter().map(check).collect()
}
