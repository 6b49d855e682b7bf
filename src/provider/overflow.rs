//! How servers say that a request did not fit, and what sizes they name. Pure; tables of their phrases. Invariant: a
//! prompt is the prompt alone, never with the reply asked for; where a server tells only the sum, there is none. Which
//! statuses count is left to `failure`.

use crate::chat::Tokens;

/// How sure a message is about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// A phrase that nothing else is called by.
    Named,
    /// Something about a context and something about too much of it, in one sentence.
    Likely,
}

/// The sizes a message names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) prompt: Option<Tokens>,
    pub(super) window: Option<Tokens>,
}

/// Phrases of servers that have no label for it, in lower case.
const NAMED: [&str; 16] = [
    "prompt is too long",
    "prompt is longer than",
    "input is too long",
    "maximum context length",
    "maximum prompt length",
    "exceeds the available context size",
    "exceeds the context",
    "exceeds maximum context",
    "exceed context limit",
    "context length exceeded",
    "context size has been exceeded",
    "exceeds the maximum number of tokens allowed",
    "is longer than the maximum model length",
    "keep from the initial prompt is greater than the context",
    "when context the overflows",
    "tokens + `max_new_tokens` must be",
];

/// What the other phrases are about.
const WHOLE: [&str; 4] = [
    "context length",
    "context window",
    "context size",
    "context limit",
];
/// And what they say of it.
const TOO_MUCH: [&str; 6] = [
    "exceed",
    "too long",
    "too large",
    "larger than",
    "longer than",
    "greater than",
];

/// The text before and after a number.
type Around = (&'static str, &'static str);

/// Where a prompt is counted whole.
const PROMPT: [Around; 14] = [
    ("prompt is too long: ", ""),
    ("exceed context limit: ", " + "),
    ("resulted in ", " tokens"),
    ("request has ", " input tokens"),
    ("request contains ", " tokens"),
    ("request (", " tokens)"),
    ("prompt contains ", " tokens"),
    ("prompt contains ", " input tokens"),
    ("prompt contains at least ", " input tokens"),
    ("prompt (length ", ")"),
    ("input token count (", ")"),
    ("input token count is ", ""),
    ("keep the first ", " tokens"),
    ("given: ", " `inputs` tokens"),
];
/// Where it is counted in pieces, the first of which must be there: "(432 in the messages, 20 in the
/// functions, 7803 in the completion)".
const PIECES: [[Around; 2]; 3] = [
    [("(", " in the messages"), (", ", " in the functions")],
    [("(", " of text input"), (", ", " of tool input")],
    [("(", " in your prompt"), (", ", " in the functions")],
];
const WINDOW: [Around; 12] = [
    ("maximum context length is ", ""),
    ("maximum prompt length is ", ""),
    ("maximum model length of ", ""),
    ("available context size (", ""),
    ("number of tokens allowed (", ")"),
    ("supports up to ", ""),
    ("context length of only ", ""),
    ("context length of ", ""),
    ("model with ", " maximum context length"),
    ("must be <= ", ""),
    ("tokens > ", ""),
    (" > ", ", decrease"),
];

impl Overflow {
    /// Returns what `message` says of it, if anything.
    pub(super) fn of(message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        let any = |text: &str, phrases: &[&str]| phrases.iter().any(|one| text.contains(one));
        if any(&message, &NAMED) {
            return Some(Self::Named);
        }
        let is_likely = message
            .split(". ")
            .any(|sentence| any(sentence, &WHOLE) && any(sentence, &TOO_MUCH));
        is_likely.then_some(Self::Likely)
    }
}

impl Sizes {
    pub(super) fn of(message: &str) -> Self {
        let message = message.to_lowercase();
        let first = |places: &[Around]| places.iter().find_map(|place| number(&message, *place));
        let pieces = PIECES.iter().find_map(|[first, second]| {
            let second = number(&message, *second).unwrap_or(0);
            number(&message, *first)?.checked_add(second)
        });
        Self {
            prompt: pieces.or_else(|| first(&PROMPT)).map(Tokens),
            window: first(&WINDOW).map(Tokens),
        }
    }
}

/// The first number that stands between the two texts; commas may divide its digits.
fn number(message: &str, (before, after): Around) -> Option<u32> {
    message.match_indices(before).find_map(|(at, _)| {
        let rest = &message[at + before.len()..];
        let is_part = |c: char| c.is_ascii_digit() || c == ',';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        // A comma at the end belongs to the sentence.
        let digits = rest[..end].trim_end_matches(',');
        if !rest[digits.len()..].starts_with(after) {
            return None;
        }
        digits.replace(',', "").parse().ok()
    })
}

#[cfg(test)]
mod tests;
