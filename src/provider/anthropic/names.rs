//! What tools are called on the wire: a tool that the models were trained with goes by their name for it, and a tool of
//! ours that has that name by another. Pure. Invariant: `ours(wire(name)) == name` for every call; nothing outside of
//! this folder sees the other names.

use serde_json::Value;

use crate::chat::{ToolSpec, Trained};

/// The tools of one request that have another name on the wire.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<Renamed>);

#[derive(Clone, Debug)]
struct Renamed {
    ours: String,
    trained: Trained,
    /// Whether another tool of ours has the name that the models use.
    is_shared: bool,
}

impl Names {
    pub(super) fn of(tools: &[ToolSpec]) -> Self {
        let renamed = tools.iter().filter_map(|tool| {
            let trained = tool.trained?;
            Some(Renamed {
                ours: tool.name.clone(),
                trained,
                is_shared: tools.iter().any(|other| other.name == trained.name),
            })
        });
        Self(renamed.collect())
    }

    /// Returns what the request has to announce, each once.
    pub(super) fn betas(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|renamed| renamed.trained.beta)
    }

    pub(super) fn wire<'a>(&'a self, name: &'a str) -> &'a str {
        let mut renamed = self.0.iter().filter_map(|it| {
            if it.ours == name {
                Some(it.trained.name)
            } else {
                (it.trained.name == name).then_some(it.trained.displaced)
            }
        });
        renamed.next().unwrap_or(name)
    }

    /// `arguments` are JSON text as the model wrote it; they tell which tool is meant where a model confuses the two.
    pub(super) fn ours(&self, name: String, arguments: &str) -> String {
        for it in &self.0 {
            if name == it.trained.displaced && it.is_shared {
                return it.trained.name.to_owned();
            }
            if name == it.trained.name && (!it.is_shared || has_key(arguments, it.trained.marker)) {
                return it.ours.clone();
            }
        }
        name
    }
}

fn has_key(arguments: &str, key: &str) -> bool {
    serde_json::from_str::<Value>(arguments).map_or_else(
        |_| arguments.contains(&format!("\"{key}\"")),
        |arguments| arguments.get(key).is_some(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(name: &str, trained: Option<Trained>) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({}),
            trained,
        }
    }

    const TRAINED: Trained = Trained {
        kind: "memory_1",
        name: "memory",
        displaced: "memory_store",
        marker: "command",
        beta: "beta-1",
    };

    #[test]
    fn each_tool_gets_its_own_name_back() {
        let alone = Names::of(&[spec("memories", Some(TRAINED)), spec("read", None)]);
        let both = Names::of(&[spec("memories", Some(TRAINED)), spec("memory", None)]);
        for (names, ours, wire, arguments) in [
            (&alone, "memories", "memory", r#"{"command": "view"}"#),
            (&alone, "memories", "memory", "{"),
            (&alone, "read", "read", r#"{"command": 1}"#),
            (&both, "memories", "memory", r#"{"command": "view"}"#),
            (&both, "memory", "memory_store", r#"{"action": "list"}"#),
            (
                &Names::default(),
                "memory",
                "memory",
                r#"{"command": "view"}"#,
            ),
        ] {
            assert_eq!(names.wire(ours), wire);
            assert_eq!(
                names.ours(wire.to_owned(), arguments),
                ours,
                "{wire} {arguments}"
            );
        }
        let confused = both.ours("memory".to_owned(), r#"{"action": "list"}"#);
        assert_eq!(confused, "memory");
        assert_eq!(alone.betas().collect::<Vec<_>>(), ["beta-1"]);
    }
}
