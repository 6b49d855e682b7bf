//! `memorize`: a model keeps a fact, preference, convention or pattern, among the entries that `memory` lists (G11).

use schemars::JsonSchema;
use serde::Deserialize;

use super::keeping::{Adding, Keeping, Lasting};
use super::{AgentTool, Failure, Wish};
use crate::long_term::entries::{Kind, Wanted};

/// Wishes for an entry of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Memorize;

/// What a call says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// fact, preference, convention or pattern.
    #[serde(rename = "type")]
    pub kind: String,
    /// One short sentence, clear on its own.
    pub content: String,
    #[serde(default)]
    pub key: Option<String>,
    /// Whether it is so important that every later session should see it: it goes into MEMORY.md, too.
    #[serde(default)]
    pub durable: bool,
}

impl AgentTool for Memorize {
    type Arguments = Arguments;

    const NAME: &'static str = "memorize";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/memorize.md");

    fn wish(wanted: Arguments) -> Result<Wish, Failure> {
        let kind = Kind::parse(&wanted.kind.trim().to_lowercase());
        let kind = kind.filter(|kind| *kind != Kind::Note).ok_or_else(|| {
            Failure::Arguments(format!(
                "unknown type {:?}; use fact, preference, convention or pattern",
                wanted.kind
            ))
        })?;
        if wanted.content.trim().is_empty() {
            let empty = "content is empty: say what to keep in one sentence".to_owned();
            return Err(Failure::Arguments(empty));
        }
        Ok(Wish::Keep(Keeping::Add(Adding {
            scope: None,
            wanted: Wanted {
                key: wanted.key,
                content: wanted.content,
                kind,
                ..Wanted::default()
            },
            lasting: if wanted.durable {
                Lasting::Durable
            } else {
                Lasting::Entry
            },
        })))
    }
}
