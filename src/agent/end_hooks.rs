//! What is done once a turn is over and on disk: hooks, the highest priority first (X5).
//!
//! Invariant: what goes wrong in a hook is told, and stops neither the others nor the turn.

use std::fmt;

use crate::chat::{
    Message, Outcome, Record, Role, Scratchpad, Session, SessionName, Timestamp, Turn,
};
use crate::text::secrets::Known;

/// A turn that is over, as a value: what is done about it is done in another thread, and the session goes on meanwhile.
#[derive(Clone, Debug)]
pub struct Ending {
    pub session: SessionName,
    pub outcome: Option<Outcome>,
    pub asked: String,
    pub replied: String,
    /// What was asked and replied in the newest turns, oldest first; its own among them.
    pub newest: Vec<Message>,
    pub scratchpad: Scratchpad,
    /// The secrets that were said.
    pub known: Known,
    pub now: Timestamp,
    /// The share of the window that its last request filled.
    pub used: f64,
}

impl Ending {
    /// `most`: as many of the newest messages are looked at.
    pub fn of(
        session: &Session,
        known: &Known,
        turn: &Turn,
        most: usize,
        now: Timestamp,
        used: f64,
    ) -> Self {
        let messages = session.messages_of(turn);
        let of = |role: Role| move |message: &&Message| message.role == role;
        let said = |message: &Message| message.said().into_owned();
        let asked = messages.iter().find(of(Role::User));
        let replied = messages.iter().rev().find(of(Role::Assistant));
        Self {
            session: session.name().clone(),
            outcome: turn.outcome,
            asked: asked.map(said).unwrap_or_default(),
            replied: replied.map(said).unwrap_or_default(),
            newest: newest(session, most).into_iter().cloned().collect(),
            scratchpad: session.scratchpad().clone(),
            known: known.clone(),
            now,
            used,
        }
    }
}

/// Something that is done then.
pub trait EndHook: fmt::Debug + Send + Sync {
    /// One or two words, for messages.
    fn name(&self) -> &'static str;

    /// Higher runs first; equal ones in the order in which they were added.
    fn priority(&self) -> i32;

    /// Does it; tells what of it belongs to the session, and what went wrong, as a sentence for the person.
    fn run(&mut self, ending: &Ending) -> (Option<Record>, Result<(), String>);
}

/// All of them.
#[derive(Debug, Default)]
pub struct EndHooks(Vec<Box<dyn EndHook>>);

/// What they brought.
#[derive(Debug, Default, PartialEq)]
pub struct Ran {
    pub records: Vec<Record>,
    /// What went wrong: the hook's name, and why.
    pub failures: Vec<(&'static str, String)>,
}

impl EndHooks {
    pub fn add(&mut self, hook: Box<dyn EndHook>) {
        let before = self.0.iter();
        let place = before
            .take_while(|other| other.priority() >= hook.priority())
            .count();
        self.0.insert(place, hook);
    }

    /// Runs each of them.
    pub fn run(&mut self, ending: &Ending) -> Ran {
        let mut ran = Ran::default();
        for hook in &mut self.0 {
            let (record, done) = hook.run(ending);
            ran.records.extend(record);
            ran.failures
                .extend(done.err().map(|why| (hook.name(), why)));
        }
        ran
    }
}

/// Messages of the newest turns, oldest first: enough to be read, and to tell that there are enough. Walked from the
/// end, since a turn costs the same in any session.
fn newest(session: &Session, enough: usize) -> Vec<&Message> {
    let mut turns = Vec::new();
    let mut messages = 0;
    for turn in session.live_turns().rev() {
        if messages >= enough {
            break;
        }
        turns.push(session.messages_of(turn));
        // Calls and results of tools are none of what is read: a turn has two messages that are.
        messages += 2;
    }
    let messages = turns.into_iter().rev().flatten();
    messages
        .filter(|message| message.role != Role::Tool)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::chat::fixture;

    #[derive(Debug)]
    struct Noting {
        name: &'static str,
        priority: i32,
        fails: bool,
        ran: Arc<Mutex<Vec<&'static str>>>,
    }

    impl EndHook for Noting {
        fn name(&self) -> &'static str {
            self.name
        }

        fn priority(&self) -> i32 {
            self.priority
        }

        fn run(&mut self, _: &Ending) -> (Option<Record>, Result<(), String>) {
            self.ran.lock().unwrap().push(self.name);
            if self.fails {
                return (None, Err("no room".to_owned()));
            }
            let record = Record::ModeChanged {
                mode: self.name.to_owned(),
            };
            (Some(record), Ok(()))
        }
    }

    #[test]
    fn hooks_run_by_priority_and_one_that_fails_stops_no_other() {
        let ran = Arc::default();
        let mut hooks = EndHooks::default();
        for (name, priority, fails) in [
            ("facts", -10, false),
            ("daily", 50, true),
            ("first", 100, false),
            ("also daily", 50, false),
        ] {
            let ran = Arc::clone(&ran);
            hooks.add(Box::new(Noting {
                name,
                priority,
                fails,
                ran,
            }));
        }
        let mut session = Session::new("x".parse().unwrap());
        let turn = fixture::begin(&mut session, "hi", None);
        fixture::answer(&mut session, turn, Vec::new());
        let now = Timestamp::from_unix(0).unwrap();
        let ending = Ending::of(
            &session,
            &Known::default(),
            &session.turns()[0],
            0,
            now,
            0.0,
        );
        let brought = hooks.run(&ending);
        assert_eq!(
            *ran.lock().unwrap(),
            ["first", "daily", "also daily", "facts"]
        );
        assert_eq!(brought.records.len(), 3);
        assert_eq!(brought.failures, [("daily", "no room".to_owned())]);
    }
}
