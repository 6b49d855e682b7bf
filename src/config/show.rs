//! Settings for people: every key, its value, and where that comes from. Secrets are masked, with nothing
//! of them left.

use std::collections::BTreeMap;
use std::path::Path;

use super::layers::{Layer, Source};
use super::tree::{KeyPath, Tree};
use super::{EXAMPLE, yaml};
use crate::text::secrets::has_form_of_secret;
use crate::tools::shell::looks_secret;

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
    let mut sources = BTreeMap::new();
    for layer in layers {
        tree.merge(&layer.tree);
        let leaves = layer.tree.leaves().into_iter();
        sources.extend(leaves.map(|(path, _)| (path, layer)));
    }
    tree.leaves()
        .into_iter()
        .map(|(path, value)| Entry {
            value: if path.matches("data_dir") {
                data_dir.display().to_string()
            } else {
                shown_value(&path, value)
            },
            source: sources.get(&path).map_or(Source::Default, |layer| {
                layer.source_of(&path, |spot| spot.key)
            }),
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

/// The same for a person who is to trust it: of what a program gets, only what looks like a secret is masked, and never
/// what has another program run.
pub(super) fn demanded_value(path: &KeyPath, value: &Tree) -> String {
    let name = path.last().to_ascii_uppercase();
    let shown = value.shown();
    // A secret is one word; what has blanks, paths or signs of a shell in it can be run.
    let is_word = !shown.contains(|c: char| c.is_whitespace() || "/\\;$(){}|&<>`".contains(c));
    let is_secret = || has_form_of_secret(&shown) || is_word && looks_secret(&name);
    if path.matches("mcp_servers.*.env.*") && (chooses_program(&name) || !is_secret()) {
        return shown;
    }
    shown_value(path, value)
}

/// Variables that have a program run another one, or load what it runs.
const CHOOSING: [&str; 22] = [
    "PATH",
    "ENV",
    "BASH_ENV",
    "SHELL",
    "PROMPT_COMMAND",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "EDITOR",
    "PAGER",
    "SSH_ASKPASS",
];

/// Beginnings of the names of such variables.
const CHOOSING_BEGIN: [&str; 11] = [
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "GIT_SSH",
    "GIT_EXEC_PATH",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
    "DOTNET_STARTUP_HOOKS",
];

/// Endings of the names of such variables.
const CHOOSING_END: [&str; 4] = ["_EDITOR", "_PAGER", "_COMMAND", "_HELPER"];

fn chooses_program(name: &str) -> bool {
    CHOOSING.contains(&name)
        || CHOOSING_BEGIN.iter().any(|begin| name.starts_with(begin))
        || CHOOSING_END.iter().any(|end| name.ends_with(end))
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
    fn of_what_a_server_gets_a_person_who_is_to_trust_it_sees_all_but_secrets() {
        const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        for (name, value, is_shown) in [
            ("MODE", "fast", true),
            ("MODE", KEY, false),
            ("API_TOKEN", "x", false),
            ("path", "/tmp/evil:/bin", true),
            ("LD_PRELOAD", KEY, true),
            ("GIT_ASKPASS", "./evil", true),
            ("NODE_OPTIONS", "--require ./evil.js", true),
            ("GIT_TOKEN", KEY, false),
            ("GIT_PASSWORD", "walrus", false),
            ("GIT_SSH_COMMAND", "./evil", true),
            ("BASH_FUNC_token%%", "() { ./evil; }", true),
            ("START_TOKEN", "touch marker", true),
            ("START_TOKEN", "./evil", true),
            ("START_TOKEN", "walrus", false),
            ("AWS_CREDENTIAL_HELPER", "evil", true),
        ] {
            let path = KeyPath::new(&format!("mcp_servers.x.env.{name}"));
            let value = Tree::Text(value.to_owned());
            let expected = if is_shown {
                value.shown()
            } else {
                MASK.to_owned()
            };
            assert_eq!(demanded_value(&path, &value), expected, "{name}");
            assert_eq!(shown_value(&path, &value), MASK);
        }
        let path = KeyPath::new("mcp_servers.x.headers.Authorization");
        assert_eq!(demanded_value(&path, &Tree::Text("x".to_owned())), MASK);
    }

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
