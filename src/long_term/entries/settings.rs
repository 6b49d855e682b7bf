//! What a person may set about memory entries: `memory.store`.

use serde::Deserialize;

/// The block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// Entries of one scope; beyond it the oldest leave (G9).
    pub max_entries: usize,
    /// Milliseconds after which what waits to be written is written; what is told as kept is written at once (G8).
    pub debounce_ms: u64,
    /// Whether anything may be kept for all projects.
    pub allow_global: bool,
    /// The folder that names the project; `auto`: the nearest one with `.git` or a build file (G6).
    pub project_root: String,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            max_entries: 1_000,
            debounce_ms: 2_000,
            allow_global: true,
            project_root: "auto".to_owned(),
        }
    }
}
