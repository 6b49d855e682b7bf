//! Times in front of messages that a model reads, and their echoes in what it writes (C32).

use std::borrow::Cow;

use crate::chat::{Message, Part};

/// `message` with its time in front of its first text; unchanged where it has no time or no text.
/// Tool calls and results are never stamped.
pub fn stamped(message: &Message) -> Message {
    let (Some(at), [Part::Text(text), rest @ ..]) = (message.at, message.parts.as_slice()) else {
        return message.clone();
    };
    if text.is_empty() {
        return message.clone();
    }
    let mut parts = Vec::with_capacity(message.parts.len());
    parts.push(Part::Text([at.stamp().as_str(), text].concat()));
    parts.extend_from_slice(rest);
    Message {
        id: message.id.clone(),
        role: message.role,
        parts,
        at: message.at,
        speaker: message.speaker.clone(),
        unknown: message.unknown.clone(),
    }
}

/// The form of a stamp: a digit stands for any digit.
const FORM: &str = "[0000-00-00 00:00:00 UTC]";

/// How much of the beginning of a text is an echoed stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// The first so many bytes are stamps and the blanks after them.
    Stamp(usize),
    /// It may yet become one: wait for more.
    Perhaps,
    None,
}

/// Looks for stamps that a model wrote in front of its reply because it saw them on every message.
pub fn echo(text: &str) -> Echo {
    let mut end = text.len() - text.trim_start().len();
    let mut found = false;
    loop {
        match stamp_at(&text[end..]) {
            Echo::Stamp(length) => {
                found = true;
                end += length;
            }
            Echo::Perhaps => return Echo::Perhaps,
            Echo::None if found => return Echo::Stamp(end),
            Echo::None => return Echo::None,
        }
    }
}

fn stamp_at(text: &str) -> Echo {
    let mut read = text.chars();
    for expected in FORM.chars() {
        match read.next() {
            None => return Echo::Perhaps,
            Some(c) if c == expected || (expected == '0' && c.is_ascii_digit()) => {}
            Some(_) => return Echo::None,
        }
    }
    let rest = read.as_str();
    Echo::Stamp(text.len() - rest.trim_start_matches(' ').len())
}

/// A whole reply without the stamps in front of it.
pub fn without_echo(text: &str) -> Cow<'_, str> {
    match echo(text) {
        Echo::Stamp(end) => Cow::Owned(text[end..].to_owned()),
        Echo::Perhaps | Echo::None => Cow::Borrowed(text),
    }
}

/// Takes echoes off the front of a reply while it streams: holds back what may be one.
#[derive(Debug, Default)]
pub struct EchoFilter {
    held: String,
    passed: bool,
}

impl EchoFilter {
    /// What may be shown of the reply after this delta.
    pub fn push(&mut self, delta: &str) -> String {
        if self.passed {
            return delta.to_owned();
        }
        self.held.push_str(delta);
        match echo(&self.held) {
            Echo::Perhaps => String::new(),
            Echo::None => self.release(0),
            Echo::Stamp(end) => self.release(end),
        }
    }

    /// What is still held when the reply ends.
    pub fn finish(&mut self) -> String {
        let end = match echo(&self.held) {
            Echo::Stamp(end) => end,
            Echo::Perhaps | Echo::None => whole_stamps(&self.held),
        };
        self.release(end)
    }

    fn release(&mut self, from: usize) -> String {
        self.passed = true;
        self.held.split_off(from)
    }
}

/// Bytes of whole stamps at the front of a text that ends in the middle of another.
fn whole_stamps(text: &str) -> usize {
    let mut end = 0;
    while let Echo::Stamp(length) = stamp_at(&text[end..]) {
        end += length;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{MessageId, Role, Timestamp};

    #[test]
    fn the_time_stands_in_front_and_only_where_there_is_one() {
        let at = Timestamp::parse("2026-02-14T15:23:05Z");
        let timed = Message::text(MessageId::numbered(1), Role::User, "Hi", at);
        assert_eq!(stamped(&timed).said(), "[2026-02-14 15:23:05 UTC] Hi");
        let old = Message::text(MessageId::numbered(1), Role::User, "Hi", None);
        assert_eq!(stamped(&old), old);
        let empty = Message::text(MessageId::numbered(1), Role::Assistant, "", at);
        assert_eq!(stamped(&empty), empty);
    }

    #[test]
    fn echoes_are_taken_off_whole_replies() {
        for (reply, expected) in [
            ("[2026-02-14 15:23:05 UTC] hi", "hi"),
            (
                " [2026-02-14 15:23:05 UTC]  [2026-02-14 15:23:06 UTC] hi",
                "hi",
            ),
            ("[2026-02-14 15:23 UTC] hi", "[2026-02-14 15:23 UTC] hi"),
            (
                "at [2026-02-14 15:23:05 UTC] hi",
                "at [2026-02-14 15:23:05 UTC] hi",
            ),
            ("[2", "[2"),
            ("", ""),
        ] {
            assert_eq!(without_echo(reply), expected);
        }
    }

    #[test]
    fn a_stream_shows_the_same_as_the_whole_wherever_it_is_cut() {
        for reply in [
            "[2026-02-14 15:23:05 UTC] hi there",
            "[2026-02-14 15:23:05 UTC] ",
            "[not a stamp] é",
            "plain",
            "[20",
        ] {
            let expected = without_echo(reply);
            for cut in (0..=reply.len()).filter(|&cut| reply.is_char_boundary(cut)) {
                let mut filter = EchoFilter::default();
                let mut shown = filter.push(&reply[..cut]);
                shown.push_str(&filter.push(&reply[cut..]));
                shown.push_str(&filter.finish());
                // A stamp at the very end is a whole one only once the stream has ended.
                let expected = if reply.trim_end().ends_with("UTC]") {
                    ""
                } else {
                    &expected
                };
                assert_eq!(shown, expected, "{reply:?} cut at {cut}");
            }
        }
    }
}
