//! What there is to quote in a request: its messages, and the exchanges that recall brought. Invariant: quoted word for
//! word but for line breaks, and never what stood in for a model before.

use std::collections::{HashMap, HashSet};

use super::words;
use crate::chat::{Message, Role, is_stand_in};
use crate::text::lines::single_spaced;

const MAX_QUOTES: usize = 3;
/// Characters of a side; of a longer one the part is quoted that shares the most.
const QUOTE_CHARS: usize = 400;
/// Characters of such a part before the first word that is shared.
const LEAD: usize = 80;

/// What recall brought is worth a little for that alone: it knows other forms of a word.
const BROUGHT: f64 = 0.1;

/// Something that may be quoted.
struct Candidate {
    /// Where or when it was said.
    origin: Option<String>,
    /// What it is worth without any word.
    head_start: f64,
    /// Who said it, and what.
    sides: Vec<(String, String)>,
    words: HashSet<String>,
}

/// The sources that share the most telling words with the input, oldest first, as quotations. What says the input
/// itself and nothing else tells nobody anything.
pub(super) fn quotes(input: &str, past: &[Message], recalled: Option<&str>) -> Vec<String> {
    let input = single_spaced(unstamped(input).1);
    let wanted = &words(&input);
    let brought = recalled.into_iter().flat_map(exchanges);
    let held = brought.chain(past.iter().filter_map(said));
    let held = held.filter(|candidate| candidate.sides.iter().any(|(_, text)| *text != input));
    let held: Vec<Candidate> = held.collect();
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for word in held.iter().flat_map(|candidate| &candidate.words) {
        *frequency.entry(word).or_default() += 1;
    }
    let weight = |word: &str| {
        let holding = frequency.get(word).copied().unwrap_or_default();
        rarity(holding, held.len())
    };
    let mut scored: Vec<(f64, usize)> = held
        .iter()
        .enumerate()
        .map(|(place, candidate)| (candidate.score(wanted, weight), place))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    scored.truncate(MAX_QUOTES);
    scored.sort_by_key(|(_, place)| *place);
    let best = scored.into_iter().map(|(_, place)| &held[place]);
    best.map(|candidate| candidate.quote(wanted, weight))
        .collect()
}

impl Candidate {
    fn new(origin: Option<&str>, sides: Vec<(String, String)>, head_start: f64) -> Self {
        let words = sides.iter().flat_map(|(_, text)| words(text)).collect();
        Self {
            origin: origin.map(str::to_owned),
            head_start,
            sides,
            words,
        }
    }

    /// The weights of the words that are shared. A question answers none, so it counts half.
    fn score(&self, wanted: &HashSet<String>, weight: impl Fn(&str) -> f64) -> f64 {
        let shared = self.words.intersection(wanted).map(|word| weight(word));
        let shared: f64 = shared.sum();
        let asks = |(_, text): &(String, String)| text.ends_with(['?', '？', '؟']);
        let share = if self.sides.iter().all(asks) {
            0.5
        } else {
            1.0
        };
        self.head_start + shared * share
    }

    fn quote(&self, wanted: &HashSet<String>, weight: impl Fn(&str) -> f64) -> String {
        let sides = self.sides.iter();
        let sides =
            sides.map(|(speaker, text)| format!("{speaker}: {}", part(text, wanted, &weight)));
        let sides = sides.collect::<Vec<_>>().join(" / ");
        match &self.origin {
            Some(origin) => format!("> {origin}: {sides}"),
            None => format!("> {sides}"),
        }
    }
}

fn said(message: &Message) -> Option<Candidate> {
    let speaker = match message.role {
        Role::User => "you",
        Role::Assistant => "reply",
        Role::Tool => return None,
    };
    if message.is_reference() {
        return None;
    }
    let said = message.said();
    let (time, text) = unstamped(&said);
    if message.role == Role::Assistant && is_stand_in(text) {
        return None;
    }
    let sides = vec![(speaker.to_owned(), single_spaced(text))];
    Some(Candidate::new(time, sides, 0.0))
}

/// The time in brackets that a message may begin with, and the rest.
fn unstamped(said: &str) -> (Option<&str>, &str) {
    let begins_with_time = || {
        let (time, text) = said.strip_prefix('[')?.split_once("] ")?;
        let is_time = time.ends_with(" UTC") && time.starts_with(|c: char| c.is_ascii_digit());
        is_time.then_some((time, text))
    };
    begins_with_time().map_or((None, said), |(time, text)| (Some(time), text))
}

/// The exchanges of the block that recall brought: each begins with a line in brackets that tells where it is from,
/// and each of its sides with who said it.
fn exchanges(block: &str) -> Vec<Candidate> {
    let mut found: Vec<(&str, Vec<(String, String)>)> = Vec::new();
    for line in block.lines().filter(|line| !is_fence(line)) {
        if let Some(origin) = origin(line) {
            found.push((origin, Vec::new()));
        } else if let Some((_, sides)) = found.last_mut() {
            match (side(line), sides.last_mut()) {
                (Some((speaker, text)), _) => sides.push((speaker, text.to_owned())),
                (None, Some((_, text))) => {
                    text.push('\n');
                    text.push_str(line);
                }
                (None, None) => {}
            }
        }
    }
    let candidates = found.into_iter().map(|(origin, sides)| {
        let sides = sides.into_iter();
        let sides = sides.map(|(speaker, text)| (speaker, single_spaced(&text)));
        Candidate::new(Some(origin), sides.collect(), BROUGHT)
    });
    candidates.collect()
}

/// `<--->`, between which quotations stand.
fn is_fence(line: &str) -> bool {
    let dashes = line
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'));
    dashes.is_some_and(|dashes| dashes.len() > 2 && dashes.chars().all(|c| c == '-'))
}

/// `[turn 12, m23 to m24, 2026-02-03 10:00 UTC]` without its brackets.
fn origin(line: &str) -> Option<&str> {
    let origin = line.strip_prefix('[')?.strip_suffix(']')?;
    origin.starts_with("turn ").then_some(origin)
}

/// `User: text` or `User (name): text`, and so for the assistant.
fn side(line: &str) -> Option<(String, &str)> {
    let (label, text) = line.split_once(": ")?;
    let (role, name) = match label.split_once(" (") {
        Some((role, name)) => (role, name.strip_suffix(')')),
        None => (label, None),
    };
    let speaker = match role {
        "User" => "you",
        "Assistant" => "reply",
        _ => return None,
    };
    Some((name.unwrap_or(speaker).to_owned(), text))
}

/// The text, or the part of a long one where most of what is wanted stands together.
fn part(text: &str, wanted: &HashSet<String>, weight: impl Fn(&str) -> f64) -> String {
    let chars = text.chars().count();
    if chars <= QUOTE_CHARS {
        return text.to_owned();
    }
    let shared: Vec<(usize, HashSet<String>)> = starts(text)
        .map(|(at, piece)| (at, words(piece).intersection(wanted).cloned().collect()))
        .filter(|(_, words): &(usize, HashSet<String>)| !words.is_empty())
        .collect();
    let worth = |first: usize| -> f64 {
        let until = shared[first].0 + QUOTE_CHARS - LEAD;
        let near = shared[first..].iter().take_while(|(at, _)| *at < until);
        let near: HashSet<&str> = near
            .flat_map(|(_, words)| words)
            .map(String::as_str)
            .collect();
        near.into_iter().map(&weight).sum()
    };
    let best = (0..shared.len()).max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(b.cmp(a)));
    let from = best.map_or(0, |best| shared[best].0.saturating_sub(LEAD));
    let from = from.min(chars - QUOTE_CHARS);
    let part: String = text.chars().skip(from).take(QUOTE_CHARS).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if from + QUOTE_CHARS < chars {
        "…"
    } else {
        ""
    };
    format!("{before}{part}{after}")
}

/// The words of a text, each with the number of characters before it; of scripts without spaces each character.
fn starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let pieces = text.split_inclusive(|c: char| c == ' ' || u32::from(c) >= 0x2E80);
    pieces.map(move |piece| {
        let start = at;
        at += piece.chars().count();
        (start, piece)
    })
}

/// Inverse document frequency, never zero.
fn rarity(holding: usize, all: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of messages in one request"
    )]
    (1.0 + all as f64 / holding.max(1) as f64).ln()
}
