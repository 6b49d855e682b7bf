//! What a person may set about the request: the `context` block of the config file.

use serde::Deserialize;

/// The block.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of its own in the config file"
)]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub layout: Layout,
    /// One leading system message, or one for each block (C8).
    pub merge_system: bool,
    /// A named set of values for whatever nobody sets; the config layers have used it up by the time it is read here.
    pub preset: String,
    pub strategy: Strategy,
    pub guards: Vec<Guard>,
    /// `window`: messages above which the middle of the list is summarised; 0: never (O6, O11).
    pub max_history_messages: usize,
    /// `prefix`: messages above which the beginning is summarised (X27).
    pub threshold_messages: usize,
    /// `prefix`: characters above which it is.
    pub threshold_chars: usize,
    /// `prefix`: messages that stay as they are (X28).
    pub retain_recent_messages: usize,
    /// Share of the window from which on a summary is made after the turn (G19).
    pub auto_compact_threshold: f64,
    /// Share of the window that is reached by it (G20).
    pub summarization_ratio: f64,
    /// Whether guards and strategies may ask a model by themselves (G21).
    pub enable_auto_summary: bool,
    /// Share of the window from which on a working buffer is kept; 0: never.
    pub buffer_threshold: f64,
    /// Share of the window above which the next turn is not begun without a compaction (Q25).
    pub proactive_threshold: f64,
    /// Share of the window that is reached by it (Q28).
    pub compaction_target: f64,
    /// What the estimate of the next turn is multiplied with (Q25).
    pub safety_margin: f64,
    /// Lets a model write the text of a proactive compaction, which is a count otherwise (Q27).
    pub proactive_summary: bool,
    /// Reads the working buffer back after a loss.
    pub recovery: bool,
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            layout: Layout::Classic,
            merge_system: true,
            preset: "default".to_owned(),
            strategy: Strategy::Rolling,
            guards: vec![Guard::Threshold],
            max_history_messages: 40,
            threshold_messages: 20,
            threshold_chars: 48_000,
            retain_recent_messages: 8,
            auto_compact_threshold: 0.75,
            summarization_ratio: 0.5,
            enable_auto_summary: true,
            buffer_threshold: 0.5,
            proactive_threshold: 0.6,
            compaction_target: 0.35,
            safety_margin: 1.0,
            proactive_summary: false,
            recovery: true,
            warning_threshold: 0.8,
            tool_output_trim_chars: 2_000,
            tool_result_policy: ResultPolicy::Smart,
            tool_result_max_chars: Self::RESULT_CHARS,
            offload: false,
        }
    }
}
