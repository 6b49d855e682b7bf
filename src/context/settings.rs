//! What a person may set about the request: the `context` block of the config file.

use serde::Deserialize;

/// The block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub layout: Layout,
    /// One leading system message, or one for each block (C8).
    pub merge_system: bool,
    /// Share of the window above which a warning is shown, once for each crossing (G18).
    pub warning_threshold: f64,
}

/// The order of a request (C8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// System texts, summary, recall, mode state; then the past; then the input. Sends no more than it must.
    #[default]
    Classic,
    /// What changes least stands first: system texts, summary, the past; then recall and mode state, in front of the
    /// input. The past begins at the same message for many turns, so that a request begins as the one before it did.
    CacheFriendly,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layout: Layout::Classic,
            merge_system: true,
            warning_threshold: 0.8,
        }
    }
}
