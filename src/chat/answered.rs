//! Which result answers which call: the one matching of the two.
//!
//! Unit: the messages of a turn. Ids may repeat: a server may number the calls of each reply anew, and a turn that was
//! interrupted may have calls without a result. A result answers the newest message that has an open call of its id,
//! and of several such calls in one message the first. Invariant: no call has two results, and no result two calls.

use super::{Message, Part, ToolCall};

/// A call and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered<'a> {
    /// Which of the calls it is, from 0.
    pub place: usize,
    pub call: &'a ToolCall,
    pub output: &'a str,
    pub failed: bool,
}

/// A call that has no result yet.
struct Open<'a> {
    message: usize,
    place: usize,
    call: &'a ToolCall,
}

/// The calls that have a result, in the order of the results.
pub fn answered(messages: &[Message]) -> Vec<Answered<'_>> {
    let parts = messages.iter().enumerate();
    let parts =
        parts.flat_map(|(number, message)| message.parts.iter().map(move |part| (number, part)));
    let (mut open, mut calls, mut answered) = (Vec::<Open<'_>>::new(), 0, Vec::new());
    for (message, part) in parts {
        match part {
            Part::ToolCall(call) => {
                open.push(Open {
                    message,
                    place: calls,
                    call,
                });
                calls += 1;
            }
            Part::ToolResult {
                call: id,
                output,
                failed,
                ..
            } => {
                let found = open.iter().rfind(|open| open.call.id == *id);
                let newest = found.map(|open| open.message);
                let of_it = |open: &Open<'_>| open.call.id == *id && Some(open.message) == newest;
                if let Some(at) = open.iter().position(of_it) {
                    let Open { place, call, .. } = open.remove(at);
                    answered.push(Answered {
                        place,
                        call,
                        output,
                        failed: *failed,
                    });
                }
            }
            Part::Text(_) | Part::Attached(_) | Part::Image(_) => {}
        }
    }
    answered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CallId, MessageId, Role};

    fn calling(ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| ToolCall::new(id, "f", "{}"));
        with(Role::Assistant, calls.map(Part::ToolCall).collect())
    }

    fn result(id: &str, output: &str) -> Message {
        let result = Part::ToolResult {
            call: CallId::new(id),
            name: "f".into(),
            output: output.into(),
            failed: false,
        };
        with(Role::Tool, vec![result])
    }

    fn with(role: Role, parts: Vec<Part>) -> Message {
        Message {
            parts,
            ..Message::text(MessageId::numbered(1), role, "", None)
        }
    }

    #[test]
    fn ids_that_repeat_are_told_apart() {
        let messages = [
            calling(&["lost", "a", "a"]),
            result("a", "one"),
            result("a", "two"),
            result("a", "nobody asked"),
            calling(&["a", "lost"]),
            result("lost", "three"),
            result("a", "four"),
        ];
        let answered = answered(&messages);
        let found: Vec<_> = answered.iter().map(|it| (it.place, it.output)).collect();
        assert_eq!(found, [(1, "one"), (2, "two"), (4, "three"), (3, "four")]);
    }
}
