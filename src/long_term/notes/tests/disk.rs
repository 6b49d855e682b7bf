//! What fails, who is told, and what two processes do to each other.

use super::*;

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
        state.append(noon(), &[("fact", "x")], 100_000),
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
fn what_a_hand_saves_between_our_look_and_our_write_stays() {
    let disk = MemoryDisk::with([("w/MEMORY.md", b"# Mine\n" as &[u8])]);
    let workspace = workspace(&disk);
    disk.save_before_replacing("w/MEMORY.md", b"# Mine\n\n- by hand\n");
    disk.save_before_replacing("w/MEMORY.md", b"# Mine\n\n- by hand, again\n");
    add(&workspace.long_term(), "**a**: b").unwrap();
    let whole = text(&disk, "MEMORY.md");
    assert!(whole.contains("- by hand, again\n"), "{whole}");
    assert_eq!(whole.matches("- **a**: b\n").count(), 1, "{whole}");
    // The other files too, and those that are begun.
    let day = "memory/2026-02-14.md";
    for file in [STATE, day] {
        disk.save_before_replacing(format!("w/{file}"), b"by hand\n");
    }
    let state = workspace.session(&session()).state();
    state.append(noon(), &[("fact", "x")], 100_000).unwrap();
    let settings = DailySettings::default();
    let daily = workspace.daily();
    daily.exchange(noon(), "x", "y", &settings).unwrap();
    for file in [STATE, day] {
        let whole = text(&disk, file);
        let is_kept = whole.starts_with("by hand\n") && whole.contains('x');
        assert!(is_kept, "{whole}");
    }
}

#[test]
fn a_hand_that_never_rests_keeps_its_file() {
    let disk = MemoryDisk::default();
    for n in 0..100 {
        disk.save_before_replacing("w/MEMORY.md", format!("- {n}\n").as_bytes());
    }
    let workspace = workspace(&disk);
    assert!(add(&workspace.long_term(), "x").is_err());
    assert!(text(&disk, "MEMORY.md").starts_with("- "));
    assert!(!text(&disk, "MEMORY.md").contains('x'));
}

#[cfg(unix)]
#[test]
fn nothing_is_made_behind_a_link_and_nothing_read_or_written_outside() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("w"), folder.path().join("outside"));
    for folder in [root.join("memory"), outside.clone()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let [key, shell] = ["key", "bashrc"].map(|name| outside.join(name));
    for file in [&key, &shell] {
        LocalDisk.replace(file, b"PRIVATE").unwrap();
    }
    symlink("later/M.md", root.join("MEMORY.md")).unwrap();
    symlink("../outside/key", root.join("USER.md")).unwrap();
    symlink(&shell, root.join("memory/2026-02-14.md")).unwrap();
    symlink(outside.join("state"), root.join("sessions")).unwrap();
    let rooted = RootedDisk::new([(root.clone(), "memory.path")]);
    let workspace = Workspace::new(Arc::new(rooted), root, WorkspaceSettings::default());
    let settings = DailySettings::default();
    let state = workspace.session(&session()).state();
    for refused in [
        add(&workspace.long_term(), "**a**: b").map(drop),
        workspace
            .daily()
            .exchange(noon(), "a", "b", &settings)
            .map(drop),
        state.append(noon(), &[("fact", "x")], 100_000),
    ] {
        let why = crate::hint::chain(&refused.unwrap_err());
        assert!(why.contains(" link "), "{why}");
    }
    let identity = workspace.identity();
    assert!(identity.files.is_empty(), "{identity:?}");
    let why = crate::hint::chain(&identity.problems[0]);
    assert!(
        why.contains("USER.md is a link that points outside"),
        "{why}"
    );
    assert!(why.contains("memory.path"), "{why}");
    for file in [&key, &shell] {
        assert_eq!(LocalDisk.read(file).unwrap(), b"PRIVATE");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 2);
}

#[test]
fn observers_hear_of_each_write_and_one_that_panics_stops_nothing() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    workspace.observe(Arc::new(|_| panic!("a bad observer")));
    workspace.observe(Arc::new(move |written| {
        ears.lock().unwrap().push(written.clone());
    }));
    let notes = workspace.session(&session());
    notes
        .state()
        .append(noon(), &[("fact", "x")], 100_000)
        .unwrap();
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
        notes
            .state()
            .append(noon(), &[("fact", "new")], 100_000)
            .is_ok(),
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
    for writer in writers {
        writer.join().unwrap();
    }
    let lines = open().long_term().lines().unwrap();
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.text.starts_with("- **w"))
            .count(),
        20
    );
}
