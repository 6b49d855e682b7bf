//! Sessions of answered turns, for tests that need no more of them than what was said. Unit: one session.

use crate::chat::{Message, Outcome, Record, Role, Session, Timestamp, TurnId};

/// Returns a session of a valid name, with a turn for each input and its reply.
///
/// # Panics
///
/// If the name is no session's name.
pub fn session<S: Into<String>>(
    name: &str,
    turns: impl IntoIterator<Item = (S, &'static str)>,
) -> Session {
    let name = name.parse();
    let mut session = Session::new(name.unwrap_or_else(|error| panic!("{error}")));
    for (asked, replied) in turns {
        say(&mut session, asked, replied, None);
    }
    session
}

/// Adds a turn of an input and its reply.
pub fn say(
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
pub fn begin(session: &mut Session, asked: impl Into<String>, at: Option<Timestamp>) -> TurnId {
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
pub fn answer(session: &mut Session, turn: TurnId, messages: Vec<Message>) {
    session.apply(Record::TurnFinished {
        turn,
        messages,
        outcome: Outcome::Answered,
        calibration: None,
    });
}
