//! How much room there is: a context window, shared between prompt and reply.

use crate::chat::{Calibration, Tokens};

/// The shares of a context window. Window and shares as the server counts; what a prompt may cost is
/// given in our estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    window: Tokens,
    max_output: Option<Tokens>,
    calibration: Calibration,
}

impl Budget {
    /// Kept free for what the estimate misses (C82).
    pub const MARGIN: Tokens = Tokens(64);
    const MIN_RESERVE: u32 = 1024;

    pub fn new(window: Tokens, max_output: Option<Tokens>, calibration: Calibration) -> Self {
        Self {
            window,
            max_output,
            calibration,
        }
    }

    /// The same model, seen with another window and calibration.
    #[must_use]
    pub fn with(self, window: Tokens, calibration: Calibration) -> Self {
        Self {
            window,
            calibration,
            ..self
        }
    }

    pub fn window(self) -> Tokens {
        self.window
    }

    pub fn calibration(self) -> Calibration {
        self.calibration
    }

    /// Room kept for the reply: a quarter of the window and at least 1,024, but never more than half of
    /// it (C79) nor more than the model can write.
    pub fn reserve(self) -> Tokens {
        let reserve = Tokens(
            (self.window.0 / 4)
                .max(Self::MIN_RESERVE)
                .min(self.window.0 / 2),
        );
        self.max_output.map_or(reserve, |max| reserve.min(max))
    }

    /// What the prompt may cost, in estimated tokens.
    pub fn prompt(self) -> Tokens {
        self.prompt_beside(self.reserve())
    }

    /// The same where nothing else helps: a short reply is better than none.
    pub fn prompt_at_most(self) -> Tokens {
        self.prompt_beside(self.reserve().min(Tokens(self.window.0 / 8)))
    }

    fn prompt_beside(self, reserve: Tokens) -> Tokens {
        self.calibration
            .shrink(self.window.minus(reserve).minus(Self::MARGIN))
    }

    /// `max_tokens` beside a prompt of this estimate: what is left of the window, at most what the model
    /// can write, at least 1 (C82).
    pub fn max_tokens(self, prompt: Tokens) -> Tokens {
        let left = self
            .window
            .minus(self.calibration.grow(prompt))
            .minus(Self::MARGIN);
        self.max_output
            .map_or(left, |max| left.min(max))
            .max(Tokens(1))
    }
}

/// Usage of a context window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenUsage {
    pub input: Tokens,
    pub max: Tokens,
    /// 0 to 100 and beyond; 0 where the window is unknown.
    pub percent_used: f64,
    /// Strictly above the threshold.
    pub near_limit: bool,
    /// Strictly above the window.
    pub exceeds_limit: bool,
    /// Counted by us, not by the server.
    pub is_estimate: bool,
}

impl TokenUsage {
    /// `threshold`: share of the window (0 to 1) above which it counts as nearly full (G18).
    pub fn new(input: Tokens, max: Tokens, threshold: f64, is_estimate: bool) -> Self {
        let share = input.share_of(max);
        Self {
            input,
            max,
            percent_used: share * 100.0,
            near_limit: share > threshold,
            exceeds_limit: share > 1.0,
            is_estimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(window: u32) -> Budget {
        Budget::new(Tokens(window), None, Calibration::default())
    }

    #[test]
    fn the_reserve_suits_small_and_large_windows() {
        for (window, reserve) in [
            (1_000, 500),
            (2_048, 1_024),
            (4_000, 1_024),
            (8_192, 2_048),
            (32_768, 8_192),
        ] {
            assert_eq!(budget(window).reserve(), Tokens(reserve), "{window}");
        }
        let capped = Budget::new(
            Tokens(1_000_000),
            Some(Tokens(8_192)),
            Calibration::default(),
        );
        assert_eq!(capped.reserve(), Tokens(8_192));
    }

    #[test]
    fn max_tokens_is_what_is_left_and_never_nothing() {
        assert_eq!(budget(4_000).max_tokens(Tokens(1_000)), Tokens(2_936));
        assert_eq!(budget(4_000).max_tokens(Tokens(4_000)), Tokens(1));
        assert_eq!(budget(4_000).max_tokens(Tokens(90_000)), Tokens(1));
    }

    #[test]
    fn a_dense_language_shrinks_the_prompt() {
        let dense = Budget::new(Tokens(8_192), None, Calibration::new(3.0));
        assert_eq!(dense.prompt(), Tokens((8_192 - 2_048 - 64) / 3));
    }

    #[test]
    fn limits_are_strict_and_an_unknown_window_warns_of_nothing() {
        let usage = |input, max| TokenUsage::new(Tokens(input), Tokens(max), 0.8, true);
        for (input, max, near, exceeds) in [
            (79, 100, false, false),
            (80, 100, false, false),
            (81, 100, true, false),
            (100, 100, true, false),
            (101, 100, true, true),
            (50, 0, false, false),
        ] {
            let usage = usage(input, max);
            assert_eq!(
                (usage.near_limit, usage.exceeds_limit),
                (near, exceeds),
                "{input} of {max}"
            );
        }
        assert!((usage(50, 0).percent_used).abs() < f64::EPSILON);
    }
}
