//! `memory_search`: what long-term memory holds on something (Q16). The searching is the agent's to do.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{AgentTool, Failure, Wish};
use crate::index::SearchMode;

/// Hits where no number is said.
const USUAL: usize = 10;
/// Hits at most.
const MAX: usize = 50;

/// Wishes for it.
#[derive(Clone, Copy, Debug)]
pub struct MemorySearch;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// What is looked for: a question, or words as they may stand there.
    query: String,
    /// Hits wanted, 10 where nothing is said, at most 50.
    #[serde(default)]
    limit: Option<usize>,
    /// hybrid (words and meaning) or text (words alone).
    #[serde(default)]
    mode: SearchMode,
}

impl AgentTool for MemorySearch {
    type Arguments = Arguments;

    const NAME: &'static str = "memory_search";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/memory_search.md");

    fn wish(wanted: Arguments) -> Result<Wish, Failure> {
        if wanted.query.trim().is_empty() {
            let blank = "query is blank: say in a few words what to look for".to_owned();
            return Err(Failure::Arguments(blank));
        }
        Ok(Wish::Search {
            query: wanted.query,
            limit: wanted.limit.unwrap_or(USUAL).clamp(1, MAX),
            mode: wanted.mode,
        })
    }
}
