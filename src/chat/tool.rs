//! Tool calls as a model makes them, and the description of a tool that a model is given.

use std::fmt;

use super::Tokens;

/// Ties a tool result to the call it answers; the provider's own id where it sends one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(String);

impl CallId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A call as the model made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    /// JSON text, verbatim: it may be malformed, and then the model is told so.
    pub arguments: String,
}

impl ToolCall {
    pub fn new(id: &str, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: CallId::new(id),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

impl ToolCall {
    /// Longest name and id that every server takes back.
    const MAX: usize = 64;

    /// The call as it can be kept and sent again to any server: a name and an id of letters, digits, `_` and `-`, and
    /// an id that is none of those `taken`. `fallback` is unique.
    #[must_use]
    pub fn tidied(self, taken: &[CallId], fallback: &str) -> Self {
        let is_good = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            !text.is_empty() && text.len() <= Self::MAX && text.chars().all(plain)
        };
        let name = if is_good(&self.name) {
            self.name
        } else {
            let plain = |c: char| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            };
            let name: String = self.name.chars().take(Self::MAX).map(plain).collect();
            if name.is_empty() {
                "unnamed".to_owned()
            } else {
                name
            }
        };
        let id = if is_good(self.id.as_str()) && !taken.contains(&self.id) {
            self.id
        } else {
            CallId::new(fallback)
        };
        Self { id, name, ..self }
    }
}

/// Begins the result of a call that a person changed before it was done.
const CHANGED: &str = "[the person changed the call to ";

/// The line in front of a result whose call a person changed; `arguments` are what was done.
pub fn changed_to(arguments: &serde_json::Value) -> String {
    format!("{CHANGED}{arguments}]\n")
}

/// What was really done, where a result says so: the arguments, and the result without that line.
pub fn really_done(output: &str) -> Option<(&str, &str)> {
    let (first, rest) = output.strip_prefix(CHANGED)?.split_once('\n')?;
    Some((first.strip_suffix(']')?, rest))
}

/// What a model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: serde_json::Value,
    /// For the vendor whose models know this tool already.
    pub trained: Option<Trained>,
}

/// A tool that a vendor's models were trained with: it is named instead of described (Q37). Only that vendor's encoder
/// reads this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trained {
    /// What stands in the place of the schema.
    pub kind: &'static str,
    /// What the models call it.
    pub name: &'static str,
    /// What another tool of ours with that name is called meanwhile.
    pub displaced: &'static str,
    /// An argument that every call of it has, and none of that other tool.
    pub marker: &'static str,
    /// What a request has to say before the server knows it.
    pub beta: &'static str,
}

impl ToolSpec {
    /// What the tool does, in one line.
    pub fn summary(&self) -> &str {
        self.description.lines().next().unwrap_or_default()
    }

    /// Estimated size in a request: schemas count like any text.
    pub fn cost(&self) -> Tokens {
        let schema = self.parameters.to_string();
        Tokens::PER_MESSAGE
            + Tokens::estimate(&self.name)
            + Tokens::estimate(&self.description)
            + Tokens::estimate(&schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_kept_as_every_server_takes_it_back() {
        let long = "n".repeat(10_000);
        for (name, id, expected) in [
            ("read_file", "call_1", ("read_file", "call_1")),
            (
                "functions.read_file",
                "functions.read_file:0",
                ("functions_read_file", "x"),
            ),
            ("a\u{1b}[2J", "", ("a__2J", "x")),
            ("", "taken", ("unnamed", "x")),
            (&long, &long, (&long[..64], "x")),
        ] {
            let call = ToolCall::new(id, name, "{}").tidied(&[CallId::new("taken")], "x");
            assert_eq!((call.name.as_str(), call.id.as_str()), expected, "{name}");
        }
    }

    #[test]
    fn what_was_really_done_is_read_back() {
        let line = changed_to(&serde_json::json!({"command": "a]\nb"}));
        let result = format!("{line}out]\nput");
        let (arguments, output) = really_done(&result).unwrap();
        assert_eq!(arguments, r#"{"command":"a]\nb"}"#);
        assert_eq!(output, "out]\nput");
        assert_eq!(really_done("out"), None);
    }
}
