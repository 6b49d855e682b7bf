use serde_json::json;

use super::*;
use crate::context::ResultPolicy;
use crate::tools::Text;
use crate::tools::files::fixture::{Fixture, RESULT_CHARS, SECRET};
use crate::tools::shape::shaped;

#[test]
fn a_file_comes_as_numbered_lines_with_a_note_of_what_is_odd() {
    let fixture = Fixture::with(&[
        ("a", "one\ntwo\n"),
        ("no end", "one"),
        ("empty", ""),
        ("MZ.txt", "MZ is a text\n"),
    ]);
    fixture.put("image", b"\x89PNG\r\n\x1a\n");
    fixture.put("zeros", [0; 2048]);
    fixture.put("latin", b"caf\xe9\n");
    for (path, range, expected) in [
        ("a", None, "1→one\n2→two"),
        ("./x/../a", Some("2"), "2→two"),
        ("a", Some("-1"), "1→one"),
        ("no end", None, "1→one\n[no line break at the end]"),
        ("empty", None, "[empty file]"),
        ("MZ.txt", None, "1→MZ is a text"),
        ("image", None, "[not text: PNG image, 8 bytes]"),
        ("zeros", None, "[not text: binary, 2.0 KB]"),
        (
            "latin",
            None,
            "1→caf�\n[not UTF-8: 1 line shown with � for invalid bytes]",
        ),
        ("a", Some("3-"), "a has only 2 lines"),
        ("empty", Some("2"), "empty has only 0 lines"),
        ("none", None, "none does not exist in the project folder"),
        (".", None, ". is a folder, not a file; use list_directory"),
    ] {
        let text = fixture.text("read_file", json!({"path": path, "range": range}));
        assert_eq!(text, expected, "{path} {range:?}");
    }
    let output = fixture.call("read_file", json!({"path": "./a"})).unwrap();
    assert_eq!(output.brief, "2 lines");
}

#[test]
fn a_long_file_says_how_to_have_the_rest() {
    let line = format!("error: {}\n", "x".repeat(42));
    let fixture = Fixture::with(&[("long", &line.repeat(400))]);
    for (range, note) in [
        (None, "x\n[lines 1-177 of 400; range \"178-\" has the next]"),
        (
            Some("178-"),
            "x\n[lines 178-352 of 400; range \"353-\" has the next]",
        ),
        (Some("353-"), "x"),
    ] {
        let arguments = json!({"path": "long", "range": range});
        let output = fixture.call("read_file", arguments).unwrap();
        assert!(output.text.ends_with(note), "{}", output.text);
        // What history keeps is the page as it is.
        let (text, kind) = (&output.text, output.kind);
        let kept = shaped(text, kind, false, ResultPolicy::Smart, RESULT_CHARS);
        assert_eq!(kept, *text);
        assert_eq!(kind, Text::Content);
    }
}

#[test]
fn a_hundred_megabytes_are_read_a_page_at_a_time() {
    let fixture = Fixture::with(&[]);
    let line = format!("{}\n", "x".repeat((1 << 20) - 1));
    fixture.put("large", line.repeat(100));
    let text = fixture.text("read_file", json!({"path": "large", "range": "100-"}));
    let expected = format!("100→{} […1046575 bytes more]", "x".repeat(2000));
    assert!(text == expected, "{}", &text[text.len() - 40..]);
}

#[test]
fn what_is_asked_for_wrongly_is_refused_before_anybody_is_asked() {
    let fixture = Fixture::with(&[]);
    for (arguments, expected) in [
        (
            json!({"path": "/etc/passwd"}),
            "\"/etc/passwd\" is outside the project folder",
        ),
        (json!({"path": "a/../../x"}), "outside the project folder"),
        (json!({"path": "a\u{0}"}), "must not contain NUL"),
        (json!({"path": ""}), "must not be empty"),
        (
            json!({"path": "a", "range": "0"}),
            "range \"0\" must look like",
        ),
        (json!({"path": "a", "lines": "1"}), "unknown field `lines`"),
        (json!({}), "missing field `path`"),
    ] {
        match fixture.call("read_file", arguments) {
            Err(Failure::Arguments(why)) => assert!(why.contains(expected), "{why}"),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for_and_a_link_does_not_lead_out() {
    let fixture = Fixture::with(&[("a", "inside")]);
    fixture.pipe("pipe");
    fixture.link("out", "../outside/secret.txt");
    fixture.link("in", "a");
    let text = |path| fixture.text("read_file", json!({"path": path}));
    assert!(text("pipe").contains("is a pipe"));
    assert!(text("out").contains("leads outside"));
    assert!(!text("%2e%2e/outside/secret.txt").contains(SECRET));
    assert!(text("in").starts_with("1→inside"));
}

#[test]
fn a_call_that_was_cancelled_says_so() {
    let fixture = Fixture::with(&[("a", "x")]);
    fixture.cancel.cancel();
    let failure = fixture.call("read_file", json!({"path": "a"})).unwrap_err();
    assert_eq!(failure, Failure::Interrupted);
}
