//! What a person may set about MCP servers: one entry of `mcp_servers`. Unit: one server. Values of the environment and
//! of headers are secrets and stay out of `Debug`. An entry that names both ways to reach a server, or none, is read
//! and then refused by [`ServerSettings::way`], so that the mistake can be shown with its name.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;

/// A server: a program to start, or an address.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    pub enabled: bool,
    /// The program; a path that is not absolute begins at the project folder.
    pub command: String,
    pub args: Vec<String>,
    /// Variables it gets, beside the few that every program needs.
    pub env: BTreeMap<String, SecretString>,
    /// Variables of our own environment that are handed on, by name.
    pub pass_env: Vec<String>,
    /// Where it runs; empty: the project folder.
    pub cwd: String,
    /// The address of a server that is reached by streamable HTTP.
    pub url: String,
    pub headers: BTreeMap<String, SecretString>,
    /// Headers whose values stand in variables of our own environment: header -> variable.
    pub headers_env: BTreeMap<String, String>,
    /// How long it may take until its tools are known.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// How long one call may take.
    #[serde(with = "humantime_serde")]
    pub call_timeout: Duration,
    /// The tools that are offered, by the server's own names; empty: all.
    pub tools: Vec<String>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            command: String::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            cwd: String::new(),
            url: String::new(),
            headers: BTreeMap::new(),
            headers_env: BTreeMap::new(),
            timeout: Duration::from_secs(30),
            call_timeout: Duration::from_mins(2),
            tools: Vec::new(),
        }
    }
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Command,
    Url,
}

/// Why an entry makes no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadServer {
    #[error("needs either command (a program to start) or url (a running server)")]
    Neither,
    #[error("has both command and url; use only one")]
    Both,
    #[error("{0} is only for servers with a command, and this one has a url")]
    OnlyOfCommand(&'static str),
    #[error("{0} is only for servers with a url, and this one has a command")]
    OnlyOfUrl(&'static str),
}

impl ServerSettings {
    /// Returns how the server is reached, if the entry says it in one way only.
    pub fn way(&self) -> Result<Way, BadServer> {
        let of_command = [
            ("args", self.args.is_empty()),
            ("env", self.env.is_empty()),
            ("pass_env", self.pass_env.is_empty()),
            ("cwd", self.cwd.is_empty()),
        ];
        let of_url = [
            ("headers", self.headers.is_empty()),
            ("headers_env", self.headers_env.is_empty()),
        ];
        let set = |keys: &[(&'static str, bool)]| {
            let mut set = keys.iter().filter(|(_, is_empty)| !is_empty);
            set.next().map(|(key, _)| *key)
        };
        match (self.command.is_empty(), self.url.is_empty()) {
            (true, true) => Err(BadServer::Neither),
            (false, false) => Err(BadServer::Both),
            (false, true) => {
                set(&of_url).map_or(Ok(Way::Command), |key| Err(BadServer::OnlyOfUrl(key)))
            }
            (true, false) => {
                set(&of_command).map_or(Ok(Way::Url), |key| Err(BadServer::OnlyOfCommand(key)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Result<BTreeMap<String, ServerSettings>, serde_yaml::Error> {
        serde_yaml::from_str(yaml)
    }

    #[test]
    fn an_entry_is_a_program_or_an_address_and_never_both() {
        for (yaml, expected) in [
            ("{command: x}", Ok(Way::Command)),
            (
                "{command: x, args: [a], env: {A: b}, pass_env: [C], cwd: d}",
                Ok(Way::Command),
            ),
            (
                "{url: 'https://host/mcp', headers: {A: b}, headers_env: {C: D}}",
                Ok(Way::Url),
            ),
            ("{}", Err(BadServer::Neither)),
            ("{enabled: false}", Err(BadServer::Neither)),
            (
                "{command: x, url: 'http://localhost'}",
                Err(BadServer::Both),
            ),
            (
                "{command: x, headers: {A: b}}",
                Err(BadServer::OnlyOfUrl("headers")),
            ),
            (
                "{url: 'http://localhost', args: [a]}",
                Err(BadServer::OnlyOfCommand("args")),
            ),
        ] {
            let servers = read(&format!("it: {yaml}")).unwrap();
            assert_eq!(servers["it"].way(), expected, "{yaml}");
        }
    }

    #[test]
    fn times_have_units_and_unknown_keys_are_mistakes() {
        let servers = read("it: {command: x, timeout: 5s, call_timeout: 10min}").unwrap();
        assert_eq!(servers["it"].timeout, Duration::from_secs(5));
        assert_eq!(servers["it"].call_timeout, Duration::from_mins(10));
        let untold = &read("it: {command: x}").unwrap()["it"];
        assert!(untold.enabled && untold.tools.is_empty());
        assert_eq!(
            (untold.timeout, untold.call_timeout),
            (Duration::from_secs(30), Duration::from_mins(2))
        );
        let error = read("it: {comand: x}").unwrap_err().to_string();
        assert!(error.contains("comand"), "{error}");
    }

    #[test]
    fn values_of_variables_and_headers_are_not_printed() {
        let servers = read(
            "a: {command: x, env: {TOKEN: hidden-1}}\nb: {url: 'http://localhost', headers: {Authorization: hidden-2}}",
        )
        .unwrap();
        let printed = format!("{servers:?}");
        assert!(
            printed.contains("TOKEN") && !printed.contains("hidden"),
            "{printed}"
        );
    }
}
