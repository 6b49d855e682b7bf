use serde_json::json;

use crate::tools::Failure;
use crate::tools::files::fixture::{Fixture, SECRET};

#[test]
fn a_folder_is_listed_sorted_with_folders_first_and_without_what_is_ignored() {
    let fixture = Fixture::with(&[
        (".gitignore", "target/\n*.log\n!keep.log\n/top\n"),
        (".git/config", ""),
        ("b.txt", "12345"),
        ("a.log", ""),
        ("keep.log", ""),
        ("top", ""),
        ("src/main.rs", &"x".repeat(1500)),
        ("src/top", ""),
        ("src/.gitignore", "own\n"),
        ("src/own", ""),
        ("src/deep/er/x", ""),
        ("target/debug/x", ""),
        (".github/ci.yml", ""),
    ]);
    for (arguments, expected) in [
        (
            json!({}),
            ".github/\nsrc/\n.gitignore  29 bytes\nb.txt  5 bytes\nkeep.log  0 bytes",
        ),
        (
            json!({"path": "src", "depth": 2}),
            "deep/\n  er/\n.gitignore  4 bytes\nmain.rs  1.4 KB\ntop  0 bytes",
        ),
        // Whoever names a folder wants to see it.
        (json!({"path": "target/debug"}), "x  0 bytes"),
        (
            json!({"path": "src/deep/er/../.."}),
            "deep/\n.gitignore  4 bytes\nmain.rs  1.4 KB\ntop  0 bytes",
        ),
        (json!({"path": "b.txt"}), "b.txt is not a folder"),
        (
            json!({"path": "none"}),
            "none does not exist in the project folder",
        ),
    ] {
        assert_eq!(
            fixture.text("list_directory", arguments.clone()),
            expected,
            "{arguments}"
        );
    }
    std::fs::create_dir(fixture.at("empty")).unwrap();
    let output = fixture
        .call("list_directory", json!({"path": "empty"}))
        .unwrap();
    assert_eq!(
        (output.text.as_str(), output.brief.as_str()),
        ("[empty folder]", "0 entries")
    );
}

#[test]
fn five_hundred_entries_are_shown_and_the_rest_counted() {
    let fixture = Fixture::with(&[]);
    for number in 0..503 {
        fixture.put(&format!("{number:03}"), "");
    }
    let output = fixture.call("list_directory", json!({})).unwrap();
    assert!(
        output
            .text
            .ends_with("499  0 bytes\n[3 more; list a subfolder]")
    );
    assert_eq!(output.brief, "503 entries");
}

#[test]
fn the_rules_of_the_repository_around_the_project_count() {
    let fixture = Fixture::with(&[
        ("../.git/config", ""),
        ("../.gitignore", "made/\n/project/built\n"),
        ("made/x", ""),
        ("built", ""),
        ("a", ""),
    ]);
    assert_eq!(
        fixture.text("list_directory", json!({"depth": 2})),
        "a  0 bytes"
    );
}

#[cfg(unix)]
#[test]
fn links_are_named_and_never_followed_out() {
    let fixture = Fixture::with(&[("d/x", "")]);
    fixture.link("out", "../outside");
    fixture.link("in", "d");
    fixture.pipe("pipe");
    fixture.put("two\nlines", "");
    let text = fixture.text("list_directory", json!({"depth": 3}));
    let expected =
        "d/\n  x  0 bytes\nin -> d\nout -> ../outside\npipe  (special file)\ntwo\\nlines  0 bytes";
    assert_eq!(text, expected);
    assert_eq!(
        fixture.text("list_directory", json!({"path": "in"})),
        "x  0 bytes"
    );
    for path in ["out", "..", "/", "d/../..", "../outside"] {
        let failure = fixture
            .call("list_directory", json!({"path": path}))
            .unwrap_err();
        assert!(!failure.to_string().contains("secret"), "{path}");
        assert!(
            failure.to_string().contains("outside the project"),
            "{path}: {failure}"
        );
    }
    assert!(!text.contains(SECRET));
}

#[test]
fn a_depth_out_of_range_is_refused() {
    let fixture = Fixture::with(&[]);
    for depth in [0, 11] {
        let failure = fixture
            .call("list_directory", json!({"depth": depth}))
            .unwrap_err();
        assert_eq!(
            failure,
            Failure::Arguments("depth must be 1 to 10".to_owned())
        );
    }
}
