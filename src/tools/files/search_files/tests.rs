use serde_json::json;

use super::*;
use crate::tools::Text;
use crate::tools::files::fixture::{Fixture, RESULT_CHARS, SECRET};

#[test]
fn matches_come_grouped_by_file_with_their_lines() {
    let fixture = Fixture::with(&[
        (".gitignore", "built/\n"),
        ("a.rs", "fn one() {}\nlet x;\nfn two() {}\n"),
        ("src/b.rs", "// Fn\r\nfn three() {}\r\n"),
        ("src/c.md", "fn in prose"),
        ("built/d.rs", "fn built() {}"),
        (".hidden/e.rs", "fn hidden() {}"),
    ]);
    fixture.put("binary.rs", b"\0fn binary() {}\n");
    for (arguments, expected) in [
        (
            json!({"pattern": r"fn \w+\("}),
            "src/b.rs\n2:fn three() {}\n\na.rs\n1:fn one() {}\n3:fn two() {}",
        ),
        (
            json!({"pattern": "fn", "glob": "*.md"}),
            "src/c.md\n1:fn in prose",
        ),
        (
            json!({"pattern": "fn", "glob": "src/*.rs"}),
            "src/b.rs\n2:fn three() {}",
        ),
        (
            json!({"pattern": "fn", "glob": "!*.rs"}),
            "src/c.md\n1:fn in prose",
        ),
        (
            json!({"pattern": "fn three", "path": "src"}),
            "src/b.rs\n2:fn three() {}",
        ),
        (
            json!({"pattern": "x;$", "path": "./a.rs"}),
            "a.rs\n2:let x;",
        ),
        (
            json!({"pattern": r"\{\}$", "path": "src"}),
            "src/b.rs\n2:fn three() {}",
        ),
        (
            json!({"pattern": "^// fn", "case": "insensitive", "context": 1}),
            "src/b.rs\n1:// Fn\n2-fn three() {}",
        ),
        (
            json!({"pattern": "built", "path": "built"}),
            "built/d.rs\n1:fn built() {}",
        ),
        (json!({"pattern": "nowhere"}), "[no matches]"),
        (
            json!({"pattern": "x", "path": "none"}),
            "none does not exist in the project folder",
        ),
    ] {
        assert_eq!(
            fixture.text("search_files", arguments.clone()),
            expected,
            "{arguments}"
        );
    }
    let output = fixture
        .call("search_files", json!({"pattern": r"fn \w+\("}))
        .unwrap();
    assert_eq!(output.brief, "3 matches in 2 files");
}

#[test]
fn there_is_an_end_to_matches() {
    let fixture = Fixture::with(&[("a", &"x\n".repeat(150)), ("b", &"x\n".repeat(150))]);
    let output = fixture
        .call("search_files", json!({"pattern": "x"}))
        .unwrap();
    assert_eq!(output.brief, "200 matches in 2 files");
    let end = "50:x\n[there may be more: narrow the pattern, path or glob]";
    assert!(output.text.ends_with(end));
}

#[test]
fn matches_that_find_no_room_are_counted() {
    let line = format!("x{}\n", "y".repeat(99));
    let fixture = Fixture::with(&[
        ("a", &line.repeat(60)),
        ("b", &line.repeat(60)),
        ("c", "x\n"),
    ]);
    for context in [0, 3] {
        let arguments = json!({"pattern": "x", "context": context});
        let output = fixture.call("search_files", arguments).unwrap();
        assert_eq!(output.brief, "121 matches in 3 files");
        assert_eq!(output.kind, Text::Content);
        let end = "\n[… and 30 more: narrow the pattern, path or glob]";
        assert!(output.text.ends_with(end), "{}", output.text);
        assert_eq!(output.text.matches(":x").count(), 121 - 30);
        assert!(output.text.chars().count() <= RESULT_CHARS);
    }
    fixture.put("d", line.repeat(200));
    let text = fixture.text("search_files", json!({"pattern": "x"}));
    assert!(
        text.ends_with("more: narrow the pattern, path or glob]")
            && text.contains("[… and at least ")
    );
}

#[test]
fn a_pattern_that_makes_no_sense_is_refused() {
    let fixture = Fixture::with(&[]);
    for (arguments, expected) in [
        (json!({"pattern": "a("}), "bad pattern: "),
        (json!({"pattern": "a\\nb"}), "bad pattern: "),
        (json!({"pattern": ""}), "pattern must not be empty"),
        (json!({"pattern": "a", "glob": "a["}), "bad glob: "),
        (
            json!({"pattern": "a", "context": 11}),
            "context must be at most 10",
        ),
        (
            json!({"pattern": "a", "case": "loud"}),
            "unknown variant `loud`",
        ),
        (
            json!({"pattern": "a", "path": "../outside"}),
            "outside the project folder",
        ),
    ] {
        match fixture.call("search_files", arguments) {
            Err(Failure::Arguments(why)) => assert!(why.contains(expected), "{why}"),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn a_search_follows_no_link_and_waits_for_no_pipe() {
    let fixture = Fixture::with(&[("a", "inside")]);
    fixture.link("out", "../outside");
    fixture.link("file", "../outside/secret.txt");
    fixture.link("in", "a");
    fixture.pipe("pipe");
    let search = |path| {
        fixture.text(
            "search_files",
            json!({"pattern": "secret|inside", "path": path}),
        )
    };
    assert_eq!(search("."), "a\n1:inside");
    assert_eq!(search("in"), "in\n1:inside");
    for path in ["out", "file", "out/secret.txt", "pipe"] {
        let said = search(path);
        assert!(
            !said.contains(SECRET) && said.contains(' '),
            "{path}: {said}"
        );
    }
}

/// A folder is swapped for a link that leads out while it is searched.
#[cfg(target_os = "linux")]
#[test]
fn a_link_swapped_in_meanwhile_shows_nothing_from_outside() {
    let fixture = Fixture::with(&[("way/secret.txt", "inside-secret")]);
    fixture.link(".other", "../outside");
    fixture.while_swapped("way", ".other", || {
        for path in [".", "way"].repeat(300) {
            let arguments = json!({"pattern": "secret", "path": path});
            let said = fixture.text("search_files", arguments);
            assert!(!said.contains(SECRET), "{said}");
        }
    });
    let said = fixture.text("search_files", json!({"pattern": "secret"}));
    assert_eq!(said, "way/secret.txt\n1:inside-secret");
}

#[test]
fn a_search_ends_with_its_call() {
    let fixture = Fixture::with(&[("a", "x")]);
    let stopped = CancellationToken::new();
    stopped.cancel();
    let search = Search::new(matcher("x", false).unwrap(), 0, 1_000);
    let glob = chosen(None).unwrap();
    let found = run(&fixture.project, Path::new("."), &glob, search, &stopped).unwrap();
    assert!(found.is_short && found.n_matches == 0);
    fixture.cancel.cancel();
    let failure = fixture
        .call("search_files", json!({"pattern": "x"}))
        .unwrap_err();
    assert_eq!(failure, Failure::Interrupted);
}
