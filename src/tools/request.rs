//! `request_tools`: the catalogue, and the way to the tools in it (C36).

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Around, Done, Effect, Failure, REQUEST_TOOLS, Typed, Wish};

/// Loads tools.
#[derive(Clone, Copy, Debug)]
pub struct RequestTools;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    /// Names of tools to load.
    add: Vec<String>,
    /// Names of loaded tools that are no longer needed.
    remove: Vec<String>,
    /// Words that a tool's name or description must have.
    query: Option<String>,
}

#[async_trait]
impl Typed for RequestTools {
    type Arguments = Arguments;

    const NAME: &'static str = REQUEST_TOOLS;
    const DESCRIPTION: &'static str = include_str!("../../config/tools/request_tools.md");

    fn effect(&self, _: &Arguments) -> Result<Effect, Failure> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, wanted: Arguments, _: &Around<'_>) -> Result<Done, Failure> {
        let Arguments { add, remove, query } = wanted;
        Ok(Done::Wish(Wish::Load { add, remove, query }))
    }
}
