//! What a person may set about tools: the `tools` block of the config file.

use serde::Deserialize;

use super::{Selection, fetch, shell};

/// The block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `mode`, `all`, `none`, or a list of names.
    pub preset: Selection,
    /// Rounds of calls in one turn.
    pub max_steps: usize,
    /// Asks before anything is changed, run or fetched; `false` is `-y`.
    pub confirm: bool,
    pub shell: shell::Settings,
    pub fetch: fetch::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            preset: Selection::Mode,
            max_steps: 25,
            confirm: true,
            shell: shell::Settings::default(),
            fetch: fetch::Settings::default(),
        }
    }
}
