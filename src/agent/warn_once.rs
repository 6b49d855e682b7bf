//! What a session has warned of already. Invariant: a condition that goes on is told once, and again after it ended.

use super::event::{Beside, MakesRoom, Reach, Warning};
use crate::chat::Tokens;
use crate::context::{ContextPlan, Section, SectionKind, TokenUsage};
use crate::store::{StoreError, Unwritable};

/// Warnings that come once for each crossing of their line, not every turn (G18).
#[derive(Debug, Default)]
pub(super) struct WarnOnce {
    /// Never ends.
    left_out: Condition,
    /// Never ends.
    not_compacted: Condition,
    near_limit: Condition,
    silent_cut: Condition,
    tools_left_out: Condition,
    /// What the disk refuses records for, as it was told last.
    not_saved: Option<Warning>,
    /// The same, where it is the data folder that takes nothing.
    unwritable: Option<Unwritable>,
    /// It was told before anything was tried, so the reason may have been another.
    was_warned_at_start: bool,
    still_full: Condition,
    recovered: bool,
    counts_tools: bool,
}

impl WarnOnce {
    pub(super) fn begin_turn(&mut self) {
        self.recovered = false;
    }

    /// Whether a request of this turn told where the work stood: it may have had no room for that.
    pub(super) fn has_recovered(&self) -> bool {
        self.recovered
    }

    /// That the disk refuses records is one thing to say, until the reason is another (C76).
    pub(super) fn of_refusal(&mut self, error: &StoreError) -> Option<Warning> {
        let unwritable = error.unwritable();
        if self.was_warned_at_start && unwritable.is_some() {
            return None;
        }
        self.unwritable = unwritable;
        let warning = Warning::not_saved(error);
        let told = self.not_saved.replace(warning.clone());
        (told.as_ref() != Some(&warning)).then_some(warning)
    }

    /// All records are on disk.
    pub(super) fn of_saved(&mut self) -> Option<Warning> {
        (self.was_warned_at_start, self.unwritable) = (false, None);
        self.not_saved.take().map(|_| Warning::SavedAgain)
    }

    /// The person knows already that nothing can be saved.
    pub(super) fn at_start(&mut self, unwritable: Unwritable) {
        let why = unwritable.why().to_owned();
        self.not_saved = Some(Warning::NotSaved { why });
        self.unwritable = Some(unwritable);
        self.was_warned_at_start = true;
    }

    /// Whether that was told at the start, and is still so.
    pub(super) fn was_warned_at_start(&self) -> bool {
        self.was_warned_at_start
    }

    /// Why the data folder takes nothing, as far as it was told.
    pub(super) fn unwritable(&self) -> Option<Unwritable> {
        self.unwritable
    }

    /// What a plan gives reason to warn of.
    pub(super) fn of_plan(&mut self, plan: &ContextPlan, reach: Reach) -> Vec<Warning> {
        let mut sections = plan.sections().iter();
        self.recovered |= sections.any(|section| section.kind == SectionKind::Recovered);
        let mut warnings = Vec::new();
        let messages = plan.messages_left_out();
        if messages > 0 && self.left_out.begins(true) {
            warnings.push(Warning::LeftOut { messages, reach });
        }
        let cut = plan
            .cuts()
            .iter()
            .filter(|cut| cut.kind == SectionKind::Input);
        warnings.extend(cut.map(|cut| Warning::InputCut {
            chars: cut.chars,
            beside: beside(plan),
        }));
        warnings
    }

    /// That older messages could not be summarised: once in a session.
    pub(super) fn of_not_compacted(&mut self, why: String) -> Option<Warning> {
        self.not_compacted
            .begins(true)
            .then_some(Warning::NotCompacted { why })
    }

    /// A request that is larger than a compaction was to make it; shares of the window.
    pub(super) fn of_target(&mut self, percent: u32, target: u32) -> Option<Warning> {
        self.still_full
            .begins(percent > target)
            .then_some(Warning::StillFull { percent, target })
    }

    /// Tools that a window has no room for.
    pub(super) fn of_tools_left_out(&mut self, tools: usize, tokens: Tokens) -> Option<Warning> {
        self.tools_left_out
            .begins(true)
            .then_some(Warning::ToolsLeftOut { tools, tokens })
    }

    /// What a window's usage gives reason to warn of.
    pub(super) fn of_usage(&mut self, usage: TokenUsage, makes_room: MakesRoom) -> Option<Warning> {
        self.near_limit
            .begins(usage.near_limit)
            .then_some(Warning::NearLimit { usage, makes_room })
    }

    /// Compares what was sent with what the server counted. Estimates are rough, so only a count of
    /// less than half, or one that stops exactly at the window, raises the alarm. Some servers do not count the
    /// descriptions of tools: only those that once counted more than the rest are taken to.
    pub(super) fn of_count(
        &mut self,
        (all, tools): (Tokens, Tokens),
        counted: Tokens,
        window: Tokens,
        set_by: &'static str,
    ) -> Option<Warning> {
        const WORTH_IT: Tokens = Tokens(512);
        self.counts_tools |= u64::from(counted.0) * 10 > u64::from(all.0) * 9;
        let estimated = if self.counts_tools {
            all
        } else {
            all.minus(tools)
        };
        let far_fewer = estimated > WORTH_IT && u64::from(counted.0) * 2 < u64::from(estimated.0);
        let stopped_at_window = counted == window && window > Tokens::ZERO;
        self.silent_cut
            .begins(far_fewer || stopped_at_window)
            .then_some(Warning::SilentCut {
                estimated,
                counted,
                window,
                set_by,
            })
    }
}

/// What a plan holds beside the input.
fn beside(plan: &ContextPlan) -> Beside {
    let cost = |is_it: &dyn Fn(SectionKind) -> bool| -> Tokens {
        let sections = plan.sections().iter();
        let some = sections.filter(|section| is_it(section.kind));
        let cost = some.map(Section::cost).sum();
        plan.budget().calibration().grow(cost)
    };
    Beside {
        tools: cost(&|kind| kind == SectionKind::Tools),
        rest: cost(&|kind| !matches!(kind, SectionKind::Tools | SectionKind::Input)),
        window: plan.budget().window(),
    }
}

/// Whether a condition held when it was last looked at.
#[derive(Debug, Default)]
struct Condition(bool);

impl Condition {
    /// Whether it has just begun to hold.
    fn begins(&mut self, now: bool) -> bool {
        let before = std::mem::replace(&mut self.0, now);
        now && !before
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Reader;
    use super::*;

    #[test]
    fn a_crossing_is_told_once_and_again_after_it_ended() {
        let mut told = WarnOnce::default();
        let usage = |input| TokenUsage::new(Tokens(input), Tokens(100), 0.8, false);
        let warned: Vec<bool> = [70, 85, 90, 60, 81]
            .map(|input| told.of_usage(usage(input), MakesRoom::default()).is_some())
            .into();
        assert_eq!(warned, [false, true, false, false, true]);
    }

    #[test]
    fn num_ctx_is_advised_only_where_the_server_takes_it() {
        for (loads_window, room) in [
            (true, "; a larger window (num_ctx) makes room"),
            (
                false,
                "; a model with a larger window (`/model`) makes room",
            ),
        ] {
            let usage = TokenUsage::new(Tokens(90), Tokens(100), 0.8, false);
            let makes_room = MakesRoom {
                loads_window,
                ..MakesRoom::default()
            };
            let warning = WarnOnce::default().of_usage(usage, makes_room).unwrap();
            let words = warning.in_words(Reader::Chat);
            assert!(words.ends_with(room), "{words}");
        }
    }

    #[test]
    fn tools_count_on_both_sides_once_a_server_has_counted_them() {
        let sent = (Tokens(1_200), Tokens(600));
        let window = Tokens(8_192);
        let mut told = WarnOnce::default();
        assert!(
            told.of_count(sent, Tokens(550), window, "num_ctx")
                .is_none()
        );
        assert!(
            told.of_count(sent, Tokens(1_150), window, "num_ctx")
                .is_none()
        );
        let warning = told.of_count(sent, Tokens(550), window, "num_ctx");
        let expected = Warning::SilentCut {
            estimated: Tokens(1_200),
            counted: Tokens(550),
            window,
            set_by: "num_ctx",
        };
        assert_eq!(warning, Some(expected));
    }

    #[test]
    fn a_silent_cut_is_seen_and_a_rough_estimate_is_not_one() {
        for (estimated, counted, window, expected) in [
            (6_000, 2_048, 8_192, true),
            (6_000, 4_100, 8_192, false),
            (100, 22, 8_192, false),
            (4_100, 4_096, 4_096, true),
            (4_100, 4_200, 4_096, false),
        ] {
            let warning = WarnOnce::default().of_count(
                (Tokens(estimated), Tokens(0)),
                Tokens(counted),
                Tokens(window),
                "context_window",
            );
            assert_eq!(
                warning.is_some(),
                expected,
                "{estimated} sent, {counted} counted of {window}"
            );
        }
    }
}
