//! Settings made concrete: which program with which environment, or which address with which headers. Pure, given the
//! environment. Unit: one server. Invariant: a program gets the variables that are named here and no others; nothing
//! secret is in `Debug`, or in a text that went through [`Setup::mask`].

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use super::settings::{ServerSettings, Way};
use crate::net::{base_url, one_line};
use crate::provider::Environment;

/// What a program needs to find others, its files and its language. Everything else has to be named.
const HANDED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// Shorter values are no secrets; masking them would only garble messages.
const SHORTEST_SECRET: usize = 4;

/// One server, ready to be started.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) name: String,
    pub(super) target: Target,
    /// The folder that is shown to the server as its root.
    pub(super) project: PathBuf,
    pub(super) timeout: Duration,
    pub(super) call_timeout: Duration,
    /// Tools by the server's own names; empty: all.
    pub(super) tools: Vec<String>,
    secrets: Vec<SecretString>,
}

#[derive(Clone, Debug)]
pub(super) enum Target {
    Program {
        command: PathBuf,
        args: Vec<String>,
        variables: BTreeMap<String, SecretString>,
        folder: PathBuf,
    },
    Web {
        /// What the connection is made for: no query, so that it can be shown.
        base: Url,
        whole: SecretString,
        headers: HashMap<HeaderName, HeaderValue>,
    },
}

/// What setups are made from beside the settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) project: &'a Path,
    pub(super) environment: &'a Environment,
}

impl Setup {
    /// The error says what is wrong with the entry, without its name.
    pub(super) fn new(
        name: &str,
        settings: &ServerSettings,
        around: Surroundings<'_>,
    ) -> Result<Self, String> {
        let (target, secrets) = match settings.way().map_err(|error| error.to_string())? {
            Way::Command => program(settings, around),
            Way::Url => web(name, settings, around)?,
        };
        Ok(Self {
            name: name.to_owned(),
            target,
            project: around.project.to_owned(),
            timeout: settings.timeout,
            call_timeout: settings.call_timeout,
            tools: settings.tools.clone(),
            secrets,
        })
    }

    /// A text on one line in which nothing secret stands.
    pub(super) fn mask(&self, text: &str) -> String {
        let secrets = self.secrets.iter().map(ExposeSecret::expose_secret);
        let masked = secrets
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .fold(text.to_owned(), |text, secret| text.replace(secret, "***"));
        one_line(&masked)
    }
}

/// Returns how a server is reached, for people.
pub(super) fn shown(settings: &ServerSettings) -> String {
    match settings.way() {
        Ok(Way::Command) => {
            let words = std::iter::once(&settings.command).chain(&settings.args);
            one_line(&words.map(String::as_str).collect::<Vec<_>>().join(" "))
        }
        Ok(Way::Url) => base_url("url", &settings.url)
            .map_or_else(|_| "a url".to_owned(), |url| without_user(url).into()),
        Err(_) => String::new(),
    }
}

fn program(settings: &ServerSettings, around: Surroundings<'_>) -> (Target, Vec<SecretString>) {
    let environment = around.environment;
    let own = |name: &str| Some((name.to_owned(), SecretString::from(environment.get(name)?)));
    let passed: Vec<_> = settings
        .pass_env
        .iter()
        .filter_map(|name| own(name))
        .collect();
    let secrets = passed
        .iter()
        .map(|(_, value)| value)
        .chain(settings.env.values())
        .cloned()
        .collect();
    let mut variables: BTreeMap<_, _> = HANDED_ON.into_iter().filter_map(own).collect();
    variables.extend(passed);
    variables.extend(settings.env.clone());
    let target = Target::Program {
        command: program_path(&settings.command, around.project),
        args: settings.args.clone(),
        variables,
        folder: folder(&settings.cwd, around.project),
    };
    (target, secrets)
}

fn folder(cwd: &str, project: &Path) -> PathBuf {
    if cwd.is_empty() {
        project.to_owned()
    } else {
        project.join(cwd)
    }
}

/// A bare name is looked up in `PATH`; a path begins at the project, wherever the program then runs.
fn program_path(command: &str, project: &Path) -> PathBuf {
    if command.contains('/') {
        project.join(command)
    } else {
        PathBuf::from(command)
    }
}

fn web(
    name: &str,
    settings: &ServerSettings,
    around: Surroundings<'_>,
) -> Result<(Target, Vec<SecretString>), String> {
    let base = base_url(&format!("mcp_servers.{name}.url"), &settings.url)
        .map_err(|error| format!("{error}; {}", error.hint))?;
    // A token in the query is how some servers know their clients.
    let query = settings
        .url
        .split('#')
        .next()
        .and_then(|url| url.split_once('?'))
        .map(|(_, query)| query);
    let mut whole = base.clone();
    whole.set_query(query);
    let mut secrets: Vec<SecretString> = query
        .into_iter()
        .chain(base.password())
        .map(SecretString::from)
        .collect();
    let mut values = settings.headers.clone();
    for (header, variable) in &settings.headers_env {
        let Some(value) = around.environment.get(variable) else {
            return Err(format!("${variable} (for its header {header}) is not set"));
        };
        values.insert(header.clone(), SecretString::from(value));
    }
    let mut headers = HashMap::new();
    for (name, value) in &values {
        secrets.extend(credentials(value));
        headers.insert(header_name(name)?, header_value(name, value)?);
    }
    let whole = SecretString::from(whole.to_string());
    Ok((
        Target::Web {
            base: without_user(base),
            whole,
            headers,
        },
        secrets,
    ))
}

/// The whole value, and of `Bearer TOKEN` the token too.
fn credentials(value: &SecretString) -> Vec<SecretString> {
    let text = value.expose_secret();
    let parts = std::iter::once(text).chain(text.split_once(' ').map(|(_, token)| token));
    parts.map(SecretString::from).collect()
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("{name:?} is not a valid header name"))
}

fn header_value(name: &str, value: &SecretString) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(value.expose_secret());
    let mut value = value.map_err(|_| {
        format!("its header {name} contains a line break or another character that cannot be sent")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn without_user(mut url: Url) -> Url {
    // Only a URL without a host cannot lose them, and `base_url` lets none through.
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        tracing::debug!("a url without a host");
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let variables = [
            ("PATH", "/bin"),
            ("HOME", "/home/ann"),
            ("OPENAI_API_KEY", "sk-own"),
            ("TOKEN", "tok-123"),
            ("EMPTY", ""),
        ];
        Environment(
            variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        )
    }

    fn setup(yaml: &str) -> Result<Setup, String> {
        let settings: ServerSettings = serde_yaml::from_str(yaml).unwrap();
        let around = Surroundings {
            project: Path::new("/project"),
            environment: &environment(),
        };
        Setup::new("it", &settings, around)
    }

    #[test]
    fn a_program_gets_what_every_program_needs_and_what_is_named() {
        let setup = setup(
            "{command: tools/server, env: {MODE: fast}, pass_env: [TOKEN, EMPTY, UNSET], cwd: sub}",
        )
        .unwrap();
        let Target::Program {
            command,
            variables,
            folder,
            ..
        } = &setup.target
        else {
            panic!("{setup:?}")
        };
        assert_eq!(
            (command.as_path(), folder.as_path()),
            (
                Path::new("/project/tools/server"),
                Path::new("/project/sub")
            )
        );
        let seen: Vec<_> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        assert_eq!(
            seen,
            [
                ("HOME", "/home/ann"),
                ("MODE", "fast"),
                ("PATH", "/bin"),
                ("TOKEN", "tok-123")
            ]
        );
        assert!(!format!("{setup:?}").contains("tok-123"));
        assert_eq!(
            setup.mask("denied:\n tok-123 in fast"),
            "denied: *** in ***"
        );
    }

    #[test]
    fn an_address_keeps_its_query_and_shows_none_of_it() {
        let setup = setup("{url: 'https://ann:pass-1@host/mcp?key=query-1', headers: {X-Key: head-1}, headers_env: {Authorization: TOKEN}}").unwrap();
        let Target::Web {
            base,
            whole,
            headers,
        } = &setup.target
        else {
            panic!("{setup:?}")
        };
        assert_eq!(base.as_str(), "https://host/mcp");
        assert!(whole.expose_secret().ends_with("/mcp?key=query-1"));
        assert_eq!(headers.len(), 2);
        let printed = format!("{setup:?}");
        assert!(
            ["pass-1", "query-1", "head-1", "tok-123"]
                .iter()
                .all(|secret| !printed.contains(secret)),
            "{printed}"
        );
        assert_eq!(
            setup.mask("for https://host/mcp?key=query-1"),
            "for https://host/mcp?***"
        );
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        for (yaml, expected) in [
            ("{}", "needs either"),
            ("{url: 'host/mcp'}", "has no scheme"),
            (
                "{url: 'http://localhost', headers_env: {A: UNSET}}",
                "$UNSET",
            ),
            (
                "{url: 'http://localhost', headers: {'a b': c}}",
                "is not a valid header name",
            ),
            (
                "{url: 'http://localhost', headers: {A: \"c\\nd\"}}",
                "line break",
            ),
        ] {
            let error = setup(yaml).unwrap_err();
            assert!(error.contains(expected), "{yaml}: {error}");
        }
    }
}
