//! Learning from a server's counts and refusals: how it counts, how large its window really is.

use super::Agent;
use super::event::{MakesRoom, TurnContext, Warning};
use crate::chat::{Calibration, Tokens, Usage};
use crate::context::{Budget, TokenUsage};
use crate::provider::WindowSource;

/// A request as it was sent, for judging what the server counted.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) cost: Tokens,
    /// Of it, what the descriptions of tools take.
    pub(super) tools: Tokens,
    pub(super) max_tokens: Tokens,
    pub(super) budget: Budget,
}

impl Agent {
    /// Learns from the server's count how far our estimate is off, and warns of what the count gives reason to.
    pub(super) fn learn(
        &mut self,
        usage: Option<Usage>,
        sent: Sent,
        context: &mut TurnContext<'_>,
    ) -> Calibration {
        let counted = usage.and_then(|usage| usage.prompt);
        let counted = counted.filter(|counted| Calibration::is_plausible(sent.cost, *counted));
        if let Some(usage) = usage {
            let prompt = counted;
            self.counted.count(Usage { prompt, ..usage });
        }
        // The request itself is a better measure than what was hoped for.
        if self.counted.assumed().is_some() {
            self.counted.forget();
        }
        let mut calibration = sent.budget.calibration();
        let warnings = self.judge(sent, counted);
        // One that counted more did not cut there.
        let is_full = counted == Some(sent.budget.window());
        let is_cut = is_full
            || warnings
                .iter()
                .any(|warning| matches!(warning, Warning::SilentCut { .. }));
        // A count that the server cut short says nothing of how it counts.
        if let Some(counted) = counted.filter(|_| !is_cut) {
            calibration = calibration.learn(sent.cost, counted);
        }
        context.warn_all(warnings);
        calibration
    }

    /// Judges by the server's count, or by our estimate where there is none (G18).
    fn judge(&mut self, sent: Sent, counted: Option<Tokens>) -> Vec<Warning> {
        let window = sent.budget.window();
        let threshold = self.settings.context.warning_threshold;
        let input = counted.unwrap_or_else(|| sent.budget.calibration().grow(sent.cost));
        let usage = TokenUsage::new(input, window, threshold, counted.is_none());
        let tools = sent.budget.calibration().grow(sent.tools);
        let all = sent.budget.calibration().grow(sent.cost);
        let loads_window = self.provider.loads_window();
        let set_by = if loads_window {
            "num_ctx"
        } else {
            "context_window"
        };
        let cut =
            counted.and_then(|counted| self.warned.of_count((all, tools), counted, window, set_by));
        let makes_room = MakesRoom {
            tools,
            compacting: self.settings.summariser.is_some()
                || self.memory.can_compact(sent.budget.prompt()),
            loads_window,
        };
        let near = self.warned.of_usage(usage, makes_room);
        let is_real = match self.window_source {
            WindowSource::Config | WindowSource::Server => true,
            WindowSource::Table | WindowSource::Fallback => false,
        };
        match cut {
            // Both say that it is full: what helps depends on whether that is its size.
            Some(_) if counted == Some(window) && is_real => {
                vec![Warning::NearLimit { usage, makes_room }]
            }
            Some(cut) if counted == Some(window) => vec![cut],
            cut => cut.into_iter().chain(near).collect(),
        }
    }
}

/// A budget that takes the server's word: its window where it names one, its count where it gives one.
///
/// Where it gives neither, something has to be tried. A prompt that fills less than half of the window was refused
/// together with the room asked for its reply, so the reply gets less; a longer one is cut to two thirds.
pub(super) fn tightened(sent: Sent, prompt: Option<Tokens>, window: Option<Tokens>) -> Budget {
    let Sent { cost, budget, .. } = sent;
    let seen = budget.calibration();
    let calibration = prompt.map_or(seen, |prompt| seen.learn(cost, prompt));
    let named = window.filter(|window| *window > Tokens::ZERO);
    let window = match (named, prompt) {
        (Some(window), _) => window.min(budget.window()),
        (None, Some(_)) => budget.window(),
        (None, None) if seen.grow(cost).0 < budget.window().0 / 2 => Tokens(budget.window().0 / 2),
        (None, None) => Tokens(seen.grow(cost).0 / 3 * 2).min(budget.window()),
    };
    let tighter = budget.with(window, calibration);
    if tighter == budget {
        budget.with(window, Calibration::new(seen.ratio() * 1.5))
    } else {
        tighter
    }
}
