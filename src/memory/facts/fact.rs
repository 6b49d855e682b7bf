//! Facts of a conversation, read at the end of a turn (X6-X9). Pure.

use std::collections::HashSet;
use std::fmt;

use super::{Cues, Language};
use super::{FactCues, FactsSettings};
use crate::chat::{Message, Role};
use crate::memory::capture::own::own_words;
use crate::memory::tracking::one_line;
use crate::text::is_off_record;
use crate::text::lines::single_spaced;
use crate::text::secrets::{beginning, masked_after};

/// Characters of a fact, of the part of an answer that is read, and of a text that says anything.
const FACT: usize = 200;
const ANSWER: usize = 300;
const SAYS_ANYTHING: usize = 10;
/// Characters of a message that are read.
const READ: usize = 2_000;

/// A request is longer than this; two for each character of Chinese and its like.
const REQUEST: usize = 30;

/// One fact, as a line of the day's notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub label: String,
    /// One line.
    pub text: String,
    /// The id of the message that says it.
    pub message: String,
    /// Whether the person asked to have it remembered.
    pub is_remembered: bool,
}

impl Fact {
    /// The line without the mark of a list, for whoever makes a list of it.
    pub fn without_mark(&self) -> String {
        format!("{}: {}", self.label, self.text)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "- {}", self.without_mark())
    }
}

/// The facts of the newest messages that are not among `already`, the lines that this session has written; oldest
/// first. `messages`: those of the session that count, or at least enough to tell that there are enough.
pub fn facts(
    messages: &[&Message],
    already: &str,
    settings: &FactsSettings,
    cues: &FactCues,
) -> Vec<Fact> {
    let records = messages.iter().filter(|message| is_record(message)).count();
    if !settings.enabled || records < settings.min_chat_turns.saturating_mul(2) {
        return Vec::new();
    }
    let from = messages.len().saturating_sub(settings.scan_messages);
    let found = (from..messages.len()).filter_map(|at| {
        let before = at.checked_sub(1).map(|before| messages[before].said());
        let before = before.unwrap_or_default();
        // Neither what nobody is to keep, nor the answer to it.
        let is_kept = !is_off_record(&messages[at].said()) && !is_off_record(&before);
        is_kept
            .then(|| fact(messages[at], &before, cues.languages()))
            .flatten()
    });
    let mut seen = HashSet::new();
    let found = found.filter(|fact| key(&fact.to_string()).is_some_and(|key| seen.insert(key)));
    let mut found: Vec<Fact> = found.collect();
    // Facts are noted in order: what came before the last one that is known has been noted, too, and left a full
    // scratchpad.
    let last = found.iter().rposition(|fact| is_noted(fact, already));
    found.drain(..last.map_or(0, |last| last + 1));
    found.truncate(settings.max_facts);
    found
}

/// Whether a fact is among the lines that were written, one of which may have been cut.
fn is_noted(fact: &Fact, already: &str) -> bool {
    let line = fact.to_string();
    let own = key(&line);
    already.lines().any(|noted| {
        let noted = noted.trim_end();
        key(noted) == own || (!noted.is_empty() && line.starts_with(noted))
    })
}

/// Said by the person, or a reply that ends a turn.
fn is_record(message: &Message) -> bool {
    match message.role {
        Role::User => !message.is_reference(),
        Role::Assistant => message.calls().next().is_none(),
        Role::Tool => false,
    }
}

fn fact(message: &Message, before: &str, languages: &[Language]) -> Option<Fact> {
    if !is_record(message) || message.is_stand_in() || message.is_no_reply() {
        return None;
    }
    let said = message.said();
    let read = match message.role {
        // Most messages hold no fact, and need not be searched for secrets.
        Role::User => {
            let own = own_words(beginning(&said, READ));
            of_person(&own, languages)?;
            of_person(&masked_after(before, &own), languages)
        }
        Role::Assistant => {
            let said = without_thoughts(&said);
            let said = beginning(&said, READ);
            of_answer(said, languages)?;
            of_answer(&masked_after(before, said), languages)
        }
        Role::Tool => None,
    }?;
    Some(Fact {
        label: read.label,
        text: read.text,
        message: message.id.as_str().to_owned(),
        is_remembered: read.is_remembered,
    })
}

/// What a message says.
struct Read {
    label: String,
    text: String,
    is_remembered: bool,
}

fn of_person(text: &str, languages: &[Language]) -> Option<Read> {
    let length = width(text.trim());
    if length < SAYS_ANYTHING {
        return None;
    }
    let first = text.lines().map(bare).find(|line| !line.is_empty())?;
    let has = |cues: &Cues| cues.are_in(text);
    let remember = languages
        .iter()
        .map(|language| &language.remember)
        .find(|cues| has(cues));
    let request = || {
        languages
            .iter()
            .map(|language| &language.request)
            .find(|cues| has(cues))
    };
    let cues = remember.or_else(|| (length > REQUEST).then(request).flatten())?;
    Some(Read {
        is_remembered: remember.is_some(),
        ..made(&cues.label, first)
    })
}

fn of_answer(text: &str, languages: &[Language]) -> Option<Read> {
    let head: String = text.trim().chars().take(ANSWER).collect();
    if width(&head) < SAYS_ANYTHING {
        return None;
    }
    let lines = || head.lines().map(bare).filter(|line| !line.is_empty());
    let of = |cues: fn(&Language) -> &Cues| {
        lines().find_map(|line| {
            let mut says = languages
                .iter()
                .filter(|language| !language.never.is_match(line) && cues(language).are_in(line));
            says.next()
                .map(|language| made(&cues(language).label, line))
        })
    };
    of(|language| &language.completed).or_else(|| of(|language| &language.information))
}

fn made(label: &str, line: &str) -> Read {
    Read {
        label: label.to_owned(),
        text: one_line(line, FACT),
        is_remembered: false,
    }
}

/// A line without the marks of lists and headings.
fn bare(line: &str) -> &str {
    line.trim()
        .trim_start_matches(['#', '-', '*', '>', ' '])
        .trim()
}

/// Characters, those of wide scripts twice: they say twice as much.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| if c >= '\u{2e80}' { 2 } else { 1 })
        .sum()
}

/// The text without `<think>` blocks; one that is not closed goes to the end.
pub fn without_thoughts(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<think>") {
        said.push_str(before);
        rest = after.split_once("</think>").map_or("", |(_, after)| after);
    }
    said.push_str(rest);
    said
}

/// Begins the heading of each section of facts; the date follows.
pub const HEADING: &str = "## Session Facts";

/// Characters that tell one fact from another.
const KEY: usize = 80;

/// The file of a day with each fact once, the first of its kind.
pub fn compacted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut seen = HashSet::new();
    let mut is_facts = false;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("# ") || line.starts_with("## ") {
            is_facts = line.starts_with(HEADING);
        }
        // What somebody added below a fact by hand would lose what it belongs to.
        let goes_on = lines
            .peek()
            .is_some_and(|next| next.starts_with([' ', '\t']));
        let is_again = is_facts && key(line).is_some_and(|key| !seen.insert(key));
        if !is_again || goes_on {
            kept.push_str(line);
        }
    }
    kept
}

/// What tells a line of a list from another, case and blanks apart.
pub(super) fn key(line: &str) -> Option<String> {
    let text = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))?;
    let key = single_spaced(text).to_lowercase();
    let key: String = key.chars().take(KEY).collect();
    (!key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests;
