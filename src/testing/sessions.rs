//! Sessions of answered turns, for tests that need no more of them than what was said. Unit: one session.

use crate::chat::Session;
use crate::chat::fixture::say;

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
