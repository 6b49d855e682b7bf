//! The running turn so far: replies that called tools, each with what came back.
//!
//! Unit: a step, which is one reply and the results of its calls; it is sent whole or not at all.

use crate::chat::{Message, Role, Session};
use crate::context::{Section, SectionKind, Source};

/// The steps of the turn that runs, oldest first; none before its first reply.
pub fn sections(session: &Session, render: impl Fn(&Message) -> Message) -> Vec<Section> {
    let Some(turn) = session.unfinished() else {
        return Vec::new();
    };
    let mut steps: Vec<Vec<Message>> = Vec::new();
    for message in session.messages_of(turn).iter().skip(1) {
        match steps.last_mut() {
            Some(step) if message.role == Role::Tool => step.push(render(message)),
            Some(_) | None => steps.push(vec![render(message)]),
        }
    }
    let section = |step| Section::messages(SectionKind::Step, Source::Turn(turn.id), step);
    steps.into_iter().map(section).collect()
}
