//! Rules about values that no type holds: one line a rule. Unit: one layer, already typed.

use std::collections::BTreeMap;
use std::fmt::Display;

use secrecy::ExposeSecret;

use super::decode::Fault;
use super::error::Problem;
use super::settings::Document;
use super::tree::KeyPath;
use crate::chat::SessionName;
use crate::provider::{ModelSettings, ProviderSettings};

/// Providers that need no entry.
pub(super) const BUILT_IN: [&str; 4] = ["ollama", "openai", "anthropic", "offline"];

/// What a value must keep to.
struct Rule {
    key: KeyPath,
    broken: Option<Problem>,
}

/// Every broken rule. `modes` are the names of the memory modes there are.
pub(super) fn check(document: &Document, modes: &[String]) -> Vec<Fault> {
    let mut rules = fixed_rules(document, modes);
    for (name, provider) in &document.providers {
        rules.extend(provider_rules(name, provider));
    }
    for (alias, model) in &document.models.aliases {
        rules.push(model_rule(alias, model, &document.providers));
    }
    rules
        .into_iter()
        .filter_map(|rule| {
            rule.broken.map(|problem| Fault {
                path: rule.key,
                problem,
            })
        })
        .collect()
}

fn fixed_rules(document: &Document, modes: &[String]) -> Vec<Rule> {
    let network = &document.network;
    let windows = &document.memory.modes;
    vec![
        rule("session", session_name(&document.session)),
        rule("memory.mode", one_of(&document.memory.mode, modes)),
        rule(
            "memory.modes.conversation.working_memory_size",
            at_least_one(windows.conversation.working_memory_size),
        ),
        rule(
            "memory.modes.code.working_memory_size",
            at_least_one(windows.code.working_memory_size),
        ),
        rule(
            "memory.modes.reasoning.working_memory_size",
            at_least_one(windows.reasoning.working_memory_size),
        ),
        rule(
            "context.warning_threshold",
            (!(0.0..=1.0).contains(&document.context.warning_threshold))
                .then(|| bad_value("a number from 0 to 1", document.context.warning_threshold)),
        ),
        rule("network.tries", at_least_one(network.tries)),
        rule("network.connect", some_time(network.connect)),
        rule("network.idle", some_time(network.idle)),
    ]
}

fn provider_rules(name: &str, provider: &ProviderSettings) -> [Rule; 4] {
    let at = KeyPath::new("providers").child(name);
    [
        Rule {
            broken: (name.trim().is_empty() || name.contains('/'))
                .then(|| refused("is no name for a provider: it may not be empty or hold a /")),
            key: at.clone(),
        },
        Rule {
            broken: (!provider.base_url.is_empty() && !is_web_address(&provider.base_url))
                .then(|| refused("wants a URL such as http://localhost:11434 or https://host/v1")),
            key: at.child("base_url"),
        },
        Rule {
            broken: (!provider.api_key_env.is_empty() && !is_variable_name(&provider.api_key_env))
                .then(|| refused("wants the name of a variable; a key itself belongs in api_key")),
            key: at.child("api_key_env"),
        },
        Rule {
            // A header cannot carry one with a line end, which `|` in YAML leaves behind.
            broken: provider
                .api_key
                .as_ref()
                .is_some_and(|key| !key.expose_secret().chars().all(|c| c.is_ascii_graphic()))
                .then(|| refused("wants a key in one piece: no blanks, no line ends")),
            key: at.child("api_key"),
        },
    ]
}

fn model_rule(
    alias: &str,
    model: &ModelSettings,
    providers: &BTreeMap<String, ProviderSettings>,
) -> Rule {
    let own = providers.keys().map(String::as_str);
    let known: Vec<_> = own
        .chain(
            BUILT_IN
                .into_iter()
                .filter(|&name| !providers.contains_key(name)),
        )
        .map(str::to_owned)
        .collect();
    Rule {
        key: KeyPath::new("models").child(alias).child("provider"),
        broken: one_of(&model.provider, &known),
    }
}

fn rule(key: &str, broken: Option<Problem>) -> Rule {
    Rule {
        key: KeyPath::new(key),
        broken,
    }
}

fn session_name(name: &str) -> Option<Problem> {
    let bad = name.parse::<SessionName>().err()?;
    Some(Problem::Refused(bad.to_string()))
}

fn one_of(value: &str, known: &[String]) -> Option<Problem> {
    (!known.iter().any(|name| name == value)).then(|| Problem::NotOneOf {
        found: value.chars().take(60).collect(),
        known: known.to_vec(),
        nearest: None,
    })
}

fn at_least_one<N: PartialOrd + From<u8> + Display>(number: N) -> Option<Problem> {
    (number < N::from(1)).then(|| bad_value("a whole number, 1 or more", number))
}

fn some_time(time: std::time::Duration) -> Option<Problem> {
    time.is_zero()
        .then(|| bad_value("a duration longer than nothing", "0s"))
}

fn bad_value(wanted: &str, found: impl Display) -> Problem {
    Problem::BadValue {
        wanted: wanted.to_owned(),
        found: Some(found.to_string()),
    }
}

fn refused(why: &str) -> Problem {
    Problem::Refused(why.to_owned())
}

/// `http` or `https`, with a host, in one piece.
fn is_web_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let host = rest
        .split(['/', '?', '#'])
        .next()
        .and_then(|authority| authority.rsplit('@').next())
        .unwrap_or_default();
    ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str())
        && !host.is_empty()
        && !host.starts_with(':')
        && !url.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_base_urls() {
        for good in [
            "http://localhost:11434",
            "https://api.example.com/v1",
            "HTTP://[::1]:80",
            "https://user:secret@host/x?y=1",
        ] {
            assert!(is_web_address(good), "{good} was refused");
        }
        for bad in [
            "localhost:11434",
            "ftp://host",
            "file:///etc/passwd",
            "http://",
            "https:///v1",
            "http://:80",
            "http://a b",
            "http://user@",
        ] {
            assert!(!is_web_address(bad), "{bad} was accepted");
        }
    }

    #[test]
    fn a_pasted_key_is_no_variable_name() {
        assert!(is_variable_name("OPENAI_API_KEY"));
        for bad in ["sk-proj-abc", "$OPENAI_API_KEY", "1KEY", "A B"] {
            assert!(!is_variable_name(bad), "{bad} was accepted");
        }
    }
}
