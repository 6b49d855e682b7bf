//! Sessions of answered turns, for tests that need no more of them than what was said. Unit: one session.

use crate::chat::{Message, Outcome, Record, Role, Session};

/// A session of a valid name, with a turn for each input and its reply.
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
        let turn = session.next_turn();
        let input = Message::text(session.next_message_id(0), Role::User, asked, None);
        session.apply(Record::TurnStarted {
            turn,
            input,
            mode: "m".into(),
            model: "m".into(),
        });
        let reply = Message::text(session.next_message_id(0), Role::Assistant, replied, None);
        session.apply(Record::TurnFinished {
            turn,
            messages: vec![reply],
            outcome: Outcome::Answered,
            calibration: None,
        });
    }
    session
}
