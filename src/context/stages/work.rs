//! The running turn so far: replies that called tools, each with what came back.
//!
//! Unit: a step, which is one reply and the results of its calls; it is sent whole or not at all. Arguments that alone
//! would take much of the room, a file that was written, are sent with the beginning of their texts: they were acted
//! on, and history has them.

use serde_json::Value;

use crate::chat::{Message, Part, Role, Session, Tokens, ToolCall};
use crate::context::{Section, SectionKind, Source};

/// The share of the room that the arguments of one call may take, one part in so many.
const SHARE: u32 = 8;

/// Characters of a text in arguments that are too long.
const TEXT: usize = 300;

/// The steps of the turn that runs, oldest first; none before its first reply. `room`: what a prompt may cost.
pub fn sections(
    session: &Session,
    room: Tokens,
    render: impl Fn(&Message) -> Message,
) -> Vec<Section> {
    let Some(turn) = session.unfinished().map(|turn| turn.id) else {
        return Vec::new();
    };
    let max = Tokens(room.0 / SHARE);
    let mut steps: Vec<Vec<Message>> = Vec::new();
    for message in session.running().iter().skip(1) {
        let sent = shortened(render(message), max);
        match steps.last_mut() {
            Some(step) if message.role == Role::Tool => step.push(sent),
            Some(_) | None => steps.push(vec![sent]),
        }
    }
    let section = |step| Section::messages(SectionKind::Step, Source::Turn(turn), step);
    steps.into_iter().map(section).collect()
}

/// The message with no arguments that cost more than `max`, where their texts can be cut.
fn shortened(mut message: Message, max: Tokens) -> Message {
    for part in &mut message.parts {
        if let Part::ToolCall(ToolCall { arguments, .. }) = part
            && Tokens::estimate(arguments) > max
            && let Ok(mut value) = serde_json::from_str(arguments)
        {
            cut_texts(&mut value);
            *arguments = value.to_string();
        }
    }
    message
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(TEXT) {
                let chars = text.chars().count();
                *text = format!("{}[…truncated, {chars} chars total]", &text[..end]);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(cut_texts),
        Value::Object(fields) => fields.values_mut().for_each(cut_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::MessageId;

    #[test]
    fn arguments_that_would_fill_the_window_are_sent_with_the_beginning_of_their_texts() {
        let arguments = json!({"path": "a.rs", "content": "é".repeat(10_000)}).to_string();
        let mut message = Message::text(MessageId::numbered(1), Role::Assistant, "", None);
        message.parts = vec![Part::ToolCall(ToolCall::new("c", "write_file", arguments))];
        assert_eq!(shortened(message.clone(), Tokens(5_000)), message);
        let sent = shortened(message, Tokens(500));
        let sent: Value = serde_json::from_str(&sent.calls().next().unwrap().arguments).unwrap();
        assert_eq!(sent["path"], "a.rs");
        let content = sent["content"].as_str().unwrap();
        assert_eq!(
            content,
            format!("{}[…truncated, 10000 chars total]", "é".repeat(300))
        );
    }
}
