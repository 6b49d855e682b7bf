//! `scratchpad_write` and `scratchpad_read`: a model's short texts under keys, for the rest of the session (X22).

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::keeping::Keeping;
use super::{AgentTool, Around, Done, Effect, Failure, Output, Typed, Wish};

/// Wishes for a text on the scratchpad.
#[derive(Clone, Copy, Debug)]
pub struct ScratchpadWrite;

/// Reads what is there.
#[derive(Clone, Copy, Debug)]
pub struct ScratchpadRead;

/// What a call of `scratchpad_write` says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Writing {
    pub key: String,
    /// A text, or any JSON value.
    pub value: Value,
}

/// What a call of `scratchpad_read` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    pub key: Option<String>,
    pub list_only: bool,
}

impl AgentTool for ScratchpadWrite {
    type Arguments = Writing;

    const NAME: &'static str = "scratchpad_write";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/scratchpad_write.md");

    fn wish(writing: Writing) -> Result<Wish, Failure> {
        if writing.key.trim().is_empty() {
            let missing = "key is missing: say under which key to write".to_owned();
            return Err(Failure::Arguments(missing));
        }
        let text = match writing.value {
            Value::Null => {
                let missing = "value is missing: give a text or a JSON value".to_owned();
                return Err(Failure::Arguments(missing));
            }
            Value::String(text) => text,
            other => other.to_string(),
        };
        let key = writing.key.trim().to_owned();
        Ok(Wish::Keep(Keeping::Write { key, text }))
    }
}

#[async_trait]
impl Typed for ScratchpadRead {
    type Arguments = Reading;

    const NAME: &'static str = "scratchpad_read";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/scratchpad_read.md");

    fn effect(&self, _: &Reading) -> Result<Effect, Failure> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, reading: Reading, around: &Around<'_>) -> Result<Done, Failure> {
        let scratchpad = around.session.scratchpad();
        let key = reading.key.as_deref().map_or("", str::trim);
        let keys: Vec<&str> = scratchpad.keys().collect();
        if key.is_empty() || reading.list_only {
            let line = |key: &&str| {
                let text = scratchpad.read(key).unwrap_or_default();
                format!("{key}: {} characters", text.chars().count())
            };
            let lines: Vec<String> = keys.iter().map(line).collect();
            let brief = match keys.len() {
                1 => "1 key".to_owned(),
                several => format!("{several} keys"),
            };
            let text = if lines.is_empty() {
                "the scratchpad is empty".to_owned()
            } else {
                lines.join("\n")
            };
            return Ok(Output::content(text, brief).into());
        }
        let text = scratchpad.read(key).ok_or_else(|| {
            Failure::Failed(if keys.is_empty() {
                format!("there is no key {key:?}; the scratchpad is empty")
            } else {
                format!("there is no key {key:?}; there are {}", keys.join(", "))
            })
        })?;
        let brief = format!("{} characters", text.chars().count());
        Ok(Output::content(text, brief).into())
    }
}
