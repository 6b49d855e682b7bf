//! Settings for people: every key, its value, and where that comes from. Secrets are masked, with nothing
//! of them left.

use std::path::Path;

use super::layers::{Layer, Source, source_of};
use super::tree::{KeyPath, Tree};
use super::{EXAMPLE, yaml};

const MASK: &str = "•••";
/// Keys whose values are never shown.
const SECRETS: [&str; 3] = [
    "providers.*.api_key",
    "mcp_servers.*.env.*",
    "mcp_servers.*.headers.*",
];

/// Last names of keys whose values are web addresses, which may hold a password.
const ADDRESSES: [&str; 3] = ["base_url", "source", "url"];

/// Returns whether the value of a key is never shown.
pub(super) fn is_secret(path: &KeyPath) -> bool {
    SECRETS.iter().any(|row| path.matches(row))
}

/// One line of `cogtrix config show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    /// As a person would write it; control characters escaped.
    pub value: String,
    pub source: Source,
}

/// Every key with its effective value; `data_dir` is the folder it comes to.
pub(super) fn entries(layers: &[Layer], data_dir: &Path) -> Vec<Entry> {
    let mut tree = yaml::parse(EXAMPLE).unwrap_or_else(|_| Tree::empty());
    for layer in layers {
        tree.merge(&layer.tree);
    }
    tree.leaves()
        .into_iter()
        .map(|(path, value)| Entry {
            value: if path.matches("data_dir") {
                data_dir.display().to_string()
            } else {
                shown_value(&path, value)
            },
            source: source_of(layers, &path),
            key: path.to_string(),
        })
        .collect()
}

/// A value that may be shown to anybody.
pub(super) fn shown_value(path: &KeyPath, value: &Tree) -> String {
    if is_secret(path) {
        return MASK.to_owned();
    }
    let shown = value.shown();
    if ADDRESSES.contains(&path.last()) {
        return mask_url(&shown);
    }
    shown
}

/// A URL without user name, password and query.
fn mask_url(url: &str) -> String {
    let (address, query) = match url.split_once('?') {
        Some((address, _)) => (address, format!("?{MASK}")),
        None => (url, String::new()),
    };
    let Some((scheme, rest)) = address.split_once("://") else {
        return format!("{address}{query}");
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{MASK}@{host}{path}{query}"),
        None => format!("{scheme}://{authority}{path}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_is_shown() {
        let text = |text: &str| Tree::Text(text.to_owned());
        for (key, value, shown) in [
            ("providers.x.api_key", "sk-secret", "•••"),
            ("providers.x.api_key_env", "KEY", "KEY"),
            (
                "providers.x.base_url",
                "https://ann:pw@host:1/v1?token=t",
                "https://•••@host:1/v1?•••",
            ),
            (
                "embedding.source",
                "https://a:pw@host/m",
                "https://•••@host/m",
            ),
            ("mcp_servers.x.env.TOKEN", "t-secret", "•••"),
            ("mcp_servers.x.headers.Authorization", "Bearer t", "•••"),
            ("mcp_servers.x.headers_env.Authorization", "KEY", "KEY"),
            (
                "mcp_servers.x.url",
                "https://host/mcp?token=t",
                "https://host/mcp?•••",
            ),
            ("providers.x.base_url", "http://host/v1", "http://host/v1"),
            ("providers.x.base_url", "", "\"\""),
            ("models.x.model", "a\u{1b}[31mb", "\"a\\u{1b}[31mb\""),
        ] {
            assert_eq!(shown_value(&KeyPath::new(key), &text(value)), shown);
        }
    }
}
