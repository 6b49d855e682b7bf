//! Results of tools and attached files as they are sent in later turns: their beginning (O1-O5).
//!
//! Only the copy that is sent is trimmed; history keeps the whole. Unit: characters (scalar values). Invariant: what is
//! no longer than the limit stays as it is, and name and call of a result always do.

use std::borrow::Cow;

use crate::chat::{Attached, Message, Part};

/// A message whose results of tools and attached texts are at most `max` characters long, and the mark that tells how
/// long they were; 0 trims nothing.
pub fn trimmed(message: &Message, max: usize) -> Cow<'_, Message> {
    let is_long = |part: &Part| match part {
        Part::ToolResult { output: text, .. } | Part::Attached(Attached { text, .. }) => {
            end(text, max).is_some()
        }
        Part::Text(_) | Part::ToolCall(_) | Part::Image(_) => false,
    };
    if max == 0 || !message.parts.iter().any(is_long) {
        return Cow::Borrowed(message);
    }
    let mut message = message.clone();
    for part in &mut message.parts {
        if let Part::ToolResult { output, .. } | Part::Attached(Attached { text: output, .. }) =
            part
            && let Some(end) = end(output, max)
        {
            let chars = output.chars().count();
            output.truncate(end);
            output.push_str("\n[…truncated, ");
            output.push_str(&chars.to_string());
            output.push_str(" chars total]");
        }
    }
    Cow::Owned(message)
}

/// Where a text that is too long is cut, in bytes.
fn end(text: &str, max: usize) -> Option<usize> {
    text.char_indices().nth(max).map(|(end, _)| end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CallId, MessageId, Role};

    fn result(output: &str) -> Message {
        let mut message = Message::text(MessageId::numbered(1), Role::Tool, "", None);
        message.parts = vec![Part::ToolResult {
            call: CallId::new("c1"),
            name: "read_file".into(),
            output: output.to_owned(),
            failed: false,
        }];
        message
    }

    #[test]
    fn only_what_is_longer_than_the_limit_is_cut_and_told_so() {
        for (chars, cut) in [(1_999, false), (2_000, false), (2_001, true)] {
            let whole = "𝕏".repeat(chars);
            let message = result(&whole);
            let sent = trimmed(&message, 2_000);
            let expected = if cut {
                format!("{}\n[…truncated, {chars} chars total]", "𝕏".repeat(2_000))
            } else {
                whole
            };
            assert_eq!(*sent, result(&expected), "{chars}");
        }
    }

    #[test]
    fn an_attached_file_is_cut_and_the_words_with_it_are_not() {
        let attached = |text: &str| {
            let words = "x".repeat(50);
            let mut message = Message::text(MessageId::numbered(1), Role::User, words, None);
            message.parts.push(Part::Attached(Attached {
                name: "a.rs".to_owned(),
                lines: None,
                text: text.to_owned(),
            }));
            message
        };
        let sent = trimmed(&attached(&"y".repeat(50)), 10).into_owned();
        let cut = format!("{}\n[…truncated, 50 chars total]", "y".repeat(10));
        assert_eq!(sent, attached(&cut));
    }

    #[test]
    fn a_limit_of_nothing_switches_it_off_and_words_are_never_trimmed() {
        let long = "x".repeat(5_000);
        assert!(matches!(trimmed(&result(&long), 0), Cow::Borrowed(_)));
        let said = Message::text(MessageId::numbered(1), Role::Assistant, long, None);
        assert_eq!(*trimmed(&said, 10), said);
    }
}
