//! The files of a workspace on a disk in memory: what is written, what stays, what a failure leaves.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::chat::{SessionName, Timestamp};
use crate::files::{Disk, FaultyDisk, LocalDisk, MemoryDisk};
use crate::hint::Hint;

fn workspace(disk: &MemoryDisk) -> Workspace {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Workspace::new(disk, PathBuf::from("w"), WorkspaceSettings::default())
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn noon() -> Timestamp {
    at("2026-02-14T12:00:00Z")
}

fn session() -> SessionName {
    "work".parse().unwrap()
}

fn text(disk: &MemoryDisk, path: &str) -> String {
    String::from_utf8(disk.read(PathBuf::from("w").join(path).as_path()).unwrap()).unwrap()
}

fn add(long_term: &LongTerm<'_>, text: &str) -> Result<Added, NotesError> {
    long_term.add(noon(), &Section::AutoCaptured, text, |_| Judgement::Add)
}

const STATE: &str = "sessions/work/SESSION-STATE.md";

#[test]
fn captured_lines_stand_under_one_title_with_time_and_kind() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    state
        .append(noon(), "preference", "tabs,\n## not spaces", 100_000)
        .unwrap();
    state
        .append(noon(), "remember", "the gate", 100_000)
        .unwrap();
    assert_eq!(
        text(&disk, STATE),
        "# Session State\n\n- [2026-02-14T12:00:00+00:00] **preference**: tabs, ## not spaces\n\
         - [2026-02-14T12:00:00+00:00] **remember**: the gate\n"
    );
    let lines = state.lines().unwrap();
    state.remove(&lines[0]).unwrap();
    assert!(matches!(
        state.remove(&lines[0]),
        Err(NotesError::Gone { .. })
    ));
    assert!(!text(&disk, STATE).contains("tabs"));
    assert_eq!(disk.files().len(), 1, "no lock and no temporary file stays");
}

#[test]
fn a_full_session_state_loses_its_oldest_lines_and_nothing_a_person_wrote() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    for n in 0..20 {
        state
            .append(noon(), "fact", &format!("number {n}."), 10_000)
            .unwrap();
    }
    let by_hand = format!("by hand, first\n{}by hand", text(&disk, STATE));
    disk.put(format!("w/{STATE}"), by_hand.as_bytes());
    state
        .append(noon(), "fact", "the last", by_hand.len())
        .unwrap();
    let left = text(&disk, STATE);
    assert!(
        left.starts_with(
            "by hand, first\n# Session State\n\n- [older lines dropped, 2026-02-14]\n"
        ),
        "{left}"
    );
    assert!(
        !left.contains("number 8.") && left.contains("number 9."),
        "{left}"
    );
    assert!(
        left.contains("\nby hand\n") && left.ends_with("the last\n"),
        "{left}"
    );
    for n in 0..200 {
        state
            .append(noon(), "fact", &format!("more {n}"), 2_000)
            .unwrap();
    }
    let left = text(&disk, STATE);
    assert!(
        left.len() <= 2_000 && left.contains("by hand, first"),
        "{left}"
    );
    assert_eq!(left.matches("older lines").count(), 1, "{left}");
}

#[test]
fn the_newest_of_a_session_state_is_read_within_its_cap() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    assert_eq!(state.read().unwrap(), None);
    for n in 0..1_000 {
        state
            .append(noon(), "fact", &format!("number {n}"), 100_000)
            .unwrap();
    }
    let excerpt = state.read().unwrap().unwrap();
    assert!(excerpt.is_cut && excerpt.text.starts_with(TRUNCATED));
    assert!(excerpt.text.ends_with("number 999"));
    assert!(excerpt.text.chars().count() <= 20_000 + TRUNCATED.chars().count() + 1);
}

#[test]
fn shared_session_files_are_one_for_all_sessions() {
    let disk = MemoryDisk::default();
    let settings = WorkspaceSettings {
        session_files: SessionFiles::Shared,
        ..WorkspaceSettings::default()
    };
    let workspace = Workspace::new(Arc::new(disk.clone()), PathBuf::from("w"), settings);
    let notes = workspace.session(&session());
    notes.state().append(noon(), "fact", "x", 100_000).unwrap();
    notes.buffer().append(noon(), "hi", "ho").unwrap();
    let files: Vec<PathBuf> = disk.files().into_keys().collect();
    assert_eq!(
        files,
        [
            PathBuf::from("w/SESSION-STATE.md"),
            PathBuf::from("w/memory/working-buffer.md")
        ]
    );
    assert!(workspace.daily().newest(30).unwrap().is_empty());
}

#[test]
fn what_is_durable_is_added_known_or_takes_the_place_of_another_line() {
    let disk = MemoryDisk::with([("w/MEMORY.md", "\u{feff}# Mine\r\nby hand\r\n\r\n## Auto-captured\r\n- **preference**: dark mode\r\n\r\n## Else\r\nend".as_bytes())]);
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let judged = memory.add(
        noon(),
        &Section::AutoCaptured,
        "**preference**: light mode",
        |lines| {
            let dark = lines
                .iter()
                .find(|line| line.text.ends_with("dark mode"))
                .unwrap();
            assert_eq!(
                (dark.number, dark.section.as_deref()),
                (5, Some("Auto-captured"))
            );
            Judgement::Supersedes(vec![dark.number])
        },
    );
    assert_eq!(judged.unwrap(), Added::Added);
    let expected = "\u{feff}# Mine\r\nby hand\r\n\r\n## Auto-captured\r\n- (superseded 2026-02-14) **preference**: dark mode\r\n- **preference**: light mode\r\n\r\n## Else\r\nend";
    assert_eq!(text(&disk, "MEMORY.md"), expected);
    let known = memory.add(noon(), &Section::Notes, "x", |_| Judgement::Known);
    assert_eq!(known.unwrap(), Added::Known);
    let line = memory
        .lines()
        .unwrap()
        .into_iter()
        .find(|line| line.text.contains("light"))
        .unwrap();
    memory.supersede(noon(), &line).unwrap();
    assert!(
        text(&disk, "MEMORY.md")
            .contains("- (superseded 2026-02-14) **preference**: light mode\r\n")
    );
    let line = memory
        .lines()
        .unwrap()
        .into_iter()
        .find(|line| line.text.contains("light"))
        .unwrap();
    disk.put(
        "w/MEMORY.md",
        format!("a new first line\n{}", text(&disk, "MEMORY.md")).as_bytes(),
    );
    memory.remove(&line).unwrap();
    assert!(
        !text(&disk, "MEMORY.md").contains("light"),
        "found where it is by now"
    );
}

#[test]
fn a_line_that_is_there_twice_is_not_guessed_at() {
    let disk = MemoryDisk::with([("w/MEMORY.md", b"- a\n- a\n" as &[u8])]);
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let line = memory.lines().unwrap().remove(1);
    disk.put("w/MEMORY.md", b"- a\nx\n- a\n");
    let refused = memory.remove(&line).unwrap_err();
    assert!(matches!(refused, NotesError::Ambiguous { .. }), "{refused}");
    assert!(refused.hint().is_some());
    assert_eq!(text(&disk, "MEMORY.md"), "- a\nx\n- a\n");
}

#[test]
fn a_first_fact_makes_the_file_and_extracted_ones_do_not() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let facts = ["one".to_owned(), "two\nlines".to_owned(), "one".to_owned()];
    assert_eq!(
        memory.add_extracted(noon(), &facts, 4_000).unwrap(),
        Added::NoFile
    );
    add(&memory, "**remember**: the gate").unwrap();
    assert_eq!(
        memory.add_extracted(noon(), &facts, 4_000).unwrap(),
        Added::Added
    );
    assert_eq!(
        memory.add_extracted(noon(), &facts, 4_000).unwrap(),
        Added::Known
    );
    assert_eq!(
        text(&disk, "MEMORY.md"),
        "# Memory\n\n## Auto-captured\n\n- **remember**: the gate\n\n## Auto-extracted (2026-02-14)\n\n- one\n- two lines\n"
    );
    for (length, expected) in [(3_999, Added::Added), (4_000, Added::Full)] {
        disk.put("w/MEMORY.md", "ü".repeat(length).as_bytes());
        assert_eq!(
            memory.add_extracted(noon(), &facts, 4_000).unwrap(),
            expected,
            "{length}"
        );
    }
}

#[test]
fn a_file_that_is_no_text_stays_byte_for_byte_and_that_is_said() {
    let bytes = b"# M\n\xff\xfe\n";
    let disk = MemoryDisk::with(
        ["MEMORY.md", STATE, "memory/2026-02-14.md", "USER.md"]
            .map(|name| (format!("w/{name}"), bytes))
            .iter()
            .map(|(name, bytes)| (name.as_str(), &bytes[..])),
    );
    let workspace = workspace(&disk);
    let before = disk.files();
    let state = workspace.session(&session()).state();
    let settings = DailySettings::default();
    for error in [
        add(&workspace.long_term(), "x").map(drop),
        state.append(noon(), "fact", "x", 100_000),
        workspace
            .daily()
            .exchange(noon(), "a", "b", &settings)
            .map(drop),
        workspace.long_term().read(100).map(drop),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, NotesError::NotText { .. }), "{error}");
    }
    assert_eq!(workspace.identity().problems.len(), 1);
    assert_eq!(disk.files(), before);
}

#[test]
fn a_file_of_50_megabytes_is_appended_to_and_read_in_parts() {
    let mut huge = b"# first\n".to_vec();
    huge.extend(
        "- some line of it, with \u{fc}\n"
            .repeat(2_000_000)
            .as_bytes(),
    );
    huge.extend(b"- the last");
    let disk = MemoryDisk::with([("w/MEMORY.md", huge.as_slice())]);
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let excerpt = memory.read(20_000).unwrap().unwrap();
    assert!(
        excerpt.is_cut
            && excerpt.text.starts_with("# first")
            && excerpt.text.ends_with("- the last")
    );
    assert!(excerpt.text.chars().count() < 20_100);
    assert_eq!(add(&memory, "**a**: b").unwrap(), Added::AtEndOfLarge);
    assert_eq!(add(&memory, "**c**: d").unwrap(), Added::AtEndOfLarge);
    let known = memory.add(noon(), &Section::Notes, "x", |lines| {
        assert!(lines.iter().any(|line| line.text == "- **c**: d"));
        Judgement::Known
    });
    assert_eq!(known.unwrap(), Added::Known);
    let now = disk.read(&PathBuf::from("w/MEMORY.md")).unwrap();
    assert!(now.starts_with(&huge), "nothing of it was changed");
    assert_eq!(
        &now[huge.len()..],
        b"\n\n## Auto-captured\n\n- **a**: b\n- **c**: d\n"
    );
    assert!(matches!(memory.lines(), Err(NotesError::TooLarge { .. })));
}

#[test]
fn an_exchange_is_noted_in_two_lines_that_forge_no_heading() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let (daily, settings) = (workspace.daily(), DailySettings::default());
    let late = at("2026-02-14T23:59:59Z");
    daily
        .exchange(late, "hi\n## [00:00:00]\n---", &"ü".repeat(300), &settings)
        .unwrap();
    daily.exchange(late, "again", "yes", &settings).unwrap();
    daily
        .exchange(at("2026-02-15T00:00:01Z"), "next day", "yes", &settings)
        .unwrap();
    daily
        .exchange(late, "the clock went back", "yes", &settings)
        .unwrap();
    let day = text(&disk, "memory/2026-02-14.md");
    let clipped = format!("{}…", "ü".repeat(199));
    assert!(day.starts_with(&format!(
        "# Daily Notes 2026-02-14\n\n## [23:59:59]\n\n**User:** hi ## [00:00:00] ---\n**Agent:** {clipped}\n\n## [23:59:59]\n\n**User:** again\n"
    )), "{day}");
    assert_eq!(day.lines().filter(|line| line.starts_with('#')).count(), 4);
    assert_eq!(
        text(&disk, "memory/2026-02-15.md")
            .matches("# Daily Notes")
            .count(),
        1
    );
}

#[test]
fn a_full_day_takes_facts_and_no_more_exchanges() {
    let disk = MemoryDisk::with([("w/memory/2026-02-14.md", "ü".repeat(200_001).as_bytes())]);
    let workspace = workspace(&disk);
    let daily = workspace.daily();
    let noted = daily.exchange(noon(), "a", "b", &DailySettings::default());
    assert_eq!(noted.unwrap(), Noted::Full);
    assert_eq!(
        daily.facts(noon(), &["x".to_owned()], 8_000).unwrap(),
        Facts::Added
    );
}

#[test]
fn facts_are_measured_by_themselves_and_added_once() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let daily = workspace.daily();
    for _ in 0..20 {
        daily
            .exchange(
                noon(),
                &"long ".repeat(100),
                &"long ".repeat(100),
                &DailySettings::default(),
            )
            .unwrap();
    }
    let fact = |n: usize| vec!["f".repeat(n)];
    assert_eq!(daily.facts(noon(), &[], 100).unwrap(), Facts::Known);
    assert_eq!(daily.facts(noon(), &fact(50), 100).unwrap(), Facts::Added);
    assert_eq!(daily.facts(noon(), &fact(50), 100).unwrap(), Facts::Known);
    assert_eq!(daily.facts(noon(), &fact(60), 100).unwrap(), Facts::Full);
    assert!(text(&disk, "memory/2026-02-14.md").contains("## Session Facts (2026-02-14)\n\n- fff"));
    assert!(!daily.compact(noon(), 100, |_| unreachable!()).unwrap());
    assert!(
        !daily
            .compact(noon(), 10, |text| Some(text.to_owned()))
            .unwrap()
    );
    assert!(
        daily
            .compact(noon(), 10, |text| Some(text.replace('f', "g")))
            .unwrap()
    );
    assert!(text(&disk, "memory/2026-02-14.md").contains("- ggg"));
}

#[test]
fn only_files_named_as_dates_are_days_and_the_newest_are_listed() {
    let mut files: Vec<String> = (1..=31)
        .map(|day| format!("w/memory/2026-01-{day:02}.md"))
        .collect();
    for other in [
        "working-buffer.md",
        "2026-02-30.md",
        "2026-1-1.md",
        "2026-01-01.txt",
        "notes.md",
    ] {
        files.push(format!("w/memory/{other}"));
    }
    let disk = MemoryDisk::with(files.iter().map(|name| (name.as_str(), &b"x"[..])));
    let days = workspace(&disk).daily().newest(30).unwrap();
    assert_eq!(days.len(), 30);
    assert_eq!(days[0].source, "memory/2026-01-31.md");
    assert_eq!(days[29].date, "2026-01-02");
}

#[test]
fn a_buffer_begins_holds_pairs_and_is_put_away_closed() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let notes = workspace.session(&session());
    let buffer = notes.buffer();
    assert!(!buffer.is_active().unwrap() && !buffer.close(noon()).unwrap());
    buffer
        .append(noon(), "do it\n## [x] Agent\n---", "done\n# so")
        .unwrap();
    buffer
        .append(noon(), &"q".repeat(5_000), &"a".repeat(500))
        .unwrap();
    let whole = text(&disk, "sessions/work/working-buffer.md");
    assert!(whole.starts_with(
        "# Working Buffer\n\n**Status:** ACTIVE\n**Started:** 2026-02-14T12:00:00Z\n\n## [2026-02-14 12:00:00] Human\n\n\
         do it\n\\## [x] Agent\n\\---\n\n## [2026-02-14 12:00:00] Agent (summary)\n\ndone # so\n\n## [2026"
    ), "{whole}");
    assert_eq!(whole.matches('q').count(), 3_999);
    assert!(buffer.is_active().unwrap());
    assert!(buffer.close(noon()).unwrap());
    let closed = text(&disk, "sessions/work/working-buffer-20260214T120000Z.md");
    assert_eq!(closed, whole.replace("ACTIVE", "CLOSED"));
    buffer.append(noon(), "new", "one").unwrap();
    assert!(buffer.close(noon()).unwrap(), "another of the same second");
    assert_eq!(disk.files().len(), 2);
}

#[test]
fn a_full_buffer_loses_its_oldest_exchanges() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let notes = workspace.session(&session());
    for n in 0..80 {
        notes
            .buffer()
            .append(noon(), &format!("number {n}. {}", "x".repeat(3_900)), "ok")
            .unwrap();
    }
    let whole = text(&disk, "sessions/work/working-buffer.md");
    assert!(whole.len() <= 200 << 10, "{}", whole.len());
    assert!(
        whole.contains("**Status:** ACTIVE")
            && whole.contains("number 79.")
            && !whole.contains("number 0.")
    );
    assert_eq!(whole.matches("[older exchanges dropped]").count(), 1);
}

#[test]
fn identity_files_are_read_in_order_within_their_caps() {
    let long = "s".repeat(30_000);
    let disk = MemoryDisk::with([
        ("w/USER.md", b"\xef\xbb\xbfAnn\r\nlikes tea\r\n" as &[u8]),
        ("w/SOUL.md", long.as_bytes()),
        ("w/IDENTITY.md", b" \n"),
    ]);
    let settings = WorkspaceSettings {
        total_chars: 20_050,
        ..WorkspaceSettings::default()
    };
    let workspace = Workspace::new(Arc::new(disk), PathBuf::from("w"), settings);
    let identity = workspace.identity();
    let seen: Vec<_> = identity
        .files
        .iter()
        .map(|file| (file.source.as_str(), file.is_cut))
        .collect();
    assert_eq!(seen, [("SOUL.md", true), ("USER.md", false)]);
    assert_eq!(
        identity.files[0].text,
        format!("{}\n{TRUNCATED}", &long[..20_000])
    );
    assert_eq!(identity.files[1].text, "Ann\nlikes tea");
}

#[test]
fn what_tells_where_the_work_stood_comes_in_order_and_without_what_is_missing() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    assert!(workspace.recovery(&session(), noon()).parts.is_empty());
    workspace
        .daily()
        .exchange(noon(), "day", "x", &DailySettings::default())
        .unwrap();
    let notes = workspace.session(&session());
    notes.buffer().append(noon(), "buffered", "x").unwrap();
    disk.deny(format!("w/{STATE}"));
    disk.put(format!("w/{STATE}"), b"x");
    let recovery = workspace.recovery(&session(), noon());
    let seen: Vec<_> = recovery
        .parts
        .iter()
        .map(|part| part.source.as_str())
        .collect();
    assert_eq!(
        seen,
        ["sessions/work/working-buffer.md", "memory/2026-02-14.md"]
    );
    assert_eq!(recovery.problems.len(), 1);
    assert_eq!(
        workspace
            .recovery(&session(), at("2026-02-15T00:00:00Z"))
            .parts
            .len(),
        1
    );
}

#[test]
fn observers_hear_of_each_write_and_one_that_panics_stops_nothing() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    workspace.observe(Arc::new(|_| panic!("a bad observer")));
    workspace.observe(Arc::new(move |written| {
        ears.lock().unwrap().push(written.clone())
    }));
    let notes = workspace.session(&session());
    notes.state().append(noon(), "fact", "x", 100_000).unwrap();
    add(&workspace.long_term(), "**a**: b").unwrap();
    workspace
        .daily()
        .exchange(noon(), "a", "b", &DailySettings::default())
        .unwrap();
    disk.make_read_only();
    assert!(add(&workspace.long_term(), "**c**: d").is_err());
    let heard = heard.lock().unwrap();
    let sources: Vec<_> = heard
        .iter()
        .map(|written| written.source.as_str())
        .collect();
    assert_eq!(sources, [STATE, "MEMORY.md", "memory/2026-02-14.md"]);
    assert_eq!(heard[1].change, Change::Added("- **a**: b".to_owned()));
}

#[test]
fn a_workspace_that_cannot_be_written_or_is_being_written_is_told() {
    let disk = MemoryDisk::with([("w/MEMORY.md", b"- a\n" as &[u8])]);
    let workspace = workspace(&disk);
    let held = disk
        .lock(&PathBuf::from("w/.lock"), std::time::Duration::ZERO)
        .unwrap();
    let refused = add(&workspace.long_term(), "x").unwrap_err();
    assert!(matches!(refused, NotesError::Locked { .. }), "{refused}");
    assert!(
        refused.to_string().contains("another cogtrix (process "),
        "{refused}"
    );
    drop(held);
    disk.make_read_only();
    let refused = add(&workspace.long_term(), "x").unwrap_err();
    assert!(matches!(refused, NotesError::Io { .. }), "{refused}");
    assert_eq!(text(&disk, "MEMORY.md"), "- a\n");
}

/// Everything that writes, each once.
fn write_everything(workspace: &Workspace) -> usize {
    let notes = workspace.session(&session());
    let results = [
        notes.state().append(noon(), "fact", "new", 100_000).is_ok(),
        add(&workspace.long_term(), "**new**: b").is_ok(),
        workspace
            .daily()
            .exchange(noon(), "new", "b", &DailySettings::default())
            .is_ok(),
        workspace
            .daily()
            .facts(noon(), &["new".to_owned()], 8_000)
            .is_ok(),
        notes.buffer().append(noon(), "new", "b").is_ok(),
        notes.buffer().close(noon()).is_ok(),
    ];
    results.into_iter().filter(|ok| *ok).count()
}

#[test]
fn a_write_that_fails_leaves_every_file_as_it_was_or_as_it_was_to_be() {
    let all = [
        "MEMORY.md",
        STATE,
        "memory/2026-02-14.md",
        "sessions/work/working-buffer.md",
    ];
    let old = |name: &str| format!("old of {name}\n**Status:** ACTIVE\nhalf a line");
    for schedule in (1..=8).flat_map(|n| {
        ["fail-before", "fail-torn", "full", "dead"].map(|kind| format!("{kind}@{n}"))
    }) {
        let disk = MemoryDisk::default();
        for name in all {
            disk.put(format!("w/{name}"), old(name).as_bytes());
        }
        let faulty = FaultyDisk::new(Arc::new(disk.clone()), schedule.parse().ok());
        let workspace = Workspace::new(
            Arc::new(faulty),
            PathBuf::from("w"),
            WorkspaceSettings::default(),
        );
        write_everything(&workspace);
        let files: BTreeMap<_, _> = disk.files();
        for name in all {
            let path = PathBuf::from("w").join(name);
            let moved = PathBuf::from("w/sessions/work/working-buffer-20260214T120000Z.md");
            let bytes = files.get(&path).or_else(|| files.get(&moved)).unwrap();
            let now = String::from_utf8(bytes.clone()).unwrap();
            let as_was = old(name).replace(
                "ACTIVE",
                if now.contains("CLOSED") {
                    "CLOSED"
                } else {
                    "ACTIVE"
                },
            );
            assert!(now.starts_with(&as_was), "{schedule} {name}: {now}");
            let more = &now[as_was.len()..];
            // A dead disk cannot take its half line back.
            let is_whole = more.is_empty() || more.ends_with('\n') || schedule.starts_with("dead");
            assert!(is_whole, "{schedule} {name}: {more:?}");
        }
    }
}

#[test]
fn two_processes_lose_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        Workspace::new(
            Arc::new(LocalDisk),
            folder.path().join("w"),
            WorkspaceSettings::default(),
        )
    };
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let workspace = open();
            std::thread::spawn(move || {
                for n in 0..5 {
                    add(&workspace.long_term(), &format!("**w{writer}**: {n}")).unwrap();
                }
            })
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    let lines = open().long_term().lines().unwrap();
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.text.starts_with("- **w"))
            .count(),
        20
    );
}

#[cfg(unix)]
#[test]
fn a_persons_link_to_a_file_elsewhere_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (
        folder.path().join("real.md"),
        folder.path().join("w/MEMORY.md"),
    );
    std::fs::create_dir(folder.path().join("w")).unwrap();
    std::fs::write(&real, "- a\n").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let workspace = Workspace::new(
        Arc::new(LocalDisk),
        folder.path().join("w"),
        WorkspaceSettings::default(),
    );
    add(&workspace.long_term(), "**b**: c").unwrap();
    assert!(link.is_symlink());
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("- **b**: c")
    );
}

#[cfg(unix)]
#[test]
fn rules_of_a_project_are_an_ordinary_file_inside_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join("AGENTS.md")).unwrap();
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    let workspace = workspace(&MemoryDisk::default());
    let rules = || {
        workspace
            .project_rules(&project)
            .unwrap()
            .map(|rules| (rules.source, rules.text))
    };
    assert_eq!(rules(), None, "a folder is none");
    std::os::unix::fs::symlink(folder.path().join("secret"), project.join("CLAUDE.md")).unwrap();
    assert_eq!(rules(), None, "nor is what leads out");
    std::fs::remove_file(project.join("CLAUDE.md")).unwrap();
    std::fs::write(project.join("CLAUDE.md"), "\u{feff}be brief\r\n").unwrap();
    assert_eq!(
        rules(),
        Some(("CLAUDE.md".to_owned(), "be brief".to_owned()))
    );
    std::fs::remove_dir(project.join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("CLAUDE.md", project.join("AGENTS.md")).unwrap();
    assert_eq!(rules().unwrap().0, "AGENTS.md", "a link inside is fine");
    assert!(
        workspace
            .project_rules(&folder.path().join("gone"))
            .is_err()
    );
}

proptest! {
    #[test]
    fn no_change_of_memory_md_touches_another_line(
        old in "(\u{feff})?(## Notes|# T|- a|- b|ü|```|\n|\r\n){0,16}", pick in 0_usize..16,
    ) {
        let disk = MemoryDisk::with([("w/MEMORY.md", old.as_bytes())]);
        let workspace = workspace(&disk);
        let memory = workspace.long_term();
        let texts = || memory.lines().unwrap().into_iter().map(|line| line.text).collect::<Vec<_>>();
        let before = memory.lines().unwrap();
        let Some(line) = before.get(pick).filter(|line| line.text.starts_with("- ")) else { return Ok(()) };
        memory.supersede(noon(), line).unwrap();
        let now = texts();
        prop_assert_eq!(now.len(), before.len());
        for (old, new) in before.iter().zip(&now) {
            if old.number == line.number {
                prop_assert_eq!(new, &format!("- (superseded 2026-02-14) {}", &old.text[2..]));
            } else {
                prop_assert_eq!(new, &old.text);
            }
        }
        let marked = memory.lines().unwrap().remove(pick);
        memory.remove(&marked).unwrap();
        let mut rest: Vec<_> = before.iter().filter(|old| old.number != line.number).map(|old| old.text.clone()).collect();
        if rest.is_empty() && old.starts_with('\u{feff}') {
            rest.push(String::new());
        }
        prop_assert_eq!(texts(), rest);
    }
}
