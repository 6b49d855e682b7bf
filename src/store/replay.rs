//! Applies a journal to the session of its snapshot. Invariant: every message of a good record ends up
//! in the session, also where records around it were destroyed, and none ends up there twice.

use std::collections::{HashMap, HashSet};

use super::format::SANE_SEQ;
use super::journal::Journal;
use crate::chat::{Message, MessageId, Record, Role, Session, TurnId};

/// What the session was read from, before the journal is applied to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// A snapshot that contains the journal up to this record.
    Whole { journal_seq: u64 },
    /// A whole snapshot that does not tell how much of the journal it contains.
    Unplaced,
    /// What was saved of a damaged one: messages may be missing, and what it contained is uncertain.
    Salvaged { journal_seq: u64 },
}

/// What came of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replayed {
    /// The highest sane `seq` there is.
    pub(super) last_seq: u64,
    /// A turn is called otherwise than in the journal: what is appended would be read as another turn's.
    pub(super) is_renumbered: bool,
}

/// Applies what the session does not contain yet.
///
/// Turns get the next free number, whatever they were called when they were written: a session may have
/// lost turns to damage, or gained some by hand.
pub(super) fn replay(session: &mut Session, ground: Ground, journal: Journal<'_>) -> Replayed {
    let journal_seq = match ground {
        Ground::Whole { journal_seq } | Ground::Salvaged { journal_seq } => journal_seq,
        Ground::Unplaced => 0,
    };
    let placed = matches!(ground, Ground::Whole { .. });
    let astray = |seq: u64| seq >= SANE_SEQ;
    let known = if placed && !journal.entries.iter().any(|entry| astray(entry.seq)) {
        HashSet::new()
    } else {
        ids(session)
    };
    let lost = matches!(ground, Ground::Salvaged { .. });
    let mut highest = journal_seq;
    let mut turns = Turns::default();
    for entry in journal.entries {
        if !astray(entry.seq) {
            highest = highest.max(entry.seq);
        }
        let unsure = !placed || astray(entry.seq);
        if entry.seq <= journal_seq || (unsure && repeats(&entry.record, &known)) {
            continue;
        }
        let mut record = entry.record;
        match &mut record {
            Record::TurnStarted { turn, .. } => *turn = turns.start(*turn, session),
            Record::MessageAdded { turn, message } => {
                *turn = turns.of_messages(*turn, std::slice::from_ref(message), session);
            }
            Record::TurnFinished { turn, messages, .. } => {
                *turn = turns.of_messages(*turn, messages, session);
            }
            Record::ReplyArrived { turn, .. } => {
                *turn = turns.renamed.get(turn).copied().unwrap_or(*turn);
            }
            Record::TurnWithdrawn { turn, .. } => match turns.renamed.get(turn) {
                Some(now) => *turn = *now,
                // By now this number may be another turn's.
                None if lost => continue,
                None => {}
            },
            Record::ModeChanged { .. }
            | Record::ModelChanged { .. }
            | Record::Spent { .. }
            | Record::HybridReplaced(_)
            | Record::ModeStatesReplaced(_)
            | Record::ScratchpadReplaced(_)
            | Record::PinsReplaced(_)
            | Record::ForgottenReplaced(_) => {}
        }
        session.apply(record);
    }
    let mut names = turns.renamed.iter();
    Replayed {
        last_seq: highest,
        is_renumbered: names.any(|(written, now)| written != now),
    }
}

/// What turns of the journal are called now.
#[derive(Default)]
struct Turns {
    renamed: HashMap<TurnId, TurnId>,
}

/// Stands for an input whose record was destroyed while its reply was not.
const LOST_INPUT: &str = "[message lost]";

impl Turns {
    fn start(&mut self, written: TurnId, session: &Session) -> TurnId {
        let now = session.next_turn();
        self.renamed.insert(written, now);
        now
    }

    /// The turn that messages join; one with a stand-in for its input where that was lost.
    fn of_messages(
        &mut self,
        written: TurnId,
        messages: &[Message],
        session: &mut Session,
    ) -> TurnId {
        let turn = self.renamed.get(&written).copied().unwrap_or(written);
        let running = session.turns().last().is_some_and(|last| last.id == turn);
        let Some(first) = messages.first().filter(|_| !running) else {
            return turn;
        };
        let turn = self.start(written, session);
        let meta = session.meta();
        session.apply(Record::TurnStarted {
            turn,
            mode: meta.mode.clone().unwrap_or_default(),
            model: meta.model.clone().unwrap_or_default(),
            input: Message::text(lost_input_of(first), Role::User, LOST_INPUT, first.at),
        });
        turn
    }
}

/// A number could be that of a message which follows.
fn lost_input_of(first: &Message) -> MessageId {
    MessageId::new(format!("before-{}", first.id))
}

fn ids(session: &Session) -> HashSet<MessageId> {
    let messages = session.messages().iter();
    messages.map(|message| message.id.clone()).collect()
}

/// Returns whether the session has every message of a record already.
fn repeats(record: &Record, known: &HashSet<MessageId>) -> bool {
    let messages = record.messages();
    !messages.is_empty() && messages.iter().all(|message| known.contains(&message.id))
}
