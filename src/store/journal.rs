//! The journal: what happened to a session since its last snapshot, one record a line, in order.
//!
//! ```text
//! {"seq":10,"type":"turn_started","turn":3,"message":{…},"mode":"code","model":"…"}
//! {"seq":11,"type":"reply_arrived","turn":3,"text":"…"}
//! {"seq":12,"type":"turn_finished","turn":3,"messages":[{…}],"outcome":"answered"}
//! ```
//! `seq` grows by one from the first record of the session; a snapshot tells which `seq` it contains, so
//! that a journal which outlived its checkpoint is not applied twice. A line written twice counts once. Lines of a reply
//! that arrives are not synced, each holds what came since the one before; they count until the reply is there whole.
//! Reading is total: what is no record is counted and skipped, and a record that merely stands beside
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
mod tests {
    use super::*;
    use crate::chat::Session;
    use crate::store::replay::{Ground, replay};
    use crate::store::samples;
    use proptest::prelude::*;

    const EMPTY: Ground = Ground::Whole { journal_seq: 0 };

    fn file(records: &[Record]) -> Vec<u8> {
        let mut file = Vec::new();
        for (record, seq) in records.iter().zip(1..) {
            write(&mut file, seq, record).unwrap();
        }
        file
    }

    fn replayed(ground: Ground, file: &[u8]) -> Session {
        let mut session = Session::new(samples::name());
        replay(&mut session, ground, read(file));
        session
    }

    fn texts(session: &Session) -> Vec<String> {
        let messages = session.messages().iter();
        messages
            .map(|message| message.said().into_owned())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_replayed_journal_is_the_session(records in samples::records()) {
            let file = file(&records);
            prop_assert_eq!(read(&file).skipped, 0);
            prop_assert_eq!(replayed(EMPTY, &file), samples::session(&records));
        }

        #[test]
        fn a_journal_cut_anywhere_keeps_every_record_before_the_cut(
            records in samples::records(),
            cut in any::<prop::sample::Index>(),
        ) {
            let file = file(&records);
            let cut = cut.index(file.len() + 1);
            let whole = file[..cut].split(|&byte| byte == b'\n').count() - 1;
            let found: Vec<_> = read(&file[..cut]).entries.into_iter().map(|e| e.record).collect();
            prop_assert!(found.len() == whole || found.len() == whole + 1);
            prop_assert_eq!(&found[..], &records[..found.len()]);
        }

        #[test]
        fn a_reply_cut_at_any_byte_loses_only_what_is_behind_the_cut(
            records in samples::records(),
            texts in prop::collection::vec("\\PC{1,12}|[\n\"{}a-z\u{0}]{1,12}", 1..5),
        ) {
            let before = samples::session(&records);
            let (started, arrived) = samples::streamed(&before, &texts);
            let records = [records, vec![started]].concat();
            let asked = samples::session(&records);
            let whole = file(&[records.clone(), arrived.clone()].concat());
            let start = file(&records).len();
            for cut in start..=whole.len() {
                let journal = read(&whole[..cut]);
                let lines = whole[start..cut].split(|&byte| byte == b'\n').count() - 1;
                let found = journal.entries.len() - records.len();
                // The line end of a record is no part of it.
                prop_assert!(found == lines || found == lines + 1);
                prop_assert!(journal.skipped <= 1);
                let session = replayed(EMPTY, &whole[..cut]);
                prop_assert_eq!(session.arrived(), texts[..found].concat());
                prop_assert_eq!(session.messages(), asked.messages());
            }
            // A reply that is there whole takes the place of its parts, in the journal as in the session.
            let finished = samples::finished(&asked, "All of it.");
            let plain = [records.clone(), vec![finished.clone()]].concat();
            let streamed = [records, arrived, vec![finished]].concat();
            prop_assert_eq!(replayed(EMPTY, &file(&streamed)), samples::session(&plain));
        }

        #[test]
        fn garbage_between_records_costs_none_of_them(
            records in samples::records(),
            garbage in any::<Vec<u8>>(),
            place in any::<prop::sample::Index>(),
        ) {
            let lines: Vec<Vec<u8>> = records.iter().zip(1..).map(|(record, seq)| {
                let mut line = Vec::new();
                write(&mut line, seq, record).unwrap();
                line
            }).collect();
            let place = place.index(lines.len() + 1);
            let file = [&lines[..place].concat(), &garbage, &lines[place..].concat()[..]].concat();
            let journal = read(&file);
            let clean = clean(&journal);
            prop_assert_eq!(journal.entries.len(), records.len());
            prop_assert_eq!(read(&clean).skipped, 0);
            prop_assert_eq!(replayed(EMPTY, &clean), samples::session(&records));
        }

        #[test]
        fn no_bytes_make_reading_panic(file in any::<Vec<u8>>()) {
            replayed(EMPTY, &file);
        }
    }

    #[test]
    fn the_file_looks_like_this() {
        let file = file(&samples::one_tool_turn());
        assert_eq!(
            String::from_utf8(file).unwrap(),
            include_str!("golden/session.journal.jsonl")
        );
    }

    #[test]
    fn what_a_snapshot_contains_is_not_applied_twice() {
        let file = file(&samples::one_tool_turn());
        assert!(replayed(Ground::Whole { journal_seq: 5 }, &file).is_empty());
        let twice = [&file[..], &file[..]].concat();
        assert_eq!(replayed(EMPTY, &twice), replayed(EMPTY, &file));
    }

    #[test]
    fn a_reply_whose_question_was_destroyed_is_kept() {
        let records = samples::one_tool_turn();
        let file = file(&records[1..]);
        assert_eq!(
            texts(&replayed(EMPTY, &file)),
            ["[message lost]", "", "", "There is no such file."]
        );
    }

    #[test]
    fn nul_runs_torn_lines_and_foreign_lines_are_skipped_and_counted() {
        let good = r#"{"seq":1,"type":"mode_changed","mode":"code"}"#;
        for (line, skipped) in [
            (String::new(), 0),
            ("\r".to_owned(), 0),
            ("\0\0\0\0".to_owned(), 1),
            (r#"{"seq":2,"type":"turn_st"#.to_owned(), 1),
            (r#"{"seq":2,"type":"from_the_future"}"#.to_owned(), 1),
            (
                r#"{"seq":99999999999999999,"type":"mode_changed","mode":"x"}"#.to_owned(),
                1,
            ),
            ("From: someone@example.org".to_owned(), 1),
        ] {
            let file = format!("{line}\n{good}\n");
            let journal = read(file.as_bytes());
            assert_eq!(journal.skipped, skipped, "{line:?}");
            assert_eq!(journal.entries.len(), 1, "{line:?}");
        }
    }

    #[test]
    fn a_record_without_a_line_end_counts_and_is_noticed() {
        let file = br#"{"seq":1,"type":"mode_changed","mode":"code"}"#;
        let journal = read(file);
        assert!(journal.open_end);
        assert_eq!((journal.entries.len(), journal.skipped), (1, 0));
    }

    #[test]
    fn a_line_of_nothing_but_beginnings_is_given_up_and_the_next_one_read() {
        let mut file = br#"{"seq":1,"x":["#.repeat(100_000);
        file.extend_from_slice(b"\n{\"seq\":1,\"type\":\"mode_changed\",\"mode\":\"code\"}\n");
        let journal = read(&file);
        assert_eq!((journal.entries.len(), journal.skipped), (1, 1));
    }

    #[test]
    fn lines_of_a_newer_version_are_told() {
        let file = br#"{"seq":1,"v":2,"type":"from_the_future"}"#;
        assert_eq!(read(file).newer, Some(2));
    }
}
