//! Past turns: the sliding window, and in front of it what no summary covers yet (C1, C7, C10).
//!
//! Counts messages, cuts at turns: a boundary inside a turn moves back to that turn's user message, so
//! that at least the asked number is sent and the first is the user's. Walks backwards and stops where
//! nothing more can fit, so that its cost does not grow with the session.

use crate::chat::{Message, MessageId, Part, Role, Session, Tokens, ToolCall, Turn};
use crate::context::{Section, SectionKind, Source};

/// What of the past is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Messages of the sliding window.
    pub window: usize,
    /// Messages `0..covered` are represented by something else and are not sent.
    pub covered: usize,
    /// Whether what lies between coverage and window is sent.
    pub pending: Pending,
    /// Cost beyond which older turns need not be drafted.
    pub room: Tokens,
}

/// What happens to messages that left the window and are not covered (`memory.carry_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// At most so many, the newest: of an imported history all is pending, and no request needs that.
    Carried {
        max: usize,
    },
    Dropped,
}

/// Sections of the past, oldest first, and how many older messages were not drafted. What was taken back
/// is none of them as far as the walk came.
pub fn sections(
    session: &Session,
    wanted: Wanted,
    render: impl Fn(usize, &Message) -> Message,
) -> (Vec<Section>, usize) {
    let mut sections = Vec::new();
    let (mut in_window, mut pending) = (0, 0);
    let mut cost = Tokens::ZERO;
    let mut beyond = 0;
    for turn in session
        .live_turns()
        .rev()
        .filter(|turn| turn.outcome.is_some())
    {
        let up_to_here = turn.messages.end.saturating_sub(wanted.covered);
        // Coverage that ends inside a turn moves back to its beginning (C10).
        if turn.messages.end <= wanted.covered || cost > wanted.room {
            beyond = up_to_here;
            break;
        }
        let kind = if in_window < wanted.window {
            SectionKind::Window
        } else {
            SectionKind::Pending
        };
        if kind == SectionKind::Pending {
            let max = match wanted.pending {
                Pending::Carried { max } => max,
                Pending::Dropped => 0,
            };
            if pending >= max {
                beyond = up_to_here;
                break;
            }
            pending += turn.messages.len();
        }
        in_window += turn.messages.len();
        let section = Section::messages(
            kind,
            Source::Turn(turn.id),
            sendable(session, turn, &render),
        );
        cost += section.cost();
        sections.push(section);
    }
    sections.reverse();
    (sections, beyond)
}

/// The live messages before an index, as they can be sent: where that lies within a turn, its calls are answered.
pub fn head(
    session: &Session,
    before: usize,
    render: impl Fn(usize, &Message) -> Message,
) -> Vec<Message> {
    let turns = session.live_turns();
    let turns = turns.take_while(|turn| turn.messages.start < before);
    let cut = turns.map(|turn| Turn {
        messages: turn.messages.start..turn.messages.end.min(before),
        ..turn.clone()
    });
    cut.flat_map(|turn| sendable(session, &turn, &render))
        .collect()
}

/// Where the sliding window begins: the index of its first message.
pub fn window_start(session: &Session, window: usize) -> usize {
    let mut in_window = 0;
    let mut start = session.messages().len();
    for turn in session.live_turns().rev() {
        if in_window >= window {
            break;
        }
        in_window += turn.messages.len();
        start = turn.messages.start;
    }
    start
}

/// A turn as it can be sent: begins with the user, every tool result answers a call before it, and every
/// call has its result. History itself keeps what is odd; only the sent copy is mended (C87).
fn sendable(
    session: &Session,
    turn: &Turn,
    render: impl Fn(usize, &Message) -> Message,
) -> Vec<Message> {
    let messages = session.messages_of(turn);
    let mut sent = Vec::with_capacity(messages.len() + 1);
    if messages
        .first()
        .is_some_and(|first| first.role != Role::User)
    {
        let opening = MessageId::new("opening");
        sent.push(Message::text(
            opening,
            Role::User,
            "[the conversation begins]",
            None,
        ));
    }
    let mut open: Vec<&ToolCall> = Vec::new();
    for (index, message) in (turn.messages.start..).zip(messages) {
        if message.role != Role::Tool {
            sent.extend(interrupted(&mut open));
        }
        if message
            .answers()
            .all(|answer| open.iter().any(|call| call.id == *answer))
        {
            sent.push(render(index, message));
        } else {
            let answering = answering(message, &open);
            sent.extend(answering.map(|message| render(index, &message)));
        }
        open.retain(|call| !message.answers().any(|answer| *answer == call.id));
        open.extend(message.calls());
    }
    sent.extend(interrupted(&mut open));
    sent
}

/// A message without the results that answer none of the open calls; nothing where nothing is left.
fn answering(message: &Message, open: &[&ToolCall]) -> Option<Message> {
    let mut message = message.clone();
    message.parts.retain(|part| match part {
        Part::ToolResult { call, .. } => open.iter().any(|open| open.id == *call),
        Part::Text(_) | Part::ToolCall(_) | Part::Attached(_) | Part::Image(_) => true,
    });
    (!message.parts.is_empty()).then_some(message)
}

/// Results for calls that never got one.
fn interrupted(open: &mut Vec<&ToolCall>) -> Option<Message> {
    let result = |call: &ToolCall| Part::ToolResult {
        call: call.id.clone(),
        name: call.name.clone(),
        output: "[interrupted]".to_owned(),
        failed: true,
    };
    let parts: Vec<Part> = open.drain(..).map(result).collect();
    let id = MessageId::new("interrupted");
    (!parts.is_empty()).then(|| Message::new(id, Role::Tool, parts, None))
}

#[cfg(test)]
mod tests;
