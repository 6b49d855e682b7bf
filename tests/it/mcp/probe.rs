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
    insta::assert_snapshot!(shown, @"");
}

#[test]
fn every_tool_is_tried_if_wanted() {
    let (shown, _) = probe(&["--try", "--", "sh", SCRIPT, "odd"]);
    insta::assert_snapshot!(shown, @"");
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
    insta::assert_snapshot!(shown, @"");
    let (shown, _) = probe(&["--call", "fail", "--", "sh", SCRIPT, "plain"]);
    insta::assert_snapshot!(shown, @"");
    let (shown, _) = probe(&["--call", "refuse", "--", "sh", SCRIPT, "plain"]);
    insta::assert_snapshot!(shown, @"");
}

#[test]
fn a_server_that_is_none_is_an_error() {
    let (shown, _) = probe(&["--", "sh", SCRIPT, "dies"]);
    insta::assert_snapshot!(shown, @"");
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
    insta::assert_snapshot!(shown, @"");
    let (shown, code) = probe(&[]);
    assert!(
        shown.contains("<URL|--") || shown.contains("<URL>"),
        "{shown}"
    );
    assert_eq!(code, Some(2));
}
