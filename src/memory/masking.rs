//! What of a session is kept beside its history, without secrets: notes of modes, scratchpad, pins, summaries.

use std::collections::HashSet;
use std::mem::take;

use crate::chat::{Message, Record, Role, Session};
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
    for message in record.messages() {
        hear(known, message, READ);
    }
}

/// Masks the texts that a record keeps beside history. A text that the session has already is not read again.
pub fn masked_record(mut record: Record, session: &Session, known: &Known) -> Record {
    let mut old = HashSet::new();
    if let Some(mut present) = session.present(&record) {
        present.visit_side_texts(&mut |name, text| {
            old.insert((name.to_owned(), take(text)));
        });
    }
    // The person's last words tell what is pinned.
    let is_pins = matches!(record, Record::PinsReplaced(_));
    record.visit_side_texts(&mut |name, text| {
        if old.contains(&(name.to_owned(), text.clone())) {
            return;
        }
        *text = match name {
            "" if is_pins => known.masked(text).into_owned(),
            "" => known.masked_after("", text).into_owned(),
            key => known.masked_value(key, text),
        };
    });
    record
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::{MessageId, ModeStates, Pins, Scratchpad, SessionName, TurnId};

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
