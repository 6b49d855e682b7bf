//! The six operations in a real folder: what they do, what they refuse, and that nothing leads out.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::files::{Disk, LocalDisk};
use crate::long_term::notes::WorkspaceSettings;

struct Fixture {
    folder: TempDir,
    workspace: Workspace,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("w");
        let workspace = Workspace::new(Arc::new(LocalDisk), root, WorkspaceSettings::default());
        Self { folder, workspace }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("w").join(name)
    }

    fn run(&self, operation: &Operation) -> Result<String, String> {
        self.workspace
            .memories(operation)
            .map_err(|error| error.to_string())
    }

    fn make(&self, path: &str, text: &str) {
        self.run(&create(path, text)).unwrap();
    }
}

fn create(path: &str, text: &str) -> Operation {
    Operation::Create {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

fn view(path: &str) -> Operation {
    Operation::View {
        path: path.to_owned(),
        range: None,
    }
}

fn delete(path: &str) -> Operation {
    Operation::Delete {
        path: path.to_owned(),
    }
}

fn rename(from: &str, to: &str) -> Operation {
    Operation::Rename {
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

fn replace(path: &str, old: &str, new: &str) -> Operation {
    Operation::StrReplace {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    }
}

fn insert(path: &str, line: usize, text: &str) -> Operation {
    Operation::Insert {
        path: path.to_owned(),
        line,
        text: text.to_owned(),
    }
}

#[test]
fn the_six_operations_do_what_they_say() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.run(&view("/memories")).unwrap(),
        "/memories with sizes in bytes:\n(empty)"
    );
    assert!(!fixture.at("").exists(), "looking makes nothing");
    fixture.make("/memories/a/b.md", "one\ntwo\n");
    fixture
        .run(&replace("/memories/a/b.md", "two", "2"))
        .unwrap();
    fixture.run(&insert("/memories/a/b.md", 1, "and")).unwrap();
    assert_eq!(
        fixture.run(&view("/memories/a/b.md")).unwrap(),
        "     1\tone\n     2\tand\n     3\t2"
    );
    fixture
        .run(&rename("/memories/a/b.md", "/memories/c.md"))
        .unwrap();
    fixture.make("/memories/a/deep/x.md", "");
    fixture.make("/memories/a/deep/er/y.md", "");
    Disk::replace(&LocalDisk, &fixture.at("memories/.hidden"), "x".as_ref()).unwrap();
    let listed = fixture.run(&view("/memories")).unwrap();
    assert_eq!(
        listed,
        "/memories with sizes in bytes:\n-\t/memories/a/\n-\t/memories/a/deep/\n10\t/memories/c.md"
    );
    fixture.run(&delete("/memories/a")).unwrap();
    fixture.run(&delete("/memories/c.md")).unwrap();
    assert!(
        fixture
            .run(&view("/memories"))
            .unwrap()
            .ends_with("(empty)")
    );
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let fixture = Fixture::new();
    fixture.make("/memories/a.md", "x\nx\n");
    fixture.make("/memories/d/b.md", "b");
    Disk::replace(&LocalDisk, &fixture.at("memories/bytes"), b"\xff".as_ref()).unwrap();
    Disk::replace(
        &LocalDisk,
        &fixture.at("memories/large"),
        vec![b'x'; (1 << 20) + 1].as_ref(),
    )
    .unwrap();
    let range = |first, last| Operation::View {
        path: "/memories/a.md".to_owned(),
        range: Some((first, last)),
    };
    for (operation, expected) in [
        (create("/memories/a.md", "new"), "already exists"),
        (create("/memories/a.md/x", "new"), "is not a folder"),
        (create("/memories", "x"), "is a folder"),
        (
            create("/memories/new", &"x".repeat((1 << 20) + 1)),
            "larger than 1 MiB",
        ),
        (view("/memories/none"), "does not exist"),
        (view("/memories/bytes"), "not UTF-8"),
        (view("/memories/large"), "larger than 1048576"),
        (range(3, 4), "view_range must be"),
        (
            replace("/memories/a.md", "x", "y"),
            "2 times, on lines 1, 2",
        ),
        (replace("/memories/a.md", "", "y"), "must not be empty"),
        (replace("/memories/a.md", "z", "y"), "was not found"),
        (replace("/memories/d", "b", "y"), "is a folder"),
        (insert("/memories/a.md", 3, "y"), "from 0 to 2"),
        (delete("/memories"), "cannot be deleted"),
        (delete("/memories/"), "cannot be deleted"),
        (delete("/memories/none"), "does not exist"),
        (rename("/memories", "/memories/x"), "cannot be renamed"),
        (
            rename("/memories/a.md", "/memories/d/b.md"),
            "already exists",
        ),
        (rename("/memories/d", "/memories/d/e"), "into itself"),
        (
            rename("/memories/a.md", "/elsewhere"),
            "does not begin with /memories",
        ),
    ] {
        let told = fixture.run(&operation).unwrap_err();
        assert!(told.contains(expected), "{operation:?}: {told}");
    }
    assert_eq!(
        std::fs::read(fixture.at("memories/a.md")).unwrap(),
        b"x\nx\n"
    );
    assert_eq!(std::fs::read(fixture.at("memories/d/b.md")).unwrap(), b"b");
    assert!(!fixture.at("memories/new").exists());
}

#[cfg(unix)]
#[test]
fn links_are_neither_shown_nor_followed_and_go_without_what_they_name() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new();
    fixture.make("/memories/a.md", "a");
    let out = fixture.folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    Disk::replace(&LocalDisk, &out.join("secret"), "s".as_ref()).unwrap();
    symlink(&out, fixture.at("memories/way")).unwrap();
    symlink(out.join("secret"), fixture.at("memories/link")).unwrap();
    for operation in [
        view("/memories/way"),
        view("/memories/way/secret"),
        view("/memories/link"),
        create("/memories/way/new", "x"),
        replace("/memories/link", "s", "x"),
        insert("/memories/link", 0, "x"),
        rename("/memories/a.md", "/memories/way/a.md"),
        rename("/memories/link", "/memories/b"),
        delete("/memories/way/secret"),
    ] {
        assert!(fixture.run(&operation).is_err(), "{operation:?}");
    }
    let listed = fixture.run(&view("/memories")).unwrap();
    assert!(
        !listed.contains("way") && !listed.contains("link"),
        "{listed}"
    );
    assert_eq!(fixture.workspace.memory_files().unwrap(), ["memories/a.md"]);
    fixture.run(&delete("/memories/way")).unwrap();
    assert_eq!(std::fs::read(out.join("secret")).unwrap(), b"s");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
    std::fs::remove_dir_all(fixture.at("memories")).unwrap();
    symlink(&out, fixture.at("memories")).unwrap();
    assert!(fixture.run(&create("/memories/x", "x")).is_err());
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn observers_hear_of_deletions_and_renames_too() {
    let fixture = Fixture::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    fixture.workspace.observe(Arc::new(move |written| {
        ears.lock().unwrap().push(written.clone());
    }));
    fixture.make("/memories/a.md", "a");
    fixture
        .run(&rename("/memories/a.md", "/memories/b.md"))
        .unwrap();
    fixture.run(&delete("/memories/b.md")).unwrap();
    let heard = heard.lock().unwrap();
    let seen: Vec<_> = heard
        .iter()
        .map(|it| (it.source.as_str(), it.change.clone()))
        .collect();
    assert_eq!(
        seen,
        [
            ("memories/a.md", Change::Added("a".to_owned())),
            ("memories/a.md", Change::Removed),
            ("memories/b.md", Change::Replaced),
            ("memories/b.md", Change::Removed),
        ]
    );
}

#[test]
fn what_a_search_reads_is_listed_and_read_by_the_same_name() {
    let fixture = Fixture::new();
    assert!(fixture.workspace.memory_files().unwrap().is_empty());
    fixture.make("/memories/d/e/f/a.md", "deep");
    Disk::replace(
        &LocalDisk,
        &fixture.at("memories/large"),
        vec![b'x'; (1 << 20) + 1].as_ref(),
    )
    .unwrap();
    let files = fixture.workspace.memory_files().unwrap();
    assert_eq!(files, ["memories/d/e/f/a.md"]);
    assert_eq!(fixture.workspace.memory_text(&files[0]).unwrap(), "deep");
    assert!(fixture.workspace.memory_text("MEMORY.md").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn whatever_a_path_says_nothing_outside_is_made(
        parts in prop::collection::vec(
            prop_oneof![Just(".."), Just("."), Just(""), Just("memories"), Just("%2e%2e"), Just("..\\"), Just("a"), Just("MEMORY.md")],
            0..6,
        ),
    ) {
        let fixture = Fixture::new();
        for start in ["/memories/", "/", "", "/Memories/"] {
            let path = format!("{start}{}", parts.join("/"));
            drop(fixture.run(&create(&path, "x")));
            drop(fixture.run(&rename(&path, "/memories/z")));
            drop(fixture.run(&rename("/memories/z", &path)));
        }
        let outside: Vec<_> = std::fs::read_dir(fixture.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        prop_assert!(outside.iter().all(|name| name == "w"), "{outside:?}");
        if fixture.at("").exists() {
            let inside: Vec<_> = std::fs::read_dir(fixture.at("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            prop_assert!(inside.iter().all(|name| name == "memories"), "{inside:?}");
        }
    }
}
