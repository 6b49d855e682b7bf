//! What can be saved of damaged files, and how a turn is closed that the end of a process cut off. Pure:
//! bytes in, values out; setting the damaged file aside and telling the person is the opener's part.

use serde_json::Deserializer;

use super::format::message::Stored;
use super::format::unknown_version;
use super::snapshot::{Contents, Snapshot};
use crate::chat::{
    CallId, Message, Outcome, Part, Record, Role, Session, SessionName, Timestamp, Turn, Unknown,
};

/// Every message that is whole in a damaged snapshot, before and after the damage, in their order, and
/// its `meta` if that is whole.
pub(super) fn salvage(name: &SessionName, file: &[u8]) -> Salvaged {
    // Bytes that are no text cost their characters, not their message.
    let text = String::from_utf8_lossy(file);
    let file = text.as_bytes();
    let mut contents = Contents::default();
    if let Some(meta) = find_meta(file) {
        contents.put_head(meta);
    }
    let mut at = first_message(file);
    let mut effort = Effort::for_bytes(file.len());
    while let Some(brace) = file[at..].iter().position(|&byte| byte == b'{') {
        at += brace;
        let mut values = Deserializer::from_slice(&file[at..]).into_iter::<Stored>();
        match values.next() {
            Some(Ok(stored)) => {
                contents.put(stored);
                at += values.byte_offset();
            }
            Some(Err(error)) if effort.spend(scanned(&file[at..], &error)) => at += 1,
            Some(Err(_)) | None => break,
        }
    }
    Salvaged {
        recovered: contents.messages(),
        snapshot: contents.into_snapshot(name),
    }
}

/// How many bytes may still be read in vain. Hostile bytes can make every beginning of a value look good
/// up to the end of the file: the work stays in proportion to the file.
pub(super) struct Effort(usize);

impl Effort {
    pub(super) fn for_bytes(len: usize) -> Self {
        const SHARE: usize = 16;
        const MIN: usize = 1 << 16;
        Self(len.saturating_mul(SHARE).saturating_add(MIN))
    }

    /// Whether there is some left.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        self.0 = self.0.saturating_sub(bytes.max(1));
        self.0 > 0
    }
}

/// How far a reader came before it failed.
pub(super) fn scanned(bytes: &[u8], error: &serde_json::Error) -> usize {
    let lines_before = error.line().saturating_sub(1);
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines.take(lines_before).map(<[u8]>::len).sum::<usize>() + error.column()
}

/// Where to begin looking: the object around all messages is none, and trying it would read them all.
fn first_message(file: &[u8]) -> usize {
    const ROOTS: [&[u8]; 3] = [b"{\"version\":", b"{\"meta\":", b"{\"messages\":"];
    usize::from(ROOTS.iter().any(|root| file.starts_with(root)))
}

pub(super) struct Salvaged {
    pub(super) snapshot: Snapshot,
    pub(super) recovered: usize,
}

fn find_meta(file: &[u8]) -> Option<Unknown> {
    const KEY: &[u8] = b"\"meta\":";
    let at = file.windows(KEY.len()).position(|window| window == KEY)?;
    let after = &file[at + KEY.len()..];
    Deserializer::from_slice(after)
        .into_iter::<Unknown>()
        .next()?
        .ok()
}

/// The version a damaged file claims to be of, where this program does not know it.
pub(super) fn newer_version(file: &[u8]) -> Option<String> {
    const START: &[u8] = b"{\"version\":";
    let ends = |byte: &u8| matches!(byte, b',' | b'}') || byte.is_ascii_control();
    let said = file.strip_prefix(START)?.split(ends).next()?;
    unknown_version(&serde_json::from_slice(said).ok()?)
}

/// Closes a turn that has no end (C77, C87): every open call gets a result, and a message says that
/// there is no reply, or that it is cut behind what had arrived of it.
pub(super) fn closing(session: &Session, turn: &Turn, now: Timestamp) -> Record {
    const REASON: &str = "interrupted";
    let mut messages = Vec::new();
    for (call, name) in open_calls(session.messages_of(turn)) {
        let id = session.next_message_id(messages.len() as u64);
        let result = Part::ToolResult {
            call,
            name,
            output: format!("[{REASON}]"),
            failed: true,
        };
        messages.push(Message::new(id, Role::Tool, vec![result], Some(now)));
    }
    let id = session.next_message_id(messages.len() as u64);
    let closing = Outcome::Interrupted.closing(session.arrived(), REASON);
    messages.push(Message::text(id, Role::Assistant, closing, Some(now)));
    Record::TurnFinished {
        turn: turn.id,
        messages,
        outcome: Outcome::Interrupted,
        calibration: None,
    }
}

fn open_calls(messages: &[Message]) -> Vec<(CallId, String)> {
    let answered: Vec<&CallId> = messages.iter().flat_map(Message::answers).collect();
    messages
        .iter()
        .flat_map(Message::calls)
        .filter(|call| !answered.contains(&&call.id))
        .map(|call| (call.id.clone(), call.name.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{samples, snapshot};
    use proptest::prelude::*;

    fn ids(session: &Session) -> Vec<&str> {
        let messages = session.messages().iter();
        messages.map(|message| message.id.as_str()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_truncated_snapshot_gives_back_every_whole_message(
            records in samples::records(),
            cut in any::<prop::sample::Index>(),
        ) {
            let session = samples::session(&records);
            let file = snapshot::write(&session, &samples::name(), 7).unwrap();
            let cut = &file[..cut.index(file.len())];
            let recovered = salvage(&samples::name(), cut);
            let whole = cut.split(|&byte| byte == b'\n').filter(|line| {
                let line = line.strip_suffix(b",").unwrap_or(line);
                line.starts_with(b"{\"id\"") && serde_json::from_slice::<Unknown>(line).is_ok()
            }).count();
            prop_assert_eq!(recovered.recovered, whole);
            let found = recovered.snapshot.session;
            prop_assert_eq!(found.messages(), &session.messages()[..whole]);
        }

        #[test]
        fn no_bytes_make_salvaging_panic(file in any::<Vec<u8>>()) {
            salvage(&samples::name(), &file);
        }
    }

    #[test]
    fn messages_before_and_after_the_damage_come_back() {
        let session = samples::session(&samples::one_tool_turn());
        let file = snapshot::write(&session, &samples::name(), 5).unwrap();
        let file = String::from_utf8(file).unwrap();
        let damaged = file.replace("\"id\":\"m2\"", "\"id\":\0\0\0");
        let salvaged = salvage(&samples::name(), damaged.as_bytes()).snapshot;
        assert_eq!(ids(&salvaged.session), ["m1", "m3", "m4"]);
        assert_eq!(salvaged.journal_seq, Some(5));
        assert_eq!(salvaged.session.meta().title, "Read \"a.txt\"");
    }

    #[test]
    fn a_file_of_nothing_but_beginnings_is_given_up_in_the_end() {
        let message = b"{\"role\":\"user\",\"content\":\"a\"}\n";
        let file = [&message[..], &b"{\"a\":".repeat(100_000)].concat();
        assert_eq!(salvage(&samples::name(), &file).recovered, 1);
    }

    #[test]
    fn one_message_a_line_without_a_list_is_read_too() {
        let file =
            b"{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
        let salvaged = salvage(&samples::name(), file).snapshot.session;
        assert_eq!(ids(&salvaged), ["m1", "m2"]);
    }

    #[test]
    fn bytes_that_are_no_text_cost_their_characters_only() {
        let file = b"[{\"role\":\"user\",\"content\":\"gr\xFFn\"}]";
        let salvaged = salvage(&samples::name(), file).snapshot.session;
        assert_eq!(salvaged.messages()[0].said(), "gr\u{FFFD}n");
    }

    #[test]
    fn a_cut_off_turn_is_closed_with_a_result_for_every_open_call() {
        let mut session = samples::session(&samples::one_tool_turn()[..2]);
        let now = Timestamp::from_unix(9).unwrap();
        let record = closing(&session, session.unfinished().unwrap(), now);
        session.apply(record);
        assert_eq!(session.unfinished(), None);
        assert_eq!(ids(&session), ["m1", "m2", "m3", "m4"]);
        assert_eq!(session.messages()[3].said(), "[no reply: interrupted]");
        assert_eq!(
            session.messages()[2].parts,
            [Part::ToolResult {
                call: CallId::new("c1"),
                name: "read_file".into(),
                output: "[interrupted]".into(),
                failed: true,
            }]
        );
    }
}
