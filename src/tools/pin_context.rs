//! `pin_context`: a model pins a text to the session, or takes all pins off (G12).

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::keeping::Keeping;
use super::{Around, Done, Effect, Failure, Typed, Wish};

/// Wishes for a pin.
#[derive(Clone, Copy, Debug)]
pub struct PinContext;

/// What a call says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    pub content: Option<String>,
    pub clear: bool,
}

impl Arguments {
    fn keeping(self) -> Result<Keeping, Failure> {
        let content = self.content.filter(|content| !content.trim().is_empty());
        match (content, self.clear) {
            (Some(content), false) => Ok(Keeping::Pin(content)),
            (None, true) => Ok(Keeping::Unpin),
            (Some(_), true) => Err(Failure::Arguments(
                "content and clear cannot be combined: call it once for each".to_owned(),
            )),
            (None, false) => Err(Failure::Arguments(
                "this needs content, the text to pin, or clear: true".to_owned(),
            )),
        }
    }
}

#[async_trait]
impl Typed for PinContext {
    type Arguments = Arguments;

    const NAME: &'static str = "pin_context";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/pin_context.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        arguments.clone().keeping().map(|_| Effect::Nothing)
    }

    async fn call(&self, arguments: Arguments, _: &Around<'_>) -> Result<Done, Failure> {
        Ok(Done::Wish(Wish::Keep(arguments.keeping()?)))
    }
}
