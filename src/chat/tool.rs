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

/// What a model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: serde_json::Value,
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
