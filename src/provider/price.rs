//! What models cost, where the config, a server's list or a person's own table of models says so. No price is ever
//! assumed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

use super::ModelName;
use crate::chat::{Spending, Spent, Usage};

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: Dollars,
    pub output: Dollars,
    /// Of prompt tokens that the server had in its cache.
    #[serde(default)]
    pub cached: Option<Dollars>,
}

/// An amount, in millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "f64")]
pub struct Dollars(u64);

/// What requests cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub dollars: Dollars,
    /// Whether it may be less: cached tokens have a price of their own that nobody told.
    pub is_at_most: bool,
}

const MILLION: u64 = 1_000_000;

impl TryFrom<f64> for Dollars {
    type Error = &'static str;

    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        const MAX: f64 = 1e6;
        if !(0.0..=MAX).contains(&dollars) {
            return Err("is not a valid price");
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1e12"
        )]
        Ok(Self((dollars * 1e6).round() as u64))
    }
}

impl Price {
    /// Reads `pricing` of an entry of `/v1/models`, as `OpenRouter` writes it: dollars a token, in texts.
    pub(super) fn listed(entry: &Value) -> Option<Self> {
        let pricing = entry.get("pricing")?;
        let of = |key: &str| {
            let value = pricing.get(key)?;
            let token: f64 = match value.as_str() {
                Some(text) => text.parse().ok()?,
                None => value.as_f64()?,
            };
            Dollars::try_from(token * 1e6).ok()
        };
        Some(Self {
            input: of("prompt")?,
            output: of("completion")?,
            cached: of("input_cache_read"),
        })
    }

    /// Returns what tokens cost.
    pub fn of(self, spent: Spent) -> Cost {
        let Self {
            input,
            output,
            cached,
        } = self;
        let times = |tokens: u64, price: Dollars| u128::from(tokens) * u128::from(price.0);
        let fresh = spent.prompt.saturating_sub(spent.cached);
        let sum = times(fresh, input)
            + times(spent.cached, cached.unwrap_or(input))
            + times(spent.completion, output);
        let micro = sum.div_ceil(u128::from(MILLION));
        Cost {
            dollars: Dollars(u64::try_from(micro).unwrap_or(u64::MAX)),
            is_at_most: cached.is_none() && spent.cached > 0,
        }
    }
}

/// `$3 in, $15 out`
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in, {} out", self.input, self.output)
    }
}

impl Cost {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            dollars: Dollars(self.dollars.0.saturating_add(other.dollars.0)),
            is_at_most: self.is_at_most || other.is_at_most,
        }
    }
}

/// `$0.002`, `at most $0.002`
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = if self.is_at_most { "at most " } else { "" };
        write!(f, "{bound}{}", self.dollars)
    }
}

impl Dollars {
    /// Returns the amount as a number, for JSON.
    pub fn as_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        {
            self.0 as f64 / 1e6
        }
    }
}

/// Two decimals, and of less than a cent the first two digits.
impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CENT: u64 = MILLION / 100;
        let Self(micro) = *self;
        let step = match micro {
            CENT.. => CENT,
            1_000.. => 100,
            100.. => 10,
            _ => 1,
        };
        let rounded = (micro + step / 2) / step * step;
        let (whole, part) = (rounded / MILLION, rounded % MILLION);
        if part == 0 {
            return write!(f, "${whole}");
        }
        let part = format!("{part:06}");
        let digits = part.trim_end_matches('0');
        let digits = &part[..digits.len().max(2)];
        write!(f, "${whole}.{digits}")
    }
}

#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<Spending>>);

impl Meter {
    pub(super) fn count(&self, model: &ModelName, usage: Usage) {
        let mut spending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spending.add(&model.to_string(), Spent::of(usage));
    }

    /// Returns what was spent since the start.
    pub fn total(&self) -> Spending {
        let spending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spending.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dollars(amount: f64) -> Dollars {
        Dollars::try_from(amount).unwrap()
    }

    #[test]
    fn amounts_are_short_and_never_nothing_where_something_was_paid() {
        for (amount, shown) in [
            (0.0, "$0"),
            (0.000_001, "$0.000001"),
            (0.000_34, "$0.00034"),
            (0.002, "$0.002"),
            (0.002_34, "$0.0023"),
            (0.5, "$0.50"),
            (0.126, "$0.13"),
            (3.0, "$3"),
            (12.345, "$12.35"),
        ] {
            assert_eq!(dollars(amount).to_string(), shown);
        }
        assert!(Dollars::try_from(-1.0).is_err());
        assert!(Dollars::try_from(f64::NAN).is_err());
    }

    #[test]
    fn cached_tokens_have_their_own_price_or_make_the_cost_a_bound() {
        let spent = Spent {
            requests: 1,
            prompt: 1_000,
            completion: 100,
            cached: 600,
        };
        let mut price = Price {
            input: dollars(3.0),
            output: dollars(15.0),
            cached: Some(dollars(0.3)),
        };
        assert_eq!(price.of(spent).to_string(), "$0.0029");
        price.cached = None;
        assert_eq!(price.of(spent).to_string(), "at most $0.0045");
    }

    #[test]
    fn prices_are_read_where_a_list_has_them_and_not_made_up() {
        let entry = json!({"pricing": {"prompt": "0.000003", "completion": "0.000015"}});
        let price = Price::listed(&entry).unwrap();
        assert_eq!(price.to_string(), "$3 in, $15 out");
        for entry in [
            json!({}),
            json!({"pricing": {"prompt": "0.1"}}),
            json!({"pricing": {"prompt": "-1", "completion": "-1"}}),
            json!({"pricing": {"prompt": "free", "completion": "free"}}),
        ] {
            assert_eq!(Price::listed(&entry), None, "{entry}");
        }
    }
}
