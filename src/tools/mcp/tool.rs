//! A tool of a server among ours. Unit: one tool. What a call does is for the server to say and for a person to judge: its effect names the two and no more.

use async_trait::async_trait;
use serde_json::Value;

use super::handle::Handle;
use super::listing::Listed;
use crate::chat::ToolSpec;
use crate::tools::{Around, Done, Effect, Failure, Tool};

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
