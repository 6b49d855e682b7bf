//! The model as a second reader of what the person said: what will matter later, as facts with their source. Pure: the
//! agent asks.
//!
//! Nothing a model answers is believed without a source: each fact quotes words of a message it was shown.

use std::fmt;

use serde_json::Value;

use super::Prompt;
use super::capture::{Capture, Category};
use super::transcript::{fenced, labelled};
use crate::chat::{Hybrid, MessageId, Record, Role, Session, Tokens};
use crate::text::lines::single_spaced;
use crate::text::secrets;

/// Messages of the person that have to be unread before it is worth a request.
pub const MIN_UNREAD: usize = 6;
/// Facts that one reading may bring.
const MAX_FACTS: usize = 8;
/// Known lines that one fact may make outdated.
const MAX_REPLACED: usize = 2;
/// Characters of a fact, and of a message as it is shown.
const MAX_FACT: usize = 300;
const MAX_SHOWN: usize = 2_000;
/// Bytes of a quotation: two or three words, or four Chinese characters.
const MIN_QUOTE: usize = 12;
/// Room for the answer.
pub const ANSWER: Tokens = Tokens(1_200);

/// A part of a session to be read.
#[derive(Clone, PartialEq)]
pub struct LearnJob {
    prompt: Prompt,
    /// Lines of MEMORY.md that were captured.
    known: Vec<String>,
    messages: Vec<Shown>,
    upto: usize,
}

#[derive(Clone, PartialEq)]
struct Shown {
    /// Its place among the messages of the session.
    at: usize,
    id: MessageId,
    is_of_person: bool,
    labelled: String,
}

/// What a reading brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    pub facts: Vec<Fact>,
    /// The messages of the session that are read now.
    upto: usize,
}

/// Something that lasts.
#[derive(Clone, PartialEq)]
pub struct Fact {
    pub capture: Capture,
    /// Where the person said it.
    pub message: MessageId,
    /// Known lines that it takes the place of, as they stood there.
    pub replaces: Vec<String>,
}

/// The reply is no JSON of the form that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the facts are not in the requested format")]
pub struct Unreadable;

/// Counts alone: what was said belongs into no log.
impl fmt::Debug for LearnJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearnJob")
            .field("messages", &self.messages.len())
            .field("upto", &self.upto)
            .finish_non_exhaustive()
    }
}

/// Without the words.
impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fact")
            .field("category", &self.capture.category)
            .field("message", &self.message)
            .field("replaces", &self.replaces.len())
            .finish_non_exhaustive()
    }
}

/// Counts the messages of the person that no second reader has seen.
pub fn unread(session: &Session) -> usize {
    unread_messages(session)
        .filter(|it| it.is_of_person)
        .count()
}

fn unread_messages(session: &Session) -> impl Iterator<Item = Shown> {
    let from = session.hybrid().learned;
    let turns = session
        .live_turns()
        .filter(move |turn| turn.messages.start >= from);
    let messages = turns.flat_map(|turn| turn.messages.clone().zip(session.messages_of(turn)));
    messages.filter_map(|(at, message)| {
        Some(Shown {
            at,
            id: message.id.clone(),
            is_of_person: message.role == Role::User && !message.is_reference(),
            labelled: labelled(message)?,
        })
    })
}

impl LearnJob {
    /// The reading of all that is unread, where that is enough. `known`: lines of MEMORY.md that were captured.
    pub fn of(session: &Session, known: Vec<String>, prompt: &Prompt) -> Option<Self> {
        (unread(session) >= MIN_UNREAD).then(|| Self {
            prompt: prompt.clone(),
            known,
            messages: unread_messages(session).collect(),
            upto: session.messages().len(),
        })
    }

    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// The request: the known lines, and the oldest messages, as many as `room` holds; the others stay unread. `None`
    /// where it holds none.
    pub fn request(&mut self, room: Tokens) -> Option<String> {
        let known = self.known.iter().enumerate();
        let known: Vec<String> = known
            .map(|(n, line)| format!("{}. {line}", n + 1))
            .collect();
        let known = fenced(&known.join("\n"));
        let fixed = Tokens::estimate(&self.prompt.text) + Tokens::estimate(&known);
        let mut left = room.minus(fixed);
        let mut shown: Vec<String> = Vec::new();
        for message in &self.messages {
            let text: String = message.labelled.chars().take(MAX_SHOWN).collect();
            let cost = Tokens::estimate(&text) + Tokens(2);
            if cost > left {
                break;
            }
            left = left.minus(cost);
            shown.push(text);
        }
        if let Some(first) = self.messages.get(shown.len()) {
            self.upto = first.at;
        }
        self.messages.truncate(shown.len());
        let conversation = fenced(&shown.join("\n\n"));
        let filled = [("known", known.as_str()), ("conversation", &conversation)];
        (!shown.is_empty()).then(|| self.prompt.fill(&filled))
    }

    /// What is asked where a reply could not be read.
    pub fn repair(reply: &str) -> String {
        format!(
            "Rewrite this as the JSON object {{\"facts\": [...]}} that was asked for, and write nothing else:\n{}",
            fenced(reply)
        )
    }

    /// Reads a reply. A fact without a source, a secret, and what goes beyond the bounds are left out.
    ///
    /// # Errors
    /// Where there is no such JSON in it.
    pub fn read(&self, reply: &str) -> Result<Learned, Unreadable> {
        let (from, to) = reply.find('{').zip(reply.rfind('}')).ok_or(Unreadable)?;
        let json = reply.get(from..=to).ok_or(Unreadable)?;
        let json: Value = serde_json::from_str(json).map_err(|_| Unreadable)?;
        let facts = json.get("facts").and_then(Value::as_array);
        let facts = facts.ok_or(Unreadable)?.iter();
        Ok(Learned {
            facts: facts
                .filter_map(|fact| self.fact(fact))
                .take(MAX_FACTS)
                .collect(),
            upto: self.upto,
        })
    }

    /// Nothing that lasts.
    pub fn nothing(&self) -> Learned {
        Learned {
            facts: Vec::new(),
            upto: self.upto,
        }
    }

    fn fact(&self, fact: &Value) -> Option<Fact> {
        let text = |key: &str| fact.get(key).and_then(Value::as_str);
        let detail = single_spaced(text("fact")?);
        let category = text("kind").and_then(Category::parse)?;
        let is_bounded = !detail.is_empty() && detail.chars().count() <= MAX_FACT;
        if !is_bounded || secrets::holds_secret(&detail) {
            return None;
        }
        let quoted = plain(text("quote")?);
        if quoted.len() < MIN_QUOTE {
            return None;
        }
        let said =
            |message: &&Shown| message.is_of_person && plain(&message.labelled).contains(&quoted);
        let message = self.messages.iter().rev().find(said)?.id.clone();
        let numbers = fact.get("replaces").and_then(Value::as_array);
        let numbers = numbers.into_iter().flatten().filter_map(Value::as_u64);
        let place = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
        let lines = numbers.filter_map(|number| self.known.get(place(number)?).cloned());
        // One that makes much outdated was not thought over.
        let lines: Vec<String> = lines.collect();
        let lines = if lines.len() <= MAX_REPLACED {
            lines
        } else {
            Vec::new()
        };
        Some(Fact {
            capture: Capture { category, detail },
            message,
            replaces: lines,
        })
    }
}

impl Learned {
    /// That the messages are read, for the session.
    pub fn record(&self, session: &Session) -> Record {
        Record::HybridReplaced(Hybrid {
            learned: self.upto,
            ..session.hybrid().clone()
        })
    }
}

/// A text without case and punctuation.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
