//! The rolling summary: one text of at most 400 words that stands for what has left the window (C9-C16).
//!
//! Unit: messages, in whole turns. Invariant: coverage only grows, and only by a result that was taken; while
//! there is none, the messages themselves are sent (see `carry_pending`). Pure: the agent asks the model.

mod kept;
pub mod steady;

use std::fmt;

use super::writing::Writing;
use super::{Prompt, script, transcript};
use crate::chat::{Hybrid, Message, MessageId, Record, Role, Session, Summary, Timestamp, Tokens};
use crate::context::stages::history;

pub use kept::MAX_WORDS;

/// Messages that have to have left the window before a summary is due (C10).
const BATCH: usize = 10;
/// Fewer messages with something to say, and fewer characters, wait for more (C11).
const MIN_MEANINGFUL: usize = 4;
const MIN_CHARS: usize = 5_000;
/// Characters of one job; a backlog, as of an imported session, is worked off turn by turn, so that no turn
/// brings a storm of requests.
const MAX_CHARS: usize = 32_000;
/// A text of so many characters is short enough whatever it stands for: a few terse messages may say less than the
/// summary of them.
const SHORT: usize = 600;
/// Room for an answer: 400 words in any language, and some.
const ANSWER: Tokens = Tokens(1_200);
/// After so many failures in a row a summary is tried only now and then (C15).
const PATIENCE: u32 = 3;
const NOW_AND_THEN: usize = 10;

/// A summary to be written.
#[derive(Clone, PartialEq)]
pub struct SummaryJob {
    pub(super) instruction: String,
    shorten: String,
    earlier: String,
    /// What the session was when this was planned; the result is taken only where it still is.
    basis: Basis,
    /// The new messages as text.
    material: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Basis {
    /// Covered before.
    covered: usize,
    from: usize,
    upto: usize,
    covers: (MessageId, MessageId),
    /// Turns in this range that were live.
    live: usize,
}

/// A summary as the model wrote it.
#[derive(Clone, PartialEq)]
pub struct Summarised {
    pub job: SummaryJob,
    pub text: String,
    /// The model.
    pub by: String,
}

/// Counts alone: what was said belongs into no log.
impl fmt::Debug for SummaryJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummaryJob")
            .field("from", &self.basis.covered)
            .field("upto", &self.basis.upto)
            .field("pieces", &self.material.len())
            .finish_non_exhaustive()
    }
}

/// Without the text, which tells of what was said.
impl fmt::Debug for Summarised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarised")
            .field("job", &self.job)
            .field("bytes", &self.text.len())
            .field("by", &self.by)
            .finish_non_exhaustive()
    }
}

/// Why a summary was not taken; the old one stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSummarised {
    #[error("the summary is empty")]
    Empty,
    #[error("the summary is not shorter than what it replaces")]
    NotShorter,
    #[error("the summary is not in the conversation's script")]
    OtherScript,
    #[error("the session changed in the meantime")]
    Stale,
}

/// The texts of the two requests.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    pub summarise: &'a Prompt,
    pub shorten: &'a Prompt,
}

/// The summary that is due after a turn, where one is. `window`: messages of the sliding window.
pub fn due(session: &Session, window: usize, asking: Asking<'_>) -> Option<SummaryJob> {
    if !is_patient(session) {
        return None;
    }
    planned(session, window, asking, |batch| {
        batch.len() >= BATCH && is_worth_it(batch)
    })
}

/// Whether it is worth to ask a model once more after what failed (C15).
pub(super) fn is_patient(session: &Session) -> bool {
    let failures = session.hybrid().failures;
    failures < PATIENCE || session.turns().len().is_multiple_of(NOW_AND_THEN)
}

/// Whether another round of turns has begun since there were so many messages: in each, one try is worth it.
pub(super) fn is_later_round(session: &Session, messages: usize) -> bool {
    let turns = session.turns();
    let before = turns.partition_point(|turn| turn.messages.start < messages);
    before / NOW_AND_THEN < turns.len() / NOW_AND_THEN
}

/// The summary of whatever has left the window, where anything has.
pub fn of_all(session: &Session, window: usize, asking: Asking<'_>) -> Option<SummaryJob> {
    planned(session, window, asking, |batch| !batch.is_empty())
}

fn planned(
    session: &Session,
    window: usize,
    asking: Asking<'_>,
    is_enough: impl Fn(&[&Message]) -> bool,
) -> Option<SummaryJob> {
    let hybrid = session.hybrid();
    let covered = hybrid.covered();
    let (upto, batch) = batch(session, covered, history::window_start(session, window));
    if !is_enough(&batch) {
        return None;
    }
    let running = hybrid.running();
    let from = running.map_or(covered, |summary| summary.from);
    Some(SummaryJob {
        instruction: asking.summarise.text.clone(),
        shorten: asking.shorten.text.trim().to_owned(),
        earlier: running.map_or_else(String::new, |summary| summary.text.clone()),
        basis: Basis::of(session, covered, from, upto)?,
        material: batch
            .iter()
            // Tool work is left out.
            .filter_map(|message| transcript::labelled(message))
            .map(transcript::clipped)
            .collect(),
    })
}

/// The oldest messages of live turns in a range, as many as one job takes, and where they end.
fn batch(session: &Session, from: usize, upto: usize) -> (usize, Vec<&Message>) {
    let first = session
        .turns()
        .partition_point(|turn| turn.messages.end <= from);
    let turns = session.turns()[first..].iter();
    let turns = turns.take_while(|turn| turn.messages.end <= upto);
    let mut messages = Vec::new();
    let mut chars = 0;
    let mut end = from;
    for turn in turns {
        if chars > MAX_CHARS && messages.len() >= BATCH {
            break;
        }
        end = turn.messages.end;
        if turn.withdrawn.is_none() {
            let said = session.messages_of(turn);
            chars += said
                .iter()
                .map(|message| message.said().len())
                .sum::<usize>();
            messages.extend(said);
        }
    }
    (end, messages)
}

/// Skipped only when both gates are closed (C11).
fn is_worth_it(batch: &[&Message]) -> bool {
    let is_meaningful = |message: &&&Message| match message.role {
        Role::User => true,
        Role::Assistant => message.calls().next().is_none() && !message.said().trim().is_empty(),
        Role::Tool => false,
    };
    let chars = |message: &&Message| message.said().chars().count();
    batch.iter().filter(is_meaningful).count() >= MIN_MEANINGFUL
        || batch.iter().map(chars).sum::<usize>() >= MIN_CHARS
}

impl Basis {
    fn of(session: &Session, covered: usize, from: usize, upto: usize) -> Option<Self> {
        let id = |index: usize| Some(session.messages().get(index)?.id.clone());
        let covers = (id(from)?, id(upto.checked_sub(1)?)?);
        let turns = session.turns();
        let new = turns.partition_point(|turn| turn.messages.end <= covered);
        let turns = turns[new..].iter();
        let turns = turns.take_while(|turn| turn.messages.start < upto);
        let live = turns.filter(|turn| turn.withdrawn.is_none()).count();
        Some(Self {
            covered,
            from,
            upto,
            covers,
            live,
        })
    }

    /// Whether the session still begins as it did when the job was planned.
    fn holds(&self, session: &Session) -> bool {
        session.hybrid().covered() == self.covered
            && Self::of(session, self.covered, self.from, self.upto).as_ref() == Some(self)
    }
}

impl SummaryJob {
    /// How many messages it is about.
    pub fn messages(&self) -> usize {
        self.basis.upto - self.basis.covered
    }

    /// What the messages cost, as they are shown to the summariser.
    pub fn cost(&self) -> Tokens {
        let lines = self.material.iter();
        lines.map(|line| Tokens::estimate(line)).sum()
    }

    /// The requests it takes, each of which may cost `room`; `None` where that is too little.
    pub fn writing(&self, room: Tokens) -> Option<Writing> {
        let (earlier, material) = (self.earlier.clone(), self.material.clone());
        Writing::new(&self.instruction, earlier, material, room, ANSWER).ok()
    }

    /// The request to make a text shorter that is too long; `None` where it is not.
    pub fn shorten(&self, text: &str) -> Option<String> {
        (kept::words(text) > MAX_WORDS)
            .then(|| format!("{}\n\n{}", self.shorten, transcript::fenced(text)))
    }
}

/// Takes a summary if it is good enough. What the old one held and neither the new one nor the new messages
/// speak of is added at its end: facts that a merge drops are the classic loss.
pub fn accept(
    session: &Session,
    done: Summarised,
    now: Timestamp,
) -> Result<Record, NotSummarised> {
    let Summarised { job, text, by } = done;
    if !job.basis.holds(session) {
        return Err(NotSummarised::Stale);
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(NotSummarised::Empty);
    }
    let material = job.material.join("\n");
    let is_short = text.chars().count() <= SHORT;
    if !is_short && text.len() >= job.earlier.len() + material.len() {
        return Err(NotSummarised::NotShorter);
    }
    if script::is_foreign(session, text) {
        return Err(NotSummarised::OtherScript);
    }
    let text = kept::with_what_was_lost(&job.earlier, text, &material);
    let Basis {
        from, upto, covers, ..
    } = job.basis;
    let summary = Summary {
        text,
        from,
        upto,
        covers,
        at: now,
        by,
    };
    Ok(Record::HybridReplaced(replace(
        session.hybrid(),
        Some(summary),
    )))
}

/// The hybrid state with another summary; the present one joins the replaced ones.
fn replace(hybrid: &Hybrid, summary: Option<Summary>) -> Hybrid {
    let mut hybrid = hybrid.clone();
    hybrid.replaced.extend(hybrid.summary.take());
    let surplus = hybrid.replaced.len().saturating_sub(Hybrid::MAX_REPLACED);
    hybrid.replaced.drain(..surplus);
    Hybrid {
        summary,
        failures: 0,
        ..hybrid
    }
}

/// One more failure in a row; tells whether it is the one after which the person is told.
pub fn failed(session: &Session) -> (Record, bool) {
    let mut hybrid = session.hybrid().clone();
    hybrid.failures = hybrid.failures.saturating_add(1);
    let tell = hybrid.failures == PATIENCE;
    (Record::HybridReplaced(hybrid), tell)
}

/// Goes back to the summary before the present one; `None` where there is none. What it does not cover is
/// pending again.
pub fn undone(session: &Session) -> Option<Record> {
    let mut hybrid = session.hybrid().clone();
    hybrid.summary.take()?;
    hybrid.summary = hybrid.replaced.pop();
    Some(Record::HybridReplaced(hybrid))
}

/// Goes back to the newest summary that stands only for messages before `live`, and leaves none before it that
/// nothing stands for; what it does not cover is pending again. `None` where the present one does.
pub fn fitting(hybrid: &Hybrid, live: usize) -> Option<Hybrid> {
    let compacted = hybrid.compaction.as_ref().map_or(0, |it| it.upto);
    let fits = |summary: &Summary| {
        summary.upto <= compacted || (summary.from <= compacted && summary.upto <= live)
    };
    if hybrid.summary.as_ref().is_none_or(fits) {
        return None;
    }
    let mut hybrid = hybrid.clone();
    while hybrid
        .summary
        .as_ref()
        .is_some_and(|summary| !fits(summary))
    {
        hybrid.summary = hybrid.replaced.pop();
    }
    Some(hybrid)
}

#[cfg(test)]
mod tests;
