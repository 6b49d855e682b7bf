//! Texts cut around a marker, so that a draft costs no more than a limit.
//!
//! Unit: the texts and results of some sections, taken together. The longest are cut to one level, as high as the
//! excess allows: none is crushed while others stay long. Invariant: calls are never cut, nothing below `min`.

use super::total;
use crate::chat::{Attached, Message, Part, Tokens};
use crate::context::{Cut, Section, TRUNCATED};

/// Cuts what is longer than the level at which all fits, or than `min` where that is higher.
pub(super) fn level(
    sections: &mut [Section],
    places: &[usize],
    limit: Tokens,
    min: Tokens,
) -> Vec<Cut> {
    let excess = total(sections).minus(limit);
    if excess == Tokens::ZERO {
        return Vec::new();
    }
    let messages = places.iter().flat_map(|&at| sections[at].as_messages());
    let parts = messages.flat_map(|message| &message.parts);
    let costs = parts.filter_map(text_of).map(Tokens::estimate).collect();
    let max = highest(costs, excess).max(min);
    let mut cuts = Vec::new();
    for &place in places {
        cuts.extend(shorten(&mut sections[place], max));
    }
    cuts
}

/// The text of a part that may be cut.
pub(super) fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text)
        | Part::ToolResult { output: text, .. }
        | Part::Attached(Attached { text, .. }) => Some(text),
        Part::ToolCall(_) | Part::Image(_) => None,
    }
}

fn text_of_mut(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text(text)
        | Part::ToolResult { output: text, .. }
        | Part::Attached(Attached { text, .. }) => Some(text),
        Part::ToolCall(_) | Part::Image(_) => None,
    }
}

/// The highest level that frees `excess` when all that is above it goes; zero where nothing frees so much.
fn highest(mut costs: Vec<Tokens>, excess: Tokens) -> Tokens {
    costs.sort_unstable();
    let mut longest = 0;
    let mut sum = Tokens::ZERO;
    while let Some(cost) = costs.pop() {
        longest += 1;
        sum += cost;
        let level = Tokens(sum.minus(excess).0 / longest);
        if sum >= excess && costs.last().is_none_or(|next| level >= *next) {
            return level;
        }
    }
    Tokens::ZERO
}

/// Cuts the texts of a section that cost more than `max`.
fn shorten(section: &mut Section, max: Tokens) -> Option<Cut> {
    let mut chars = 0;
    section.edit(|messages| {
        let parts = messages.iter_mut().flat_map(|Message { parts, .. }| parts);
        for text in parts.filter_map(text_of_mut) {
            chars += truncate(text, max.chars());
        }
    });
    (chars > 0).then(|| Cut {
        kind: section.kind,
        source: section.source.clone(),
        chars,
    })
}

/// Keeps head and tail of a text around the marker, `chars` scalar values in all; tells how many went.
fn truncate(text: &mut String, chars: usize) -> usize {
    let room = chars.saturating_sub(TRUNCATED.chars().count());
    let total = text.chars().count();
    if total <= chars {
        return 0;
    }
    let tail = room / 3;
    let head = room - tail;
    let before: String = text.chars().take(head).collect();
    let after: String = text.chars().skip(total - tail).collect();
    *text = format!("{before}{TRUNCATED}{after}");
    total - room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_give_way_together_down_to_one_level() {
        for (costs, excess, expected) in [
            (&[100, 100, 100][..], 30, 90),
            (&[100, 20, 30], 50, 50),
            (&[100, 80, 10], 60, 60),
            (&[100, 80, 10], 20, 80),
            (&[10, 80, 100], 180, 3),
            (&[5, 5], 11, 0),
            (&[], 1, 0),
        ] {
            let costs = costs.iter().copied().map(Tokens).collect();
            let level = highest(costs, Tokens(excess));
            assert_eq!(level, Tokens(expected), "{excess}");
        }
    }
}
