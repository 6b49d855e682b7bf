//! A further memory behind Mem0's REST API (X21): facts are added to it and searched in it. Unit: one request.
//!
//! Invariant: it holds nothing that the files do not; where it fails, they answer alone.

mod error;

use std::time::Duration;

use reqwest::{Client, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

pub use error::Mem0Error;

use crate::net::{self, Endpoint, Key, NetError, Patience, Scheme};

/// A person's memories on a server.
#[derive(Debug)]
pub struct Mem0 {
    endpoint: Endpoint,
    paths: Paths,
    user: String,
    http: OnceCell<Client>,
}

/// A memory that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub text: String,
    pub score: f32,
}

/// The service and the server one runs oneself have different addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Paths {
    add: &'static str,
    search: &'static str,
}

const SERVICE: Paths = Paths {
    add: "/memories/",
    search: "/memories/search/",
};
const OWN: Paths = Paths {
    add: "/memories",
    search: "/search",
};

/// A turn does not wait longer for it.
const LONGEST: Duration = Duration::from_secs(3);
/// Of an answer, this much is read.
const MAX_BYTES: usize = 1 << 20;

/// What a search answers: a list, or an object around one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Bare(Vec<Found>),
    Named { results: Vec<Found> },
}

#[derive(Debug, Deserialize)]
struct Found {
    memory: String,
    #[serde(default)]
    score: Option<f32>,
}

impl Mem0 {
    /// Sends nothing yet. An address that ends in `/v1` is the service's, any other a server one runs oneself.
    pub fn new(base_url: &str, key: Key, user: &str) -> Result<Self, NetError> {
        let base = net::base_url("memory.mem0.base_url", base_url)?;
        let is_service = base.path().trim_end_matches('/').ends_with("/v1");
        let (paths, scheme) = if is_service {
            (SERVICE, Scheme::Token)
        } else {
            (OWN, Scheme::ApiKey)
        };
        Ok(Self {
            endpoint: Endpoint::new(base, key, scheme)?,
            paths,
            user: user.to_owned(),
            http: OnceCell::new(),
        })
    }

    /// The server as people may see it.
    pub fn shown(&self) -> String {
        self.endpoint.shown()
    }

    /// Keeps what a person said.
    pub async fn add(&self, text: &str) -> Result<(), Mem0Error> {
        let body = json!({
            "messages": [{"role": "user", "content": text}],
            "user_id": self.user,
        });
        self.ask(self.paths.add, &body).await.map(drop)
    }

    /// What is known on a question, best first, at most `limit`.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<Memory>, Mem0Error> {
        let body = json!({
            "query": query,
            "user_id": self.user,
            "filters": {"user_id": self.user},
            "limit": limit,
            "top_k": limit,
        });
        let answer = self.ask(self.paths.search, &body).await?;
        let answer: Answer =
            serde_json::from_slice(&answer).map_err(|error| Mem0Error::Protocol {
                server: self.shown(),
                what: error.to_string(),
            })?;
        let found = match answer {
            Answer::Bare(found) | Answer::Named { results: found } => found,
        };
        let memories = found.into_iter().take(limit).map(|found| Memory {
            text: found.memory,
            score: found.score.unwrap_or(0.0),
        });
        Ok(memories.collect())
    }

    async fn ask(&self, path: &str, body: &Value) -> Result<Vec<u8>, Mem0Error> {
        let http = self.http().await?;
        let request = http.post(self.endpoint.url(path)).json(body);
        let answered = async {
            let response = request.send().await.map_err(|error| self.failed(&error))?;
            self.body(response).await
        };
        let late = |_| Mem0Error::Unreachable {
            server: self.shown(),
            what: format!("no answer within {} s", LONGEST.as_secs()),
        };
        tokio::time::timeout(LONGEST, answered)
            .await
            .map_err(late)?
    }

    async fn body(&self, response: Response) -> Result<Vec<u8>, Mem0Error> {
        let status = response.status();
        let body = net::body(response, MAX_BYTES).await;
        let body = body.map_err(|error| self.failed(&error))?;
        let body = body.ok_or_else(|| Mem0Error::Protocol {
            server: self.shown(),
            what: "more than 1 MB".to_owned(),
        })?;
        if status.is_success() {
            return Ok(body);
        }
        Err(Mem0Error::Refused {
            server: self.shown(),
            status: status.as_u16(),
            said: net::complaint(&body, |text| self.endpoint.mask(text)),
        })
    }

    /// Built at the first call: it costs time, and fails where there are no certificates.
    async fn http(&self) -> Result<Client, Mem0Error> {
        let patience = Patience {
            connect: LONGEST,
            idle: LONGEST,
        };
        let client = || async { net::client(&self.endpoint, patience) };
        Ok(self.http.get_or_try_init(client).await?.clone())
    }

    fn failed(&self, error: &reqwest::Error) -> Mem0Error {
        Mem0Error::Unreachable {
            server: self.shown(),
            what: self.endpoint.mask(&net::causes(error)),
        }
    }
}
