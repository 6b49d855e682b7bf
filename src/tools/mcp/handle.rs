//! A server however it is at the moment: where it is up it is called, where not there is a sentence that a model can
//! act on; and its tools among ours. Unit: one server. What a call does is for the server to say and for a person to
//! judge: its effect names the two and no more.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::content;
use super::link::{Caller, Link, Missed};
use super::listing::Listed;
use super::server::Snapshot;
use super::servers::State;
use super::setup::Setup;
use crate::chat::ToolSpec;
use crate::tools::{Around, Done, Effect, Failure, Output, Tool};

/// For the news that a server ended to come after the connection did.
const NEWS: Duration = Duration::from_secs(5);

/// Calls the tools of one server, through its restarts.
#[derive(Clone, Debug)]
pub struct Handle {
    setup: Arc<Setup>,
    seen: watch::Receiver<Snapshot>,
}

impl Handle {
    pub(super) fn new(setup: Arc<Setup>, seen: watch::Receiver<Snapshot>) -> Self {
        Self { setup, seen }
    }

    pub fn server(&self) -> &str {
        &self.setup.name
    }

    /// Calls a tool by the server's own name for it. What the server says went wrong is a failed output; everything
    /// else that keeps the call from having a result is a failure.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Value,
        cancel: &CancellationToken,
        progress: &Sender<String>,
    ) -> Result<Output, Failure> {
        let arguments = self.object(arguments)?;
        let link = self.link(cancel).await?;
        match link
            .call(tool, arguments, Caller { cancel, progress })
            .await
        {
            Ok(result) => Ok(content::output(result)),
            Err(missed) => Err(self.failure(missed).await),
        }
    }

    /// Arguments as the protocol wants them; none are an empty object.
    pub(super) fn object(&self, arguments: Value) -> Result<JsonObject, Failure> {
        match arguments {
            Value::Object(object) => Ok(object),
            Value::Null => Ok(JsonObject::new()),
            _ => Err(Failure::Arguments(format!(
                "the arguments for a tool of {} must be a JSON object",
                self.setup.name
            ))),
        }
    }

    /// Waits for a server that is about to come up.
    async fn link(&self, cancel: &CancellationToken) -> Result<Link, Failure> {
        let mut seen = self.seen.clone();
        let settled = tokio::select! {
            settled = timeout(self.setup.timeout, seen.wait_for(|seen| !seen.is_starting())) => settled,
            () = cancel.cancelled() => return Err(Failure::Interrupted),
        };
        match settled {
            Ok(Ok(seen)) => seen.link.clone().ok_or_else(|| self.absent(&seen.state)),
            // It starts for too long, or nobody keeps it any more.
            Ok(Err(_)) => Err(self.absent(&State::Stopped)),
            Err(_) => Err(self.absent(&State::Starting)),
        }
    }

    fn absent(&self, state: &State) -> Failure {
        let name = &self.setup.name;
        Failure::of(match state {
            State::Starting => format!("the MCP server {name} is still starting; try again later"),
            State::Failed(why) => {
                format!(
                    "the MCP server {name} is not available: {why}; the user can restart it with /mcp restart {name}"
                )
            }
            State::Disabled | State::Stopped | State::Ready { .. } => {
                format!(
                    "the MCP server {name} is stopped; the user can start it with /mcp restart {name}"
                )
            }
        })
    }

    async fn failure(&self, missed: Missed) -> Failure {
        let name = &self.setup.name;
        match missed {
            Missed::Interrupted => Failure::Interrupted,
            Missed::TimedOut => Failure::of(format!(
                "the MCP server {name} did not answer within {} s; the call was cancelled",
                self.setup.call_timeout.as_secs_f64()
            )),
            Missed::Refused(why) => Failure::of(format!(
                "the MCP server {name} could not complete the call: {}",
                self.setup.mask(&why)
            )),
            Missed::Closed => self.ended().await,
        }
    }

    /// The server ended during the call; its task knows why in a moment.
    async fn ended(&self) -> Failure {
        let mut seen = self.seen.clone();
        let told = timeout(
            NEWS,
            seen.wait_for(|seen| {
                seen.link
                    .as_ref()
                    .is_none_or(|link| !link.peer.is_transport_closed())
            }),
        );
        match told.await {
            Ok(Ok(seen)) => match (&seen.state, &seen.ended) {
                (State::Starting, Some(why)) => {
                    let name = &self.setup.name;
                    Failure::of(format!(
                        "the MCP server {name} ended during the call: {why}; it is restarting, so the call can be retried"
                    ))
                }
                (State::Ready { .. }, _) => Failure::of(format!(
                    "the MCP server {} ended during the call and was restarted; the call can be retried",
                    self.setup.name
                )),
                (state, _) => self.absent(state),
            },
            Ok(Err(_)) | Err(_) => self.absent(&State::Stopped),
        }
    }
}

/// Calls one tool of one server.
#[derive(Debug)]
pub struct McpTool {
    spec: ToolSpec,
    /// The server's own name for it.
    tool: String,
    server: Handle,
}

impl McpTool {
    pub(super) fn new(name: String, listed: &Listed, server: Handle) -> Self {
        Self {
            spec: ToolSpec {
                name,
                description: listed.description.clone(),
                parameters: listed.parameters.clone(),
                trained: None,
            },
            tool: listed.name.clone(),
            server,
        }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self, arguments: &Value) -> Result<Effect, Failure> {
        self.server.object(arguments.clone())?;
        Ok(Effect::Delegates {
            server: self.server.server().to_owned(),
            tool: self.tool.clone(),
        })
    }

    async fn call(&self, arguments: Value, around: &Around<'_>) -> Result<Done, Failure> {
        let called = self
            .server
            .call(&self.tool, arguments, around.cancel, around.progress);
        Ok(called.await?.into())
    }
}
