//! What is allowed and yet probably not meant; for `config check`, and for a line at start.

use std::fmt;
use std::path::PathBuf;

use secrecy::ExposeSecret;

use super::checks::BUILT_IN;
use super::keys::{keys_of, similar};
use super::layers::{Layer, VARIABLES};
use super::settings::Document;
use crate::context;
use crate::memory::Backend;
use crate::provider::{Environment, Kind, ProviderSettings};

/// Every variable of ours begins so.
const PREFIX: &str = "COGTRIX_";

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A variable that looks like ours.
    UnknownVariable { name: String, meant: Option<Meant> },
    /// `key` names a variable that is not set.
    VariableUnset { key: String, variable: String },
    /// A provider of a vendor that wants a key, and there is none.
    NoKey { provider: String, variable: String },
    /// An alias whose name means something else.
    HiddenAlias { alias: String, why: String },
    /// `rag.model` names a model of a provider without embeddings.
    CannotEmbed { model: String, provider: String },
    /// A server is to get a variable that is not set.
    NothingToPass { server: String, variable: String },
    /// `memory.backend` names a kind that is not here.
    NoSqlite,
    /// Servers are configured, and this program cannot talk to them.
    NoMcp,
    /// Values of `context` so low that others are used in their place (X32): key, value, what counts.
    Raised {
        values: Vec<(&'static str, usize, usize)>,
    },
    /// The file holds a key, and others may read it.
    ReadableByOthers { path: PathBuf },
    /// Nothing could be read of what is remembered about trust.
    TrustUnreadable { path: PathBuf, why: String },
}

/// What somebody probably meant who set a variable that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    Variable(String),
    /// A key of the config file, which has no variable.
    Key(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownVariable { name, meant } => match meant {
                Some(Meant::Variable(nearest)) => {
                    write!(f, "unknown variable {name}; did you mean {nearest}?")
                }
                Some(Meant::Key(key)) => {
                    write!(f, "unknown variable {name}; set {key} in the config file")
                }
                None => write!(f, "unknown variable {name}; docs/CONFIG.md lists them"),
            },
            Self::VariableUnset { key, variable } => {
                write!(f, "{key} names {variable}, which is not set")
            }
            Self::NoKey { provider, variable } => write!(
                f,
                "providers.{provider} has no api_key or api_key_env, and {variable} is not set"
            ),
            Self::HiddenAlias { alias, why } => {
                write!(f, "the model alias {alias:?} cannot be used: {why}")
            }
            Self::CannotEmbed { model, provider } => write!(
                f,
                "rag.model is {model:?}, but {provider} has no embeddings; embedding.provider is used instead"
            ),
            Self::NothingToPass { server, variable } => write!(
                f,
                "mcp_servers.{server}.pass_env names {variable}, which is not set"
            ),
            Self::NoSqlite => f.write_str("memory.backend sqlite is not supported; using files"),
            Self::Raised { values } => {
                let raised = values
                    .iter()
                    .map(|(key, value, counts)| format!("context.{key} {value} (using {counts})"));
                let raised: Vec<String> = raised.collect();
                write!(f, "too low: {}", raised.join(", "))
            }
            Self::NoMcp => f.write_str(
                "mcp_servers is set, but this build lacks the mcp feature; no server is started",
            ),
            Self::ReadableByOthers { path } => write!(
                f,
                "{} contains an api_key and is readable by other users; chmod 600 it, or use api_key_env",
                path.display()
            ),
            Self::TrustUnreadable { path, why } => {
                write!(f, "{} cannot be used: {why}", path.display())
            }
        }
    }
}

/// All of them.
pub(super) fn warnings(
    document: &Document,
    environment: &Environment,
    layers: &[Layer],
) -> Vec<Warning> {
    let mut found = unknown_variables(environment);
    for (name, provider) in &document.providers {
        found.extend(key_warning(name, provider, environment));
    }
    found.extend(alias_warnings(document));
    found.extend(embedding_warning(document));
    if document.memory.backend == Backend::Sqlite {
        found.push(Warning::NoSqlite);
    }
    found.extend(server_warnings(document, environment));
    found.extend(raised(&document.context));
    found.extend(layers.iter().filter_map(readable_by_others));
    found
}

fn raised(context: &context::Settings) -> Option<Warning> {
    let values = [
        (
            "threshold_messages",
            context.threshold_messages,
            context.prefix_messages(),
        ),
        (
            "threshold_chars",
            context.threshold_chars,
            context.prefix_chars(),
        ),
        (
            "retain_recent_messages",
            context.retain_recent_messages,
            context.prefix_retained(),
        ),
    ];
    let values: Vec<_> = values
        .into_iter()
        .filter(|(_, is, counts)| is != counts)
        .collect();
    (!values.is_empty()).then_some(Warning::Raised { values })
}

fn unknown_variables(environment: &Environment) -> Vec<Warning> {
    let ours = VARIABLES
        .iter()
        .filter_map(|row| row.name.strip_prefix(PREFIX));
    let ours: Vec<String> = ours.map(str::to_owned).collect();
    environment
        .0
        .keys()
        .filter_map(|name| Some((name, name.strip_prefix(PREFIX)?)))
        .filter(|(_, rest)| !ours.iter().any(|known| known == rest))
        .map(|(name, rest)| Warning::UnknownVariable {
            name: name.clone(),
            meant: meant(rest, &ours),
        })
        .collect()
}

/// A key of exactly this name first, else the nearest variable, else the nearest key.
fn meant(rest: &str, ours: &[String]) -> Option<Meant> {
    let keys = keys_of::<Document>();
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let flat: Vec<String> = keys.iter().map(|key| key.replace('.', "_")).collect();
    let variable = || similar(rest, ours.iter()).map(|it| format!("{PREFIX}{it}"));
    let near = || similar(rest, flat.iter());
    let key = |name: &String| flat.iter().position(|it| it == name).map(|at| &keys[at]);
    let named = |name: &String| Some(Meant::Key(key(name)?.replace('*', "NAME")));
    match flat.iter().find(|name| name.eq_ignore_ascii_case(rest)) {
        Some(exact) => named(exact),
        None => variable()
            .map(Meant::Variable)
            .or_else(|| near().and_then(named)),
    }
}

fn key_warning(
    name: &str,
    provider: &ProviderSettings,
    environment: &Environment,
) -> Option<Warning> {
    let has_key = |key: &secrecy::SecretString| !key.expose_secret().is_empty();
    if provider.api_key.as_ref().is_some_and(has_key) {
        return None;
    }
    if !provider.api_key_env.is_empty() {
        return environment
            .get(&provider.api_key_env)
            .is_none()
            .then(|| Warning::VariableUnset {
                key: format!("providers.{name}.api_key_env"),
                variable: provider.api_key_env.clone(),
            });
    }
    let variable = match provider.kind {
        Kind::Openai => "OPENAI_API_KEY",
        Kind::Anthropic => "ANTHROPIC_API_KEY",
        Kind::Ollama | Kind::Offline => return None,
    };
    // Another server may well do without.
    (provider.base_url.is_empty() && environment.get(variable).is_none()).then(|| Warning::NoKey {
        provider: name.to_owned(),
        variable: variable.to_owned(),
    })
}

fn alias_warnings(document: &Document) -> impl Iterator<Item = Warning> {
    document.models.aliases.keys().filter_map(|alias| {
        let why = match alias.split_once('/') {
            _ if alias == "auto" => "auto is reserved for an automatic choice".to_owned(),
            Some((provider, _)) if is_provider(document, provider) => {
                format!("it is read as a model of the provider {provider}")
            }
            _ => return None,
        };
        Some(Warning::HiddenAlias {
            alias: alias.clone(),
            why,
        })
    })
}

fn is_provider(document: &Document, name: &str) -> bool {
    document.providers.contains_key(name) || BUILT_IN.contains(&name)
}

fn embedding_warning(document: &Document) -> Option<Warning> {
    let model = &document.rag.model;
    let provider = match document.models.aliases.get(model) {
        Some(alias) => alias.provider.as_str(),
        None => model.split_once('/')?.0,
    };
    let embeds = match document.providers.get(provider) {
        Some(settings) => settings.kind.embeds(),
        None => matches!(provider, "ollama" | "openai"),
    };
    (!embeds).then(|| Warning::CannotEmbed {
        model: model.clone(),
        provider: provider.to_owned(),
    })
}

/// Returns what a server lacks; of those that cannot be used at all, that.
fn server_warnings(document: &Document, environment: &Environment) -> Vec<Warning> {
    let servers = &document.mcp_servers;
    if !cfg!(feature = "mcp") {
        let is_set = !servers.is_empty();
        return is_set.then_some(Warning::NoMcp).into_iter().collect();
    }
    let enabled = servers.iter().filter(|(_, settings)| settings.enabled);
    let passed = enabled.flat_map(|(name, settings)| {
        let variables = settings.pass_env.iter();
        variables.map(move |variable| (name, variable))
    });
    passed
        .filter(|(_, variable)| environment.get(variable).is_none())
        .map(|(server, variable)| Warning::NothingToPass {
            server: server.clone(),
            variable: variable.clone(),
        })
        .collect()
}

#[cfg(unix)]
fn readable_by_others(layer: &Layer) -> Option<Warning> {
    use std::os::unix::fs::PermissionsExt;

    let path = layer.file()?;
    let has_key = layer
        .tree
        .leaves()
        .iter()
        .any(|(path, _)| path.matches("providers.*.api_key"));
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (has_key && mode & 0o077 != 0).then(|| Warning::ReadableByOthers { path: path.clone() })
}

#[cfg(not(unix))]
fn readable_by_others(_: &Layer) -> Option<Warning> {
    None
}
