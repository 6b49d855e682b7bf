//! The messages of a session that have vectors or are to have some. Unit: one session. Invariant: in the order in which
//! they were said; what was taken back is not found.

use super::exchange::{self, Exchange, clipped};
use crate::chat::{Session, TurnId};
use crate::index::meaning::{Asked, Keyed, Meaning};
use crate::index::vectors::Key;

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
    /// How many of them, from the first on, are known to have vectors, in which opening of the store.
    done: usize,
    opening: u32,
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

    /// Messages without vectors of the exchanges before a message, the oldest first, with the keys of their texts; and
    /// of how many exchanges they are.
    pub(super) fn missing(
        &mut self,
        session: &Session,
        before: usize,
        meaning: &Meaning,
    ) -> (Vec<(usize, Key)>, usize) {
        self.follow(session);
        if self.opening != meaning.openings() {
            (self.opening, self.done) = (meaning.openings(), 0);
        }
        let all = self
            .messages
            .iter()
            .copied()
            .zip(self.keyed.keys().iter().copied());
        let mut turns: Vec<TurnId> = Vec::new();
        let mut missing = Vec::new();
        let mut done = self.done;
        for (index, key) in all.skip(self.done).take_while(|(index, _)| *index < before) {
            let turn = exchange::turn_of(session, index);
            let Some(turn) = turn.filter(|turn| turn.messages.end <= before && !meaning.has(key))
            else {
                done += usize::from(
                    missing.is_empty() && turn.is_none_or(|turn| turn.messages.end <= before),
                );
                continue;
            };
            if turns.last() != Some(&turn.id) {
                turns.push(turn.id);
            }
            if turns.len() <= AT_ONCE {
                missing.push((index, key));
            }
        }
        self.done = done;
        (missing, turns.len())
    }

    pub(in crate::index) fn keys(&self) -> &[Key] {
        self.keyed.keys()
    }
}
