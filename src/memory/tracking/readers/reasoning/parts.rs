//! What a clause holds: the thing itself, its reason, and what it was preferred to.
//!
//! ```text
//!  Nomad   over Kubernetes   , because nobody wants to babysit a control plane
//!  text    instead_of        why
//! ```

use std::ops::Range;

use super::marks::Marks;

/// Words between the parts.
#[derive(Debug, Default)]
pub(super) struct Separators {
    /// Before a reason.
    pub(super) reasons: Marks,
    /// Before what else sets off the reason of a rejection: a comma, a bracket.
    pub(super) objections: Marks,
    /// Before what something was preferred to.
    pub(super) preferred: Marks,
    /// Between two things that something was preferred to.
    pub(super) either: Marks,
    /// Where a part ends, whatever follows.
    pub(super) asides: Marks,
}

/// The parts of a clause, without blanks and punctuation around them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) text: &'a str,
    pub(super) why: Option<&'a str>,
    pub(super) instead_of: Vec<&'a str>,
}

/// Most words of each of several things that something was preferred to.
const SHORT: usize = 4;

impl Separators {
    /// What was decided, why, and over what.
    pub(super) fn decision<'a>(&self, text: &'a str) -> Parts<'a> {
        let reason = self.reasons.first(text);
        let preferred = self.preferred.first(text);
        let end_of = |mark: &Range<usize>, other: &Option<Range<usize>>| {
            let other = other.as_ref().map(|other| other.start);
            other
                .filter(|start| *start >= mark.end)
                .unwrap_or(text.len())
        };
        let why = reason
            .as_ref()
            .map(|mark| &text[mark.end..end_of(mark, &preferred)]);
        let over = preferred
            .as_ref()
            .map(|mark| &text[mark.end..end_of(mark, &reason)]);
        let first = [&reason, &preferred]
            .into_iter()
            .flatten()
            .map(|mark| mark.start);
        Parts {
            text: self.whole(&text[..first.min().unwrap_or(text.len())]),
            why: why.map(|why| self.whole(why)).filter(|why| !why.is_empty()),
            instead_of: over
                .map(|over| self.each(self.whole(over)))
                .unwrap_or_default(),
        }
    }

    /// What was rejected, and why.
    pub(super) fn rejection<'a>(&self, text: &'a str) -> Parts<'a> {
        let marks = [self.reasons.first(text), self.objections.first(text)];
        let first = marks.into_iter().flatten().min_by_key(|mark| mark.start);
        let Some(mark) = first else {
            return Parts {
                text: self.whole(text),
                ..Parts::default()
            };
        };
        let why = &text[mark.end..];
        // The comma before "because" is found first.
        let why = self.whole(match self.reasons.first(why) {
            Some(reason) if reason.start == 0 => &why[reason.end..],
            _ => why,
        });
        Parts {
            text: self.whole(&text[..mark.start]),
            why: Some(why).filter(|why| !why.is_empty()),
            instead_of: Vec::new(),
        }
    }

    /// The text before a reason.
    pub(super) fn unreasoned<'a>(&self, text: &'a str) -> &'a str {
        let end = self.reasons.first(text).map(|mark| mark.start);
        self.whole(&text[..end.unwrap_or(text.len())])
    }

    /// The text before an aside.
    pub(super) fn whole<'a>(&self, text: &'a str) -> &'a str {
        let end = self.asides.first(text).map(|mark| mark.start);
        trimmed(&text[..end.unwrap_or(text.len())])
    }

    /// Several things, if they are short enough to be told apart.
    pub(super) fn each<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut things = Vec::new();
        let mut from = 0;
        for between in self.either.all(text) {
            things.push(trimmed(&text[from..between.start]));
            from = between.end;
        }
        things.push(trimmed(&text[from..]));
        let are_short = things
            .iter()
            .all(|thing| (1..=SHORT).contains(&thing.split(' ').count()) && !thing.is_empty());
        if !are_short {
            things = vec![trimmed(text)];
        }
        things.retain(|thing| !thing.is_empty());
        things
    }
}

/// Without blanks, punctuation and lonely brackets around.
fn trimmed(text: &str) -> &str {
    let is_around =
        |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | '–' | '—');
    let text = text.trim_matches(is_around);
    let closed = text.strip_suffix(')').filter(|rest| !rest.contains('('));
    let opened = text.strip_suffix(" -").map(str::trim_end);
    closed.or(opened).unwrap_or(text).trim_matches(is_around)
}
