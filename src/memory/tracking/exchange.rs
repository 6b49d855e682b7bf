//! What a tracker reads: one turn, as pieces of text with who said each.
//!
//! A piece is at most [`MAX`] bytes; of a longer text the beginning and the end are read, so that a paste of megabytes
//! costs no more than a long message.

use std::borrow::Cow;

use anstream::adapter::strip_str;

use super::prose::opens_fence;
use crate::chat::{Message, Part, Role, Timestamp, answered, really_done};
use crate::memory::report::is_report;
use crate::text::is_off_record;
use crate::text::secrets::masked_after;

/// Bytes read of one text; a longer one gives its beginning and its end.
const MAX: usize = 96 * 1024;

/// Bytes of these that are its end.
const TAIL: usize = 32 * 1024;

/// Who says a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
    /// The arguments of a tool call.
    Call,
    /// What a tool gave back, or an attached file holds.
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

/// A call of a tool and what came of it; one that never got a result is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'a> {
    pub name: &'a str,
    /// JSON text, verbatim.
    pub arguments: &'a str,
    pub output: &'a str,
    pub failed: bool,
}

/// One turn, to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// In the order of the results.
    pub calls: Vec<Called<'a>>,
    /// When the person spoke.
    pub at: Option<Timestamp>,
}

impl<'a> Exchange<'a> {
    /// The messages of a turn in the order in which they were said.
    pub fn of(messages: &'a [Message]) -> Self {
        let mut exchange = Self {
            pieces: Vec::new(),
            calls: called(messages),
            at: messages.first().and_then(|message| message.at),
        };
        // What a person wants nobody to keep is not read, nor the answer to it.
        let is_off_record = messages
            .iter()
            .any(|message| message.role == Role::User && is_off_record(&message.said()));
        let mut before = String::new();
        // What closes a turn without a reply is the program's own.
        for message in messages.iter().filter(|message| !message.is_no_reply()) {
            let said = match message.role {
                Role::Assistant => Speaker::Assistant,
                Role::User | Role::Tool => Speaker::User,
            };
            let parts = message.parts.iter();
            // A report says by itself what is to be noted of it.
            for part in parts.filter(|part| !is_report(message, part)) {
                match part {
                    Part::Text(_) if is_off_record => {}
                    Part::Text(text) => exchange.add(said, text, &before),
                    Part::ToolCall(call) => exchange.add(Speaker::Call, &call.arguments, ""),
                    Part::ToolResult { output, failed, .. } => {
                        let by = if *failed {
                            Speaker::Failure
                        } else {
                            Speaker::Output
                        };
                        exchange.add(by, output, "");
                    }
                    // What a file says is not what the person says.
                    Part::Attached(attached) => exchange.add(Speaker::Output, &attached.text, ""),
                    Part::Image(_) => {}
                }
            }
            if message.role != Role::Tool {
                before = message.said().into_owned();
            }
        }
        exchange
    }

    /// `before`: what was said before it.
    fn add(&mut self, by: Speaker, text: &'a str, before: &str) {
        if text.len() <= MAX {
            self.pieces.push(Piece {
                by,
                text: readable(by, text, before),
            });
            return;
        }
        // Between words, so that no path is cut in two.
        let head = &text[..text.floor_char_boundary(MAX - TAIL)];
        let head = head
            .rfind(char::is_whitespace)
            .map_or(head, |end| &head[..end]);
        let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
        let tail = tail
            .find(char::is_whitespace)
            .map_or(tail, |start| &tail[start..]);
        let tail = if ends_in_fence(head) {
            after_fence(tail)
        } else {
            tail
        };
        for (text, before) in [(head, before), (tail, "")] {
            self.pieces.push(Piece {
                by,
                text: readable(by, text, before),
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

/// Results, each with the call it answers.
fn called(messages: &[Message]) -> Vec<Called<'_>> {
    let answered = answered(messages).into_iter();
    let called = answered.map(|answered| {
        let done = really_done(answered.output);
        let (arguments, output) = done.unwrap_or((&answered.call.arguments, answered.output));
        Called {
            name: &answered.call.name,
            arguments,
            output,
            failed: answered.failed,
        }
    });
    called.collect()
}

/// A text as it is read: what is noted of what was said holds no secret.
fn readable<'t>(by: Speaker, text: &'t str, before: &str) -> Cow<'t, str> {
    let text = plain(text);
    match by {
        Speaker::User | Speaker::Assistant => match masked_after(before, &text) {
            Cow::Owned(masked) => masked.into(),
            Cow::Borrowed(_) => text,
        },
        Speaker::Call | Speaker::Output | Speaker::Failure => text,
    }
}

/// A text without the sequences by which programs colour what they print.
fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\u{1b}') {
        strip_str(text).to_string().into()
    } else {
        text.into()
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
    fn what_is_read_of_words_holds_no_secret() {
        let id = MessageId::numbered(1);
        let said = "My API key is sk-abcdefghijklmnop1234567890, and I live in Porto.";
        let messages = [Message::text(id, Role::User, said, None)];
        let exchange = Exchange::of(&messages);
        let read: Vec<&str> = exchange.said_by(&[Speaker::User]).collect();
        assert_eq!(read, ["My API key is [secret], and I live in Porto."]);
    }

    #[test]
    fn a_secret_is_known_by_what_was_said_before_it() {
        let said = |n, role, text: &str| Message::text(MessageId::numbered(n), role, text, None);
        let messages = [
            said(
                1,
                Role::User,
                "I need to get into the router. Ask me for its password",
            ),
            said(2, Role::Assistant, "What is the password?"),
            said(3, Role::User, "It's bluewhale99"),
        ];
        let exchange = Exchange::of(&messages);
        let read: Vec<&str> = exchange.said_by(&[Speaker::User]).collect();
        assert_eq!(read[1], "It's [secret]");
    }

    #[test]
    fn what_nobody_is_to_keep_is_not_read_nor_its_answer() {
        let said = |n, role, text: &str| Message::text(MessageId::numbered(n), role, text, None);
        let messages = [
            said(
                1,
                Role::User,
                "Don't save this: we are going to buy the Lisbon office",
            ),
            said(2, Role::Assistant, "Noted nowhere: the Lisbon office."),
        ];
        assert_eq!(Exchange::of(&messages).pieces, []);
    }

    #[test]
    fn of_a_long_text_the_beginning_and_the_end_are_read() {
        let long = format!(
            "first {} src/a.rs {} last",
            "é".repeat(MAX),
            "src/b.rs ".repeat(MAX)
        );
        let pieces = pieces(&long);
        assert!(pieces[0].starts_with("first") && pieces[1].ends_with("last"));
        assert!(pieces[1].starts_with(" src/b.rs "), "{}", &pieces[1][..20]);
        let sum: usize = pieces.iter().map(String::len).sum();
        assert!(sum <= MAX, "{sum}");
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
    fn colours_of_a_terminal_are_not_read() {
        let coloured =
            "\u{1b}[1m\u{1b}[38;5;9merror[E0308]\u{1b}[0m: mismatched\u{1b}]0;title\u{7} types";
        assert_eq!(pieces(coloured), ["error[E0308]: mismatched types"]);
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
