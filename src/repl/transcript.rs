//! A session as a person reads it: speakers, times, what became of each turn.

use std::fmt;

use crate::chat::{Message, Outcome, Part, Role, Session, Turn, Withdrawal};
use crate::text::lines::clipped;
use crate::tools::{DECLINED, NOT_RUN};

/// What one speaker said, below who that is.
#[derive(Clone, Debug)]
pub struct Block {
    pub heading: String,
    pub text: String,
    /// Words of the model and nothing else.
    pub is_reply: bool,
}

/// One turn: its number, and its messages under their speakers.
pub fn turn(session: &Session, turn: &Turn) -> String {
    let blocks = blocks(session, turn).into_iter();
    let blocks = blocks.map(|block| block.to_string());
    blocks.collect::<Vec<_>>().join("\n\n")
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.heading, self.text)
    }
}

/// The messages of a turn, its number in front of the first.
pub fn blocks(session: &Session, turn: &Turn) -> Vec<Block> {
    let mark = match turn.withdrawn {
        None => "",
        Some(Withdrawal::Undone) => "  (undone)",
        Some(Withdrawal::Retried) => "  (retried)",
    };
    let messages = session.messages_of(turn).iter();
    let is_words = |part: &Part| matches!(part, Part::Text(_));
    let blocks = messages.map(|message| Block {
        heading: format!("{}{mark}", heading(message)),
        text: body(message),
        is_reply: message.role == Role::Assistant && message.parts.iter().all(is_words),
    });
    let is_cut = session.unfinished().is_some_and(|cut| cut.id == turn.id);
    let cut = Some(session.arrived()).filter(|arrived| is_cut && !arrived.is_empty());
    let cut = cut.map(|arrived| Block {
        heading: speaker(Role::Assistant).to_owned(),
        text: Outcome::Interrupted.closing(arrived, "interrupted"),
        is_reply: true,
    });
    let mut blocks: Vec<Block> = blocks.chain(cut).collect();
    if let Some(first) = blocks.first_mut() {
        first.heading.insert_str(0, &format!("[{}] ", turn.id));
    }
    blocks
}

fn heading(message: &Message) -> String {
    let speaker = speaker(message.role);
    message
        .at
        .map_or_else(|| speaker.to_owned(), |at| format!("{speaker}, {at}"))
}

/// What a person calls the role.
pub fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "You",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    }
}

/// Text, calls and results of a message, in order.
pub fn body(message: &Message) -> String {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::ToolCall(call) => format!("[calls {} {}]", call.name, call.arguments),
        Part::ToolResult {
            name,
            output,
            failed,
            ..
        } => {
            format!("[{name} {}]\n{output}", ended(*failed, output))
        }
        Part::Attached(attached) => format!("[attached {attached}]"),
        Part::Image(image) => image.mark(),
    });
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// How a call ended, in a word.
pub fn ended(failed: bool, output: &str) -> &'static str {
    match failed {
        false => "answered",
        true if output.starts_with(DECLINED) => "declined",
        true if output.starts_with(NOT_RUN) => NOT_RUN,
        true => "failed",
    }
}

/// The beginning of a text in one line of at most `chars` characters.
pub fn first_words(text: &str, chars: usize) -> String {
    clipped(
        &text.split_whitespace().collect::<Vec<_>>().join(" "),
        chars,
    )
}
