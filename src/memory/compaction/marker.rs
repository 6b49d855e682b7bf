//! How a compaction stands in a request: what stays of the beginning, and the text in the form of its strategy (2.2).
//!
//! The forms begin differently, so that no later pass takes the notice of a failure for a summary (O10).

use super::strategies::Kind;
use super::{CONDENSED, CannotCompact, Size};
use crate::chat::{
    Compaction, Form, Hybrid, Message, MessageId, Record, Role, Session, Timestamp, Tokens,
};
use crate::context::stages::{history, trim};
use crate::context::{Section, SectionKind, Source};
use crate::memory::fenced;

const COMPACT: &str = "[Compacted conversation summary]";
const ACKNOWLEDGEMENT: &str = "Understood. I will go on from this summary; it is background, and the newest message is what counts.";
const PREFIX: &str = "[compacted]";

/// What stands for the messages of a compaction; nothing where it stands for none. `render`: a message as it is sent.
pub fn section(
    session: &Session,
    compaction: &Compaction,
    render: impl Fn(usize, &Message) -> Message,
) -> Option<Section> {
    if compaction.is_blank() {
        return None;
    }
    let source = Source::Compaction {
        head: compaction.head,
        from: compaction.told_from(),
        upto: compaction.upto,
        form: compaction.form,
    };
    let gone = compaction.gone();
    if Kind::parse(&compaction.strategy) == Some(Kind::Prefix) {
        let told = told(compaction);
        let text = format!("{PREFIX} {told}\n{}", fenced(&compaction.text));
        return Some(Section::system(SectionKind::Compacted, source, text));
    }
    let mut messages = history::head(session, compaction.head, render);
    messages.extend(marker(compaction, gone));
    Some(Section::messages(SectionKind::Compacted, source, messages))
}

fn marker(compaction: &Compaction, gone: usize) -> Vec<Message> {
    let said = |role, text: String| {
        let id = match role {
            Role::Assistant => "acknowledged",
            Role::User | Role::Tool => "compacted",
        };
        Message::text(MessageId::new(id), role, text, None)
    };
    let text = &compaction.text;
    match (Kind::parse(&compaction.strategy), compaction.form) {
        (Some(Kind::Compact), Form::Summary) => vec![
            said(Role::User, format!("{COMPACT}\n{text}")),
            said(Role::Assistant, ACKNOWLEDGEMENT.to_owned()),
        ],
        (Some(Kind::Proactive), Form::Notice) => {
            vec![said(
                Role::User,
                format!(
                    "[CONTEXT COMPACTION: {} are no longer shown]\n{text}",
                    count(gone)
                ),
            )]
        }
        (_, Form::Summary) => vec![said(
            Role::User,
            format!("[Summary of {}]\n{}", told(compaction), fenced(text)),
        )],
        (_, Form::Notice) => vec![said(Role::User, notice(gone, text))],
    }
}

/// No summary could be had.
fn notice(gone: usize, text: &str) -> String {
    let notice = format!("[Left out: {}, without a summary]", count(gone));
    if text.is_empty() {
        notice
    } else {
        format!("{notice}\n{}", fenced(text))
    }
}

/// What a text tells of, and that there is more before that, where it is so.
fn told(compaction: &Compaction) -> String {
    let gone = compaction.gone();
    match compaction.untold {
        0 => count(gone),
        untold => format!(
            "{}; {} before them can be searched and are not summarised yet",
            count(gone.saturating_sub(untold)),
            count(untold)
        ),
    }
}

fn count(messages: usize) -> String {
    match messages {
        1 => "1 earlier message".to_owned(),
        _ => format!("{messages} earlier messages"),
    }
}

/// The size of what is sent, before and after `/compact tools`: results of tools in older turns with their beginning
/// only. No model is asked, and the texts that stand for older messages stay.
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
