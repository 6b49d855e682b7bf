//! A conversation as text for a summariser: labelled, and cut into parts that fit its window.

use crate::chat::{Message, Role, Tokens};
use crate::text::is_off_record;

/// `User: …` or `Assistant: …`; nothing for tool work, empty messages (C12), and what a person wants nobody to keep.
pub(super) fn labelled(message: &Message) -> Option<String> {
    let label = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => return None,
    };
    let said = message.said();
    let said = said.trim();
    let is_kept = message.role != Role::User || !is_off_record(said);
    (!said.is_empty() && is_kept).then(|| format!("{label}: {said}"))
}

/// Labelled messages as parts of at most `room` tokens each, in order; a longer one is spread over several.
pub(super) fn parts(messages: impl IntoIterator<Item = String>, room: Tokens) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut cost = Tokens::ZERO;
    for piece in messages.into_iter().flat_map(|line| pieces(line, room)) {
        let more = Tokens::estimate(&piece) + Tokens(1);
        match parts.last_mut() {
            Some(part) if cost + more <= room => {
                part.push_str("\n\n");
                part.push_str(&piece);
                cost += more;
            }
            _ => {
                parts.push(piece);
                cost = more;
            }
        }
    }
    parts
}

/// A line in pieces that fit.
fn pieces(line: String, room: Tokens) -> Vec<String> {
    if Tokens::estimate(&line) <= room {
        return vec![line];
    }
    let letters: Vec<char> = line.chars().collect();
    letters
        .chunks(room.chars().max(1))
        .map(|piece| piece.iter().collect())
        .collect()
}

/// `text` between fence lines longer than any run of dashes in it, so that nothing in it can close the fence.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '-').map(str::len).max().unwrap_or(0);
    let fence = format!("<{}>", "-".repeat(longest.max(2) + 1));
    format!("{fence}\n{text}\n{fence}")
}

/// A longer message is shown to a model that summarises by its first and last characters (C12).
const CLIP: usize = 2_000;
const CLIP_HEAD: usize = 1_000;
const CLIP_TAIL: usize = 500;

/// Shortens a line for a model that summarises, where it is long.
pub(super) fn clipped(line: String) -> String {
    let count = line.chars().count();
    if count <= CLIP {
        return line;
    }
    let head: String = line.chars().take(CLIP_HEAD).collect();
    let tail: String = line.chars().skip(count - CLIP_TAIL).collect();
    format!("{head} […] {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::MessageId;

    fn message(role: Role, text: &str) -> Message {
        Message::text(MessageId::numbered(1), role, text, None)
    }

    #[test]
    fn speakers_are_named_and_tool_work_is_skipped() {
        let messages = [
            message(Role::User, "hi"),
            message(Role::Tool, "out"),
            message(Role::Assistant, " "),
            message(Role::Assistant, "ok"),
        ];
        assert_eq!(
            parts(messages.iter().filter_map(labelled), Tokens(100)),
            ["User: hi\n\nAssistant: ok"]
        );
    }

    #[test]
    fn what_nobody_is_to_keep_is_not_summarised() {
        let line = labelled(&message(
            Role::User,
            "Off the record, we buy the Lisbon office",
        ));
        assert_eq!(line, None);
    }

    #[test]
    fn parts_fit_and_nothing_of_a_long_message_is_left_out() {
        let messages = [
            message(Role::User, &"é".repeat(5_000)),
            message(Role::User, "short"),
        ];
        let parts = parts(messages.iter().filter_map(labelled), Tokens(900));
        assert_eq!(parts.len(), 2);
        assert!(
            parts
                .iter()
                .all(|part| Tokens::estimate(part) <= Tokens(900))
        );
        assert_eq!(parts.concat().matches('é').count(), 5_000);
    }

    #[test]
    fn a_fence_cannot_be_closed_from_within() {
        let fenced = fenced("a\n<--->\nb");
        assert_eq!(fenced, "<---->\na\n<--->\nb\n<---->");
    }
}
