//! What a person may set about the request: the `context` block of the config file.

use serde::Deserialize;

/// The block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// One leading system message, or one for each block (C8).
    pub merge_system: bool,
    /// Share of the window above which a warning is shown, once for each crossing (G18).
    pub warning_threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            merge_system: true,
            warning_threshold: 0.8,
        }
    }
}
