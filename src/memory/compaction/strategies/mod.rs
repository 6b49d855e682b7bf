//! Strategies and guards: each looks at a [`View`] and says whether it is due, and where it cuts. A file each.
//!
//! The rolling summary is the fifth strategy; it has its own record and its own module (`memory/summary`), because it grows
//! with the session where these replace what they cut. `full` is the absence of all.

mod backlog;
mod compact;
mod prefix;
mod proactive;
mod threshold;
mod window;

pub use backlog::Backlog;

use super::cut::Cut;
use super::view::View;
use crate::chat::Tokens;
use crate::context::{Guard, Settings};
use crate::memory::Prompts;
use crate::memory::prompts::Prompt;

/// One way of compacting. Pure.
pub trait Strategy: Sync {
    fn kind(&self) -> Kind;

    /// Whether it is time, by its own count.
    fn is_due(&self, view: &View<'_>) -> bool;

    /// Where it cuts, whether it is due or not; `None` where it has nothing to take.
    fn cut(&self, view: &View<'_>) -> Option<Cut>;
}

/// What makes a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The person, of everything (O16).
    Compact,
    Window,
    Prefix,
    Threshold,
    Proactive,
}

/// What a kind asks a model for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asks<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) answer: Tokens,
    pub(super) temperature: Option<f32>,
}

impl Kind {
    pub const ALL: [Self; 5] = [
        Self::Compact,
        Self::Window,
        Self::Prefix,
        Self::Threshold,
        Self::Proactive,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Window => "window",
            Self::Prefix => "prefix",
            Self::Threshold => "threshold",
            Self::Proactive => "proactive",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Whether a long list is summarised in chunks (G24).
    pub(super) fn is_hierarchical(self) -> bool {
        matches!(self, Self::Threshold | Self::Proactive)
    }

    /// Share of the window that a request is to take at most after it.
    pub fn target(self, settings: &Settings) -> Option<f64> {
        match self {
            Self::Threshold => Some(settings.summarization_ratio),
            Self::Proactive => Some(settings.compaction_target),
            Self::Compact | Self::Window | Self::Prefix => None,
        }
    }

    /// How the model is asked (3.2). `is_cjk`: the conversation is mainly Chinese or Japanese (X29).
    pub(super) fn asks(self, prompts: &Prompts, is_cjk: bool) -> Asks<'_> {
        let long = |prompt| Asks {
            prompt,
            answer: Tokens::of_chars(super::MOST_CHARS),
            temperature: None,
        };
        match self {
            Self::Compact | Self::Window => long(&prompts.compact),
            Self::Threshold | Self::Proactive => long(&prompts.compact_threshold),
            Self::Prefix => Asks {
                prompt: if is_cjk {
                    &prompts.compact_prefix_zh
                } else {
                    &prompts.compact_prefix
                },
                answer: Tokens(400),
                temperature: Some(0.0),
            },
        }
    }
}

/// Where a kind is made.
pub fn of_kind(kind: Kind) -> &'static dyn Strategy {
    match kind {
        Kind::Compact => &compact::Everything,
        Kind::Window => &window::Window,
        Kind::Prefix => &prefix::Prefix,
        Kind::Threshold => &threshold::Threshold,
        Kind::Proactive => &proactive::Proactive,
    }
}

/// The strategy that owns the list, where it compacts before a request.
pub fn by_strategy(settings: &Settings) -> Option<&'static dyn Strategy> {
    use crate::context::Strategy as Owner;
    match settings.strategy {
        Owner::Window => Some(of_kind(Kind::Window)),
        Owner::Prefix => Some(of_kind(Kind::Prefix)),
        Owner::Rolling | Owner::Full => None,
    }
}

/// The guards that are on, the one that asks nobody first.
pub fn by_guards(settings: &Settings) -> impl Iterator<Item = &'static dyn Strategy> {
    let proactive = settings.guards(Guard::Proactive).then_some(Kind::Proactive);
    let may_ask = settings.enable_auto_summary;
    let threshold = (settings.guards(Guard::Threshold) && may_ask).then_some(Kind::Threshold);
    proactive.into_iter().chain(threshold).map(of_kind)
}
