//! Where a server is and what it is told about us: the base URL, checked before anything is sent, and the
//! key, which never leaves this file but as a header. Unit: one provider entry. Invariant: an endpoint can
//! be sent to; its `Debug` form and its errors hold no key and no password.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::NetError;

/// Shorter keys are placeholders such as `x`; masking them would only garble messages.
const SHORTEST_KEY: usize = 4;

/// Where a key came from, for the hint of a 401.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    None,
    /// Nowhere yet: a variable that is not set, by name.
    Unset(&'static str),
    /// A variable, by name.
    Environment(String),
    /// A config key, by path, such as `providers.openai.api_key`.
    Config(String),
}

/// A key and where it came from.
#[derive(Clone, Debug)]
pub struct Key {
    pub secret: Option<SecretString>,
    pub source: KeySource,
}

impl Key {
    pub fn none() -> Self {
        Self {
            secret: None,
            source: KeySource::None,
        }
    }
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `Authorization: Bearer KEY`
    Bearer,
    /// `x-api-key: KEY`
    ApiKey,
    /// `Authorization: Token KEY`
    Token,
}

/// A server and its key.
#[derive(Clone)]
pub struct Endpoint {
    base: Url,
    key: Key,
    headers: HeaderMap,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.shown())
            .field("key", &self.key.source)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    pub fn new(base: Url, key: Key, scheme: Scheme) -> Result<Self, NetError> {
        let mut headers = HeaderMap::new();
        if let Some(secret) = &key.secret {
            let (name, value) = match scheme {
                Scheme::Bearer => (
                    "authorization",
                    format!("Bearer {}", secret.expose_secret()),
                ),
                Scheme::ApiKey => ("x-api-key", secret.expose_secret().to_owned()),
                Scheme::Token => ("authorization", format!("Token {}", secret.expose_secret())),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| unusable(&key.source))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self { base, key, headers })
    }

    /// Adds a header that every request carries.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    pub fn base(&self) -> &Url {
        &self.base
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The base without a trailing slash, then `path`, which begins with one.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }

    /// The base as people may see it: no user, no password.
    pub fn shown(&self) -> String {
        let mut shown = self.base.clone();
        if shown.set_username("").is_err() || shown.set_password(None).is_err() {
            // Only a URL without a host cannot hold a user, and `base_url` lets none through.
            return shown.scheme().to_owned();
        }
        shown.as_str().trim_end_matches('/').to_owned()
    }

    /// Returns whether the server runs on this machine; such connections need no proxy.
    pub fn is_local(&self) -> bool {
        self.base.host_str().is_some_and(is_loopback)
    }

    /// `text` with the key blotted out: servers like to quote it.
    pub fn mask(&self, text: &str) -> String {
        let secrets = [
            self.key.secret.as_ref().map(ExposeSecret::expose_secret),
            self.base.password(),
        ];
        let secrets = secrets.into_iter().flatten();
        secrets
            .filter(|secret| secret.len() >= SHORTEST_KEY)
            .fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

fn unusable(source: &KeySource) -> NetError {
    let place = match source {
        KeySource::None | KeySource::Unset(_) => "the key".to_owned(),
        KeySource::Environment(name) => format!("the key in ${name}"),
        KeySource::Config(path) => format!("the key at {path}"),
    };
    NetError {
        what: format!("{place} contains a line break or another character that cannot be sent"),
        hint: "copy the key again, without quotes or line breaks".to_owned(),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads the base URL that stands at `place`, a config key or a variable. A missing scheme is `http` on this machine
/// and a mistake elsewhere, where nobody should guess whether a key goes out in the clear.
pub fn base_url(place: &str, text: &str) -> Result<Url, NetError> {
    let text = text.trim();
    let bad = |why: &str, hint: String| NetError {
        what: format!("{place}: {:?} {why}", without_password(text)),
        hint,
    };
    let whole = if text.contains("://") {
        text.to_owned()
    } else if is_loopback(host_of(text)) || host_of(text) == "0.0.0.0" {
        format!("http://{text}")
    } else {
        let hint = format!("write https://{text}, or http://{text} for a server without TLS");
        return Err(bad("has no scheme", hint));
    };
    let example = "such as https://api.example.com/v1 or http://localhost:8080/v1".to_owned();
    let Ok(mut url) = Url::parse(&whole) else {
        return Err(bad("is not a URL", example));
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("is not an http or https URL", example));
    }
    url.set_query(None);
    url.set_fragment(None);
    reachable(&mut url);
    Ok(url)
}

/// Reads `OLLAMA_HOST`, which may be a host, a port, both, or a URL: the same forms as its own client takes.
pub fn ollama_host(place: &str, text: &str) -> Result<Url, NetError> {
    const PORT: u16 = 11434;
    let text = text.trim();
    if text.contains("://") {
        return base_url(place, text);
    }
    let text = match text {
        "" => "127.0.0.1".to_owned(),
        text if text.starts_with(':') && !text.starts_with("::") => format!("127.0.0.1{text}"),
        text if text.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6()) => format!("[{text}]"),
        text => text.to_owned(),
    };
    let mut url = base_url(place, &format!("http://{text}"))?;
    let authority = text.split('/').next().unwrap_or_default();
    // A port 80 that was written down is not the same as no port; `Url` cannot tell.
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    if !has_port {
        url.set_port(Some(PORT))
            .expect("an http URL with a host takes a port");
    }
    Ok(url)
}

/// A server that listens on every address is reached at the loopback one.
fn reachable(url: &mut Url) {
    let loopback = match url.host_str() {
        Some("0.0.0.0") => "127.0.0.1",
        Some("[::]") => "[::1]",
        _ => return,
    };
    url.set_host(Some(loopback))
        .expect("a loopback address is a host");
}

fn host_of(text: &str) -> &str {
    let authority = text.split('/').next().unwrap_or_default();
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

fn without_password(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}{}", &text[..scheme + 3], &text[at + 1..])
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key {
            secret: Some(text.to_owned().into()),
            source: KeySource::Environment("OPENAI_API_KEY".into()),
        }
    }

    #[test]
    fn base_urls_are_completed_or_refused() {
        for (text, expected) in [
            (
                "https://api.openai.com/v1",
                Some("https://api.openai.com/v1"),
            ),
            ("http://h:1/prefix/", Some("http://h:1/prefix/")),
            ("localhost:8080/v1", Some("http://localhost:8080/v1")),
            ("127.0.0.1:9", Some("http://127.0.0.1:9/")),
            ("[::1]:9/v1", Some("http://[::1]:9/v1")),
            ("http://0.0.0.0:5", Some("http://127.0.0.1:5/")),
            ("api.example.com/v1", None),
            ("ftp://h/", None),
            ("http://", None),
            ("", None),
        ] {
            let got = base_url("base_url", text).ok();
            assert_eq!(got.as_ref().map(Url::as_str), expected, "{text}");
        }
    }

    #[test]
    fn every_form_of_ollama_host_is_read() {
        for (text, expected) in [
            ("", "http://127.0.0.1:11434/"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434/"),
            ("0.0.0.0", "http://127.0.0.1:11434/"),
            ("box", "http://box:11434/"),
            ("box:80", "http://box/"),
            (":9", "http://127.0.0.1:9/"),
            ("::1", "http://[::1]:11434/"),
            ("[::]:7", "http://[::1]:7/"),
            ("http://h:1/prefix", "http://h:1/prefix"),
            ("https://h", "https://h/"),
            ("box/prefix", "http://box:11434/prefix"),
        ] {
            assert_eq!(
                ollama_host("$OLLAMA_HOST", text).unwrap().as_str(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn paths_are_appended_with_one_slash() {
        for base in ["http://h:1/prefix", "http://h:1/prefix/"] {
            let endpoint = Endpoint::new(
                base_url("base_url", base).unwrap(),
                Key::none(),
                Scheme::Bearer,
            )
            .unwrap();
            assert_eq!(endpoint.url("/models"), "http://h:1/prefix/models");
        }
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_a_setup_error_and_never_quoted() {
        for bad in ["sk-abc\n", "sk-\u{7f}abc", "sk-a\r\nb"] {
            let url = base_url("base_url", "https://h/").unwrap();
            let error = Endpoint::new(url, key(bad), Scheme::Bearer).unwrap_err();
            assert!(error.to_string().contains("$OPENAI_API_KEY"), "{error}");
            assert!(!format!("{error:?}").contains("sk-"), "{error:?}");
        }
    }

    #[test]
    fn secrets_are_neither_shown_nor_quoted() {
        let url = base_url("base_url", "https://me:hush-hush@h/v1").unwrap();
        let endpoint = Endpoint::new(url, key("sk-secret"), Scheme::ApiKey).unwrap();
        assert_eq!(endpoint.shown(), "https://h/v1");
        let shown = format!("{endpoint:?} {:?}", endpoint.headers());
        assert!(
            !shown.contains("secret") && !shown.contains("hush"),
            "{shown}"
        );
        assert_eq!(endpoint.mask("bad sk-secret, hush-hush"), "bad ***, ***");
        let error = base_url("base_url", "ftp://me:hush-hush@h").unwrap_err();
        assert!(!error.to_string().contains("hush"), "{error}");
    }
}
