//! What is done to a whole session, by a command of a chat or of a shell: forked, deleted, brought back. Unit: one of
//! them.

use super::listing::count;
use super::memory_view::Caller;
use crate::chat::{Session, SessionName, Timestamp, TurnId};
use crate::hint::chain;
use crate::index::session::keys_of;
use crate::index::vectors::Key;
use crate::long_term::notes::Workspace;
use crate::store::{Opened, Restored, SessionStore, StoreError};

/// The files of sessions, and who asks for something to be done to them.
#[derive(Debug)]
pub struct Sessions<'a> {
    pub store: &'a dyn SessionStore,
    /// `None`: no session has notes.
    pub workspace: Option<&'a Workspace>,
    pub now: Timestamp,
    pub caller: Caller,
}

impl Sessions<'_> {
    /// Keeps a fork as a session of its own, with the notes of the other; opens it.
    pub fn keep_fork(
        &self,
        fork: &mut Session,
        from: &SessionName,
        at: Option<TurnId>,
    ) -> Result<(Opened, String), StoreError> {
        let until = at.and(fork.meta().updated_at);
        fork.touch(self.now);
        let opened = self.store.keep_fork(fork, from)?;
        let name = fork.name();
        let messages = count(fork.live_messages(), "message");
        let at = at.map_or_else(String::new, |at| format!(" up to turn {at}"));
        let mut text = format!("Session {from}{at} copied to {name} ({messages})");
        if self.caller == Caller::Chat {
            text.extend(["; `/session ", from.as_str(), "` goes back"]);
        }
        let copied = self.workspace.map(|it| it.fork_session(from, name, until));
        if let Some(Err(error)) = copied {
            text.extend(["\nIts notes are not copied: ".to_owned(), chain(&error)]);
        }
        Ok((opened, text))
    }

    /// Moves a session and its notes to the trash; `let_go` deletes the vectors of what was said, and says what went
    /// wrong.
    pub fn delete(
        &self,
        name: &SessionName,
        let_go: impl FnOnce(Vec<Key>) -> Option<String>,
    ) -> Result<String, StoreError> {
        let said = self.store.read(name).map(|session| keys_of(&session));
        self.store.discard(name, self.now)?;
        let back = self.command("restore", name);
        let mut lines = vec![format!(
            "Session {name} moved to the trash; `{back}` brings it back"
        )];
        lines.extend(let_go(said.unwrap_or_default()));
        match self.workspace.map(|it| it.discard_session(name, self.now)) {
            Some(Ok(Some(_))) => lines.push("Its notes moved to the trash".to_owned()),
            Some(Err(error)) => lines.push(format!("Could not move its notes: {}", chain(&error))),
            Some(Ok(None)) | None => {}
        }
        Ok(lines.join("\n"))
    }

    /// Brings back from the trash the session of a name that was deleted last, or last at a time that begins so.
    pub fn restore(&self, name: &SessionName, time: Option<&str>) -> Result<String, StoreError> {
        let Restored { from, others } = self.store.restore(name, time)?;
        let opens = match self.caller {
            Caller::Chat => format!("/session {name}"),
            Caller::Shell | Caller::Private => format!("cogtrix {}", option(name)),
        };
        let mut lines = vec![format!("Session {name} is back; `{opens}` opens it")];
        if let Some(newest) = others.first() {
            let times = others.join(", ");
            let others = count(others.len(), "other session");
            let restore = self.command("restore", name);
            lines.push(format!(
                "{others} of this name in the trash, deleted {times}; rename this one, then `{restore} --from {newest}`"
            ));
        }
        let restored = self.workspace.map(|it| it.restore_session(name, &from));
        if let Some(Err(error)) = restored {
            lines.push(format!("Its notes stay in the trash: {}", chain(&error)));
        }
        Ok(lines.join("\n"))
    }

    fn command(&self, verb: &str, name: &SessionName) -> String {
        match self.caller {
            Caller::Chat => format!("/sessions {verb} {name}"),
            Caller::Shell | Caller::Private => {
                format!("cogtrix sessions {verb} {}", word(name.as_str()))
            }
        }
    }
}

/// What is said of a session that has another name now.
pub fn renamed(before: &SessionName, name: &SessionName) -> String {
    format!("Renamed session {before} to {name}")
}

/// A session name as the command line takes it.
pub fn option(name: &SessionName) -> String {
    let word = word(name.as_str());
    if name.as_str().starts_with('-') {
        format!("--session={word}")
    } else {
        format!("-s {word}")
    }
}

/// A word as a shell takes it.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/~+,=@%".contains(c);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_resumes_can_be_pasted() {
        for (name, expected) in [
            ("work", "-s work"),
            ("my project", "-s 'my project'"),
            ("-x", "--session=-x"),
        ] {
            assert_eq!(option(&name.parse().unwrap()), expected);
        }
    }
}
