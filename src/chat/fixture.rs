//! Turns for tests that need no more of a session than what was said. Unit: one turn.

use super::{Message, Outcome, Record, Role, Session, Timestamp, TurnId};

/// Adds a turn of an input and its reply.
pub(crate) fn say(
    session: &mut Session,
    asked: impl Into<String>,
    replied: impl Into<String>,
    at: Option<Timestamp>,
) {
    let turn = begin(session, asked, at);
    let reply = Message::text(session.next_message_id(0), Role::Assistant, replied, at);
    answer(session, turn, vec![reply]);
}

/// Begins a turn with an input.
pub(crate) fn begin(
    session: &mut Session,
    asked: impl Into<String>,
    at: Option<Timestamp>,
) -> TurnId {
    let turn = session.next_turn();
    let input = Message::text(session.next_message_id(0), Role::User, asked, at);
    session.apply(Record::TurnStarted {
        turn,
        input,
        mode: "m".into(),
        model: "m".into(),
    });
    turn
}

/// Ends a turn with these messages as its answer.
pub(crate) fn answer(session: &mut Session, turn: TurnId, messages: Vec<Message>) {
    session.apply(Record::TurnFinished {
        turn,
        messages,
        outcome: Outcome::Answered,
        calibration: None,
    });
}
