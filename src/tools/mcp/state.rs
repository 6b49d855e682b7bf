//! How a server is, in words that need none: what `/mcp` and `cogtrix doctor` show. Unit: one server at a moment.

use std::time::Instant;

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Disabled,
    Starting,
    Ready {
        tools: usize,
        /// Name and version, as it says itself.
        server: String,
        /// The version of the protocol that was agreed on.
        protocol: String,
        since: Instant,
    },
    /// It could not be started, or it ended.
    Failed(String),
    Stopped,
}

impl State {
    /// In one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled => "off",
            Self::Starting => "starting",
            Self::Ready { .. } => "ready",
            Self::Failed(_) => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// A line of `/mcp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub name: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// The command line, or the address; nothing secret.
    pub target: String,
    pub state: State,
}
