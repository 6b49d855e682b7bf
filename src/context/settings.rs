//! What a person may set about the request: the `context` block of the config file.

use serde::Deserialize;

use crate::declare::settings;

settings! {
    /// The block.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Settings {
        pub layout: Layout = Layout::Classic,
        /// One leading system message, or one for each block (C8).
        pub merge_system: bool = true,
        /// A named set of values for whatever nobody sets; the config layers have used it up by the time it is read
        /// here.
        pub preset: String = "default".to_owned(),
        pub strategy: Strategy = Strategy::Rolling,
        pub guards: Vec<Guard> = vec![Guard::Threshold],
        /// `window`: messages above which the middle of the list is summarised; 0: never (O6, O11).
        pub max_history_messages: usize = 40,
        /// `prefix`: messages above which the beginning is summarised (X27).
        pub threshold_messages: usize = 20,
        /// `prefix`: characters above which it is.
        pub threshold_chars: usize = 48_000,
        /// `prefix`: messages that stay as they are (X28).
        pub retain_recent_messages: usize = 8,
        /// Share of the window from which on a summary is made after the turn (G19).
        pub auto_compact_threshold: f64 = 0.75,
        /// Share of the window that is reached by it (G20).
        pub summarization_ratio: f64 = 0.5,
        /// Whether guards and strategies may ask a model by themselves (G21).
        pub enable_auto_summary: bool = true,
        /// Share of the window from which on a working buffer is kept; 0: never.
        pub buffer_threshold: f64 = 0.5,
        /// Share of the window above which the next turn is not begun without a compaction (Q25).
        pub proactive_threshold: f64 = 0.6,
        /// Share of the window that is reached by it (Q28).
        pub compaction_target: f64 = 0.35,
        /// What the estimate of the next turn is multiplied with (Q25).
        pub safety_margin: f64 = 1.0,
        /// Lets a model write the text of a proactive compaction, which is a count otherwise (Q27).
        pub proactive_summary: bool = false,
        /// Reads the working buffer back after a loss.
        pub recovery: bool = true,
        /// Share of the window above which a warning is shown, once for each crossing (G18).
        pub warning_threshold: f64 = 0.8,
        /// Characters of a tool's result in the turns after its own; 0: all of them (O3).
        pub tool_output_trim_chars: usize = 2_000,
        pub tool_result_policy: ResultPolicy = ResultPolicy::Smart,
        /// Characters of a tool's result in its own turn.
        pub tool_result_max_chars: usize = Self::RESULT_CHARS,
        /// Keeps what is cut of a result whole, beside the session.
        pub offload: bool = false,
    }
}

/// Who owns the list of messages that is sent (2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The window of the mode, and a summary that grows with what has left it.
    #[default]
    Rolling,
    /// The first exchange, a summary, the newest half.
    Window,
    /// A summary, and the newest few.
    Prefix,
    /// Everything.
    Full,
}

/// What watches the tokens beside it (2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Guard {
    Threshold,
    Proactive,
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

    /// The least that `prefix` works with (X32).
    pub const MIN_MESSAGES: usize = 8;
    pub const MIN_CHARS: usize = 4_000;
    pub const MIN_RETAINED: usize = 4;

    pub fn guards(&self, guard: Guard) -> bool {
        self.guards.contains(&guard)
    }

    /// Messages above which `prefix` compacts.
    pub fn prefix_messages(&self) -> usize {
        self.threshold_messages.max(Self::MIN_MESSAGES)
    }

    pub fn prefix_chars(&self) -> usize {
        self.threshold_chars.max(Self::MIN_CHARS)
    }

    /// Messages that `prefix` leaves as they are; fewer than those it begins at.
    pub fn prefix_retained(&self) -> usize {
        let max = self.prefix_messages() - 1;
        self.retain_recent_messages.clamp(Self::MIN_RETAINED, max)
    }

    /// Messages of the newest that `window` leaves as they are (O8).
    pub fn window_retained(&self) -> usize {
        (self.max_history_messages / 2).max(4)
    }

    /// Where a summary is made after the turn: never above where the person is warned.
    pub fn compact_from(&self) -> f64 {
        self.auto_compact_threshold.min(self.warning_threshold)
    }

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
