//! `/compact tools`: results of tools in older turns are sent with their beginning only. No model is asked, and the
//! texts that stand for older messages stay.

use super::{CONDENSED, CannotCompact, Size};
use crate::chat::{Compaction, Hybrid, Message, Record, Session, Timestamp, Tokens};
use crate::context::stages::trim;

/// What is sent of results that were condensed, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Condensed {
    pub record: Record,
    /// How many of them get shorter.
    pub results: usize,
    pub before: Size,
    pub after: Size,
}

/// Condenses all turns but the last. `result_chars`: characters of a result in older turns as it is.
pub fn condense(
    session: &Session,
    result_chars: usize,
    now: Timestamp,
) -> Result<Condensed, CannotCompact> {
    let last = session.live_turns().next_back();
    let upto = last.map_or(0, |turn| turn.messages.start);
    let hybrid = session.hybrid();
    let present = hybrid.compaction.as_ref();
    let from = present.map_or(0, |it| it.condensed.max(it.upto));
    let turns = session.live_turns();
    let turns = turns.filter(|turn| turn.messages.start >= from && turn.messages.end <= upto);
    let messages: Vec<&Message> = turns.flat_map(|turn| session.messages_of(turn)).collect();
    let size = |max: usize| Size {
        messages: messages.len(),
        tokens: messages
            .iter()
            .map(|message| trim::trimmed(message, max).cost())
            .sum::<Tokens>(),
    };
    let (before, after) = (size(result_chars), size(CONDENSED));
    if after.tokens >= before.tokens {
        return Err(CannotCompact::NoResults);
    }
    let blank = Compaction::blank("tools", now);
    let cost = |message: &Message, max: usize| trim::trimmed(message, max).cost();
    let shorter = messages.iter();
    let shorter = shorter.filter(|it| cost(it, CONDENSED) < cost(it, result_chars));
    let results = shorter.count();
    let compaction = Compaction {
        condensed: upto,
        at: now,
        ..present.cloned().unwrap_or(blank)
    };
    let compaction = Some(compaction.replacing(hybrid.compaction.clone()));
    Ok(Condensed {
        record: Record::HybridReplaced(Hybrid {
            compaction,
            ..hybrid.clone()
        }),
        results,
        before,
        after,
    })
}
