//! Where a request may go. Unit: one rule, asked about the first address, each redirect, and whatever a name resolves
//! to.
//!
//! Invariant: no connection is made to an address that the rule refuses. Names are checked when they are resolved for
//! the connection itself, so there is nothing between the check and its use; addresses written as numbers never are
//! resolved and are checked with the URL. A person is asked about one host, so a redirect to another one is told and
//! not followed.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};

/// Whether an address may be reached.
pub type Rule = fn(IpAddr) -> bool;

/// Pages send one on, but not for ever.
const MAX_REDIRECTS: usize = 5;

/// Why a request is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{0:?} is not a URL")]
    NoUrl(String),
    #[error("{0}: only http and https are fetched")]
    Scheme(Url),
    #[error("URLs with a user name or password are not fetched")]
    Credentials,
    #[error("{0} points to a private or reserved address, which is not fetched")]
    Private(String),
    #[error("could not resolve {0}")]
    Unknown(String),
    #[error("more than {MAX_REDIRECTS} redirects")]
    Redirects,
    #[error("it redirects to {0}; fetch that URL if needed")]
    Elsewhere(Url),
}

/// The rule at work.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    rule: Rule,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

impl Guard {
    pub(super) fn new(rule: Rule) -> Self {
        Self { rule }
    }

    /// A URL from a model.
    pub(super) fn url(self, text: &str) -> Result<Url, Refusal> {
        let url = Url::parse(text.trim()).map_err(|_| Refusal::NoUrl(text.to_owned()))?;
        self.check(&url)?;
        Ok(url)
    }

    /// Checks what can be said of a URL without asking anybody.
    fn check(self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme(url.clone()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let host = url.host_str().unwrap_or_default();
        match literal(host) {
            Some(address) if !(self.rule)(address) => Err(Refusal::Private(host.to_owned())),
            _ => Ok(()),
        }
    }

    pub(super) fn redirects(self) -> Policy {
        Policy::custom(move |attempt: Attempt<'_>| {
            if attempt.previous().len() > MAX_REDIRECTS {
                return attempt.error(Refusal::Redirects);
            }
            match self.check_redirect(attempt.previous().first(), attempt.url()) {
                Ok(()) => attempt.follow(),
                Err(refusal) => attempt.error(refusal),
            }
        })
    }

    /// Rules and answers are about the host that was asked: another one is another question.
    fn check_redirect(self, asked: Option<&Url>, target: &Url) -> Result<(), Refusal> {
        self.check(target)?;
        if asked.and_then(Url::host) == target.host() {
            Ok(())
        } else {
            Err(Refusal::Elsewhere(target.clone()))
        }
    }

    fn resolved(self, name: &str) -> Result<Vec<SocketAddr>, Refusal> {
        let all = (name, 0).to_socket_addrs();
        let all: Vec<SocketAddr> = all
            .map_err(|_| Refusal::Unknown(name.to_owned()))?
            .collect();
        let allowed = all.into_iter().filter(|address| (self.rule)(address.ip()));
        let allowed: Vec<SocketAddr> = allowed.collect();
        if allowed.is_empty() {
            return Err(Refusal::Private(name.to_owned()));
        }
        Ok(allowed)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = *self;
        Box::pin(async move {
            let resolved = tokio::task::spawn_blocking(move || guard.resolved(name.as_str()));
            let addresses: Addrs = Box::new(resolved.await??.into_iter());
            Ok(addresses)
        })
    }
}

/// A host that is a number; a parsed URL has it in its one usual form, however it was written.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::super::address::is_public;
    use super::*;

    #[test]
    fn addresses_are_checked_however_they_are_written() {
        let guard = Guard::new(is_public);
        let private = |host: &str| Err(Refusal::Private(host.to_owned()));
        for (url, expected) in [
            ("http://127.0.0.1/", private("127.0.0.1")),
            ("http://127.0.0.1./", private("127.0.0.1")),
            ("http://0x7f.1/", private("127.0.0.1")),
            ("http://2130706433:80/", private("127.0.0.1")),
            ("http://0177.0.0.1/", private("127.0.0.1")),
            ("http://127.1/", private("127.0.0.1")),
            ("http://１２７.0.0.1/", private("127.0.0.1")),
            ("http://[::1]:8080/", private("[::1]")),
            ("http://[::ffff:127.0.0.1]/", private("[::ffff:7f00:1]")),
            ("http://169.254.169.254/latest", private("169.254.169.254")),
            ("https://8.8.8.8/", Ok(())),
            ("HTTPS://example.com:8443/x", Ok(())),
            ("http://u@example.com/", Err(Refusal::Credentials)),
            ("http://:p@example.com/", Err(Refusal::Credentials)),
            ("example.com", Err(Refusal::NoUrl("example.com".to_owned()))),
            ("http://", Err(Refusal::NoUrl("http://".to_owned()))),
        ] {
            assert_eq!(guard.url(url).map(|_| ()), expected, "{url}");
        }
        for url in ["file:///etc/passwd", "ftp://example.com/", "data:,x"] {
            assert!(matches!(guard.url(url), Err(Refusal::Scheme(_))), "{url}");
        }
    }

    #[test]
    fn a_redirect_stays_with_the_host_that_was_asked() {
        let guard = Guard::new(is_public);
        let asked = guard.url("http://example.com/a").unwrap();
        for (target, follows) in [
            ("http://example.com/b", true),
            ("https://EXAMPLE.com/a", true),
            ("https://example.com:8443/a", true),
            ("https://www.example.com/a", false),
            ("https://example.com.evil.org/", false),
            ("https://8.8.8.8/", false),
        ] {
            let url = Url::parse(target).unwrap();
            let expected = if follows {
                Ok(())
            } else {
                Err(Refusal::Elsewhere(url.clone()))
            };
            assert_eq!(
                guard.check_redirect(Some(&asked), &url),
                expected,
                "{target}"
            );
        }
    }

    #[test]
    fn a_name_is_worth_no_more_than_what_it_resolves_to() {
        let refused = Guard::new(is_public).resolved("localhost");
        assert_eq!(refused, Err(Refusal::Private("localhost".to_owned())));
        let allowed = Guard::new(|_| true).resolved("localhost").unwrap();
        assert!(allowed.iter().all(|address| address.ip().is_loopback()));
    }
}
