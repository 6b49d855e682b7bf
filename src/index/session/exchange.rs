//! What a turn says, as recall reads, embeds and quotes it.

use std::borrow::Cow;

use crate::chat::{Message, MessageId, Part, Role, Session, Timestamp, Turn};

/// A side longer than this is shown to an embedder by its first and last characters (C17).
const LONGEST: usize = 1_500;
const HEAD: usize = 750;
const TAIL: usize = 500;

/// One turn as two sides. Texts that go with tool calls are left out: they say what is about to be done, and the last
/// text says what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange<'a> {
    pub user: Option<&'a Message>,
    pub assistant: Vec<&'a Message>,
}

impl<'a> Exchange<'a> {
    pub fn of(session: &'a Session, turn: &Turn) -> Self {
        let mut exchange = Self {
            user: None,
            assistant: Vec::new(),
        };
        for (_, message) in Self::messages_of(session, turn) {
            match message.role {
                Role::User => exchange.user = Some(message),
                Role::Assistant | Role::Tool => exchange.assistant.push(message),
            }
        }
        exchange
    }

    /// The messages of a turn that make up its exchange, with their indices in the session.
    pub fn messages_of(
        session: &'a Session,
        turn: &Turn,
    ) -> impl Iterator<Item = (usize, &'a Message)> {
        let messages = turn.messages.clone().zip(session.messages_of(turn));
        messages.filter(|(_, message)| {
            let speaks = match message.role {
                Role::User => true,
                Role::Assistant => message.calls().next().is_none(),
                Role::Tool => false,
            };
            speaks && said(message).is_some()
        })
    }

    pub fn messages(&self) -> impl Iterator<Item = &'a Message> {
        self.user.into_iter().chain(self.assistant.iter().copied())
    }

    pub fn is_empty(&self) -> bool {
        self.messages().next().is_none()
    }

    pub fn ids(&self) -> impl Iterator<Item = &'a MessageId> {
        self.messages().map(|message| &message.id)
    }

    /// When it was said, as far as known.
    pub fn at(&self) -> Option<Timestamp> {
        self.messages().find_map(|message| message.at)
    }

    /// The exchange as one text.
    pub fn text(&self) -> String {
        let sides = [
            ("User", self.user.as_slice()),
            ("Assistant", &self.assistant),
        ];
        let sides = sides.into_iter().filter(|(_, side)| !side.is_empty());
        let sides = sides.map(|(label, side)| {
            let texts: Vec<Cow<'_, str>> = side.iter().filter_map(|one| said(one)).collect();
            format!("{label}: {}", clipped(&texts.join("\n")))
        });
        sides.collect::<Vec<_>>().join("\n")
    }
}

/// What a message says; `None` for nothing, for what only stands there to close a turn, and for a reply that quotes
/// because there was no model: what it quotes was said elsewhere.
pub fn said(message: &Message) -> Option<Cow<'_, str>> {
    let said = message.said();
    let says = !message.is_no_reply() && !message.is_stand_in() && !said.trim().is_empty();
    says.then_some(said)
}

/// Tools that return what was said or kept elsewhere, where it is found itself.
const QUOTING: [&str; 3] = ["history_search", "memory_search", "scratchpad_read"];

/// What tools returned in a message; `None` where it holds no result of its own.
pub(super) fn output(message: &Message) -> Option<Cow<'_, str>> {
    let mut outputs = message.parts.iter().filter_map(|part| match part {
        Part::ToolResult { name, output, .. } if !QUOTING.contains(&name.as_str()) => {
            Some(output.as_str())
        }
        Part::ToolResult { .. }
        | Part::Text(_)
        | Part::ToolCall(_)
        | Part::Attached(_)
        | Part::Image(_) => None,
    });
    let first = outputs.next()?;
    let rest: Vec<&str> = outputs.collect();
    Some(match rest.as_slice() {
        [] => Cow::Borrowed(first),
        rest => Cow::Owned([&[first], rest].concat().join("\n")),
    })
}

/// What a message is found by: what it says, or what tools returned.
pub fn found_by(message: &Message) -> Cow<'_, str> {
    output(message).unwrap_or_else(|| message.said())
}

/// The text, or its first and last bytes where it is longer than both.
pub fn ends(text: Cow<'_, str>, head: usize, tail: usize) -> Cow<'_, str> {
    if text.len() <= head + tail {
        return text;
    }
    let first = &text[..text.floor_char_boundary(head)];
    let last = &text[text.ceil_char_boundary(text.len() - tail)..];
    Cow::Owned(format!("{first}\n{last}"))
}

/// Names that only repeat the role, as some programs write them.
const NO_NAMES: [&str; 6] = ["user", "human", "assistant", "ai", "bot", "model"];

/// The name of who said a message, as a question would use it.
pub fn name(message: &Message) -> Option<&str> {
    let name = message.speaker()?;
    let is_role = |role: &&str| role.eq_ignore_ascii_case(name);
    (!NO_NAMES.iter().any(is_role)).then_some(name)
}

/// First and last characters of a text that is too long.
pub fn clipped(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let count = text.chars().count();
    if count <= LONGEST {
        return Cow::Borrowed(text);
    }
    let at = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let (head, tail) = (&text[..at(HEAD)], &text[at(count - TAIL)..]);
    Cow::Owned(format!("{head}\n[…]\n{tail}"))
}

/// The turn a message belongs to, unless it was taken back.
pub fn turn_of(session: &Session, message: usize) -> Option<&Turn> {
    let turns = session.turns();
    let at = turns.partition_point(|turn| turn.messages.end <= message);
    turns.get(at).filter(|turn| turn.withdrawn.is_none())
}
