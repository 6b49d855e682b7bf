//! A conversation as text for a summariser: labelled, clipped, cut into parts that fit its window.

use crate::chat::{Message, Role, Tokens};

/// Longer messages are clipped to their first 1,000 and last 500 characters.
const CLIP: usize = 2_000;
const HEAD: usize = 1_000;
const TAIL: usize = 500;

/// `User: …` or `Assistant: …`; nothing for tool work and empty messages (C12).
fn labelled(message: &Message) -> Option<String> {
    let label = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => return None,
    };
    let said = message.said();
    let said = said.trim();
    (!said.is_empty()).then(|| format!("{label}: {}", clipped(said)))
}

fn clipped(text: &str) -> String {
    let count = text.chars().count();
    if count <= CLIP {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(count - TAIL).collect();
    format!(
        "{head}\n[… {} characters left out …]\n{tail}",
        count - HEAD - TAIL
    )
}

/// The messages as parts of at most `room` tokens each, at least one message a part.
pub(super) fn parts<'a>(messages: impl Iterator<Item = &'a Message>, room: Tokens) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut cost = Tokens::ZERO;
    for line in messages.filter_map(labelled) {
        let more = Tokens::estimate(&line) + Tokens(1);
        match parts.last_mut() {
            Some(part) if cost + more <= room => {
                part.push_str("\n\n");
                part.push_str(&line);
                cost += more;
            }
            _ => {
                parts.push(line);
                cost = more;
            }
        }
    }
    parts
}

/// `text` between fence lines longer than any run of dashes in it, so that nothing in it can close the
/// fence.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '-').map(str::len).max().unwrap_or(0);
    let fence = format!("<{}>", "-".repeat(longest.max(2) + 1));
    format!("{fence}\n{text}\n{fence}")
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
            parts(messages.iter(), Tokens(100)),
            ["User: hi\n\nAssistant: ok"]
        );
    }

    #[test]
    fn parts_fit_and_a_long_message_is_clipped() {
        let messages = vec![message(Role::User, &"é".repeat(5_000)); 4];
        let parts = parts(messages.iter(), Tokens(900));
        assert_eq!(parts.len(), 2);
        assert!(
            parts
                .iter()
                .all(|part| Tokens::estimate(part) <= Tokens(900))
        );
        assert!(parts[0].contains("[… 3500 characters left out …]"));
    }

    #[test]
    fn a_fence_cannot_be_closed_from_within() {
        let fenced = fenced("a\n<--->\nb");
        assert_eq!(fenced, "<---->\na\n<--->\nb\n<---->");
    }
}
