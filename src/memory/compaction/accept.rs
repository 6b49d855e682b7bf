//! Whether what was written may stand for the messages. Where it may not, nothing changes.

use std::ops::Range;

use super::job::Compacted;
use super::marker;
use super::{MIN_CHARS, Size};
use crate::chat::{
    Compaction, Form, Hybrid, Message, MessageId, Record, Session, Timestamp, Tokens,
};
use crate::memory::script;

/// Why a summary was not taken; the session is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCompacted {
    #[error("the summary is empty or too short")]
    TooShort,
    #[error("the summary is hardly shorter than the messages it replaces ({} → {} tokens)", before.0, after.0)]
    NotSmaller { before: Tokens, after: Tokens },
    #[error("the summary is not in the conversation's script")]
    OtherScript,
    #[error("the session changed in the meantime")]
    Stale,
}

/// Takes a text if it is good enough to stand for the messages, and tells the session so.
pub fn accept(session: &Session, done: Compacted, now: Timestamp) -> Result<Record, NotCompacted> {
    if !done.basis.holds(session, done.cut) {
        return Err(NotCompacted::Stale);
    }
    let Size { tokens: before, .. } = done.before;
    let hybrid = session.hybrid();
    let condensed = hybrid.compaction.as_ref().map_or(0, |it| it.condensed);
    let compaction = Compaction {
        form: done.form,
        head: done.cut.head,
        upto: done.cut.upto,
        covers: covered(session, done.cut.head..done.cut.upto),
        gone: Some(done.cut.count(session)),
        untold: done.untold,
        made: done.basis.made,
        condensed,
        text: done.text,
        ..Compaction::blank(done.kind.as_str(), now)
    };
    if done.form == Form::Summary {
        judge(session, &compaction, before)?;
    }
    // A notice in the place of a summary does not forgive the failures that brought it.
    let failures = match done.form {
        Form::Summary => 0,
        Form::Notice => hybrid.failures,
    };
    let present = hybrid.compaction.clone();
    let compaction = match present.filter(|it| it.upto == done.cut.upto && it.untold > 0) {
        // A further part of it: it is the same one, and as old as it was.
        Some(present) => Compaction {
            untold: compaction.untold,
            text: compaction.text,
            ..present
        },
        None => compaction.replacing(hybrid.compaction.clone()),
    };
    let compaction = Some(compaction);
    Ok(Record::HybridReplaced(Hybrid {
        failures,
        compaction,
        undone: None,
        ..hybrid.clone()
    }))
}

/// The first and the last message of a range.
fn covered(session: &Session, range: Range<usize>) -> Option<(MessageId, MessageId)> {
    let messages = session.messages().get(range)?;
    Some((messages.first()?.id.clone(), messages.last()?.id.clone()))
}

fn judge(session: &Session, compaction: &Compaction, before: Tokens) -> Result<(), NotCompacted> {
    if compaction.text.trim().chars().count() < MIN_CHARS {
        return Err(NotCompacted::TooShort);
    }
    let after = cost(session, compaction);
    if u64::from(after.0) * 5 > u64::from(before.0) * 4 {
        return Err(NotCompacted::NotSmaller { before, after });
    }
    if script::is_foreign(session, &compaction.text) {
        return Err(NotCompacted::OtherScript);
    }
    Ok(())
}

/// What the text costs as it is sent, without the messages in front of it.
fn cost(session: &Session, compaction: &Compaction) -> Tokens {
    let section = marker::section(session, compaction, |_, message| Message {
        parts: Vec::new(),
        ..message.clone()
    });
    section.map_or(Tokens::ZERO, |section| section.cost())
}
