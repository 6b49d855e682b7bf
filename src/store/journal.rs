//! The journal: what happened to a session since its last snapshot, one record a line, in order.
//!
//! ```text
//! {"seq":10,"type":"turn_started","turn":3,"message":{…},"mode":"code","model":"…"}
//! {"seq":11,"type":"reply_arrived","turn":3,"text":"…"}
//! {"seq":12,"type":"turn_finished","turn":3,"messages":[{…}],"outcome":"answered"}
//! ```
//! `seq` grows by one from the first record of the session; a snapshot tells which `seq` it contains, so
//! that a journal which outlived its checkpoint is not applied twice. A line written twice counts once. Lines of a
//! reply that arrives are not synced, each holds what came since the one before; they count until the reply is there
//! whole. Reading is total: what is no record is counted and skipped, and a record that merely stands beside
//! garbage on its line is still found.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format::message::{Line, StoredMessage};
use super::format::{SANE_SEQ, VERSION, read_spent, written_spent};
use super::repair::{Effort, scanned};
use crate::chat::{Calibration, Message, Outcome, Record, TurnId, Withdrawal};

/// How every line begins. Inside a JSON string the quotes would be escaped: no text can hold this.
const LINE_START: &[u8] = b"{\"seq\":";

/// Beyond this a number is no count of anything: the line is garbage.
const MAX_SEQ: u64 = 2 * SANE_SEQ;

const TURN_STARTED: &str = "turn_started";
const MESSAGE_ADDED: &str = "message_added";
const REPLY_ARRIVED: &str = "reply_arrived";
const TURN_FINISHED: &str = "turn_finished";
const TURN_WITHDRAWN: &str = "turn_withdrawn";
const MODE_CHANGED: &str = "mode_changed";
const MODEL_CHANGED: &str = "model_changed";
const SPENT: &str = "spent";

#[derive(Default, Serialize)]
struct LineOut<'a> {
    seq: u64,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Line<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Line<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Value>,
}

#[derive(Deserialize)]
struct LineIn {
    seq: u64,
    /// Absent in version 1.
    v: Option<u64>,
    #[serde(rename = "type")]
    kind: String,
    turn: Option<u32>,
    message: Option<StoredMessage>,
    messages: Option<Vec<StoredMessage>>,
    text: Option<String>,
    outcome: Option<String>,
    calibration: Option<f64>,
    why: Option<String>,
    mode: Option<String>,
    model: Option<String>,
    tokens: Option<Value>,
}

/// Returns whether a record is kept in the journal; the others are files of their own.
pub(super) fn is_kept_here(record: &Record) -> bool {
    line(0, record).is_some()
}

/// Appends the line of a record to `out`; nothing for a record that is not kept here.
pub(super) fn write(out: &mut Vec<u8>, seq: u64, record: &Record) -> serde_json::Result<()> {
    let Some(line) = line(seq, record) else {
        return Ok(());
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.push(b'\n');
    Ok(())
}

fn line(seq: u64, record: &Record) -> Option<LineOut<'_>> {
    let empty = LineOut {
        seq,
        ..LineOut::default()
    };
    let line = match record {
        Record::TurnStarted {
            turn,
            input,
            mode,
            model,
        } => LineOut {
            kind: TURN_STARTED,
            turn: Some(turn.0),
            message: Some(input.into()),
            mode: Some(mode),
            model: Some(model),
            ..empty
        },
        Record::MessageAdded { turn, message } => LineOut {
            kind: MESSAGE_ADDED,
            turn: Some(turn.0),
            message: Some(message.into()),
            ..empty
        },
        Record::ReplyArrived { turn, text } => LineOut {
            kind: REPLY_ARRIVED,
            turn: Some(turn.0),
            text: Some(text),
            ..empty
        },
        Record::TurnFinished {
            turn,
            messages,
            outcome,
            calibration,
        } => LineOut {
            kind: TURN_FINISHED,
            turn: Some(turn.0),
            messages: Some(messages.iter().map(Into::into).collect()),
            outcome: Some(outcome.as_str()),
            calibration: calibration.map(Calibration::ratio),
            ..empty
        },
        Record::TurnWithdrawn { turn, why } => LineOut {
            kind: TURN_WITHDRAWN,
            turn: Some(turn.0),
            why: Some(why.as_str()),
            ..empty
        },
        Record::ModeChanged { mode } => LineOut {
            kind: MODE_CHANGED,
            mode: Some(mode),
            ..empty
        },
        Record::ModelChanged { model } => LineOut {
            kind: MODEL_CHANGED,
            model: Some(model),
            ..empty
        },
        Record::Spent { model, spent } => LineOut {
            kind: SPENT,
            model: Some(model),
            tokens: Some(written_spent(*spent)),
            ..empty
        },
        Record::HybridReplaced(_)
        | Record::ModeStatesReplaced(_)
        | Record::ScratchpadReplaced(_)
        | Record::PinsReplaced(_)
        | Record::ForgottenReplaced(_) => return None,
    };
    Some(line)
}

impl LineIn {
    fn into_record(self) -> Option<Record> {
        let turn = self.turn.map(TurnId);
        Some(match self.kind.as_str() {
            TURN_STARTED => Record::TurnStarted {
                turn: turn?,
                input: with_id(self.message?)?,
                mode: self.mode.unwrap_or_default(),
                model: self.model.unwrap_or_default(),
            },
            MESSAGE_ADDED => Record::MessageAdded {
                turn: turn?,
                message: with_id(self.message?)?,
            },
            REPLY_ARRIVED => Record::ReplyArrived {
                turn: turn?,
                text: self.text?,
            },
            TURN_FINISHED => Record::TurnFinished {
                turn: turn?,
                messages: self
                    .messages?
                    .into_iter()
                    .map(with_id)
                    .collect::<Option<_>>()?,
                outcome: Outcome::parse(&self.outcome?)?,
                calibration: self.calibration.map(Calibration::new),
            },
            TURN_WITHDRAWN => Record::TurnWithdrawn {
                turn: turn?,
                why: Withdrawal::parse(&self.why?)?,
            },
            MODE_CHANGED => Record::ModeChanged { mode: self.mode? },
            MODEL_CHANGED => Record::ModelChanged { model: self.model? },
            SPENT => Record::Spent {
                model: self.model?,
                spent: read_spent(&self.tokens?)?,
            },
            _ => return None,
        })
    }
}

fn with_id(stored: StoredMessage) -> Option<Message> {
    (!stored.message.id.as_str().is_empty()).then_some(stored.message)
}

/// What a journal holds.
#[derive(Debug, Default)]
pub(super) struct Journal<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    /// Pieces that are no record.
    pub(super) skipped: usize,
    /// Set when a line is of a newer version: then nothing here may be touched.
    pub(super) newer: Option<u64>,
    /// The last record has no line end: the next append must begin with one.
    pub(super) open_end: bool,
}

impl Journal<'_> {
    /// Returns whether a turn was taken back, behind a record, that began before it.
    pub(super) fn withdraws_older(&self, than: u64) -> bool {
        let mut begun = HashSet::new();
        let mut later = self.entries.iter().filter(|entry| entry.seq > than);
        later.any(|entry| {
            if let Record::TurnStarted { turn, .. } = &entry.record {
                begun.insert(*turn);
            }
            matches!(&entry.record, Record::TurnWithdrawn { turn, .. } if !begun.contains(turn))
        })
    }
}

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) seq: u64,
    pub(super) record: Record,
    raw: &'a [u8],
}

/// Finds every record of a file.
pub(super) fn read(file: &[u8]) -> Journal<'_> {
    let mut journal = Journal::default();
    let mut seen = HashSet::new();
    for line in file.split(|&byte| byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        journal.open_end = std::ptr::eq(line.as_ptr_range().end, file.as_ptr_range().end);
        let mut rest = line.trim_ascii_end();
        let mut effort = Effort::for_bytes(rest.len());
        while !rest.is_empty() {
            let (start, found) = next_record(rest, &mut journal.newer, &mut effort);
            journal.skipped += usize::from(start > 0);
            rest = &rest[start..];
            let Some((len, entry)) = found else { break };
            if seen.insert(entry.raw) {
                journal.entries.push(entry);
            }
            rest = &rest[len..];
        }
    }
    journal
}

/// The first record in a line: where it starts (or the line ends), its length and itself.
fn next_record<'a>(
    line: &'a [u8],
    newer: &mut Option<u64>,
    effort: &mut Effort,
) -> (usize, Option<(usize, Entry<'a>)>) {
    let starts = line
        .windows(LINE_START.len())
        .enumerate()
        .filter(|(_, window)| *window == LINE_START);
    for (start, _) in starts {
        let rest = &line[start..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<LineIn>();
        let parsed = match values.next() {
            Some(Ok(parsed)) => parsed,
            Some(Err(error)) if effort.spend(scanned(rest, &error)) => continue,
            Some(Err(_)) | None => break,
        };
        let len = values.byte_offset();
        if parsed.v.is_some_and(|version| version > VERSION) {
            *newer = parsed.v;
        }
        let seq = parsed.seq;
        if let Some(record) = parsed.into_record().filter(|_| seq < MAX_SEQ) {
            let raw = &rest[..len];
            return (start, Some((len, Entry { seq, record, raw })));
        }
        if !effort.spend(len) {
            break;
        }
    }
    (line.len(), None)
}

/// The file without what is no record.
pub(super) fn clean(journal: &Journal<'_>) -> Vec<u8> {
    let mut file = Vec::new();
    for entry in &journal.entries {
        file.extend_from_slice(entry.raw);
        file.push(b'\n');
    }
    file
}

#[cfg(test)]
mod tests;
