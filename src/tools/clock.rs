//! `current_time`: the one clock a model can ask; a request itself holds only the stamps of its messages.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Around, Done, Effect, Failure, Output, Typed};

/// Tells the time.
#[derive(Clone, Copy, Debug)]
pub struct CurrentTime;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {}

#[async_trait]
impl Typed for CurrentTime {
    type Arguments = Arguments;

    const NAME: &'static str = "current_time";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/current_time.md");

    fn effect(&self, _: &Arguments) -> Result<Effect, Failure> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, _: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let utc = around.now.iso();
        let local = around.now.local_iso();
        Ok(Output::text(format!("UTC: {utc}\nlocal: {local}"), utc).into())
    }
}
