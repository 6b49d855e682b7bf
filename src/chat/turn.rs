//! A turn: one user message and everything that answers it.

use std::fmt;
use std::ops::Range;

use super::Withdrawal;
use crate::declare::named;

/// The words that close a turn without any reply begin with this.
pub(super) const NO_REPLY: &str = "[no reply:";

/// The place of a turn in its session, from 1. Turn 0 is what stands before the first user message
/// in some foreign files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(pub u32);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

named! {
    /// How a turn ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome {
        /// With a complete reply.
        Answered = "answered",
        /// By the person, or by the end of the process.
        Interrupted = "interrupted",
        /// By an error; what had arrived of the reply is kept.
        Failed = "failed",
    }
}

impl Outcome {
    /// The words that close a turn which has no complete reply (C86): they are stored, shown and sent,
    /// so that history stays a sequence every server accepts.
    pub fn closing(self, partial: &str, reason: &str) -> String {
        match (self, partial.trim().is_empty()) {
            (Self::Answered, _) => partial.to_owned(),
            (Self::Interrupted | Self::Failed, true) => format!("{NO_REPLY} {reason}]"),
            (Self::Interrupted | Self::Failed, false) => {
                format!("{partial}\n[reply cut: {reason}]")
            }
        }
    }
}

/// Where a turn lies among its session's messages, and what became of it.
///
/// Invariant: the first message of the range is the user's (but for turn 0), and no other is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub id: TurnId,
    /// Indices into [`super::Session::messages`].
    pub messages: Range<usize>,
    /// `None` while it runs.
    pub outcome: Option<Outcome>,
    /// Set when the person took it back; such a turn stays in history and is no longer sent.
    pub withdrawn: Option<Withdrawal>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Message, MessageId, Role};

    #[test]
    fn only_what_closes_a_turn_without_any_reply_is_none() {
        for (role, partial, is_none) in [
            (Role::Assistant, "", true),
            (Role::Assistant, "Half a", false),
            (Role::User, "", false),
        ] {
            let closing = Outcome::Failed.closing(partial, "interrupted");
            let message = Message::text(MessageId::numbered(2), role, closing, None);
            assert_eq!(message.is_no_reply(), is_none, "{message:?}");
        }
    }

    #[test]
    fn an_unfinished_turn_is_closed_by_what_arrived_or_by_the_reason() {
        assert_eq!(
            Outcome::Failed.closing("", "server closed the connection"),
            "[no reply: server closed the connection]"
        );
        assert_eq!(
            Outcome::Interrupted.closing("Half a", "interrupted"),
            "Half a\n[reply cut: interrupted]"
        );
        assert_eq!(Outcome::Answered.closing("Whole", "-"), "Whole");
    }
}
