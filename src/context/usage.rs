//! How full the window is, in the six figures of G17.

use crate::chat::Tokens;

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
