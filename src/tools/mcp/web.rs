//! A server behind an address: the transport over our own HTTP client, which follows no redirect and needs no
//! certificates for plain `http`. Unit: one connection. Time limits are those of whole calls: a stream of server-sent
//! events may be silent for as long as it likes.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use secrecy::ExposeSecret;

use super::setup::{Setup, Target};
use crate::net::{self, Endpoint, Key, Patience, Scheme};

const IDLE: Duration = Duration::from_hours(24);
/// Longest pause between tries to take up a broken stream again, and how many of them.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
const TRIES: usize = 8;

/// A transport to the address of a setup; to a program there is none.
pub(super) fn transport(
    setup: &Setup,
) -> Result<Option<StreamableHttpClientTransport<Client>>, String> {
    let Target::Web {
        base,
        whole,
        headers,
    } = &setup.target
    else {
        return Ok(None);
    };
    let patience = Patience {
        connect: setup.timeout,
        idle: IDLE,
    };
    let client = Endpoint::new(base.clone(), Key::none(), Scheme::Bearer)
        .and_then(|endpoint| net::client(&endpoint, patience))
        .map_err(|error| format!("{error}; {}", error.hint))?;
    let mut again = ExponentialBackoff::default();
    again.max_times = Some(TRIES);
    again.max_delay = Some(LONGEST_PAUSE);
    let mut config = StreamableHttpClientTransportConfig::with_uri(whole.expose_secret())
        .custom_headers(headers.clone());
    config.retry_config = Arc::new(again);
    Ok(Some(StreamableHttpClientTransport::with_client(
        client, config,
    )))
}

/// Returns what an error of a transport says. That of HTTP does not show what is behind it as a source.
pub(super) fn in_words(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => match error.status() {
            Some(status) => format!("HTTP {status}"),
            None => net::causes(error),
        },
        Some(StreamableHttpError::AuthRequired(_)) => "it requires authorisation".to_owned(),
        _ => net::causes(error),
    }
}
