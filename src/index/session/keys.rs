//! The messages of a session that have vectors or are to have some. Unit: one session. Invariant: in the order in which they
//! were said; what was taken back is not found.

use super::exchange::{self, Exchange, clipped};
use crate::chat::{Session, TurnId};
use crate::index::meaning::{Asked, Keyed, Wanted};
use crate::index::vectors::Key;
use crate::text::secrets::Known;

/// The nearest messages that take part in a search.
const NEAREST: usize = 100;
/// Exchanges that are embedded together, so that their texts do not fill the memory.
const AT_ONCE: usize = 4_096;

/// Messages by the digests of their texts.
#[derive(Clone, Debug, Default)]
pub(in crate::index) struct MessageKeys {
    /// Turns that were read.
    turns: usize,
    /// Indices into the session's messages.
    messages: Vec<usize>,
    keyed: Keyed,
}

impl MessageKeys {
    /// Reads the turns that were finished since.
    pub(in crate::index) fn follow(&mut self, session: &Session) {
        for turn in &session.turns()[self.turns.min(session.turns().len())..] {
            if turn.outcome.is_none() {
                break;
            }
            self.turns += 1;
            for (index, message) in Exchange::messages_of(session, turn) {
                if let Some(said) = exchange::said(message) {
                    self.messages.push(index);
                    self.keyed.push(Key::of(&clipped(&said)));
                }
            }
        }
    }

    /// The messages nearest to a question, with their cosines.
    pub(in crate::index) fn near(&mut self, session: &Session, asked: &Asked) -> Vec<(usize, f32)> {
        self.follow(session);
        let near = asked.near(&mut self.keyed, NEAREST).into_iter();
        let near = near.map(|(position, cosine)| (self.messages[position], cosine));
        near.filter(|(message, _)| exchange::turn_of(session, *message).is_some())
            .collect()
    }

    /// Texts without vectors of the exchanges before a message, the oldest first; and how many exchanges they are of.
    pub(super) fn missing(
        &mut self,
        session: &Session,
        before: usize,
        has: impl Fn(Key) -> bool,
        known: &mut Known,
    ) -> (Vec<Wanted>, usize) {
        self.follow(session);
        let mut turns: Vec<TurnId> = Vec::new();
        let mut wanted = Vec::new();
        for (index, key) in self.messages.iter().zip(self.keyed.keys()) {
            if *index >= before {
                break;
            }
            let Some(turn) =
                exchange::turn_of(session, *index).filter(|turn| turn.messages.end <= before)
            else {
                continue;
            };
            if has(*key) {
                continue;
            }
            if turns.last() != Some(&turn.id) {
                turns.push(turn.id);
            }
            if turns.len() <= AT_ONCE
                && let Some(said) = exchange::said(&session.messages()[*index])
            {
                let text = clipped(&said).into_owned();
                wanted.push(Wanted {
                    key: *key,
                    text: known.take_in(&text).into_owned(),
                });
            }
        }
        (wanted, turns.len())
    }

    pub(in crate::index) fn keys(&self) -> &[Key] {
        self.keyed.keys()
    }
}
