//! Summaries of a session whose history is another than when they were written: mended, or edited by hand (C29).
//!
//! Invariant: a summary that is left stands only for messages it was made of, by their ids; older files hold none, and are
//! only kept from standing for more than there is. Says what was done, writes nothing.

use std::ops::Range;

use crate::chat::{Compaction, Hybrid, Message, MessageId, Outcome, Session, Summary};

/// What became of the summaries, the worst of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Followed {
    Unchanged,
    /// They stand elsewhere now.
    Moved,
    /// They stood for messages that are not there any more.
    Dropped,
}

/// Clamps every summary to the messages it was made of, as far as they are there, and drops those of which none is; the
/// newest that is left becomes the running one. `missing`: messages that may be missing before any index.
pub(super) fn follow(hybrid: &mut Hybrid, session: &Session, missing: usize) -> Followed {
    let compaction = hybrid.compaction.as_mut();
    let mut worst = compaction.map_or(Followed::Unchanged, |it| fit_compaction(it, session));
    let mut keep = |summary: &mut Summary| {
        let followed = fit(summary, session, missing);
        worst = worst.max(followed);
        followed < Followed::Dropped
    };
    hybrid.replaced.retain_mut(&mut keep);
    if hybrid.summary.as_mut().is_some_and(|it| !keep(it)) {
        hybrid.summary = hybrid.replaced.pop();
    }
    let compacted = hybrid.compaction.as_ref().map_or(0, |it| it.upto);
    // Nothing would stand for what lies before it.
    let leaves_a_hole = |it: &Summary| it.upto > compacted && it.from > compacted;
    while hybrid.summary.as_ref().is_some_and(leaves_a_hole) {
        worst = Followed::Dropped;
        hybrid.summary = hybrid.replaced.pop();
    }
    worst
}

fn fit(summary: &mut Summary, session: &Session, missing: usize) -> Followed {
    if summary.covers.0.as_str().is_empty() || summary.covers.1.as_str().is_empty() {
        return clamped(summary, session, missing);
    }
    let stands = summary.from..summary.upto;
    let Some(left) = left_of(session, &stands, &summary.covers) else {
        return Followed::Dropped;
    };
    if left == stands {
        return Followed::Unchanged;
    }
    let messages = &session.messages()[left.clone()];
    if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
        summary.covers = (first.id.clone(), last.id.clone());
    }
    (summary.from, summary.upto) = (left.start, left.end);
    Followed::Moved
}

/// Clamps a compaction and those it replaced; one of which no message is left stands for nothing.
fn fit_compaction(compaction: &mut Compaction, session: &Session) -> Followed {
    let mut worst = Followed::Unchanged;
    let mut next = Some(compaction);
    while let Some(compaction) = next {
        let stands = compaction.head..compaction.upto;
        if let Some(covers) = &mut compaction.covers {
            let left = left_of(session, &stands, covers).unwrap_or(0..0);
            if left != stands {
                worst = worst.max(if left.is_empty() {
                    Followed::Dropped
                } else {
                    Followed::Moved
                });
                let messages = &session.messages()[left.clone()];
                if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
                    *covers = (first.id.clone(), last.id.clone());
                }
                (compaction.head, compaction.upto) = (left.start, left.end);
                compaction.untold = compaction.untold.min(left.len());
                compaction.gone = None;
            }
        }
        next = compaction.previous.as_deref_mut();
    }
    worst
}

/// What is there of the messages that a text stands for, by the ids of their ends; `None` where nothing is, or where
/// others came in between them.
fn left_of(
    session: &Session,
    stands: &Range<usize>,
    (first, last): &(MessageId, MessageId),
) -> Option<Range<usize>> {
    let found = still_there(session.messages(), first, last)?;
    let upto = session.boundary(found.end);
    if upto <= found.start || upto - found.start > stands.len() {
        return None;
    }
    let left = found.start..upto;
    if left == *stands {
        return Some(left);
    }
    // Cut at its end, a history may be covered whole: its newest turn is sent as it was said, where more is left to
    // stand for.
    let newest = session
        .turns()
        .last()
        .map_or(upto, |turn| turn.messages.start);
    let upto = if newest > left.start {
        upto.min(newest)
    } else {
        upto
    };
    Some(left.start..upto)
}

/// The first run of messages that a summary from `first` to `last` was made of. Ids count upwards: they tell which of
/// the messages between the two are left when either is gone, and which came in later.
fn still_there(messages: &[Message], first: &MessageId, last: &MessageId) -> Option<Range<usize>> {
    let (Some(lowest), Some(highest)) = (first.number(), last.number()) else {
        return between(messages, first, last);
    };
    let is_covered = |message: &Message| {
        let number = message.id.number();
        number.is_none_or(|number| (lowest..=highest).contains(&number))
    };
    let is_known = |message: &&Message| message.id.number().is_some() && is_covered(message);
    let from = messages.iter().position(|it| is_known(&it))?;
    let run = messages[from..].iter().take_while(|it| is_covered(it));
    // Messages of other origin have no number: they belong to the run up to the last that has one.
    let length = run.enumerate().filter(|(_, it)| is_known(it)).last()?.0;
    Some(from..from + length + 1)
}

/// The range that begins and ends with these messages.
fn between(messages: &[Message], first: &MessageId, last: &MessageId) -> Option<Range<usize>> {
    let from = messages.iter().position(|message| message.id == *first)?;
    let length = messages[from..]
        .iter()
        .position(|message| message.id == *last)?;
    Some(from..from + length + 1)
}

/// Without ids there is only the count to go by; where it is too large, the last answered turn stays uncovered.
fn clamped(summary: &mut Summary, session: &Session, missing: usize) -> Followed {
    let wanted = summary.upto.saturating_sub(missing);
    let upto = if wanted > session.messages().len() || wanted < summary.upto {
        let mut live = session.live_turns();
        let last = live.rfind(|turn| turn.outcome == Some(Outcome::Answered));
        wanted.min(last.map_or(0, |turn| turn.messages.start))
    } else {
        wanted
    };
    let upto = session.boundary(upto);
    let from = summary.from.min(upto);
    if (from, upto) == (summary.from, summary.upto) {
        return Followed::Unchanged;
    }
    (summary.from, summary.upto) = (from, upto);
    if from < upto {
        Followed::Moved
    } else {
        Followed::Dropped
    }
}

#[cfg(test)]
mod tests;
