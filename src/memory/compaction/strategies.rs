//! Strategies and guards: whether each is due for a [`View`], and where it cuts.
//!
//! ```text
//!  window     above 40 messages the first run, a summary and the newest half are sent (O6-O11)
//!  prefix     above 20 messages or 48,000 characters a summary stands for all but the newest eight (X26-X33)
//!  threshold  from 75 % of the window on after a turn, from 80 % before a request, the middle is summarised until the
//!             request takes half of the window (G19-G25)
//!  proactive  where the next turn would take more than 60 % of the window, a line with a count stands for all but the
//!             first two messages and the last four (Q25-Q28)
//!  compact    `/compact`: a summary stands for everything said so far (O16); never due by itself
//! ```
//! The rolling summary is the sixth: it has its own record and its own module (`memory/summary`), because it grows
//! with the session where these replace what they cut. `full` is the absence of all.

use std::ops::RangeInclusive;

use super::cut::{self, Cut, Tail};
use super::view::View;
use crate::chat::Tokens;
use crate::context::stages::history;
use crate::context::{Guard, Settings, Strategy};
use crate::declare::named;
use crate::memory::prompts::Prompt;
use crate::memory::{MAX_PENDING, Prompts, Recovery};

named! {
    /// What makes a compaction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// The person, of everything (O16).
        Compact = "compact",
        Window = "window",
        Prefix = "prefix",
        Threshold = "threshold",
        Proactive = "proactive",
    }
}

/// New messages before characters alone bring another compaction of the prefix (X33).
const PREFIX_COOL_DOWN: usize = 6;
/// New messages between two compactions by a guard (Q28).
const GUARD_COOL_DOWN: usize = 4;
/// With fewer messages `threshold` gains nothing (G25), and `proactive` (Q26).
const THRESHOLD_MIN_MESSAGES: usize = 12;
const PROACTIVE_MIN_MESSAGES: usize = 7;
/// Messages of the beginning that guards keep.
const HEAD: usize = 2;
/// Messages of the end that they keep.
const THRESHOLD_TAIL: RangeInclusive<usize> = 4..=20;
const PROACTIVE_TAIL: RangeInclusive<usize> = 4..=4;

/// What a kind asks a model for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asks<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) answer: Tokens,
    pub(super) temperature: Option<f32>,
}

impl Kind {
    /// Whether it is time, by its own count.
    pub fn is_due(self, view: &View<'_>) -> bool {
        let (settings, gauge) = (view.settings, view.gauge);
        match self {
            Self::Compact => false,
            Self::Window => {
                let max = settings.max_history_messages;
                let left = cut::first_run(view.session) + 1 + settings.window_retained();
                max > 0 && view.listed(self, left.min(max), max) > max
            }
            Self::Prefix => {
                let max = settings.prefix_messages();
                view.listed(self, settings.prefix_retained(), max) > max
                    || (view.since(PREFIX_COOL_DOWN) >= PREFIX_COOL_DOWN
                        && view.holds_more_than(settings.prefix_chars()))
            }
            // After a turn; before a request the bar is `warning_threshold`.
            Self::Threshold => gauge.share() >= settings.compact_from() && has_rested(view),
            Self::Proactive => {
                let next = f64::from((gauge.used + gauge.output).0) * settings.safety_margin;
                let max = f64::from(gauge.window.0) * settings.proactive_threshold;
                gauge.window.0 > 0 && next > max && has_rested(view)
            }
        }
    }

    /// Where it cuts, whether it is due or not; `None` where it has nothing to take.
    pub fn cut(self, view: &View<'_>) -> Option<Cut> {
        let (session, settings) = (view.session, view.settings);
        let (head, upto) = match self {
            Self::Compact => {
                let running = session.unfinished().map(|turn| turn.messages.start);
                (0, running.unwrap_or(session.messages().len()))
            }
            Self::Window => (
                cut::first_run(session),
                cut::newest(session, settings.window_retained()),
            ),
            Self::Prefix => (0, cut::newest(session, settings.prefix_retained())),
            Self::Threshold => sparing(
                view,
                settings.summarization_ratio,
                THRESHOLD_MIN_MESSAGES,
                THRESHOLD_TAIL,
            )?,
            Self::Proactive => sparing(
                view,
                settings.compaction_target,
                PROACTIVE_MIN_MESSAGES,
                PROACTIVE_TAIL,
            )?,
        };
        Cut { head, upto }.checked(session)
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
            answer: Tokens::of_chars(super::MAX_CHARS),
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

fn has_rested(view: &View<'_>) -> bool {
    view.since(GUARD_COOL_DOWN) >= GUARD_COOL_DOWN
}

/// Head and end of a cut after which a request takes so much of the window: the tail is as long as that allows, between
/// two numbers of messages. Neither head nor tail is kept where it alone takes much of the window (lesson 26). `None`
/// where there are fewer messages than `min`.
fn sparing(
    view: &View<'_>,
    target: f64,
    min: usize,
    tail: RangeInclusive<usize>,
) -> Option<(usize, usize)> {
    if !view.has_more_than(min - 1) {
        return None;
    }
    let cost = |head: usize| -> Tokens {
        let messages = view.session.messages()[..head].iter();
        messages.map(|message| view.cost_of(message)).sum()
    };
    let first = cut::first(view.session, HEAD);
    let head = if cost(first) <= view.gauge.part(0.125) {
        first
    } else {
        0
    };
    let mut room = view.gauge.room(target);
    if view.settings.recovery {
        // What tells where the work stood goes along with the request.
        room = room.minus(view.gauge.part(1.0 / f64::from(Recovery::SHARE)));
    }
    let summary = Tokens::of_chars(super::MAX_CHARS).min(Tokens(room.0 / 4));
    let tail = Tail {
        min: *tail.start(),
        max: *tail.end(),
        room: room.minus(cost(head) + summary),
        at_most: view.gauge.part(0.25),
    };
    Some((head, cut::fitted(view, tail)))
}

/// Where a backlog is cut, as an imported session brings it: more messages behind the window than are sent, and no
/// summary for them. A summary of the newest part stands for all of them, and grows backwards turn by turn. `window`:
/// messages of the sliding window, which stay.
pub fn backlog(view: &View<'_>, window: usize) -> Option<Cut> {
    let hybrid = view.session.hybrid();
    let start = history::window_start(view.session, window);
    if start.saturating_sub(hybrid.covered()) <= MAX_PENDING {
        return None;
    }
    let cut = Cut {
        head: hybrid.compaction.as_ref().map_or(0, |it| it.head),
        upto: start,
    };
    cut.checked(view.session)
}

/// The strategy that owns the list, where it compacts before a request.
pub fn by_strategy(settings: &Settings) -> Option<Kind> {
    match settings.strategy {
        Strategy::Window => Some(Kind::Window),
        Strategy::Prefix => Some(Kind::Prefix),
        Strategy::Rolling | Strategy::Full => None,
    }
}

/// The guards that are on, the one that asks nobody first.
pub fn by_guards(settings: &Settings) -> impl Iterator<Item = Kind> {
    let proactive = settings.guards(Guard::Proactive).then_some(Kind::Proactive);
    let may_ask = settings.enable_auto_summary;
    let threshold = (settings.guards(Guard::Threshold) && may_ask).then_some(Kind::Threshold);
    proactive.into_iter().chain(threshold)
}
