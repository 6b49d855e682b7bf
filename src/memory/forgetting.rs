//! What of a session goes with what is forgotten: places in its messages, and texts kept beside history. Pure.
//!
//! Invariant: a sentence of the person goes only where it says the same; what a model or the program made of it goes
//! also by a name that the person said nowhere else.

use std::ops::Range;

use serde_json::Value;

use crate::chat::{
    Hybrid, Mask, Message, Part, Pins, Record, Redactions, Role, Scratchpad, Session, text_of,
};
use crate::text::statement::{Author, FORGOTTEN, Statement, Statements};

/// What is forgotten of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redacted {
    /// Places in messages that were not forgotten before.
    pub places: Redactions,
    /// To be on disk before anything else: whoever opens the session next finishes what was begun.
    pub begin: Option<Record>,
    /// The side files that change; that all is done comes last.
    pub records: Vec<Record>,
    /// Where something was taken out, for the person.
    pub from: Vec<&'static str>,
}

/// What the person said in a session besides: names that stand there tell nothing by themselves.
pub fn said_besides(session: &Session, statements: &Statements) -> String {
    let messages = session.messages().iter();
    let own = messages.filter(|message| message.role == Role::User && !message.is_reference());
    let mut besides = String::new();
    for message in own {
        let said = message.said();
        let left = statements.masked(&said, Author::Person);
        besides.push_str(left.as_deref().unwrap_or(&said));
        besides.push('\n');
    }
    besides
}

/// Finds what goes.
pub fn redact(session: &Session, statements: &Statements) -> Redacted {
    let mut redacted = Redacted::default();
    let known = session.forgotten();
    for index in 0..session.messages().len() {
        let message = session.as_said(index);
        for mask in masks(message, statements) {
            if !known.of(&message.id).contains(&mask) {
                redacted.places.add(&message.id, mask);
            }
        }
    }
    if !redacted.places.is_empty() {
        redacted.from.push("requests");
    }
    let record = hybrid(session.hybrid(), statements).map(Record::HybridReplaced);
    redacted.add("summaries", record);
    let record = mode_states(session, statements);
    redacted.add("the notes of modes", record);
    let record = scratchpad(session.scratchpad(), statements).map(Record::ScratchpadReplaced);
    redacted.add("the scratchpad", record);
    let record = pins(session.pins(), statements).map(Record::PinsReplaced);
    redacted.add("the pins", record);
    if !redacted.places.is_empty() || !redacted.records.is_empty() || known.is_pending {
        let mut forgotten = known.clone();
        forgotten.join(&redacted.places);
        forgotten.is_pending = true;
        redacted.begin = Some(Record::ForgottenReplaced(forgotten.clone()));
        forgotten.is_pending = false;
        redacted.records.push(Record::ForgottenReplaced(forgotten));
    }
    redacted
}

/// What was forgotten of a session, as it was said: for its owner, who did not do it.
pub fn forgotten_in(session: &Session, places: &Redactions) -> Statements {
    let texts =
        (0..session.messages().len()).flat_map(|index| places.texts(session.as_said(index)));
    texts.filter_map(Statement::of).collect()
}

impl Redacted {
    fn add(&mut self, place: &'static str, record: Option<Record>) {
        if let Some(record) = record {
            self.records.push(record);
            self.from.push(place);
        }
    }
}

fn masks(message: &Message, statements: &Statements) -> Vec<Mask> {
    let mut masks = Vec::new();
    for (number, part) in message.parts.iter().enumerate() {
        let Some(text) = text_of(part) else {
            continue;
        };
        let ranges = match (part, message.role) {
            (Part::ToolCall(_), _) => in_strings(text, statements),
            (Part::Text(_), Role::Assistant | Role::Tool) => {
                statements.found(text, Author::Derived)
            }
            // A file or a page is nobody's words about the person.
            _ => statements.found(text, Author::Person),
        };
        let of_part = ranges.into_iter();
        masks.extend(of_part.filter_map(|range| Mask::of(message, number, range)));
    }
    masks
}

/// Where the strings of a JSON text say it: a mark in their place leaves it JSON.
fn in_strings(json: &str, statements: &Statements) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = None;
    let mut is_escaped = false;
    for (at, c) in json.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => match start.take() {
                None => start = Some(at + 1),
                Some(start) => {
                    let written = &json[start..at];
                    if written.contains('\\') {
                        // Letters and line breaks may be escaped: places in the text are none in the string.
                        let text: Option<String> = serde_json::from_str(&json[start - 1..=at]).ok();
                        if text.is_some_and(|text| statements.are_in(&text, Author::Derived)) {
                            ranges.push(start..at);
                        }
                        continue;
                    }
                    let found = statements.found(written, Author::Derived);
                    ranges.extend(found.into_iter().map(|it| start + it.start..start + it.end));
                }
            },
            _ => {}
        }
    }
    ranges
}

/// Summaries without the sentences. One of which nothing is left goes: it is made again from what the messages say now.
fn hybrid(hybrid: &Hybrid, statements: &Statements) -> Option<Hybrid> {
    let mut changed = hybrid.clone();
    let mut is_changed = false;
    let mut redact = |text: &mut String| {
        if let Some(left) = statements.without(text, Author::Derived) {
            *text = left;
            is_changed = true;
        }
    };
    for summary in changed.summary.iter_mut().chain(&mut changed.replaced) {
        redact(&mut summary.text);
    }
    let mut next = changed.compaction.as_mut();
    while let Some(compaction) = next {
        redact(&mut compaction.text);
        if compaction.text.is_empty() {
            FORGOTTEN.clone_into(&mut compaction.text);
        }
        next = compaction.previous.as_deref_mut();
    }
    if !is_changed {
        return None;
    }
    let is_blank = |text: &str| text.trim().is_empty();
    changed.replaced.retain(|summary| !is_blank(&summary.text));
    if changed
        .summary
        .as_ref()
        .is_some_and(|it| is_blank(&it.text))
    {
        changed.summary = changed.replaced.pop();
    }
    Some(changed)
}

fn mode_states(session: &Session, statements: &Statements) -> Option<Record> {
    let mut states = session.mode_states().clone();
    let mut is_changed = false;
    for state in states.0.values_mut() {
        redact_value(state, statements, &mut is_changed);
    }
    is_changed.then_some(Record::ModeStatesReplaced(states))
}

/// Strikes the strings of a value; tells whether the value itself says it, and is to leave the list that it stands in.
fn redact_value(value: &mut Value, statements: &Statements, is_changed: &mut bool) -> bool {
    match value {
        Value::String(text) => {
            let Some(masked) = statements.masked(text, Author::Derived) else {
                return false;
            };
            *is_changed = true;
            let is_all = statements.are_all_of(text, Author::Derived);
            *text = masked;
            is_all
        }
        Value::Array(values) => {
            values.retain_mut(|value| !redact_value(value, statements, is_changed));
            false
        }
        Value::Object(fields) => {
            let mut says_it = false;
            for value in fields.values_mut() {
                let is_text = value.is_string();
                says_it |= redact_value(value, statements, is_changed) && is_text;
            }
            says_it
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn scratchpad(scratchpad: &Scratchpad, statements: &Statements) -> Option<Scratchpad> {
    let mut is_changed = false;
    let kept = scratchpad.entries().filter_map(|(key, text)| {
        let left = statements.without(text, Author::Derived);
        let is_in_key = statements.are_in(key, Author::Derived);
        is_changed |= is_in_key || left.is_some();
        let text = left.unwrap_or_else(|| text.to_owned());
        (!is_in_key && !text.trim().is_empty()).then(|| (key.to_owned(), text))
    });
    let kept = Scratchpad::restore(kept.collect::<Vec<_>>());
    is_changed.then_some(kept)
}

fn pins(pins: &Pins, statements: &Statements) -> Option<Pins> {
    let mut is_changed = false;
    let kept = pins.iter().filter_map(|pin| {
        let mut pin = pin.clone();
        if let Some(left) = statements.without(&pin.text, Author::Person) {
            is_changed = true;
            pin.text = left;
        }
        (!pin.text.is_empty()).then_some(pin)
    });
    let kept: Vec<_> = kept.collect();
    is_changed.then(|| Pins::restore(kept, pins.next(), pins.unknown.clone()))
}

#[cfg(test)]
mod tests;
