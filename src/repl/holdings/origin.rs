//! Which message something came from, quoted where it can be read. Unit: one message.

use super::Holdings;
use crate::chat::{Message, SessionName};
use crate::hint::chain;

/// Characters of a message that are quoted.
const QUOTED: usize = 2_000;

impl Holdings<'_> {
    /// The words of a message, each line behind `> `; or why they cannot be had.
    pub(super) fn quote(&self, session: &str, message: &str) -> String {
        let said = match self.message(session, message) {
            Ok(message) => message.said().into_owned(),
            Err(why) => return why,
        };
        let beginning: String = said.chars().take(QUOTED).collect();
        let lines = beginning.lines().map(|line| format!("> {line}"));
        let mut lines: Vec<String> = lines.collect();
        if beginning.len() < said.len() {
            lines.push("> …".to_owned());
        }
        lines.join("\n")
    }

    fn message(&self, session: &str, id: &str) -> Result<Message, String> {
        let is_it = |message: &&Message| message.id.as_str() == id;
        let gone = || format!("the message is not in session {session} any more");
        if let Some(open) = self.open.filter(|open| open.name().as_str() == session) {
            let found = open.messages().iter().find(is_it);
            return found.cloned().ok_or_else(gone);
        }
        let cannot = |why: String| format!("the message cannot be read: {why}");
        let name: SessionName = session.parse().map_err(|error| cannot(chain(&error)))?;
        let read = self.store.read(&name);
        let read = read.map_err(|error| cannot(chain(&error)))?;
        read.messages().iter().find(is_it).cloned().ok_or_else(gone)
    }
}
