//! What a strategy looks at: the session as it is sent, and how full the window is.

use super::strategies::Kind;
use crate::chat::{Calibration, Message, Part, Role, Session, Tokens, Turn};
use crate::context::Settings;
use crate::context::stages::trim;

/// How full the window is. Tokens as the server counts them, but for `fixed`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauge {
    pub window: Tokens,
    /// What the server said of the last request, while that still holds; else the calibrated estimate of the next.
    pub used: Tokens,
    /// What a turn adds on average (Q25).
    pub output: Tokens,
    /// Estimate of what a request holds beside the past.
    pub fixed: Tokens,
    pub calibration: Calibration,
}

impl Gauge {
    /// The share of the window that is used; 0 where there is no telling.
    pub fn share(self) -> f64 {
        self.used.share_of(self.window)
    }

    /// What the past may cost, estimated, where a request is to take a share of the window.
    pub fn room(self, share: f64) -> Tokens {
        self.part(share).minus(self.fixed)
    }

    /// A share of the window, estimated.
    pub fn part(self, share: f64) -> Tokens {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a u32"
        )]
        let part = Tokens((f64::from(self.window.0) * share).floor() as u32);
        self.calibration.shrink(part)
    }
}

/// Of the window, so much is said behind a compaction that was undone before another one comes by itself.
const SPARED: f64 = 0.1;

/// A session on the way to a request.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub session: &'a Session,
    pub settings: &'a Settings,
    pub gauge: Gauge,
}

impl View<'_> {
    /// Finished turns that are sent, newest first.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        let turns = self.session.live_turns().rev();
        turns.filter(|turn| turn.outcome.is_some())
    }

    /// How many messages that count came since the last compaction was planned, counted no further than so many;
    /// without end where there was none.
    pub fn since(&self, max: usize) -> usize {
        let compaction = self.session.hybrid().compaction.as_ref();
        let Some(last) = compaction.filter(|it| !it.is_blank()) else {
            return usize::MAX;
        };
        let mut since = 0;
        for turn in self.session.live_turns().rev() {
            if since > max || turn.messages.end <= last.made {
                break;
            }
            since += turn.messages.end - turn.messages.start.max(last.made);
        }
        since
    }

    /// Whether a compaction was undone so lately that none comes by itself.
    pub fn is_spared(&self) -> bool {
        let Some(undone) = self.session.hybrid().undone else {
            return false;
        };
        let enough = self.gauge.part(SPARED);
        let mut said = Tokens::ZERO;
        for turn in self.session.live_turns().rev() {
            if said >= enough || turn.messages.end <= undone {
                break;
            }
            let new = turn.messages.start.max(undone)..turn.messages.end;
            let new = self.session.messages()[new].iter();
            said += new.map(|message| self.cost_of(message)).sum();
        }
        said < enough
    }

    /// Messages in the list that a kind compacts when there are more than `max`, counted no further than
    /// that: what its last compaction left, and what came since (X33).
    pub fn listed(&self, kind: Kind, left: usize, max: usize) -> usize {
        let compaction = self.session.hybrid().compaction.as_ref();
        if compaction.is_some_and(|last| last.strategy == kind.as_str()) {
            return left.saturating_add(self.since(max));
        }
        let mut listed = 0;
        for turn in self.session.live_turns().rev() {
            if listed > max || turn.messages.end <= self.session.hybrid().covered() {
                break;
            }
            listed += turn.messages.len();
        }
        listed
    }

    /// Whether the messages that nothing stands for hold more characters than this.
    pub fn holds_more_than(&self, chars: usize) -> bool {
        let covered = self.session.hybrid().covered();
        let turns = self.session.live_turns().rev();
        let turns = turns.take_while(|turn| turn.messages.end > covered);
        let mut held = 0;
        for turn in turns {
            let messages = self.session.messages_of(turn).iter();
            held += messages.map(chars_of).sum::<usize>();
            if held > chars {
                return true;
            }
        }
        false
    }

    /// Whether more than so many messages were said in finished turns, compacted or not.
    pub fn has_more_than(&self, max: usize) -> bool {
        let mut found = 0;
        self.turns().any(|turn| {
            found += turn.messages.len();
            found > max
        })
    }

    /// What a past turn costs as it is sent.
    pub fn cost(&self, turn: &Turn) -> Tokens {
        let messages = self.session.messages_of(turn).iter();
        messages.map(|message| self.cost_of(message)).sum()
    }

    pub fn cost_of(&self, message: &Message) -> Tokens {
        trim::trimmed(message, self.settings.tool_output_trim_chars).cost()
    }
}

/// The length of what a message holds; the arguments of calls are not counted (X27).
fn chars_of(message: &Message) -> usize {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => text.chars().count(),
        Part::ToolResult { output, .. } => output.chars().count(),
        Part::Attached(attached) => attached.text.chars().count(),
        Part::ToolCall(_) | Part::Image(_) => 0,
    });
    parts.sum()
}

/// Whether a message ends the first run of a session: an answer in words (O7).
pub(super) fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant && !message.said().trim().is_empty()
}
