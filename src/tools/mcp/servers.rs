//! What a conversation needs of the servers whose tools it has: the port behind which they are. Unit: all servers of a
//! run. It is there without the feature `mcp` too, so that nobody above has to ask for it; then nothing stands behind
//! it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

use crate::tools::{Registry, Tool};

/// Programs and addresses outside, which come and go while a conversation goes on. Nothing here waits but what is
/// `async`.
#[async_trait]
pub trait Servers: Send + Sync + fmt::Debug {
    /// Starts every server in the background.
    fn start(&mut self);

    /// Returns what became of servers since the last look.
    fn changed(&mut self) -> Vec<Change>;

    /// The tools of all servers that are or were up; those of a server that ended say so when they are called. `taken`
    /// are names of other tools.
    fn tools(&self, taken: &BTreeSet<String>) -> Vec<Arc<dyn Tool>>;

    /// Returns whether a tool of this name may still come from one of them.
    fn expects(&self, tool: &str) -> bool;

    fn status(&self) -> Vec<Status>;

    /// Ends a server if it runs, and starts it, both in the background.
    fn restart(&mut self, name: &str) -> Result<(), UnknownServer>;

    /// The last lines of a server.
    fn log(&self, name: &str) -> Result<Vec<String>, UnknownServer>;

    /// Waits until no server is starting any more; each has its own time limit.
    async fn settled(&self);

    /// Ends all of them, politely and then not.
    async fn shutdown(self: Box<Self>);
}

/// Something that became of a server since the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub server: String,
    pub news: News,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    CameUp {
        tools: usize,
    },
    /// It is up as before, with another list.
    ToolsChanged {
        tools: usize,
    },
    Failed(String),
}

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

/// No server has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown MCP server {name:?}")]
pub struct UnknownServer {
    pub name: String,
    /// Those there are.
    pub known: Vec<String>,
}

/// Takes in what became of servers since the last look: the tools they have now stand in the registry, in place of
/// those before.
pub fn take_in(servers: &mut dyn Servers, registry: &mut Registry) -> Vec<Change> {
    let changes = servers.changed();
    if !changes.is_empty() {
        let tools = servers.tools(&registry.own_names());
        registry.welcome(tools);
    }
    changes
}
