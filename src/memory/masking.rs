//! What of a session is kept beside its history, without secrets: notes of modes, scratchpad, pins, summaries. Unit: a record.

use std::collections::HashSet;

use serde_json::Value;

use crate::chat::{Compaction, Message, Pin, Pins, Record, Role, Scratchpad, Session};
use crate::text::secrets::{Known, beginning};

/// Messages of the person that are read again when a session is opened, and characters of each: a start waits for it.
const NEWEST: usize = 20;
const READ_AGAIN: usize = 1_000;
/// Characters of a new message that are read.
const READ: usize = 20_000;

/// The secrets that the person said in the newest messages of a session.
pub fn known_secrets(session: &Session) -> Known {
    let mut known = Known::default();
    let messages = session.messages().iter().rev();
    let newest = messages.filter(|message| message.role == Role::User);
    let newest: Vec<&Message> = newest.take(NEWEST).collect();
    for message in newest.into_iter().rev() {
        hear(&mut known, message, READ_AGAIN);
    }
    known
}

/// Takes in the secrets of a message; results of tools are no talk.
fn hear(known: &mut Known, message: &Message, max: usize) {
    let said = message.said();
    if message.role != Role::Tool && !said.trim().is_empty() {
        known.hear(beginning(&said, max));
    }
}

/// Takes in the secrets of the messages of a record.
pub fn hear_record(known: &mut Known, record: &Record) {
    match record {
        Record::TurnStarted { input, .. } => hear(known, input, READ),
        Record::MessageAdded { message, .. } => hear(known, message, READ),
        Record::TurnFinished { messages, .. } => {
            for message in messages {
                hear(known, message, READ);
            }
        }
        // What is whole comes with the end of the turn.
        Record::ReplyArrived { .. }
        | Record::TurnWithdrawn { .. }
        | Record::ModeChanged { .. }
        | Record::ModelChanged { .. }
        | Record::HybridReplaced(_)
        | Record::ModeStatesReplaced(_)
        | Record::ScratchpadReplaced(_)
        | Record::PinsReplaced(_) => {}
    }
}

/// The record as it is kept: history as it was said, everything else without secrets. What the session has already is not
/// read again.
pub fn masked_record(record: Record, session: &Session, known: &Known) -> Record {
    match record {
        Record::HybridReplaced(mut hybrid) => {
            let before = session.hybrid();
            let mut old: HashSet<&str> = HashSet::new();
            old.extend(
                before
                    .summary
                    .iter()
                    .chain(&before.replaced)
                    .map(|it| it.text.as_str()),
            );
            let first = before.compaction.as_ref();
            let compactions =
                std::iter::successors(first, |it: &&Compaction| it.previous.as_deref());
            old.extend(compactions.map(|it| it.text.as_str()));
            let mask = |text: &mut String| {
                if !old.contains(text.as_str()) {
                    *text = known.masked_after("", text).into_owned();
                }
            };
            for summary in hybrid.summary.iter_mut().chain(&mut hybrid.replaced) {
                mask(&mut summary.text);
            }
            let mut next = hybrid.compaction.as_mut();
            while let Some(compaction) = next {
                mask(&mut compaction.text);
                next = compaction.previous.as_deref_mut();
            }
            Record::HybridReplaced(hybrid)
        }
        Record::ModeStatesReplaced(mut states) => {
            let mut old = HashSet::new();
            for state in session.mode_states().0.values() {
                strings(state, &mut old);
            }
            for state in states.0.values_mut() {
                mask_strings(state, &old, known);
            }
            Record::ModeStatesReplaced(states)
        }
        Record::ScratchpadReplaced(scratchpad) => {
            let before = session.scratchpad();
            let entries = scratchpad.entries().map(|(key, text)| {
                let text = if before.get(key) == Some(text) {
                    text.to_owned()
                } else {
                    known.masked_value(key, text)
                };
                (key.to_owned(), text)
            });
            Record::ScratchpadReplaced(Scratchpad::restore(entries))
        }
        Record::PinsReplaced(pins) => {
            let before: HashSet<&str> =
                session.pins().iter().map(|pin| pin.text.as_str()).collect();
            let list = pins.iter().map(|pin| Pin {
                text: if before.contains(pin.text.as_str()) {
                    pin.text.clone()
                } else {
                    known.masked(&pin.text).into_owned()
                },
                ..pin.clone()
            });
            let pins = Pins::restore(list.collect(), pins.next(), pins.unknown.clone());
            Record::PinsReplaced(pins)
        }
        Record::TurnStarted { .. }
        | Record::MessageAdded { .. }
        | Record::ReplyArrived { .. }
        | Record::TurnFinished { .. }
        | Record::TurnWithdrawn { .. }
        | Record::ModeChanged { .. }
        | Record::ModelChanged { .. } => record,
    }
}

fn strings<'v>(value: &'v Value, found: &mut HashSet<&'v str>) {
    match value {
        Value::String(text) => {
            found.insert(text);
        }
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(values) => values.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_strings(value: &mut Value, old: &HashSet<&str>, known: &Known) {
    match value {
        Value::String(text) => {
            if !old.contains(text.as_str()) {
                *text = known.masked_after("", text).into_owned();
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| mask_strings(value, old, known)),
        Value::Object(values) => values
            .values_mut()
            .for_each(|value| mask_strings(value, old, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::{MessageId, ModeStates, SessionName, TurnId};

    fn known(said: &str) -> (Session, Known) {
        let session = Session::new("s".parse::<SessionName>().unwrap());
        let input = Message::text(MessageId::numbered(1), Role::User, said, None);
        let mut known = Known::default();
        let (mode, model) = (String::new(), String::new());
        let started = Record::TurnStarted {
            turn: TurnId(1),
            input,
            mode,
            model,
        };
        hear_record(&mut known, &started);
        (session, known)
    }

    #[test]
    fn a_secret_that_was_said_is_known_on_scratchpad_pins_and_boards_without_its_name() {
        let (session, known) = known("Remember my password. It is bluewhale99");
        let mut scratchpad = Scratchpad::default();
        scratchpad.write("wifi", "bluewhale99 works").unwrap();
        let Record::ScratchpadReplaced(kept) =
            masked_record(Record::ScratchpadReplaced(scratchpad), &session, &known)
        else {
            panic!()
        };
        assert_eq!(kept.get("wifi"), Some("[secret] works"));
        let mut pins = Pins::default();
        pins.pin(
            "use bluewhale99 there",
            crate::chat::Timestamp::from_unix(1).unwrap(),
        )
        .unwrap();
        let Record::PinsReplaced(kept) =
            masked_record(Record::PinsReplaced(pins), &session, &known)
        else {
            panic!()
        };
        assert_eq!(kept.iter().next().unwrap().text, "use [secret] there");
        let mut states = ModeStates::default();
        states.0.insert(
            "code".into(),
            json!({"notes": [{"text": "log in with bluewhale99"}]}),
        );
        let Record::ModeStatesReplaced(kept) =
            masked_record(Record::ModeStatesReplaced(states), &session, &known)
        else {
            panic!()
        };
        assert_eq!(kept.0["code"]["notes"][0]["text"], "log in with [secret]");
    }

    #[test]
    fn a_key_of_the_scratchpad_tells_what_its_text_is() {
        let (session, known) = known("hello");
        let mut scratchpad = Scratchpad::default();
        scratchpad.write("wifi password", "swordfish").unwrap();
        scratchpad.write("colour", "swordfish").unwrap();
        let Record::ScratchpadReplaced(kept) =
            masked_record(Record::ScratchpadReplaced(scratchpad), &session, &known)
        else {
            panic!()
        };
        assert_eq!(
            (kept.get("wifi password"), kept.get("colour")),
            (Some("[secret]"), Some("swordfish"))
        );
    }
}
