//! Which lines a model asks for, counted from 1.

use crate::tools::Failure;

/// Invariant: `1 <= first <= last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools::files) struct Range {
    pub(in crate::tools::files) first: u64,
    pub(in crate::tools::files) last: u64,
}

impl Range {
    pub(in crate::tools::files) const WHOLE: Self = Self {
        first: 1,
        last: u64::MAX,
    };

    pub(in crate::tools::files) fn parse(text: &str) -> Result<Self, Failure> {
        Self::read(text).ok_or_else(|| {
            Failure::Arguments(format!(
                "range {text:?} must look like \"10-40\", \"10-\", \"-40\" or \"10\", with lines counted from 1"
            ))
        })
    }

    fn read(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (first, last) = match text.trim().split_once('-') {
            None => {
                let line = number(text)?;
                (line, line)
            }
            Some(("", "")) => return None,
            Some((first, "")) => (number(first)?, u64::MAX),
            Some(("", last)) => (1, number(last)?),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        (1 <= first && first <= last).then_some(Self { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_or_refused() {
        for (text, expected) in [
            ("10-40", Some((10, 40))),
            ("10-", Some((10, u64::MAX))),
            ("-40", Some((1, 40))),
            ("10", Some((10, 10))),
            (" 10 - 40 ", Some((10, 40))),
            ("1-1", Some((1, 1))),
            ("", None),
            ("-", None),
            ("0", None),
            ("0-3", None),
            ("-0", None),
            ("40-10", None),
            ("a-b", None),
            ("1-2-3", None),
            ("99999999999999999999", None),
        ] {
            let range = Range::parse(text).ok();
            assert_eq!(
                range.map(|range| (range.first, range.last)),
                expected,
                "{text:?}"
            );
        }
    }
}
