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
    /// Characters of a tool's result in the turns after its own; 0: all of them (O3).
    pub tool_output_trim_chars: usize,
    pub tool_result_policy: ResultPolicy,
    /// Characters of a tool's result in its own turn.
    pub tool_result_max_chars: usize,
    /// Keeps what is cut of a result whole, beside the session.
    pub offload: bool,
}

/// How results of tools are cut (G26-G29, Q32).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultPolicy {
    /// Errors are recognised and kept, the rest keeps head and tail.
    #[default]
    Smart,
    /// Head and tail of everything.
    Ratio,
    None,
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

impl Settings {
    const RESULT_CHARS: usize = 10_000;
    /// What `ratio` keeps where nobody says a number (Q32).
    const RATIO_CHARS: usize = 8_000;

    /// Characters of a tool's result in its own turn, as the policy counts them.
    pub fn result_chars(&self) -> usize {
        match self.tool_result_policy {
            ResultPolicy::Ratio if self.tool_result_max_chars == Self::RESULT_CHARS => {
                Self::RATIO_CHARS
            }
            ResultPolicy::Ratio | ResultPolicy::Smart | ResultPolicy::None => {
                self.tool_result_max_chars
            }
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layout: Layout::Classic,
            merge_system: true,
            warning_threshold: 0.8,
            tool_output_trim_chars: 2_000,
            tool_result_policy: ResultPolicy::Smart,
            tool_result_max_chars: Self::RESULT_CHARS,
            offload: false,
        }
    }
}
