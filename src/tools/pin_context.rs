//! `pin_context`: a model pins a text to the session, or takes all pins off (G12).

use schemars::JsonSchema;
use serde::Deserialize;

use super::keeping::Keeping;
use super::{AgentTool, Failure, Wish};

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

impl AgentTool for PinContext {
    type Arguments = Arguments;

    const NAME: &'static str = "pin_context";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/pin_context.md");

    fn wish(wanted: Arguments) -> Result<Wish, Failure> {
        let content = wanted.content.filter(|content| !content.trim().is_empty());
        match (content, wanted.clear) {
            (Some(content), false) => Ok(Wish::Keep(Keeping::Pin(content))),
            (None, true) => Ok(Wish::Keep(Keeping::Unpin)),
            (Some(_), true) => Err(Failure::Arguments(
                "content and clear cannot be combined: call it once for each".to_owned(),
            )),
            (None, false) => Err(Failure::Arguments(
                "this needs content, the text to pin, or clear: true".to_owned(),
            )),
        }
    }
}
