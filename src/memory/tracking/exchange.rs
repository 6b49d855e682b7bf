//! What a tracker reads: one turn, as pieces of text with who said each.
//!
//! Unit: one turn. A piece is at most [`MOST`] bytes; of a longer text the beginning and the end are read,
//! so that a paste of megabytes costs no more than a long message.

use std::borrow::Cow;

use super::prose::opens_fence;
use crate::chat::{Message, Part, Role, Timestamp};

/// Bytes read of one text; a longer one gives its beginning and its end.
const MOST: usize = 96 * 1024;

/// Bytes of these that are its end.
const TAIL: usize = 32 * 1024;

/// Who says a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
    /// The arguments of a tool call.
    Call,
    /// What a tool gave back.
    Output,
    /// What a tool that failed gave back.
    Failure,
}

/// A text and who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub by: Speaker,
    pub text: Cow<'a, str>,
}

/// One turn, to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// When the person spoke.
    pub at: Option<Timestamp>,
}

impl<'a> Exchange<'a> {
    /// The messages of a turn in the order in which they were said.
    pub fn of(messages: &'a [Message]) -> Self {
        let mut exchange = Self {
            pieces: Vec::new(),
            at: messages.first().and_then(|message| message.at),
        };
        for message in messages {
            let said = match message.role {
                Role::Assistant => Speaker::Assistant,
                Role::User | Role::Tool => Speaker::User,
            };
            for part in &message.parts {
                match part {
                    Part::Text(text) => exchange.add(said, text),
                    Part::ToolCall(call) => exchange.add(Speaker::Call, &call.arguments),
                    Part::ToolResult { output, failed, .. } => {
                        let by = if *failed {
                            Speaker::Failure
                        } else {
                            Speaker::Output
                        };
                        exchange.add(by, output);
                    }
                }
            }
        }
        exchange
    }

    fn add(&mut self, by: Speaker, text: &'a str) {
        // The program's own words, which close a turn without a reply.
        if by == Speaker::Assistant && text.starts_with("[no reply: ") {
            return;
        }
        if text.len() <= MOST {
            self.pieces.push(Piece {
                by,
                text: text.into(),
            });
            return;
        }
        let head = &text[..text.floor_char_boundary(MOST - TAIL)];
        let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
        let tail = if ends_in_fence(head) {
            after_fence(tail)
        } else {
            tail
        };
        for text in [head, tail] {
            self.pieces.push(Piece {
                by,
                text: text.into(),
            });
        }
    }

    /// Texts of these speakers, in order.
    pub fn said_by(&self, speakers: &[Speaker]) -> impl Iterator<Item = &str> {
        let speakers = speakers.to_vec();
        self.pieces
            .iter()
            .filter(move |piece| speakers.contains(&piece.by))
            .map(|piece| piece.text.as_ref())
    }
}

/// Whether a text ends within a code block.
fn ends_in_fence(text: &str) -> bool {
    let mut fence = None;
    for line in text.lines().map(str::trim) {
        fence = match fence {
            None => opens_fence(line),
            Some(marker) => (line != marker).then_some(marker),
        };
    }
    fence.is_some()
}

/// What stands behind the end of a code block that began before a text; all of it where there is none.
fn after_fence(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if matches!(line.trim(), "```" | "~~~") {
            return &text[at..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::MessageId;

    fn pieces(text: &str) -> Vec<String> {
        let message = Message::text(MessageId::numbered(1), Role::User, text, None);
        let messages = [message];
        let exchange = Exchange::of(&messages);
        exchange
            .said_by(&[Speaker::User])
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn of_a_long_text_the_beginning_and_the_end_are_read() {
        let long = format!("first{}last", "é".repeat(MOST));
        let pieces = pieces(&long);
        assert!(pieces[0].starts_with("first") && pieces[1].ends_with("last"));
        let sum: usize = pieces.iter().map(String::len).sum();
        assert!(sum <= MOST, "{sum}");
    }

    #[test]
    fn what_is_asked_behind_a_long_block_of_code_is_read_as_words() {
        let pasted = format!(
            "Look:\n```\n{}```\nFix the bug",
            "let a = 1;\n".repeat(20_000)
        );
        assert_eq!(pieces(&pasted)[1], "Fix the bug");
    }

    #[test]
    fn a_reply_that_never_came_is_not_read() {
        let closed = "[no reply: cannot read src/a.rs]";
        let messages = [Message::text(
            MessageId::numbered(2),
            Role::Assistant,
            closed,
            None,
        )];
        assert_eq!(Exchange::of(&messages).pieces, []);
    }
}
