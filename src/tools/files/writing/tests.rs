use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::tools::files::fixture::Fixture;
use crate::tools::shell::PersonalGit;

#[test]
fn a_write_shows_first_what_it_does_and_says_then_what_it_did() {
    let fixture = Fixture::with(&[("a", "one\ntwo\n")]);
    for (path, content, brief, diff) in [
        (
            "a",
            "one\n2\n",
            "+1 -1",
            "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        ),
        (
            "d/./b",
            "x\n",
            "created, 1 line",
            "--- /dev/null\n+++ d/b\n@@ -0,0 +1 @@\n+x\n",
        ),
    ] {
        let arguments = json!({"path": path, "content": content});
        let detail = Some(Detail::Diff(diff.to_owned()));
        assert_eq!(fixture.preview("write_file", &arguments), detail);
        assert_ne!(fixture.held(path).as_deref(), Some(content));
        let output = fixture.call("write_file", arguments).unwrap();
        assert_eq!(fixture.held(path).as_deref(), Some(content));
        let located = fixture.project.locate(path).unwrap();
        assert_eq!(
            output,
            Output {
                text: format!("{}: {brief}", shown(&located)),
                brief: brief.to_owned(),
                failed: false,
                detail,
                ..Output::default()
            }
        );
    }
    let again = fixture
        .call("write_file", json!({"path": "a", "content": "one\n2\n"}))
        .unwrap();
    assert_eq!(again.brief, "unchanged");
}

#[test]
fn a_write_to_what_runs_later_says_so_whatever_link_leads_there() {
    let fixture = Fixture::with(&[
        (".github/workflows/a.yml", "x\n"),
        ("a", "x\n"),
        ("other/a", "x\n"),
    ]);
    fixture.link("ci", ".github/workflows");
    fixture.link(".gitea", "other");
    fixture.link(".envrc", "other/not-there");
    let writing = Writing::new(fixture.project, fixture.changes);
    for (path, runs_later) in [
        ("a", false),
        ("docs/AGENTS.md", false),
        ("AGENTS.md", true),
        (".envrc", true),
        (".github/workflows/b.yml", true),
        ("ci/a.yml", true),
        (".gitea/workflows/a.yml", true),
        ("docs/../.vscode/tasks.json", true),
        (".cogtrix-hooks/a", true),
    ] {
        let expected = if runs_later {
            Effect::WritesProtected(path.into())
        } else {
            Effect::Writes(path.into())
        };
        assert_eq!(writing.effect(path).unwrap(), expected);
    }
}

#[test]
fn hooks_that_the_persons_own_configuration_of_git_names_run_later() {
    let fixture = Fixture::with(&[
        (".gitconfig", "[core]\nhooksPath = hk\n"),
        ("mine", "[alias]\nx = !tools/x\n"),
        ("tools/x", ""),
    ]);
    let home = fixture.at(".");
    let global = fixture.at("mine").display().to_string();
    let variables = BTreeMap::from([("GIT_CONFIG_GLOBAL".to_owned(), global)]);
    let project = Project::open(&home).unwrap();
    let project = project.with_git(PersonalGit::new(Some(home), &variables));
    let writing = Writing::new(Arc::new(project), fixture.changes);
    for path in ["hk/pre-commit", "mine", "tools/x"] {
        let effect = writing.effect(path).unwrap();
        assert_eq!(effect, Effect::WritesProtected(path.into()));
    }
}

#[test]
fn an_edit_replaces_its_one_place_and_keeps_line_breaks() {
    let fixture = Fixture::with(&[("a", "x\r\ny\r\nx\r\n"), ("empty", "")]);
    fixture.put("latin", b"caf\xe9");
    let edit =
        |old: &str, new: &str, all: bool| json!({"path": "a", "old": old, "new": new, "all": all});
    let arguments = edit("x\ny", "z", false);
    let diff = "--- a\n+++ a\n@@ -1,3 +1,2 @@\n-x\r\n-y\r\n+z\r\n x\r\n";
    assert_eq!(
        fixture.preview("edit_file", &arguments),
        Some(Detail::Diff(diff.to_owned()))
    );
    let output = fixture.call("edit_file", arguments).unwrap();
    assert_eq!(
        (output.text.as_str(), fixture.held("a").as_deref()),
        ("a: +1 -2", Some("z\r\nx\r\n"))
    );
    for (arguments, expected) in [
        (
            edit("y", "", false),
            "a is unchanged: old was not found, nor anything like its first line; read the file again",
        ),
        (
            edit("\n", "", false),
            "a is unchanged: old was found 2 times, starting in lines 1, 2; include more surrounding text, or set all",
        ),
        (
            edit("", "x", false),
            "old must not be empty: name the text to replace, or use write_file",
        ),
        (
            json!({"path": "none", "old": "a", "new": "b"}),
            "none does not exist: create it with write_file",
        ),
        (
            json!({"path": "latin", "old": "a", "new": "b"}),
            "latin is not UTF-8 text and cannot be edited",
        ),
        (
            json!({"path": "empty", "old": "a", "new": "b"}),
            "empty is unchanged: old was not found, nor anything like its first line; read the file again",
        ),
    ] {
        assert_eq!(fixture.preview("edit_file", &arguments), None);
        assert_eq!(fixture.text("edit_file", arguments), expected);
    }
    assert_eq!(fixture.text("edit_file", edit("\n", "", true)), "a: +1 -2");
    assert_eq!(fixture.held("a").as_deref(), Some("zx"));
}

#[cfg(unix)]
#[test]
fn a_write_that_leads_out_or_into_git_is_refused_before_anybody_is_asked() {
    let fixture = Fixture::with(&[(".git/config", "old"), ("d/x", "")]);
    fixture.link("out", "../outside");
    fixture.link("file", "../outside/secret.txt");
    fixture.link("hooks", ".git/hooks");
    fixture.pipe("pipe");
    let outside = "outside the project";
    for (path, expected) in [
        ("../outside/new", outside),
        ("/tmp/new", outside),
        ("d/../../outside/new", outside),
        ("out/new", outside),
        ("file", outside),
        ("a\u{0}", "NUL"),
        (".git/hooks/pre-commit", "is inside .git"),
        (".git/config", "is inside .git"),
        ("hooks/pre-commit", "is inside .git"),
        ("d", "is a folder"),
        ("pipe", "is a pipe"),
        ("d/x/y", "d/x/y"),
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old": "o", "new": "x"})),
        ] {
            assert_eq!(fixture.preview(tool, &arguments), None, "{path}");
            let failure = fixture.call(tool, arguments).unwrap_err();
            assert!(failure.to_string().contains(expected), "{path}: {failure}");
        }
    }
    assert!(fixture.disk.files().is_empty());
    assert_eq!(fixture.held(".git/config").as_deref(), Some("old"));
    assert_eq!(
        std::fs::read_dir(fixture.at("../outside")).unwrap().count(),
        1
    );
}

#[test]
fn what_is_too_large_to_keep_a_copy_of_is_not_changed() {
    let fixture = Fixture::with(&[]);
    fixture.put("large", vec![b'x'; (10 << 20) + 1]);
    let large = "x".repeat((10 << 20) + 1);
    for (tool, arguments) in [
        ("write_file", json!({"path": "large", "content": ""})),
        (
            "edit_file",
            json!({"path": "large", "old": "x", "new": "y", "all": true}),
        ),
        ("write_file", json!({"path": "new", "content": large})),
    ] {
        let said = fixture.text(tool, arguments);
        let end = "is larger than 10.0 MB, too large to save a copy for undo";
        assert!(
            said.starts_with("nothing was written: ") && said.ends_with(end),
            "{said}"
        );
    }
    assert_eq!(fixture.held("new"), None);
    assert_eq!(
        fixture.at("large").metadata().unwrap().len(),
        (10 << 20) + 1
    );
}

#[test]
fn a_call_that_was_cancelled_writes_nothing() {
    let fixture = Fixture::with(&[]);
    fixture.cancel.cancel();
    let failure = fixture
        .call("write_file", json!({"path": "a", "content": ""}))
        .unwrap_err();
    assert_eq!((failure, fixture.held("a")), (Failure::Interrupted, None));
}

#[test]
fn of_two_edits_at_once_none_is_lost() {
    let fixture = Fixture::with(&[("a", "0 1 2 3 4 5 6 7")]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let fixture = &fixture;
            scope.spawn(move || {
                let arguments = json!({"path": "a", "old": number.to_string(), "new": "x"});
                fixture.call("edit_file", arguments).unwrap();
            });
        }
    });
    assert_eq!(fixture.held("a").as_deref(), Some("x x x x x x x x"));
}
