//! Tokens, estimated: about four characters each (C78), corrected by what servers report.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A number of tokens. Never a bare number, so that tokens, characters and bytes cannot be mixed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tokens(pub u32);

impl Tokens {
    pub const ZERO: Self = Self(0);
    /// Role markers and separators that every message costs beside its text.
    pub const PER_MESSAGE: Self = Self(4);
    /// Characters (Unicode scalar values) to a token, on average.
    pub const CHARS_EACH: usize = 4;

    /// Estimates a text: scalar values over four, rounded up.
    pub fn estimate(text: &str) -> Self {
        Self::of_chars(text.chars().count())
    }

    pub fn of_chars(chars: usize) -> Self {
        Self(u32::try_from(chars.div_ceil(Self::CHARS_EACH)).unwrap_or(u32::MAX))
    }

    /// Characters that fit into this many tokens.
    pub fn chars(self) -> usize {
        self.0 as usize * Self::CHARS_EACH
    }

    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `part` of this, 0.0 for an empty whole.
    pub fn share_of(self, whole: Self) -> f64 {
        if whole.0 == 0 {
            0.0
        } else {
            f64::from(self.0) / f64::from(whole.0)
        }
    }
}

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, |sum, one| sum + one)
    }
}

/// With thousands separators: `16,384`.
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut out = String::with_capacity(digits.len() + 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                out.push(',');
            }
            out.push(digit);
        }
        f.pad(&out)
    }
}

/// What a server says a request cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub prompt: Option<Tokens>,
    pub completion: Option<Tokens>,
    /// Of the prompt tokens, those the server had in its cache.
    pub cached: Option<Tokens>,
}

/// How many tokens a server counts for each that we estimate; learnt from its `usage`, per session.
///
/// Four characters a token is right for English and far too low for, say, Chinese. A budget has to
/// shrink by that factor, or the server cuts the prompt.
/// Invariant: between 1.0 (never trusts a lower count: a cached or cut prompt also reads low) and 8.0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration(f64);

impl Default for Calibration {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Calibration {
    const MAX: f64 = 8.0;
    /// No tokenizer makes so many tokens of four characters: such a count is the server's mistake.
    const ABSURD: f64 = 32.0;

    pub fn new(ratio: f64) -> Self {
        if ratio.is_finite() {
            Self(ratio.clamp(1.0, Self::MAX))
        } else {
            Self::default()
        }
    }

    pub fn ratio(self) -> f64 {
        self.0
    }

    /// Follows a rise at once (the next request must fit) and a fall slowly (one odd reply must not
    /// open the budget).
    #[must_use]
    pub fn learn(self, estimated: Tokens, counted: Tokens) -> Self {
        if !Self::is_plausible(estimated, counted) {
            return self;
        }
        let seen = counted.share_of(estimated);
        Self::new(if seen > self.0 {
            seen
        } else {
            self.0 * 0.8 + seen * 0.2
        })
    }

    /// Whether a server can have counted so many tokens in what we estimate.
    pub fn is_plausible(estimated: Tokens, counted: Tokens) -> bool {
        estimated > Tokens::ZERO && counted.share_of(estimated) <= Self::ABSURD
    }

    /// The estimated tokens that fit where the server allows `counted`.
    pub fn shrink(self, counted: Tokens) -> Tokens {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 ≤ x ≤ u32::MAX: the ratio is at least 1"
        )]
        Tokens((f64::from(counted.0) / self.0).floor() as u32)
    }

    /// What the server will count for an estimate, rounded up.
    pub fn grow(self, estimated: Tokens) -> Tokens {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "float casts saturate"
        )]
        Tokens((f64::from(estimated.0) * self.0).ceil() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_scalar_values_are_a_token_rounded_up() {
        for (text, expected) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("😀😀😀😀", 1),
            ("日本語文字", 2),
        ] {
            assert_eq!(Tokens::estimate(text), Tokens(expected), "{text}");
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (n, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (16_384, "16,384"),
            (1_048_576, "1,048,576"),
        ] {
            assert_eq!(Tokens(n).to_string(), expected);
        }
    }

    #[test]
    fn calibration_rises_at_once_and_falls_slowly() {
        let start = Calibration::default();
        let risen = start.learn(Tokens(100), Tokens(300));
        assert!((risen.ratio() - 3.0).abs() < 1e-9);
        let fallen = risen.learn(Tokens(100), Tokens(100));
        assert!(fallen.ratio() > 2.5 && fallen.ratio() < 3.0);
        assert_eq!(risen.shrink(Tokens(900)), Tokens(300));
        assert_eq!(risen.grow(Tokens(300)), Tokens(900));
    }

    #[test]
    fn a_low_count_never_widens_the_budget() {
        assert_eq!(
            Calibration::default().learn(Tokens(1000), Tokens(10)),
            Calibration::default()
        );
        assert_eq!(Calibration::new(f64::NAN), Calibration::default());
        let absurd = Calibration::default().learn(Tokens(100), Tokens(u32::MAX));
        assert_eq!(absurd, Calibration::default());
    }
}
