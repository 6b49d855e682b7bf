//! HTTP clients for one server. Unit: one client.
//! Invariant: it waits no longer than its [`Patience`], sends a key nowhere but to its server, and needs no
//! certificates for plain `http`.

use std::time::Duration;

use reqwest::dns::Resolve;
use reqwest::{Client, Response};

use super::words::one_line;
use super::{Endpoint, NetError};
use crate::hint::plain;

/// Servers of large files send their clients on, but not for ever.
const MAX_REDIRECTS: usize = 10;

const AGENT: &str = concat!("cogtrix/", env!("CARGO_PKG_VERSION"));

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte.
    pub idle: Duration,
}

/// A client for `endpoint`; carries its key.
pub fn client(endpoint: &Endpoint, patience: Patience) -> Result<Client, NetError> {
    let builder = builder(endpoint, patience)
        // A redirect could carry a key to another server, and turns a POST into a GET.
        .redirect(reqwest::redirect::Policy::none())
        .default_headers(endpoint.headers().clone());
    builder.build().map_err(|error| no_tls(endpoint, &error))
}

/// A client that fetches public files from `endpoint`: without its key, and wherever the server sends it.
pub fn fetching(endpoint: &Endpoint, patience: Patience) -> Result<Client, NetError> {
    let follow = reqwest::redirect::Policy::limited(MAX_REDIRECTS);
    let built = builder(endpoint, patience).redirect(follow).build();
    built.map_err(|error| no_tls(endpoint, &error))
}

/// A client for whatever address a model names: `resolver` and `redirects` decide where it may go. It takes no proxy
/// from the environment, which would resolve names on its own.
pub fn guarded(
    resolver: impl Resolve + 'static,
    redirects: reqwest::redirect::Policy,
    connect: Duration,
) -> reqwest::Result<Client> {
    install_tls();
    Client::builder()
        .user_agent(AGENT)
        .connect_timeout(connect)
        .dns_resolver(resolver)
        .redirect(redirects)
        .referer(false)
        .no_proxy()
        .build()
}

fn builder(endpoint: &Endpoint, patience: Patience) -> reqwest::ClientBuilder {
    install_tls();
    let mut builder = Client::builder()
        .user_agent(AGENT)
        .connect_timeout(patience.connect)
        .read_timeout(patience.idle);
    if endpoint.is_local() {
        builder = builder.no_proxy();
    }
    if endpoint.base().scheme() == "http" {
        // Reading the system's certificates takes longer than a local request.
        builder = builder.tls_certs_only(std::iter::empty());
    }
    builder
}

/// Reads a body; returns `None` for one of more than `max` bytes, of which no more are held.
pub async fn body(mut response: Response, max: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > max {
            return Ok(None);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Some(body))
}

fn no_tls(endpoint: &Endpoint, error: &dyn std::error::Error) -> NetError {
    NetError {
        what: format!("cannot use TLS for {}: {}", endpoint.shown(), causes(error)),
        hint: "install the system's CA certificates (package ca-certificates)".to_owned(),
    }
}

/// Building a client panics without a TLS provider; `main` installs it first, tests may not have.
fn install_tls() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Somebody else may win the race, and theirs is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
}

/// Tells why a request got no answer, in one line without secrets; `None` where the server was silent for too long.
pub fn no_answer(endpoint: &Endpoint, error: reqwest::Error) -> Option<String> {
    let was_silent = error.is_timeout() && !error.is_connect();
    (!was_silent).then(|| one_line(&endpoint.mask(&causes(&error.without_url()))))
}

fn deepest(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// The cause at the bottom: "connection refused" says more than "error sending request".
pub fn causes(error: &dyn std::error::Error) -> String {
    plain(&deepest(error))
}
