//! Tokens that requests took, by model.

use std::collections::BTreeMap;

use super::{Tokens, Usage};

/// What requests to one model took, as its server reported it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub requests: u64,
    pub prompt: u64,
    pub completion: u64,
    /// Of the prompt tokens, those the server had in its cache.
    pub cached: u64,
}

impl Spent {
    /// Returns what one request took.
    pub fn of(usage: Usage) -> Self {
        let tokens = |tokens: Option<Tokens>| tokens.map_or(0, |tokens| u64::from(tokens.0));
        let prompt = tokens(usage.prompt);
        Self {
            requests: 1,
            prompt,
            completion: tokens(usage.completion),
            cached: tokens(usage.cached).min(prompt),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            prompt: self.prompt.saturating_add(other.prompt),
            completion: self.completion.saturating_add(other.completion),
            cached: self.cached.saturating_add(other.cached),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            prompt: self.prompt.saturating_sub(other.prompt),
            completion: self.completion.saturating_sub(other.completion),
            cached: self.cached.saturating_sub(other.cached),
        }
    }
}

/// What was spent, by model as `provider/model`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending(BTreeMap<String, Spent>);

impl Spending {
    pub fn add(&mut self, model: &str, spent: Spent) {
        let sum = self.0.entry(model.to_owned()).or_default();
        *sum = sum.plus(spent);
    }

    /// Returns what was spent since an earlier moment.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let each = self.iter().map(|(model, spent)| {
            let earlier = before.0.get(model).copied().unwrap_or_default();
            (model.to_owned(), spent.minus(earlier))
        });
        Self(
            each.filter(|(_, spent)| *spent != Spent::default())
                .collect(),
        )
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, Spent)> {
        self.0.iter().map(|(model, spent)| (model.as_str(), *spent))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spending_adds_up_by_model_and_tells_what_came_since() {
        let usage = |prompt, completion, cached| Usage {
            prompt: Some(Tokens(prompt)),
            completion: Some(Tokens(completion)),
            cached,
        };
        let mut spending = Spending::default();
        spending.add("a/m", Spent::of(usage(10, 2, None)));
        let before = spending.clone();
        assert!(spending.since(&before).is_empty());
        spending.add("a/m", Spent::of(usage(20, 3, Some(Tokens(99)))));
        spending.add("b/n", Spent::of(usage(1, 1, None)));
        let since = spending.since(&before);
        let since: Vec<_> = since.iter().collect();
        assert_eq!(since[0].0, "a/m");
        let expected = Spent {
            requests: 1,
            prompt: 20,
            completion: 3,
            cached: 20,
        };
        assert_eq!(since[0].1, expected, "no more is cached than was sent");
        assert_eq!(since[1].0, "b/n");
    }
}
