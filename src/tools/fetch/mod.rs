//! `fetch_url`: what stands at a public address, as text.
//!
//! ```text
//!   address   which addresses are public      guard   where a request may go: first, redirected, resolved
//!   page      a body as a model can read it           html    a web page as text
//!   tag       what the elements of one mean
//! ```
//!
//! Invariant: a call ends within its time, holds no more than `MAX_BODY` bytes of a body, and sends neither cookies nor
//! keys.

mod address;
mod guard;
mod html;
mod page;
mod tag;

use std::fmt::Write;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, Url};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{Around, Done, Effect, Failure, Output, Typed};
use crate::net::{causes, guarded};

pub use guard::Rule;

use guard::Guard;
use html::MAX_TEXT;
use page::{Kind, Page, own_charset};

/// How much of a body is read.
const MAX_BODY: usize = 5 * 1024 * 1024;

/// How pages are fetched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Addresses of this machine and of private networks, too.
    pub allow_private: bool,
    /// For a page in all.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private: false,
            timeout: Duration::from_secs(20),
        }
    }
}

/// Fetches pages.
#[derive(Clone, Debug)]
pub struct FetchUrl {
    guard: Guard,
    timeout: Duration,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The address, with http:// or https://
    url: String,
}

impl FetchUrl {
    pub fn new(settings: &Settings) -> Self {
        let rule: Rule = if settings.allow_private {
            |_| true
        } else {
            address::is_public
        };
        Self::with_rule(settings, rule)
    }

    /// With another rule about where it may go.
    pub fn with_rule(settings: &Settings, rule: Rule) -> Self {
        Self {
            guard: Guard::new(rule),
            timeout: settings.timeout,
        }
    }

    fn url(&self, arguments: &Arguments) -> Result<Url, Failure> {
        let refused = |refusal| Failure::Arguments(format!("fetch_url: {refusal}"));
        self.guard.url(&arguments.url).map_err(refused)
    }

    fn client(&self, url: &Url) -> Result<Client, Failure> {
        guarded(self.guard, self.guard.redirects(), self.timeout)
            .map_err(|error| failed(url, &error))
    }

    async fn fetch(&self, url: Url) -> Result<Output, Failure> {
        let client = self.client(&url)?;
        let request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        let response = request.send().await.map_err(|error| failed(&url, &error))?;
        let fetched = Fetched::read(response)
            .await
            .map_err(|error| failed(&url, &error))?;
        fetched.told().await
    }
}

fn failed(url: &Url, error: &reqwest::Error) -> Failure {
    Failure::of(format_args!("{url}: {}", causes(error)))
}

#[async_trait]
impl Typed for FetchUrl {
    type Arguments = Arguments;

    const NAME: &'static str = "fetch_url";
    const DESCRIPTION: &'static str = include_str!("../../../config/tools/fetch_url.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        let url = self.url(arguments)?;
        Ok(Effect::Contacts {
            host: url.host_str().unwrap_or_default().to_owned(),
            what: url.to_string(),
        })
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let url = self.url(&arguments)?;
        let late = Failure::of(format_args!(
            "{url}: no complete response within {} s",
            self.timeout.as_secs_f64()
        ));
        tokio::select! {
            fetched = tokio::time::timeout(self.timeout, self.fetch(url)) => {
                fetched.unwrap_or(Err(late)).map(Done::from)
            }
            () = around.cancel.cancelled() => Err(Failure::Interrupted),
        }
    }
}

/// An answer, as far as it is read.
#[derive(Debug)]
struct Fetched {
    url: Url,
    status: reqwest::StatusCode,
    headers: HeaderMap,
    /// As the server says.
    length: Option<u64>,
    body: Vec<u8>,
    is_cut: bool,
}

impl Fetched {
    async fn read(mut response: Response) -> reqwest::Result<Self> {
        let mut fetched = Self {
            url: response.url().clone(),
            status: response.status(),
            headers: response.headers().clone(),
            length: response.content_length(),
            body: Vec::new(),
            is_cut: false,
        };
        if fetched.kind() == Kind::Other {
            return Ok(fetched);
        }
        while let Some(piece) = response.chunk().await? {
            let room = MAX_BODY - fetched.body.len();
            fetched
                .body
                .extend_from_slice(&piece[..room.min(piece.len())]);
            if piece.len() > room {
                fetched.is_cut = true;
                break;
            }
        }
        Ok(fetched)
    }

    fn header(&self, name: &reqwest::header::HeaderName) -> &str {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    }

    /// The type without its parameters.
    fn media_type(&self) -> String {
        let whole = self.header(&CONTENT_TYPE);
        let first = whole.split(';').next().unwrap_or_default();
        first.trim().to_ascii_lowercase()
    }

    fn kind(&self) -> Kind {
        let is_packed = !matches!(self.header(&CONTENT_ENCODING), "" | "identity");
        if is_packed {
            return Kind::Other;
        }
        Kind::of(&self.media_type())
    }

    async fn told(self) -> Result<Output, Failure> {
        let status = self.status;
        let (kind, is_cut) = (self.kind(), self.is_cut);
        let mut head = format!("{}\nstatus: {status}\n", self.url);
        let page = match kind {
            Kind::Other => Page::untitled(self.shown_size()),
            Kind::Text => Page::untitled(self.text().await?),
            Kind::Html => {
                let html = self.text().await?;
                // In a thread of its own, which ends when nobody waits for it any more.
                let cancel = CancellationToken::new();
                let waiting = cancel.clone().drop_guard();
                let converted =
                    tokio::task::spawn_blocking(move || html::convert(&html, &cancel)).await;
                drop(waiting);
                converted.map_err(|_| Failure::of("the page could not be read"))?
            }
        };
        if let Some(title) = page.title {
            head.extend(["title: ", &title, "\n"]);
        }
        if page.is_cut {
            writeln!(head, "page cut after {MAX_TEXT} bytes of text").unwrap_or_default();
        } else if is_cut {
            writeln!(head, "page cut after {MAX_BODY} bytes").unwrap_or_default();
        }
        Ok(Output {
            failed: !status.is_success(),
            ..Output::text(format!("{head}\n{}", page.text), brief(status, &page.text))
        })
    }

    fn shown_size(&self) -> String {
        let media_type = match (self.media_type(), self.header(&CONTENT_ENCODING)) {
            (media_type, _) if media_type.is_empty() => "unknown type".to_owned(),
            (media_type, "" | "identity") => media_type,
            (media_type, packed) => format!("{media_type} compressed as {packed}"),
        };
        match self.length {
            Some(length) => format!("[{media_type}, {length} bytes: not shown]"),
            None => format!("[{media_type}: not shown]"),
        }
    }

    /// The body in its character set.
    async fn text(self) -> Result<String, Failure> {
        let mut media_type = self.header(&CONTENT_TYPE).to_owned();
        if !media_type.to_ascii_lowercase().contains("charset=")
            && let Some(charset) = own_charset(&self.body)
        {
            media_type = format!("text/html; charset={charset}");
        }
        let unreadable = |error: &dyn std::fmt::Display| Failure::of(error);
        let response = http::Response::builder()
            .header(CONTENT_TYPE, media_type)
            .body(self.body)
            .map_err(|error| unreadable(&error))?;
        let text = Response::from(response).text().await;
        text.map_err(|error| unreadable(&error))
    }
}

fn brief(status: reqwest::StatusCode, text: &str) -> String {
    if status.is_success() {
        format!("{} lines", text.lines().count())
    } else {
        format!("status {}", status.as_u16())
    }
}
