//! SESSION-STATE.md and working-buffer.md: what is written, what leaves when they are full.

use super::*;

#[test]
fn captured_lines_stand_under_one_title_with_time_and_kind() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    state
        .append(noon(), &[("preference", "tabs,\n## not spaces")], 100_000)
        .unwrap();
    state
        .append(noon(), &[("remember", "the gate")], 100_000)
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
fn what_was_captured_again_is_read_where_it_came_last_and_what_a_person_wrote_stays() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    let add = |what: &str| {
        state
            .append(noon(), &[("preference", what)], 100_000)
            .unwrap();
    };
    for what in ["tea", "coffee", "tea"] {
        add(what);
    }
    let by_hand = "- [mine] **preference**: tea\n- [mine] **preference**: tea\n- tea\n\n- tea";
    let before = text(&disk, STATE) + by_hand;
    disk.put(PathBuf::from("w").join(STATE), before.as_bytes());
    let read = state.read().unwrap().unwrap().text;
    let ours = "- [2026-02-14T12:00:00+00:00] **preference**: ";
    assert!(
        read.ends_with(&format!("{ours}coffee\n{ours}tea\n{by_hand}")),
        "{read}"
    );
    assert_eq!(read.matches("coffee").count(), 1);
    assert_eq!(text(&disk, STATE), before, "the file stays as it is");
}

#[test]
fn a_fork_gets_what_was_captured_until_its_turn_and_the_original_keeps_all() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    let later = at("2026-02-14T12:00:01Z");
    for (at, what) in [(noon(), "tabs"), (later, "spaces")] {
        state.append(at, &[("preference", what)], 100_000).unwrap();
    }
    let before = text(&disk, STATE) + "- [2026-03-01] by hand\n";
    disk.put(PathBuf::from("w").join(STATE), before.as_bytes());
    let fork: SessionName = "fork".parse().unwrap();
    let copied = |from: &SessionName, until| {
        workspace.fork_session(from, &fork, until).unwrap();
        text(&disk, "sessions/fork/SESSION-STATE.md")
    };
    let cut = copied(&session(), Some(noon()));
    assert!(cut.contains("tabs") && cut.contains("by hand"), "{cut}");
    assert!(!cut.contains("spaces"), "{cut}");
    assert_eq!(copied(&session(), None), before);
    assert_eq!(text(&disk, STATE), before);
    let files = disk.files();
    let nobody = "nobody".parse().unwrap();
    workspace.fork_session(&nobody, &session(), None).unwrap();
    assert_eq!(disk.files(), files, "nothing was captured there");
}

#[test]
fn a_full_session_state_loses_its_oldest_lines_and_nothing_a_person_wrote() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let state = workspace.session(&session()).state();
    for n in 0..20 {
        state
            .append(noon(), &[("fact", &format!("number {n}."))], 10_000)
            .unwrap();
    }
    let by_hand = format!("by hand, first\n{}by hand", text(&disk, STATE));
    disk.put(format!("w/{STATE}"), by_hand.as_bytes());
    state
        .append(noon(), &[("fact", "the last")], by_hand.len())
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
            .append(noon(), &[("fact", &format!("more {n}"))], 2_000)
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
            .append(noon(), &[("fact", &format!("number {n}"))], 100_000)
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
    notes
        .state()
        .append(noon(), &[("fact", "x")], 100_000)
        .unwrap();
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
fn of_the_closed_buffers_the_newest_ten_are_kept() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let folder = "w/sessions/work";
    let others = [
        "working-buffer-mine.md",
        "working-buffers-20200101T000000Z.md",
    ];
    for other in others {
        disk.put(format!("{folder}/{other}"), b"mine");
    }
    let buffer = workspace.session(&session()).buffer();
    let close = |at: Timestamp| {
        buffer.append(at, "hi", "ho").unwrap();
        assert!(buffer.close(at).unwrap());
    };
    for hour in 0..12 {
        close(at(&format!("2026-02-14T{hour:02}:00:00Z")));
    }
    // Of the same second, more than there are digits for.
    (0..3).for_each(|_| close(at("2026-02-14T11:00:00Z")));
    let mut left: Vec<String> = disk
        .files()
        .into_keys()
        .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    left.retain(|file| !others.contains(&file.as_str()));
    let expected: Vec<String> = (5..12)
        .map(|hour| format!("working-buffer-20260214T{hour:02}0000Z.md"))
        .chain((2..5).map(|n| format!("working-buffer-20260214T110000Z-{n}.md")))
        .collect();
    let mut expected = expected;
    expected.sort();
    assert_eq!(left, expected);
    for other in others {
        assert_eq!(text(&disk, &format!("sessions/work/{other}")), "mine");
    }
}
