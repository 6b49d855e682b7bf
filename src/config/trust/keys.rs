//! The keys that a config file of a folder may set only when the folder is trusted.

use crate::config::tree::{KeyPath, Tree};
use crate::notes::WorkspaceSettings;

/// A key that needs trust, unless its value is harmless.
struct Row {
    key: &'static str,
    is_harmless: fn(&Tree) -> bool,
}

const ROWS: [Row; 25] = [
    Row {
        key: "tools.shell.sandbox",
        is_harmless: |value| matches!(text(value), Some("on" | "landlock")),
    },
    Row {
        key: "tools.shell.pass_env",
        is_harmless: is_empty,
    },
    Row {
        key: "tools.shell.env",
        is_harmless: is_empty,
    },
    // A list takes the place of one's own, and a bound may be none.
    Row {
        key: "tools.shell.hide",
        is_harmless: |_| false,
    },
    Row {
        key: "tools.shell.max_memory",
        is_harmless: |_| false,
    },
    Row {
        key: "tools.shell.max_processes",
        is_harmless: |_| false,
    },
    Row {
        key: "tools.shell.max_file_size",
        is_harmless: |_| false,
    },
    Row {
        key: "tools.fetch.allow_private",
        is_harmless: |value| *value == Tree::Bool(false),
    },
    Row {
        key: "tools.confirm",
        is_harmless: |value| *value == Tree::Bool(true),
    },
    Row {
        key: "providers.*.type",
        is_harmless: |value| text(value) == Some("offline"),
    },
    Row {
        key: "providers.*.base_url",
        is_harmless: is_empty,
    },
    Row {
        key: "providers.*.api_key",
        is_harmless: is_empty,
    },
    Row {
        key: "providers.*.api_key_env",
        is_harmless: is_empty,
    },
    Row {
        key: "data_dir",
        is_harmless: |value| matches!(text(value), Some("" | "auto")),
    },
    Row {
        key: "system_prompt_file",
        is_harmless: is_empty,
    },
    Row {
        key: "memory.path",
        is_harmless: is_empty,
    },
    Row {
        key: "memory.workspace.project_files",
        is_harmless: are_usual_rule_files,
    },
    Row {
        key: "memory.store.project_root",
        is_harmless: |value| matches!(text(value), Some("" | "auto")),
    },
    Row {
        key: "memory.auto_recall.heading",
        is_harmless: is_empty,
    },
    Row {
        key: "memory.mem0.base_url",
        is_harmless: is_empty,
    },
    Row {
        key: "memory.mem0.api_key_env",
        is_harmless: is_empty,
    },
    Row {
        key: "memory.mem0.user_id",
        is_harmless: is_empty,
    },
    Row {
        key: "embedding.path",
        is_harmless: is_empty,
    },
    Row {
        key: "embedding.source",
        is_harmless: is_empty,
    },
    Row {
        key: "rag.docs_dir",
        is_harmless: is_empty,
    },
];

/// Blocks of which every value needs trust, because they start programs.
const WHOLE_BLOCKS: [&str; 1] = ["mcp_servers"];

pub(super) fn needs_trust(path: &KeyPath, value: &Tree) -> bool {
    let mut blocks = WHOLE_BLOCKS.iter();
    let mut rows = ROWS.iter();
    blocks.any(|block| path.is_below(block))
        || rows.any(|row| path.matches(row.key) && !(row.is_harmless)(value))
}

fn text(value: &Tree) -> Option<&str> {
    match value {
        Tree::Text(text) | Tree::Word(text) => Some(text),
        Tree::Null
        | Tree::Bool(_)
        | Tree::Whole(_)
        | Tree::Real(_)
        | Tree::List(_)
        | Tree::Block(_) => None,
    }
}

fn is_empty(value: &Tree) -> bool {
    text(value) == Some("") || *value == Tree::List(Vec::new())
}

/// Names that count without this key; any other file would go to the model.
fn are_usual_rule_files(value: &Tree) -> bool {
    let usual = WorkspaceSettings::default().project_files;
    let Tree::List(names) = value else {
        return false;
    };
    names
        .iter()
        .all(|name| text(name).is_some_and(|name| usual.iter().any(|usual| usual == name)))
}
