//! `cogtrix mcp probe`: what it prints and how it ends.

use super::support::SCRIPT;
use crate::support::home::Home;

fn probe(args: &[&str]) -> (String, Option<i32>) {
    let home = Home::new();
    let run = home.cogtrix(&[&["mcp", "probe"], args].concat()).run();
    (home.shown(&run), run.code)
}

#[test]
fn a_server_is_shown_with_its_tools_a_line_each() {
    let (shown, _) = probe(&["--", "sh", SCRIPT, "pages"]);
    insta::assert_snapshot!(shown, @r"
    server    by rote 1
    protocol  2025-06-18
    tools     2
      first   Does first.
      second  Does second.
    --- stderr
    --- exit 0
    ");
}

#[test]
fn every_tool_is_tried_if_wanted() {
    let (shown, _) = probe(&["--try", "--", "sh", SCRIPT, "odd"]);
    insta::assert_snapshot!(shown, @r"
    server    by rote 1
    protocol  2025-06-18
    tools     3
      a.b  Does a.b.
      a_b  Does a_b.
      a b  Does a b.
    a.b {}: 1 line: something else
    a_b {}: 1 line: something else
    a b {}: 1 line: something else
    --- stderr
    --- exit 0
    ");
}

#[test]
fn one_tool_is_called_and_its_failure_is_the_exit_code() {
    let (shown, _) = probe(&[
        "--call",
        "echo",
        "--arguments",
        "{\"a\":1}",
        "--",
        "sh",
        SCRIPT,
        "plain",
    ]);
    insta::assert_snapshot!(shown, @r"
    plain heard it
    --- stderr
    --- exit 0
    ");
    let (shown, _) = probe(&["--call", "fail", "--", "sh", SCRIPT, "plain"]);
    insta::assert_snapshot!(shown, @r"
    no such thing
    --- stderr
    --- exit 1
    ");
    let (shown, _) = probe(&["--call", "refuse", "--", "sh", SCRIPT, "plain"]);
    insta::assert_snapshot!(shown, @r"
    --- stderr
    error: the MCP server probe could not complete the call: not like this
    --- exit 1
    ");
}

#[test]
fn a_server_that_is_none_is_an_error() {
    let (shown, _) = probe(&["--", "sh", SCRIPT, "dies"]);
    insta::assert_snapshot!(shown, @r"
    --- stderr
    error: cannot use the MCP server: it ended with exit status 3: no licence found
    --- exit 1
    ");
    let (shown, _) = probe(&[
        "--call",
        "echo",
        "--arguments",
        "{",
        "--",
        "sh",
        SCRIPT,
        "plain",
    ]);
    insta::assert_snapshot!(shown, @r#"
    --- stderr
    error: --arguments is not JSON: EOF while parsing an object at line 1 column 1
    hint: pass an object, such as '{"path": "a.txt"}'
    --- exit 2
    "#);
    let (shown, code) = probe(&[]);
    assert!(
        shown.contains("<URL|--") || shown.contains("<URL>"),
        "{shown}"
    );
    assert_eq!(code, Some(2));
}
