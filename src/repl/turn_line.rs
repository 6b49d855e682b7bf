//! The line after a turn: what memory did, how full the window is, what it cost. Only what is so is told.

use std::collections::BTreeMap;

use super::listing::{count, thousand};
use super::memory_view;
use crate::agent::Agent;
use crate::chat::{Spending, Timestamp};
use crate::context::{ContextPlan, Source, TokenUsage};
use crate::long_term::notes::Receipt;
use crate::provider::{Catalog, Cost, Price};

/// What a turn did beside its reply.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnLine {
    pub(super) recalled: Recalled,
    /// What was written down, by kind.
    pub(super) noted: BTreeMap<String, usize>,
    pub(super) window: Option<TokenUsage>,
    pub(super) cost: Option<Cost>,
}

/// What was brought into the request by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Recalled {
    pub(super) items: usize,
    /// First and last day, where every item has one.
    pub(super) days: Option<(Timestamp, Timestamp)>,
}

impl TurnLine {
    pub(super) fn noting(receipts: &[Receipt]) -> Self {
        let mut noted = BTreeMap::new();
        for receipt in receipts {
            *noted
                .entry(memory_view::kind(&receipt.what.category))
                .or_default() += 1;
        }
        Self {
            noted,
            ..Self::default()
        }
    }

    /// Adds what an answered request tells.
    #[must_use]
    pub(super) fn with_request(self, agent: &Agent, cost: Option<Cost>) -> Self {
        let plan = agent.last_plan();
        Self {
            recalled: plan.map_or_else(Recalled::default, Recalled::of),
            window: agent.window_use(),
            cost,
            ..self
        }
    }

    /// Returns the line, or nothing where there is nothing to tell.
    pub(super) fn line(&self, now: Timestamp) -> Option<String> {
        let mut parts = Vec::new();
        parts.extend(self.recalled.line(now));
        if !self.noted.is_empty() {
            let kinds = self.noted.iter().map(|(kind, n)| several(*n, kind));
            let kinds = kinds.collect::<Vec<_>>().join(", ");
            parts.push(format!("noted {kinds} (undo: /forget)"));
        }
        parts.extend(self.window.map(|usage| {
            let about = if usage.is_estimate { "about " } else { "" };
            let (input, max) = (u64::from(usage.input.0), u64::from(usage.max.0));
            format!("{about}{} of {} tokens", thousand(input), thousand(max))
        }));
        parts.extend(self.cost.map(|cost| cost.to_string()));
        (!parts.is_empty()).then(|| parts.join(" \u{b7} "))
    }
}

impl Recalled {
    fn of(plan: &ContextPlan) -> Self {
        let days = |source: &Source| -> Vec<Option<Timestamp>> {
            match source {
                Source::Recall(turns) => turns.iter().map(|turn| turn.at).collect(),
                Source::Hits(hits) => hits.iter().map(|hit| hit.at).collect(),
                _ => Vec::new(),
            }
        };
        let sections = plan.sections().iter();
        let days: Vec<_> = sections.flat_map(|section| days(&section.source)).collect();
        let known: Option<Vec<Timestamp>> = days.iter().copied().collect();
        let known = known.unwrap_or_default();
        Self {
            items: days.len(),
            days: known.iter().min().copied().zip(known.iter().max().copied()),
        }
    }

    fn line(&self, now: Timestamp) -> Option<String> {
        let days = self.days.map(|(first, last)| from(first, last, now));
        let days = days.unwrap_or_default();
        (self.items > 0).then(|| format!("recalled {}{days}", self.items))
    }
}

/// ` from today`, ` from May`, ` from March to May 2025`
fn from(first: Timestamp, last: Timestamp, now: Timestamp) -> String {
    if first.date() == now.date() {
        return " from today".to_owned();
    }
    let year = |at: Timestamp| at.date()[..4].to_owned();
    let (from, to) = (first.month(), last.month());
    if year(first) != year(last) {
        return format!(" from {from} {} to {to} {}", year(first), year(last));
    }
    let year = if year(last) == year(now) {
        String::new()
    } else {
        format!(" {}", year(last))
    };
    if from == to {
        format!(" from {from}{year}")
    } else {
        format!(" from {from} to {to}{year}")
    }
}

/// Returns what requests cost; `None` where any of their models has no known price.
pub(super) fn cost(spending: &Spending, price: impl Fn(&str) -> Option<Price>) -> Option<Cost> {
    let costs = spending.iter();
    let costs: Option<Vec<Cost>> = costs
        .map(|(model, spent)| Some(price(model)?.of(spent)))
        .collect();
    costs?.into_iter().reduce(Cost::plus)
}

/// Returns the price of a model without asking anybody.
pub(super) fn known_price(agent: &Agent, catalog: &Catalog, model: &str) -> Option<Price> {
    if agent.provider().model().to_string() == model {
        agent.price()
    } else {
        catalog.configured_price(model)
    }
}

/// `2 preferences`, `2 facts about you`.
fn several(n: usize, kind: &str) -> String {
    match kind.split_once(' ') {
        Some((first, rest)) => format!("{} {rest}", count(n, first)),
        None => count(n, kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Tokens;

    fn at(day: &str) -> Timestamp {
        Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap()
    }

    #[test]
    fn only_what_is_so_is_told() {
        let now = at("2026-11-23");
        let mut line = TurnLine::default();
        assert_eq!(line.line(now), None);
        line.window = Some(TokenUsage::new(Tokens(4_096), Tokens(16_384), 0.8, false));
        assert_eq!(line.line(now).unwrap(), "4.1k of 16k tokens");
        line.noted = BTreeMap::from([
            ("preference".to_owned(), 1),
            ("fact about you".to_owned(), 2),
        ]);
        line.recalled = Recalled {
            items: 3,
            days: Some((at("2026-05-02"), at("2026-05-30"))),
        };
        assert_eq!(
            line.line(now).unwrap(),
            "recalled 3 from May \u{b7} noted 2 facts about you, 1 preference (undo: /forget) \u{b7} 4.1k of 16k tokens"
        );
    }

    #[test]
    fn what_was_recalled_has_its_months_where_they_are_known() {
        let now = at("2026-11-23");
        for (first, last, said) in [
            ("2026-11-23", "2026-11-23", " from today"),
            ("2026-11-01", "2026-11-23", " from November"),
            ("2026-03-01", "2026-05-23", " from March to May"),
            ("2025-05-01", "2025-05-23", " from May 2025"),
            (
                "2025-12-01",
                "2026-01-23",
                " from December 2025 to January 2026",
            ),
        ] {
            assert_eq!(from(at(first), at(last), now), said);
        }
    }
}
