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
        include_str!("../golden/session.journal.jsonl")
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
