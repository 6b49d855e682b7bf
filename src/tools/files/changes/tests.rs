use std::path::Path;

use serde_json::json;

use super::*;
use crate::files::LocalDisk;
use crate::tools::files::fixture::{Fixture, session};

fn write(fixture: &Fixture, path: &str, content: &str) {
    let arguments = json!({"path": path, "content": content});
    fixture.call("write_file", arguments).unwrap();
}

fn restored(fixture: &Fixture, turn: u32) -> Restored {
    let restored = fixture
        .changes
        .restore(&fixture.project, &session(), TurnId(turn));
    restored.unwrap()
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn a_turn_is_taken_back_to_what_was_there_before_its_first_change() {
    let mut fixture = Fixture::with(&[("a", "a0"), ("b", "b0")]);
    write(&fixture, "a", "a1");
    fixture.turn = TurnId(2);
    write(&fixture, "a", "a2");
    write(&fixture, "a", "a3");
    write(&fixture, "new/c", "c");
    assert_eq!(
        restored(&fixture, 2),
        Restored {
            back: paths(&["a"]),
            removed: paths(&["new/c"]),
            kept: Vec::new(),
        }
    );
    assert_eq!(
        (fixture.held("a").as_deref(), fixture.held("new/c")),
        (Some("a1"), None)
    );
    assert_eq!(restored(&fixture, 2), Restored::default());
    assert_eq!(restored(&fixture, 1).back, paths(&["a"]));
    assert_eq!(fixture.held("a").as_deref(), Some("a0"));
    assert_eq!(restored(&fixture, 7), Restored::default());
}

#[test]
fn what_somebody_changed_since_stays() {
    let fixture = Fixture::with(&[("a", "a0"), ("b", "b0"), ("c", "c0")]);
    for path in ["a", "b", "c", "d"] {
        write(&fixture, path, "by the tool");
    }
    fixture.put("a", "by hand");
    std::fs::remove_file(fixture.at("b")).unwrap();
    fixture.put("d", "by hand");
    let changed = "it was changed since".to_owned();
    assert_eq!(
        restored(&fixture, 1),
        Restored {
            back: paths(&["c"]),
            removed: Vec::new(),
            kept: vec![
                ("a".into(), changed.clone()),
                ("b".into(), "it was removed since".to_owned()),
                ("d".into(), changed),
            ],
        }
    );
    let held = ["a", "b", "c", "d"].map(|name| fixture.held(name));
    let held = held.each_ref().map(Option::as_deref);
    assert_eq!(held, [Some("by hand"), None, Some("c0"), Some("by hand")]);
}

#[test]
fn what_somebody_wrote_between_two_changes_of_a_turn_is_kept_and_the_file_stays() {
    let fixture = Fixture::with(&[("a", "a0"), ("b", "b0"), ("c", "c0")]);
    for path in ["a", "b", "c"] {
        write(&fixture, path, "by the tool");
    }
    fixture.put("a", "by hand");
    std::fs::remove_file(fixture.at("b")).unwrap();
    fixture.put("c", "c0");
    for path in ["a", "b", "c"] {
        write(&fixture, path, "by the tool again");
    }
    let restored = restored(&fixture, 1);
    assert_eq!(restored.back, paths(&["c"]), "it held what is kept already");
    let said: Vec<_> = restored.kept.iter().map(|(_, why)| why.as_str()).collect();
    let copy = Path::new("changes/work").join(digest(b"by hand"));
    assert_eq!(
        said,
        [
            &*format!(
                "it was changed from outside between two changes; that version is in {}",
                copy.display()
            ),
            "it was removed between two changes",
        ]
    );
    assert_eq!(fixture.disk.read(&copy).unwrap(), b"by hand");
    for path in ["a", "b"] {
        assert_eq!(fixture.held(path).as_deref(), Some("by the tool again"));
    }
}

#[test]
fn a_turn_in_another_project_is_neither_taken_back_nor_compared_here() {
    let fixture = Fixture::with(&[("a", "a0"), ("other/a", "by the tool")]);
    write(&fixture, "a", "by the tool");
    let other = Project::open(&fixture.at("other")).unwrap();
    let here = fixture.project.path().display();
    let restored = fixture.changes.restore(&other, &session(), TurnId(1));
    assert_eq!(
        restored.unwrap(),
        Restored {
            kept: vec![("a".into(), format!("it was changed in {here}"))],
            ..Restored::default()
        }
    );
    assert_eq!(fixture.held("other/a").as_deref(), Some("by the tool"));
    let diff = fixture.changes.diff(&other, &session(), &[TurnId(1)]);
    assert_eq!(diff.unwrap(), format!("a: it was changed in {here}\n"));
}

#[cfg(unix)]
#[test]
fn a_file_has_one_copy_by_whatever_link_it_is_named() {
    let fixture = Fixture::with(&[("d/a", "a0")]);
    fixture.link("link", "d");
    write(&fixture, "link/a", "a1");
    write(&fixture, "d/a", "a2");
    assert_eq!(restored(&fixture, 1).back, paths(&["d/a"]));
    assert_eq!(fixture.held("d/a").as_deref(), Some("a0"));
}

#[test]
fn a_diff_goes_from_before_the_oldest_turn_to_now() {
    let mut fixture = Fixture::with(&[("a", "one\n")]);
    write(&fixture, "a", "two\n");
    fixture.turn = TurnId(2);
    write(&fixture, "a", "three\n");
    write(&fixture, "b", "new\n");
    fixture.put("a", "four\n");
    for (turns, expected) in [
        (
            &[2, 1][..],
            "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+four\n--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+new\n",
        ),
        (&[1], "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+four\n"),
        (&[3], ""),
    ] {
        let turns: Vec<TurnId> = turns.iter().copied().map(TurnId).collect();
        let diff = fixture.changes.diff(&fixture.project, &session(), &turns);
        assert_eq!(diff.unwrap(), expected);
    }
}

#[test]
fn without_a_copy_nothing_is_changed() {
    let fixture = Fixture::with(&[("a", "a0")]);
    fixture.disk.make_read_only();
    let said = fixture.text("write_file", json!({"path": "a", "content": "x"}));
    assert!(
        said.starts_with("a is unchanged, because no copy could be saved for undo: changes/work/"),
        "{said}"
    );
    assert_eq!(fixture.held("a").as_deref(), Some("a0"));
}

#[test]
fn a_torn_line_was_never_acted_on_and_any_other_damage_is_said() {
    let fixture = Fixture::with(&[("a", "a0"), ("b", "b0")]);
    write(&fixture, "a", "a1");
    let index = Path::new("changes/work/1.jsonl");
    let mut bytes = fixture.disk.read(index).unwrap();
    bytes.extend_from_slice(b"{\"step\":\"bef");
    fixture.disk.put(index, &bytes);
    write(&fixture, "b", "b1");
    assert_eq!(restored(&fixture, 1).back, paths(&["a", "b"]));
    fixture.disk.put(index, b"{}\n");
    let error = fixture.changes.of(&session(), TurnId(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "changes/work/1.jsonl is damaged in line 1"
    );
}

#[test]
fn a_copy_that_was_tampered_with_is_not_put_back_and_no_index_leads_out() {
    let fixture = Fixture::with(&[("a", "a0")]);
    write(&fixture, "a", "a1");
    let copy = Path::new("changes/work").join(digest(b"a0"));
    fixture.disk.put(&copy, b"other");
    let (path, why) = restored(&fixture, 1).kept.remove(0);
    assert_eq!(path, Path::new("a"));
    assert!(
        why.ends_with("does not match its name, a checksum"),
        "{why}"
    );
    assert_eq!(fixture.held("a").as_deref(), Some("a1"));

    let secret = digest(crate::tools::files::fixture::SECRET.as_bytes());
    let lines = ["before", "after"].map(|step| {
        let content = (step == "after").then_some(&secret);
        format!(
            "{}\n",
            json!({
                "step": step,
                "project": fixture.project.path(),
                "path": "../outside/secret.txt",
                "content": content,
            })
        )
    });
    fixture
        .disk
        .put("changes/work/1.jsonl", lines.concat().as_bytes());
    assert_eq!(restored(&fixture, 1).kept.len(), 1);
    assert!(fixture.held("../outside/secret.txt").is_some());
}

#[cfg(unix)]
#[test]
fn copies_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let changes = Changes::new(folder.path().join("changes"), Arc::new(LocalDisk));
    let session: SessionName = "s".parse().unwrap();
    let (project, path) = (Project::open(folder.path()).unwrap(), Path::new("a"));
    changes
        .before(&project, &session, TurnId(1), path, Some(b"x"))
        .unwrap();
    changes
        .after(&project, &session, TurnId(1), path, b"y")
        .unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let kept = folder.path().join("changes/s");
    assert_eq!(mode(&kept), 0o700);
    for name in ["1.jsonl", &digest(b"x")] {
        assert_eq!(mode(&kept.join(name)), 0o600);
    }
}
