//! `request_tools`: the catalogue, and the way to the tools in it (C36).

use schemars::JsonSchema;
use serde::Deserialize;

use super::{AgentTool, Failure, REQUEST_TOOLS, Wish};

/// Loads tools.
#[derive(Clone, Copy, Debug)]
pub struct RequestTools;

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    /// Names of tools to load.
    add: Vec<String>,
    /// Names of loaded tools that are no longer needed.
    remove: Vec<String>,
    /// Words that a tool's name or description must have.
    query: Option<String>,
}

impl AgentTool for RequestTools {
    type Arguments = Arguments;

    const NAME: &'static str = REQUEST_TOOLS;
    const DESCRIPTION: &'static str = include_str!("../../config/tools/request_tools.md");

    fn wish(wanted: Arguments) -> Result<Wish, Failure> {
        let Arguments { add, remove, query } = wanted;
        Ok(Wish::Load { add, remove, query })
    }
}
