//! How far thinking goes: what a person may set, and what one call asks for.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::declare::settings;
use crate::tools::Thinking;

settings! {
    /// The `deep_think` block of the config file.
    #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ThinkSettings {
        /// Rounds of approaches.
        pub max_iterations: usize = 3,
        /// Approaches of a round.
        pub num_branches: usize = 3,
        /// Approaches that are carried into the next round.
        pub beam_width: usize = 2,
        pub temperature: f32 = 0.7,
    }
}

impl ThinkSettings {
    pub const ITERATIONS: RangeInclusive<usize> = 1..=5;
    pub const BRANCHES: RangeInclusive<usize> = 2..=5;
    pub const BEAM: RangeInclusive<usize> = 1..=3;

    /// These, but for what a call asks for; within their bounds, the beam no wider than there are approaches.
    #[must_use]
    pub fn with(self, asked: &Thinking) -> Self {
        let within = |asked: Option<usize>, usual: usize, bounds: RangeInclusive<usize>| {
            asked.unwrap_or(usual).clamp(*bounds.start(), *bounds.end())
        };
        let num_branches = within(asked.num_branches, self.num_branches, Self::BRANCHES);
        Self {
            max_iterations: within(asked.max_iterations, self.max_iterations, Self::ITERATIONS),
            num_branches,
            beam_width: within(asked.beam_width, self.beam_width, Self::BEAM).min(num_branches),
            temperature: self.temperature,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_asks_for_stays_within_bounds() {
        let asked = |max_iterations, num_branches, beam_width| Thinking {
            task: String::new(),
            context: None,
            max_iterations,
            num_branches,
            beam_width,
        };
        for (asked, expected) in [
            (asked(None, None, None), (3, 3, 2)),
            (asked(Some(0), Some(1), Some(0)), (1, 2, 1)),
            (asked(Some(99), Some(99), Some(99)), (5, 5, 3)),
            (asked(None, Some(2), Some(3)), (3, 2, 2)),
        ] {
            let settings = ThinkSettings::default().with(&asked);
            let figures = (
                settings.max_iterations,
                settings.num_branches,
                settings.beam_width,
            );
            assert_eq!(figures, expected, "{asked:?}");
        }
    }
}
