//! `memory`: a model keeps entries and finds them again (G10).

use schemars::JsonSchema;
use serde::Deserialize;

use super::keeping::{Adding, Keeping, Lasting, scope_of};
use super::{AgentTool, Failure, Wish};
use crate::long_term::entries::{Kind, Wanted};

/// The name under which a model calls it.
pub const MEMORY: &str = "memory";

/// Its name beside a tool of a provider that is called [`MEMORY`]: see [`tool_as`](super::tool_as).
pub const MEMORY_STORE: &str = "memory_store";

/// Entries that a list or a search shows.
const USUAL: usize = 20;
const MAX: usize = 100;

/// Wishes for entries.
#[derive(Clone, Copy, Debug)]
pub struct MemoryTool;

/// What a call says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// add, get, search, list or remove.
    pub action: String,
    /// Of add: one short text.
    #[serde(default)]
    pub content: Option<String>,
    /// Of add, get, remove.
    #[serde(default)]
    pub key: Option<String>,
    /// session, project or global.
    #[serde(default)]
    pub scope: Option<String>,
    /// Of add.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Of search: words.
    #[serde(default)]
    pub query: Option<String>,
    /// Of get and remove, instead of a key.
    #[serde(default)]
    pub id: Option<String>,
    /// Of search and list; 20 where it is not given.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What is done with entries, under each of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Add,
    Get,
    Search,
    List,
    Remove,
}

const ACTIONS: [(&str, Action); 8] = [
    ("add", Action::Add),
    ("get", Action::Get),
    ("search", Action::Search),
    ("list", Action::List),
    ("remove", Action::Remove),
    ("remember", Action::Add),
    ("recall", Action::Search),
    ("forget", Action::Remove),
];

impl Arguments {
    fn keeping(self) -> Result<Keeping, Failure> {
        let scope = scope_of(self.scope.as_deref())?;
        let limit = self.limit.unwrap_or(USUAL).clamp(1, MAX);
        Ok(match self.action()? {
            Action::Add => Keeping::Add(Adding {
                scope,
                wanted: Wanted {
                    content: said(self.content)
                        .ok_or_else(|| missing("content: the text to keep"))?,
                    key: said(self.key),
                    kind: Kind::Note,
                    tags: self.tags,
                    from: None,
                },
                lasting: Lasting::Entry,
            }),
            Action::Get => Keeping::Get {
                name: self.name()?,
                scope,
            },
            // What `recall` is given as a key is looked up as one.
            Action::Search if said(self.query.clone()).is_none() && self.name().is_ok() => {
                Keeping::Get {
                    name: self.name()?,
                    scope,
                }
            }
            Action::Search => Keeping::Search {
                query: said(self.query).ok_or_else(|| missing("query: words to search"))?,
                scope,
                limit,
            },
            Action::List => Keeping::List { scope, limit },
            Action::Remove => Keeping::Remove {
                name: self.name()?,
                scope,
            },
        })
    }

    fn action(&self) -> Result<Action, Failure> {
        let name = self.action.trim().to_lowercase();
        let action = ACTIONS.iter().find(|(known, _)| *known == name);
        action.map(|(_, action)| *action).ok_or_else(|| {
            Failure::Arguments(format!(
                "unknown action {:?}; use add, get, search, list or remove",
                self.action
            ))
        })
    }

    fn name(&self) -> Result<String, Failure> {
        said(self.id.clone())
            .or_else(|| said(self.key.clone()))
            .ok_or_else(|| missing("id or key: which entry it is"))
    }
}

/// A text that says something.
fn said(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

fn missing(what: &str) -> Failure {
    Failure::Arguments(format!("this action needs {what}"))
}

impl AgentTool for MemoryTool {
    type Arguments = Arguments;

    const NAME: &'static str = MEMORY;
    const DESCRIPTION: &'static str = include_str!("../../config/tools/memory.md");

    fn wish(arguments: Arguments) -> Result<Wish, Failure> {
        arguments.keeping().map(Wish::Keep)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_action_has_its_names_and_says_what_it_lacks() {
        for (arguments, expected) in [
            (json!({"action": "add", "content": "x"}), "Add"),
            (json!({"action": "Remember", "content": "x"}), "Add"),
            (json!({"action": "get", "key": "k"}), "Get"),
            (json!({"action": "recall", "query": "q"}), "Search"),
            (json!({"action": "recall", "key": "k"}), "Get"),
            (json!({"action": "list", "scope": "Global"}), "List"),
            (json!({"action": "forget", "id": "mem_1"}), "Remove"),
            (json!({"action": "add"}), "needs content"),
            (json!({"action": "add", "content": " "}), "needs content"),
            (json!({"action": "get"}), "needs id or key"),
            (json!({"action": "search"}), "needs query"),
            (json!({"action": "remove"}), "needs id or key"),
            (
                json!({"action": "grow"}),
                "use add, get, search, list or remove",
            ),
            (json!({"action": ""}), "unknown action"),
            (
                json!({"action": "list", "scope": "team"}),
                "use session, project or global",
            ),
        ] {
            let read: Arguments = serde_json::from_value(arguments.clone()).unwrap();
            let said = format!("{:?}", read.keeping());
            assert!(said.contains(expected), "{arguments}: {said}");
        }
    }
}
