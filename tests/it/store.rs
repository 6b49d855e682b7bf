//! Sessions on disk: what is kept through ends, damage, full disks and kills.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cogtrix::chat::{
    Compaction, Hybrid, Message, MessageId, ModeStates, Outcome, Part, Record, Role, Scratchpad,
    Session, SessionName, Timestamp, ToolCall, Withdrawal,
};
use cogtrix::clock::Clock;
use cogtrix::files::{Disk, FaultyDisk, LocalDisk, MemoryDisk, Schedule};
use cogtrix::store::{FileStore, Opened, Repair, SessionStore, StoreError};

const NOW: i64 = 1_771_082_585;

#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix(NOW).unwrap()
    }
}

fn store(disk: Arc<dyn Disk>) -> FileStore {
    FileStore::new(disk, PathBuf::from("data"), Arc::new(StoppedClock))
}

fn on(disk: &MemoryDisk) -> FileStore {
    store(Arc::new(disk.clone()))
}

fn name(text: &str) -> SessionName {
    text.parse().unwrap()
}

fn open(store: &FileStore, session: &str) -> Opened {
    store.open(&name(session), Duration::ZERO).unwrap()
}

fn started(session: &Session, text: &str) -> Record {
    Record::TurnStarted {
        turn: session.next_turn(),
        input: Message::text(
            session.next_message_id(0),
            Role::User,
            text,
            Timestamp::from_unix(NOW),
        ),
        mode: "code".into(),
        model: "m".into(),
    }
}

fn finished(session: &Session, text: &str) -> Record {
    let at = Timestamp::from_unix(NOW + 1);
    Record::TurnFinished {
        turn: session.turns().last().unwrap().id,
        messages: vec![Message::text(
            session.next_message_id(0),
            Role::Assistant,
            text,
            at,
        )],
        outcome: Outcome::Answered,
        calibration: None,
    }
}

/// One append, acknowledged or not; the session has it either way, as an agent does it.
fn say(opened: &mut Opened, record: Record) -> bool {
    let kept = opened.log.append(std::slice::from_ref(&record)).is_ok();
    opened.session.apply(record);
    kept
}

fn turn(opened: &mut Opened, question: &str, answer: &str) {
    let record = started(&opened.session, question);
    assert!(say(opened, record));
    let record = finished(&opened.session, answer);
    assert!(say(opened, record));
}

fn leave(mut opened: Opened) {
    opened.log.checkpoint(&opened.session).unwrap();
}

fn texts(session: &Session) -> Vec<String> {
    let messages = session.messages().iter();
    messages
        .map(|message| message.said().into_owned())
        .collect()
}

/// Where a word begins in a file.
fn place(file: &[u8], word: &str) -> usize {
    String::from_utf8_lossy(file).find(word).unwrap()
}

fn paths(disk: &MemoryDisk) -> Vec<String> {
    let files = disk.files();
    files
        .keys()
        .map(|path| path.display().to_string())
        .collect()
}

fn hybrid(upto: usize) -> Record {
    Record::HybridReplaced(Hybrid {
        compaction: Some(Compaction {
            upto,
            made: upto,
            text: "so far".into(),
            ..Compaction::blank("compact", Timestamp::from_unix(NOW).unwrap())
        }),
        unknown: serde_json::from_str(r#"{"later": 2}"#).unwrap(),
        ..Hybrid::default()
    })
}

fn scratchpad() -> Record {
    let mut scratchpad = Scratchpad::default();
    scratchpad.write("port", "8080").unwrap();
    Record::ScratchpadReplaced(scratchpad)
}

fn mode_states() -> Record {
    Record::ModeStatesReplaced(ModeStates(
        serde_json::from_str(r#"{"code": {"task": "x"}}"#).unwrap(),
    ))
}

#[test]
fn reading_many_sessions_lists_their_folder_once() {
    let memory = MemoryDisk::default();
    let names: Vec<String> = (0..20).map(|number| format!("s{number}")).collect();
    for session in &names {
        let mut opened = open(&on(&memory), session);
        let record = started(&opened.session, "hello");
        opened.log.append(&[record]).unwrap();
    }
    let disk = Arc::new(FaultyDisk::new(Arc::new(memory), None));
    let store = store(Arc::clone(&disk) as Arc<dyn Disk>);
    store.read(&name(&names[0])).unwrap();
    let once = disk.listings();
    assert!(once > 0);
    for session in &names {
        assert_eq!(store.read(&name(session)).unwrap().messages().len(), 1);
    }
    assert_eq!(disk.listings(), once);
}

#[test]
fn a_session_is_the_same_after_a_clean_end_and_after_a_kill() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "work");
    turn(&mut opened, "one", "1");
    assert!(say(&mut opened, hybrid(2)));
    assert!(say(&mut opened, mode_states()));
    assert!(say(&mut opened, scratchpad()));
    for survivor in [disk.after_kill(), disk.after_power_cut()] {
        let again = open(&on(&survivor), "work");
        assert_eq!(again.session, opened.session);
        assert_eq!(again.repairs, []);
    }
    let session = opened.session.clone();
    leave(opened);
    assert_eq!(
        paths(&disk),
        [
            "data/history/work.json",
            "data/history/work_hybrid.json",
            "data/history/work_mode_state.json",
            "data/history/work_scratchpad.json"
        ]
    );
    let again = open(&on(&disk), "work");
    assert_eq!(again.session, session);
    assert_eq!(again.repairs, []);
}

#[test]
fn opening_creates_nothing_but_the_lock() {
    let disk = MemoryDisk::default();
    let opened = open(&on(&disk), "new");
    assert_eq!(paths(&disk), ["data/history/new.lock"]);
    leave(opened);
    assert_eq!(paths(&disk), Vec::<String>::new());
    assert_eq!(on(&disk).list().unwrap(), []);
}

#[test]
fn a_journal_that_outlived_its_checkpoint_is_not_applied_twice() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "work");
    turn(&mut opened, "one", "1");
    let session = opened.session.clone();
    leave(opened);
    let journal_is_back = disk.after_power_cut();
    assert!(paths(&journal_is_back).contains(&"data/history/work.journal.jsonl".to_owned()));
    let mut again = open(&on(&journal_is_back), "work");
    assert_eq!(again.session, session);
    turn(&mut again, "two", "2");
    let session = again.session.clone();
    assert_eq!(
        open(&on(&journal_is_back.after_kill()), "work").session,
        session
    );
    leave(again);
    assert_eq!(open(&on(&journal_is_back), "work").session, session);
}

/// Regression guard for the promise of the first rule: what was asked is there, and is said to be unanswered.
#[test]
fn a_turn_cut_off_by_a_kill_is_closed_once_and_reported_once() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "work");
    let record = started(&opened.session, "long question");
    assert!(say(&mut opened, record));
    let call = Record::MessageAdded {
        turn: opened.session.next_turn(),
        message: Message {
            id: opened.session.next_message_id(0),
            role: Role::Assistant,
            parts: vec![Part::ToolCall(ToolCall::new("c1", "shell", "{}"))],
            at: None,
            speaker: None,
            unknown: None,
        },
    };
    assert!(say(&mut opened, call));
    let survivor = disk.after_kill();
    let first = open(&on(&survivor), "work");
    assert_eq!(
        first.repairs,
        [Repair::UnfinishedTurn { has_arrived: false }]
    );
    assert_eq!(first.session.unfinished(), None);
    assert_eq!(
        first.session.messages().last().unwrap().said(),
        "[no reply: interrupted]"
    );
    let session = first.session.clone();
    drop(first);
    let second = open(&on(&survivor), "work");
    assert_eq!(second.repairs, []);
    assert_eq!(second.session, session);
}

#[test]
fn a_compaction_of_another_history_is_set_aside_and_one_that_ends_inside_a_turn_moves_back() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "work");
    turn(&mut opened, "one", "1");
    turn(&mut opened, "two", "2");
    assert!(say(&mut opened, hybrid(3)));
    leave(opened);
    let mut opened = open(&on(&disk), "work");
    assert!(
        matches!(opened.repairs[..], [Repair::Clamped { .. }]),
        "{:?}",
        opened.repairs
    );
    assert_eq!(opened.session.hybrid().compaction.as_ref().unwrap().upto, 2);
    assert!(say(&mut opened, hybrid(5)));
    leave(opened);
    let foreign = disk
        .read(Path::new("data/history/work_hybrid.json"))
        .unwrap();
    let opened = open(&on(&disk), "work");
    let [Repair::SetAside { kept_as, .. }] = &opened.repairs[..] else {
        panic!("{:?}", opened.repairs)
    };
    assert_eq!(disk.read(kept_as).unwrap(), foreign);
    assert_eq!(opened.session.hybrid().compaction, None);
    drop(opened);
    assert_eq!(open(&on(&disk), "work").repairs, []);
}

#[test]
fn side_files_that_do_not_parse_are_set_aside_and_indices_clamped() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "work");
    turn(&mut opened, "one", "1");
    assert!(say(&mut opened, hybrid(1)));
    leave(opened);
    disk.put("data/history/work_mode_state.json", b"\0\0");
    disk.put("data/history/work_scratchpad.json", b"[1]");
    let opened = open(&on(&disk), "work");
    let [
        Repair::Clamped { .. },
        Repair::NotesSetAside { kept_as, .. },
        Repair::ScratchpadSetAside { .. },
    ] = &opened.repairs[..]
    else {
        panic!("{:?}", opened.repairs)
    };
    assert_eq!(
        kept_as,
        Path::new("data/history/work_mode_state.json.damaged-20260214T152305Z")
    );
    assert_eq!(opened.session.hybrid().compaction.as_ref().unwrap().upto, 0);
    assert_eq!(opened.session.mode_states(), &ModeStates::default());
    drop(opened);
    assert_eq!(open(&on(&disk), "work").repairs, []);
}

#[test]
fn whatever_stands_where_the_history_was_is_kept_and_the_rest_still_works() {
    let whole = {
        let disk = MemoryDisk::default();
        let mut opened = open(&on(&disk), "a");
        turn(&mut opened, "one", "1");
        turn(&mut opened, "two", "2");
        leave(opened);
        disk.read(Path::new("data/history/a.json")).unwrap()
    };
    let half = &whole[..place(&whole, "two")];
    for (damaged, recovered) in [
        (&b""[..], 0),
        (half, 2),
        (b"{\"version\":1}", 0),
        (b"\x7fELF\0\0\xff\xfe", 0),
        (b"<html><body>404</body></html>", 0),
    ] {
        let disk = MemoryDisk::default();
        disk.put("data/history/a.json", damaged);
        disk.put("data/history/b.json", &whole);
        let problems: Vec<bool> = on(&disk)
            .list()
            .unwrap()
            .iter()
            .map(|info| info.problem.is_some())
            .collect();
        assert!(problems.contains(&false), "b is listed");
        let mut opened = open(&on(&disk), "a");
        let [
            Repair::SetAside {
                kept_as,
                recovered: counted,
                ..
            },
        ] = &opened.repairs[..]
        else {
            panic!("{:?}", opened.repairs)
        };
        assert_eq!(*counted, recovered);
        assert_eq!(disk.read(kept_as).unwrap(), damaged);
        assert_eq!(opened.session.messages().len(), recovered);
        turn(&mut opened, "three", "3");
        let session = opened.session.clone();
        leave(opened);
        let again = open(&on(&disk), "a");
        assert_eq!((again.session, again.repairs), (session, Vec::new()));
        assert_eq!(disk.read(Path::new("data/history/b.json")).unwrap(), whole);
    }
}

#[test]
fn a_damaged_snapshot_and_a_damaged_journal_give_what_they_can_together() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "a");
    turn(&mut opened, "one", "1");
    turn(&mut opened, "two", "2");
    leave(opened);
    let mut opened = open(&on(&disk), "a");
    turn(&mut opened, "three", "3");
    let disk = disk.after_kill();
    let [snapshot, journal] = ["data/history/a.json", "data/history/a.journal.jsonl"];
    let whole = disk.read(Path::new(snapshot)).unwrap();
    disk.put(snapshot, &whole[..place(&whole, "two")]);
    disk.append_synced(Path::new(journal), b"{\"seq\":99,\"ty")
        .unwrap();
    let opened = open(&on(&disk), "a");
    assert_eq!(texts(&opened.session), ["one", "1", "three", "3"]);
    assert_eq!(opened.repairs.len(), 2, "{:?}", opened.repairs);
    drop(opened);
    let again = open(&on(&disk), "a");
    assert_eq!(texts(&again.session), ["one", "1", "three", "3"]);
    assert_eq!(again.repairs, []);
}

#[test]
fn numbers_that_cannot_be_cost_no_turn_and_double_none() {
    let before = {
        let disk = MemoryDisk::default();
        let mut opened = open(&on(&disk), "a");
        turn(&mut opened, "one", "1");
        leave(opened);
        let snapshot = disk.read(Path::new("data/history/a.json")).unwrap();
        String::from_utf8(snapshot).unwrap()
    };
    for seq in [
        (1 << 52) - 1,
        1 << 52,
        (1 << 53) - 1,
        i64::MAX as u64,
        u64::MAX,
    ] {
        let disk = MemoryDisk::default();
        let snapshot = before.replace("\"journal_seq\":2", &format!("\"journal_seq\":{seq}"));
        assert_ne!(snapshot, before);
        disk.put("data/history/a.json", snapshot.as_bytes());
        let line = format!("{{\"seq\":{seq},\"type\":\"mode_changed\",\"mode\":\"code\"}}\n");
        disk.put("data/history/a.journal.jsonl", line.as_bytes());
        let mut opened = open(&on(&disk), "a");
        turn(&mut opened, "two", "2");
        let killed = disk.after_kill();
        let mut opened = open(&on(&killed), "a");
        assert_eq!(texts(&opened.session), ["one", "1", "two", "2"], "{seq}");
        assert_eq!(on(&killed).list().unwrap()[0].messages, 4, "{seq}");
        turn(&mut opened, "three", "3");
        leave(opened);
        let session = open(&on(&killed), "a").session;
        assert_eq!(
            texts(&session),
            ["one", "1", "two", "2", "three", "3"],
            "{seq}"
        );
    }
}

#[test]
fn behind_turns_that_damage_took_the_turn_that_is_taken_back_is_the_one_that_was_meant() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "s");
    for (question, answer) in [("one", "1"), ("two", "2")] {
        turn(&mut opened, question, answer);
    }
    let record = started(&opened.session, "three");
    assert!(say(&mut opened, record));
    drop(opened);
    let disk = disk.after_kill();
    let path = "data/history/s.journal.jsonl";
    let journal = disk.files().remove(Path::new(path)).unwrap();
    let second = place(&journal, "\"turn\":2") - "{\"seq\":3,\"type\":\"turn_started\",".len();
    disk.put(path, &[b"\0\0\0\0\n", &journal[second..]].concat());
    let mut opened = open(&on(&disk), "s");
    let left = ["two", "2", "three", "[no reply: interrupted]"];
    assert_eq!(texts(&opened.session), left);
    let last = opened.session.turns().last().unwrap().id;
    let why = Withdrawal::Undone;
    assert!(say(&mut opened, Record::TurnWithdrawn { turn: last, why }));
    drop(opened);
    let again = open(&on(&disk.after_kill()), "s");
    assert_eq!(
        (texts(&again.session), again.repairs),
        (left.map(str::to_owned).into(), vec![])
    );
    let withdrawn = again.session.turns().iter().map(|turn| turn.withdrawn);
    assert_eq!(withdrawn.collect::<Vec<_>>(), [None, Some(why)]);
}

#[test]
fn a_version_that_is_not_known_is_refused_whatever_it_looks_like() {
    for version in ["\"2\"", "2.0", "-1", "99999999999999999999999", "0", "null"] {
        for file in ["a.json", "a_hybrid.json"] {
            let disk = MemoryDisk::default();
            let text = format!("{{\"version\":{version},\"meta\":{{}},\"messages\":[]}}");
            disk.put(format!("data/history/{file}"), text.as_bytes());
            let before = disk.files();
            let refused = on(&disk).open(&name("a"), Duration::ZERO).unwrap_err();
            assert!(matches!(refused, StoreError::Newer { .. }), "{refused}");
            assert_eq!(disk.files(), before, "{version} {file}");
        }
    }
}

#[test]
fn a_newer_or_unreadable_file_is_refused_and_left_alone() {
    let disk = MemoryDisk::default();
    let newer = br#"{"version":2,"meta":{},"messages":"elsewhere"}"#;
    disk.put("data/history/a.json", newer);
    disk.put("data/history/b.json", b"[]");
    disk.deny("data/history/b.json");
    let before = disk.files();
    let refused = on(&disk).open(&name("a"), Duration::ZERO).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { .. }), "{refused}");
    let refused = on(&disk).open(&name("b"), Duration::ZERO).unwrap_err();
    assert_eq!(refused.to_string(), "cannot read data/history/b.json");
    assert_eq!(disk.files(), before);
    let problems: Vec<_> = on(&disk).list().unwrap();
    assert!(
        problems.iter().all(|info| info.problem.is_some()),
        "{problems:?}"
    );
}

#[cfg(unix)]
#[test]
fn an_endless_device_in_the_place_of_a_history_is_refused_and_listed_as_a_problem() {
    for file in ["a.json", "a.journal.jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(
            Arc::new(LocalDisk),
            folder.path().to_owned(),
            Arc::new(StoppedClock),
        );
        let mut opened = open(&store, "a");
        turn(&mut opened, "one", "1");
        leave(opened);
        let path = folder.path().join("history").join(file);
        LocalDisk.remove(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let refused = store.open(&name("a"), Duration::ZERO).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("cannot read {}", path.display())
        );
        assert!(store.list().unwrap()[0].problem.is_some(), "{file}");
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_moved_aside() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history");
    for file in [
        "a.json",
        "a.journal.jsonl",
        "a_hybrid.json",
        "a_mode_state.json",
        "a_scratchpad.json",
    ] {
        LocalDisk
            .replace(&history.join(file).join("x"), b"kept")
            .unwrap();
    }
    let store = FileStore::new(
        Arc::new(LocalDisk),
        folder.path().to_owned(),
        Arc::new(StoppedClock),
    );
    let mut opened = open(&store, "a");
    assert_eq!(opened.repairs.len(), 5, "{:?}", opened.repairs);
    turn(&mut opened, "one", "1");
    assert!(say(&mut opened, hybrid(2)));
    assert!(say(&mut opened, mode_states()));
    leave(opened);
    let again = open(&store, "a");
    assert_eq!(again.repairs, []);
    assert_eq!(texts(&again.session), ["one", "1"]);
    let kept = history.join("a.json.damaged-20260214T152305Z").join("x");
    assert_eq!(LocalDisk.read(&kept).unwrap(), b"kept");
}

#[test]
fn histories_of_other_programs_load_and_grow() {
    for (file, expected) in [
        (
            r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]"#,
            vec!["Hello", "Hi"],
        ),
        (
            r#"[{"type":"human","data":{"content":"Hello","id":null}},
                {"type":"ai","data":{"content":"","tool_calls":[{"name":"f","args":{"a":1},"id":"c1"}]}},
                {"type":"tool","data":{"content":"42","tool_call_id":"c1","status":"success"}}]"#,
            vec!["Hello", "", ""],
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Hello"},{"type":"image_url"}]},
                {"role":"assistant","content":null,"tool_calls":[
                    {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}]}"#,
            vec!["Hello", ""],
        ),
    ] {
        let disk = MemoryDisk::with([("data/history/old.json", file.as_bytes())]);
        let mut opened = open(&on(&disk), "old");
        assert_eq!(opened.repairs, []);
        assert_eq!(texts(&opened.session), expected);
        turn(&mut opened, "more", "yes");
        let survivor = disk.after_kill();
        let session = opened.session.clone();
        leave(opened);
        assert_eq!(open(&on(&survivor), "old").session, session);
        assert_eq!(open(&on(&disk), "old").session, session);
        let calls: Vec<_> = session.messages().iter().flat_map(Message::calls).collect();
        assert!(
            calls.iter().all(|call| call.arguments == r#"{"a":1}"#),
            "{calls:?}"
        );
    }
}

#[test]
fn the_list_tells_what_the_sessions_hold_most_recent_first() {
    let disk = MemoryDisk::default();
    disk.put(
        "data/history/old.json",
        br#"[{"role":"user","content":"Hello","timestamp":"2020-01-01T00:00:00Z"}]"#,
    );
    disk.put("data/history/broken.json", b"[{]");
    let mut opened = open(&on(&disk), "new");
    turn(&mut opened, "What is a journal?", "A list.");
    leave(opened);
    let mut opened = open(&on(&disk), "new");
    turn(&mut opened, "And now?", "Longer.");
    let listed: Vec<_> = on(&disk)
        .list()
        .unwrap()
        .into_iter()
        .map(|info| {
            (
                info.name.to_string(),
                info.messages,
                info.title,
                info.problem.is_some(),
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("new".into(), 4, "What is a journal?".into(), false),
            ("old".into(), 1, "Hello".into(), false),
            ("broken".into(), 0, String::new(), true),
        ]
    );
    assert_eq!(on(&disk).read(&name("new")).unwrap(), opened.session);
    assert!(matches!(
        on(&disk).read(&name("none")),
        Err(StoreError::Missing { .. })
    ));
}

#[test]
fn what_cannot_be_read_or_moved_is_left_alone_and_nothing_is_written_over_it() {
    let disk = MemoryDisk::default();
    with_all_files(&disk);
    for file in ["a_pins.json", "a_scratchpad.json", "a_hybrid.json"] {
        disk.deny(Path::new("data/history").join(file));
    }
    // The first of the three cannot be moved at first.
    let faulty = FaultyDisk::new(Arc::new(disk.clone()), "fail-before@1".parse().ok());
    let mut opened = open(&store(Arc::new(faulty)), "a");
    let [
        Repair::LeftAlone { file, .. },
        Repair::ScratchpadSetAside { .. },
        Repair::PinsSetAside { .. },
    ] = &opened.repairs[..]
    else {
        panic!("{:?}", opened.repairs)
    };
    assert!(file.ends_with("a_hybrid.json"), "{}", file.display());
    let before = disk.files();
    let held = |disk: &MemoryDisk| {
        let files = disk.files().into_iter();
        let hybrids = files.filter(|(path, _)| path.to_string_lossy().contains("a_hybrid.json"));
        hybrids.map(|(_, bytes)| bytes).collect::<Vec<_>>()
    };
    assert_eq!(held(&disk).len(), 1);
    assert!(say(&mut opened, hybrid(1)));
    let kept = held(&disk);
    assert_eq!(kept.len(), 2, "the old one was moved aside");
    let old = &before[Path::new("data/history/a_hybrid.json")];
    assert!(kept.contains(old));
}

/// What has arrived of the reply to the running turn.
fn arrived(opened: &mut Opened, text: &str) {
    let turn = opened.session.unfinished().unwrap().id;
    let text = text.to_owned();
    opened
        .log
        .append_unsynced(&Record::ReplyArrived { turn, text });
}

#[test]
fn what_had_arrived_of_a_reply_is_there_after_a_kill_and_is_cut_by_a_power_cut() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "a");
    let input = started(&opened.session, "Tell me");
    assert!(say(&mut opened, input));
    arrived(&mut opened, "Once upon");
    arrived(&mut opened, " a time");
    let mut killed = open(&on(&disk.after_kill()), "a");
    let kept = "Once upon a time\n[reply cut: interrupted]";
    assert_eq!(texts(&killed.session), ["Tell me", kept]);
    assert_eq!(
        killed.repairs,
        [Repair::UnfinishedTurn { has_arrived: true }]
    );
    turn(&mut killed, "Go on", "There was");
    assert_eq!(
        texts(&killed.session),
        ["Tell me", kept, "Go on", "There was"]
    );
    let cut = open(&on(&disk.after_power_cut()), "a");
    assert_eq!(
        texts(&cut.session),
        ["Tell me", "[no reply: interrupted]"],
        "nothing waits for the disk"
    );
}

#[test]
fn a_whole_reply_takes_the_place_of_what_had_arrived_and_a_fold_leaves_nothing_of_that() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "a");
    let input = started(&opened.session, "Tell me");
    assert!(say(&mut opened, input));
    arrived(&mut opened, "Once upon");
    let reply = finished(&opened.session, "Once upon a time.");
    assert!(say(&mut opened, reply));
    let session = opened.session.clone();
    let again = open(&on(&disk.after_kill()), "a");
    assert_eq!((again.session, again.repairs), (session, Vec::new()));
    leave(opened);
    let files = disk.files();
    assert!(
        files
            .values()
            .all(|bytes| !String::from_utf8_lossy(bytes).contains("reply_arrived")),
        "{files:?}"
    );
}

#[test]
fn what_arrives_while_the_disk_refuses_costs_nothing_but_itself() {
    for fault in ["fail-before@2", "fail-torn@2", "fail-after@2", "dead@2"] {
        let memory = MemoryDisk::default();
        let faulty = FaultyDisk::new(Arc::new(memory.clone()), fault.parse().ok());
        let mut opened = open(&store(Arc::new(faulty)), "a");
        let input = started(&opened.session, "Tell me");
        assert!(say(&mut opened, input));
        arrived(&mut opened, "Once upon");
        let reply = finished(&opened.session, "Once upon a time.");
        let is_kept = say(&mut opened, reply);
        assert_eq!(is_kept, !fault.starts_with("dead"), "{fault}");
        let again = open(&on(&memory.after_kill()), "a");
        let said = texts(&again.session);
        assert_eq!(said[0], "Tell me", "{fault}");
        if is_kept {
            assert_eq!(said, ["Tell me", "Once upon a time."], "{fault}");
        }
    }
}

#[test]
fn a_second_writer_is_refused_with_the_pid_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    let store = FileStore::new(Arc::new(LocalDisk), root, Arc::new(StoppedClock));
    let first = open(&store, "a");
    let refused = store
        .open(&name("a"), Duration::from_millis(1))
        .unwrap_err();
    let pid = std::process::id();
    assert_eq!(
        refused.to_string(),
        format!("session a is open in another process (pid {pid})")
    );
    assert!(matches!(
        store.discard(&name("a"), StoppedClock.now()),
        Err(StoreError::Locked { .. })
    ));
    drop(first);
    open(&store, "a");
}

/// Every file a session can have.
fn with_all_files(disk: &MemoryDisk) -> Session {
    let mut opened = open(&on(disk), "a");
    turn(&mut opened, "one", "1");
    assert!(say(&mut opened, hybrid(1)));
    assert!(say(&mut opened, mode_states()));
    assert!(say(&mut opened, scratchpad()));
    leave(opened);
    let mut opened = open(&on(disk), "a");
    turn(&mut opened, "two", "2");
    for file in [
        "data/history/a_pins.json",
        "data/history/a_outputs/1.txt",
        "data/history/a.json.damaged-20200101T000000Z",
        "data/vectordb/sessions/a/exchanges.jsonl",
        "data/workspace/sessions/a/SESSION-STATE.md",
        "data/history/ab.json",
        "data/history/a.b.json.damaged-20200101T000000Z",
        "data/workspace/MEMORY.md",
    ] {
        disk.put(file, b"[]");
    }
    opened.session
}

const OTHERS: [&str; 3] = [
    "data/history/a.b.json.damaged-20200101T000000Z",
    "data/history/ab.json",
    "data/workspace/MEMORY.md",
];

#[test]
fn discarding_moves_everything_of_a_session_and_nothing_else() {
    let disk = MemoryDisk::default();
    with_all_files(&disk);
    let trash = on(&disk).discard(&name("a"), StoppedClock.now()).unwrap();
    assert_eq!(trash, Path::new("data/trash/20260214T152305Z-a"));
    let (moved, left): (Vec<_>, Vec<_>) = paths(&disk)
        .into_iter()
        .partition(|path| path.starts_with("data/trash/20260214T152305Z-a/"));
    assert_eq!(left, OTHERS);
    assert_eq!(moved.len(), 10, "{moved:?}");
    assert!(matches!(
        on(&disk).discard(&name("a"), StoppedClock.now()),
        Err(StoreError::Missing { .. })
    ));
    let mut opened = open(&on(&disk), "a");
    turn(&mut opened, "again", "!");
    leave(opened);
    let trash = on(&disk).discard(&name("a"), StoppedClock.now()).unwrap();
    assert_eq!(trash, Path::new("data/trash/20260214T152305Z-a-2"));
}

#[test]
fn a_renamed_session_goes_on_under_its_new_name_only() {
    let disk = MemoryDisk::default();
    with_all_files(&disk);
    let mut opened = open(&on(&disk), "a");
    let refused = opened.log.rename(&opened.session, &name("ab")).unwrap_err();
    assert!(matches!(refused, StoreError::Taken { .. }), "{refused}");
    opened.log.rename(&opened.session, &name("b")).unwrap();
    opened.session.rename(name("b"));
    turn(&mut opened, "three", "3");
    let session = opened.session.clone();
    leave(opened);
    let again = open(&on(&disk), "b");
    assert_eq!((again.session, again.repairs), (session, Vec::new()));
    assert!(open(&on(&disk), "a").session.is_empty());
    let strays: Vec<_> = paths(&disk)
        .into_iter()
        .filter(|path| path.contains("/a.") || path.contains("/a_") || path.contains("/a/"))
        .filter(|path| !OTHERS.contains(&path.as_str()))
        .collect();
    assert_eq!(strays, Vec::<String>::new());
}

#[test]
fn an_archived_session_begins_anew_under_the_same_lock() {
    let disk = MemoryDisk::default();
    with_all_files(&disk);
    let mut opened = open(&on(&disk), "a");
    let archive = opened.log.archive(StoppedClock.now()).unwrap();
    assert_eq!(archive, Path::new("data/archive/a-20260214T152305Z"));
    opened.session = Session::new(name("a"));
    turn(&mut opened, "fresh", "start");
    let session = opened.session.clone();
    leave(opened);
    assert_eq!(open(&on(&disk), "a").session, session);
    assert!(paths(&disk).contains(&format!("{}/history/a.json", archive.display())));
}

#[test]
fn an_append_costs_the_same_in_any_session() {
    let cost = |messages: usize| {
        let list: Vec<_> = (0..messages)
            .map(|n| {
                format!(
                    r#"{{"role":"{}","content":"{}"}}"#,
                    ["user", "assistant"][n % 2],
                    "x".repeat(1_000)
                )
            })
            .collect();
        let disk = MemoryDisk::default();
        disk.put(
            "data/history/a.json",
            format!("[{}]", list.join(",")).as_bytes(),
        );
        let mut opened = open(&on(&disk), "a");
        turn(&mut opened, "one", "1");
        disk.size(Path::new("data/history/a.journal.jsonl"))
            .unwrap()
    };
    let small = cost(10);
    assert!(small < 8_192, "{small}");
    assert!(cost(10_000) < small + 64);
}

#[test]
fn a_large_snapshot_is_not_rewritten_for_a_short_visit() {
    let big = format!(
        r#"[{{"role":"user","content":"{}"}},{{"role":"assistant","content":"ok"}}]"#,
        "x".repeat(2 << 20)
    );
    let disk = MemoryDisk::default();
    disk.put("data/history/a.json", big.as_bytes());
    let mut opened = open(&on(&disk), "a");
    turn(&mut opened, "short", "yes");
    leave(opened);
    let snapshot = Path::new("data/history/a.json");
    assert_eq!(disk.read(snapshot).unwrap(), big.as_bytes());
    let mut opened = open(&on(&disk), "a");
    turn(&mut opened, &"y".repeat(300_000), "long");
    let session = opened.session.clone();
    leave(opened);
    assert_ne!(disk.read(snapshot).unwrap(), big.as_bytes());
    assert_eq!(open(&on(&disk), "a").session, session);
}

#[test]
fn a_journal_that_grows_large_is_folded_during_the_run() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "a");
    for n in 0..12 {
        turn(&mut opened, &format!("{n} {}", "x".repeat(100_000)), "ok");
    }
    let journal = disk.size(Path::new("data/history/a.journal.jsonl"));
    assert!(journal.unwrap_or(0) < 1 << 20);
    let session = opened.session.clone();
    assert_eq!(open(&on(&disk.after_kill()), "a").session, session);
}

/// A life of a session: turns, side files, a withdrawal, a checkpoint, a second visit, a rename. Returns
/// the texts that were acknowledged, each under the last name it was acknowledged for.
fn live(store: &FileStore) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    for visit in 0..2 {
        let Ok(mut opened) = store.open(&name("a"), Duration::ZERO) else {
            continue;
        };
        for n in 0..2 {
            let question = format!("question {visit}.{n}");
            let record = started(&opened.session, &question);
            if say(&mut opened, record) {
                kept.insert(question);
            }
            let answer = format!("answer {visit}.{n}");
            let record = finished(&opened.session, &answer);
            if say(&mut opened, record) {
                kept.insert(answer);
            }
        }
        say(&mut opened, hybrid(2));
        let undone = Record::TurnWithdrawn {
            turn: opened.session.turns()[0].id,
            why: Withdrawal::Undone,
        };
        say(&mut opened, undone);
        if opened.log.checkpoint(&opened.session).is_ok() {
            kept.extend(texts(&opened.session));
        }
    }
    if let Ok(mut opened) = store.open(&name("a"), Duration::ZERO) {
        if opened.log.rename(&opened.session, &name("b")).is_ok() {
            opened.session.rename(name("b"));
        }
        let record = started(&opened.session, "question after");
        if say(&mut opened, record) {
            kept.insert("question after".to_owned());
        }
    }
    kept
}

const LEFT_BY_KILLS: [&str; 3] = [".tmp", ".moving", ".lock"];

/// What is found afterwards, under whichever one name.
fn found(disk: &MemoryDisk, case: &str) -> BTreeSet<String> {
    let store = on(disk);
    let listed = store.list().unwrap();
    assert!(listed.len() <= 1, "{case}: {listed:?}");
    let mut all = BTreeSet::new();
    for info in listed {
        assert_eq!(info.problem, None, "{case}");
        let opened = store.open(&info.name, Duration::ZERO).unwrap();
        all.extend(texts(&opened.session));
        leave(opened);
        assert_eq!(open(&store, info.name.as_str()).repairs, [], "{case}");
    }
    let leftovers: Vec<_> = paths(disk)
        .into_iter()
        .filter(|path| LEFT_BY_KILLS.iter().any(|end| path.ends_with(end)))
        .collect();
    assert_eq!(leftovers, Vec::<String>::new(), "{case}");
    all
}

#[test]
fn whatever_fails_wherever_what_was_acknowledged_is_there() {
    let count = {
        let faulty = Arc::new(FaultyDisk::new(Arc::new(MemoryDisk::default()), None));
        live(&store(faulty.clone()));
        faulty.calls()
    };
    assert!(count > 20, "{count}");
    for kind in ["fail-before", "fail-torn", "fail-after", "full", "dead"] {
        for n in 1..=count {
            let case = format!("{kind}@{n}");
            let disk = MemoryDisk::default();
            let schedule: Schedule = case.parse().unwrap();
            let faulty = FaultyDisk::new(Arc::new(disk.clone()), Some(schedule));
            let kept = live(&store(Arc::new(faulty)));
            for survivor in [disk.after_kill(), disk.after_power_cut()] {
                let found = found(&survivor, &case);
                let lost: Vec<_> = kept.difference(&found).collect();
                assert!(lost.is_empty(), "{case}: {lost:?} of {kept:?}");
            }
        }
    }
}

#[test]
fn an_unwritable_disk_keeps_no_one_from_asking() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "a");
    turn(&mut opened, "one", "1");
    leave(opened);
    disk.make_read_only();
    let mut opened = open(&on(&disk), "a");
    assert_eq!(texts(&opened.session), ["one", "1"]);
    let record = started(&opened.session, "two");
    assert!(!say(&mut opened, record));
    assert!(opened.log.checkpoint(&opened.session).is_err());
}

#[test]
fn a_home_that_is_a_file_or_takes_no_folders_keeps_no_one_from_asking() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("home");
    LocalDisk.replace(&file, b"x").unwrap();
    let mut homes = vec![file];
    if cfg!(target_os = "linux") {
        homes.push("/proc".into());
    }
    for home in homes {
        let data = home.join("cogtrix/data");
        let store = FileStore::new(Arc::new(LocalDisk), data, Arc::new(StoppedClock));
        let mut opened = open(&store, "a");
        assert!(opened.session.is_empty());
        let record = started(&opened.session, "one");
        assert!(!say(&mut opened, record), "{}", home.display());
        assert!(opened.log.checkpoint(&opened.session).is_err());
    }
}

fn is_lock(path: &Path) -> bool {
    path.extension() == Some("lock".as_ref())
}

#[test]
fn a_move_that_fails_or_stops_anywhere_loses_no_file_and_ends_in_one_place() {
    for kind in ["fail-before", "fail-after", "dead"] {
        for n in 1..20 {
            let case = format!("{kind}@{n}");
            let disk = MemoryDisk::default();
            with_all_files(&disk);
            let contents = |disk: &MemoryDisk| {
                let files = disk.files().into_iter();
                let mut all: Vec<_> = files
                    .filter(|(path, _)| !is_lock(path))
                    .map(|(_, content)| content)
                    .collect();
                all.sort();
                all
            };
            let before = contents(&disk);
            let faulty = FaultyDisk::new(Arc::new(disk.clone()), case.parse().ok());
            let mut opened = open(&store(Arc::new(faulty)), "a");
            opened.log.archive(StoppedClock.now()).ok();
            let survivor = disk.after_kill();
            on(&survivor).list().unwrap();
            assert_eq!(contents(&survivor), before, "{case}");
            let left: Vec<PathBuf> = survivor
                .files()
                .into_keys()
                .filter(|path| !path.starts_with("data/archive") && !is_lock(path))
                .collect();
            let all_moved = left == OTHERS.map(PathBuf::from);
            assert!(all_moved || left.len() == before.len(), "{case}: {left:?}");
        }
    }
}

#[test]
fn after_a_full_disk_has_room_again_nothing_is_missing() {
    let disk = MemoryDisk::default();
    let faulty = FaultyDisk::new(Arc::new(disk.clone()), "fail-torn@2".parse().ok());
    let mut opened = open(&store(Arc::new(faulty)), "a");
    let record = started(&opened.session, "saved");
    assert!(say(&mut opened, record));
    let record = finished(&opened.session, "not saved at first");
    assert!(!say(&mut opened, record));
    turn(&mut opened, "saved again", "yes");
    let again = open(&on(&disk.after_kill()), "a");
    assert_eq!(again.session, opened.session);
    assert_eq!(again.repairs, []);
}

mod kills {
    //! The same life in a process of its own, which is killed at every mutating call.

    use super::*;
    use std::process::Command;

    const ROOT: &str = "COGTRIX_TEST_ROOT";
    const FAULT: &str = "COGTRIX_TEST_FAULT";

    /// The process under test: this very program, started again with these two variables.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "how the parent tells it what to do"
    )]
    fn the_life_that_is_killed() {
        let (Some(root), Ok(fault)) = (std::env::var_os(ROOT), std::env::var(FAULT)) else {
            return;
        };
        let root = PathBuf::from(root);
        let disk = FaultyDisk::new(Arc::new(LocalDisk), fault.parse().ok());
        let store = FileStore::new(Arc::new(disk), root.clone(), Arc::new(StoppedClock));
        let acknowledged = root.join("acknowledged");
        for text in ["one", "two"] {
            let mut opened = open(&store, "a");
            turn(&mut opened, text, text);
            LocalDisk
                .append_synced(&acknowledged, format!("{text}\n").as_bytes())
                .unwrap();
            assert!(say(&mut opened, hybrid(1)));
            leave(opened);
        }
        let mut opened = open(&store, "a");
        opened.log.rename(&opened.session, &name("b")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn wherever_a_process_is_killed_what_it_acknowledged_is_there() {
        use std::os::unix::process::ExitStatusExt;
        const SIGKILL: i32 = 9;
        for kind in ["kill-before", "kill-torn", "kill-after"] {
            for n in 1.. {
                let case = format!("{kind}@{n}");
                let folder = tempfile::tempdir().unwrap();
                let status = Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "store::kills::the_life_that_is_killed"])
                    .env(ROOT, folder.path())
                    .env(FAULT, &case)
                    .output()
                    .unwrap()
                    .status;
                check(folder.path(), &case);
                if status.signal() != Some(SIGKILL) {
                    assert!(status.success() && n > 10, "{case}: {status}");
                    break;
                }
            }
        }
    }

    fn check(root: &Path, case: &str) {
        let store = FileStore::new(Arc::new(LocalDisk), root.to_owned(), Arc::new(StoppedClock));
        let acknowledged = LocalDisk.read(&root.join("acknowledged"));
        let acknowledged = String::from_utf8(acknowledged.unwrap_or_default()).unwrap();
        let listed = store.list().unwrap();
        assert!(listed.len() <= 1, "{case}: {listed:?}");
        let mut found = Vec::new();
        for info in listed {
            assert_eq!(info.problem, None, "{case}");
            let opened = open(&store, info.name.as_str());
            found = texts(&opened.session);
            leave(opened);
            assert_eq!(open(&store, info.name.as_str()).repairs, [], "{case}");
        }
        for text in acknowledged.lines() {
            let times = found.iter().filter(|found| *found == text).count();
            assert_eq!(times, 2, "{case}: {found:?}");
        }
        // Whoever opens the names next clears what the killed process left under them.
        drop((open(&store, "a"), open(&store, "b")));
        let history = LocalDisk.list(&root.join("history")).unwrap();
        let strays: Vec<_> = history
            .iter()
            .map(|file| file.display().to_string())
            .filter(|file| LEFT_BY_KILLS.iter().any(|end| file.ends_with(end)))
            .collect();
        assert!(strays.is_empty(), "{case}: {strays:?}");
    }
}

/// A message as another program may have it.
fn foreign(n: u64) -> Message {
    let role = if n.is_multiple_of(2) {
        Role::Assistant
    } else {
        Role::User
    };
    let id = MessageId::new(format!("other/{n}"));
    Message::text(
        id,
        role,
        format!("from elsewhere {n}"),
        Timestamp::from_unix(NOW),
    )
}

#[test]
fn a_rewrite_is_all_there_or_not_at_all_wherever_the_disk_dies() {
    let mut outcomes = BTreeSet::new();
    for at in 1..10 {
        let disk = MemoryDisk::default();
        let mut opened = open(&on(&disk), "work");
        turn(&mut opened, "own", "turn");
        drop(opened);
        let schedule: Schedule = format!("dead@{at}").parse().unwrap();
        let faulty = FaultyDisk::new(Arc::new(disk.clone()), Some(schedule));
        let mut opened = open(&store(Arc::new(faulty)), "work");
        opened.session.import((1..=5).map(foreign).collect());
        let kept = opened.log.rewrite(&opened.session).is_ok();
        let session = opened.session.clone();
        drop(opened);
        for survivor in [disk.after_kill(), disk.after_power_cut()] {
            let again = open(&on(&survivor), "work").session;
            let n = again.messages().len();
            assert!([2, 7].contains(&n), "{schedule}: {n}");
            assert!(!kept || again == session, "{schedule}");
        }
        outcomes.insert(kept);
    }
    assert_eq!(outcomes.len(), 2, "some died before, some behind it");
}

#[test]
fn a_session_goes_on_after_a_rewrite() {
    let disk = MemoryDisk::default();
    let mut opened = open(&on(&disk), "work");
    turn(&mut opened, "own", "turn");
    opened.session.import((1..=3).map(foreign).collect());
    opened.log.rewrite(&opened.session).unwrap();
    turn(&mut opened, "another", "one");
    let session = opened.session.clone();
    drop(opened);
    assert_eq!(open(&on(&disk), "work").session, session);
}
