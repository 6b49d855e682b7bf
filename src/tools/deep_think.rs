//! `deep_think`: a model has a hard question thought through (C70). The asking is the agent's to do.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{AgentTool, Failure, Wish};
use crate::memory::report::DEEP_THINK;

/// Wishes for it.
#[derive(Clone, Copy, Debug)]
pub struct DeepThink;

/// What is to be thought about, and how far it may go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// The question, complete in itself: nothing else of the conversation is read.
    pub task: String,
    /// Facts, constraints and findings that it needs.
    #[serde(default)]
    pub context: Option<String>,
    /// Rounds at most, 1 to 5.
    #[serde(default)]
    pub max_iterations: Option<usize>,
    /// Approaches of a round, 2 to 5.
    #[serde(default)]
    pub num_branches: Option<usize>,
    /// Approaches carried into the next round, 1 to 3.
    #[serde(default)]
    pub beam_width: Option<usize>,
}

impl Thinking {
    /// Task and context as one text.
    pub fn question(&self) -> String {
        match self.context.as_deref().map(str::trim) {
            Some(context) if !context.is_empty() => format!("{}\n\n{context}", self.task),
            Some(_) | None => self.task.clone(),
        }
    }
}

impl AgentTool for DeepThink {
    type Arguments = Thinking;

    const NAME: &'static str = DEEP_THINK;
    const DESCRIPTION: &'static str = include_str!("../../config/tools/deep_think.md");

    fn wish(thinking: Thinking) -> Result<Wish, Failure> {
        if thinking.task.trim().is_empty() {
            let missing = "task is missing: say what to think about".to_owned();
            return Err(Failure::Arguments(missing));
        }
        Ok(Wish::Think(thinking))
    }
}
