use super::super::tests::embedded;
use crate::memory::tracking::{Kind, Speaker};

fn said_by(by: Speaker, kind: Kind, text: &str) -> Vec<String> {
    let said = embedded().said(by, text).into_iter();
    let said = said.filter(|finding| finding.kind == kind);
    said.map(|finding| finding.note.text).collect()
}

#[test]
fn orders_are_tasks() {
    for (text, expected) in [
        (
            "Fix the login bug in src/auth.py. I get:",
            "Fix the login bug in src/auth.py",
        ),
        ("it broke. can you please add a test?", "add a test"),
        (
            "I need you to port build.ps1 to cmd",
            "port build.ps1 to cmd",
        ),
        (
            "linking fails after the split, help me fix the Makefile",
            "fix the Makefile",
        ),
        (
            "ok, let's extract the sender, then we ship",
            "extract the sender",
        ),
        (
            "We need to migrate to Postgres because the license changed",
            "migrate to Postgres",
        ),
        ("TODO: rename it everywhere", "rename it everywhere"),
        ("Topic: drop the old cache", "drop the old cache"),
        ("debug why the worker hangs", "debug why the worker hangs"),
        ("In src/lib.rs, add a parser!", "add a parser"),
        (
            "update package.json so that it installs",
            "update package.json so that it installs",
        ),
    ] {
        assert_eq!(
            said_by(Speaker::User, Kind::Task, text),
            [expected],
            "{text}"
        );
    }
}

#[test]
fn questions_reports_and_logs_are_no_tasks() {
    for text in [
        "How do I fix a slow query?",
        "Should we add caching here?",
        "Please don't add an index. Don't refactor it.",
        "The update broke it. They refactored everything.",
        "If I add X, will it work?",
        "UPDATE users SET x = 1",
        "test lexer::tests::empty ... FAILED",
        "Build file 'x.gradle' line: 37\nBuild succeeded.",
        "create mode 100644 a.rs\nrename a.rs => b.rs (100%)",
        "```\nfix the code\n```\n> add a quote",
        "Explain the code. Show me the docs.",
    ] {
        assert_eq!(said_by(Speaker::User, Kind::Task, text), [""; 0], "{text}");
    }
}

#[test]
fn what_got_done_is_progress() {
    use Speaker::{Assistant, User};
    for (by, text, expected) in [
        (
            User,
            "I replaced the pool and the timeouts are fixed now",
            vec!["replaced the pool", "the timeouts are fixed now"],
        ),
        (
            User,
            "Finally got the login working.",
            vec!["got the login working"],
        ),
        (
            Assistant,
            "Done. I've updated `src/a.rs` to read it.",
            vec!["updated `src/a.rs` to read it"],
        ),
        (
            Assistant,
            "All tests in `lexer` pass now.",
            vec!["All tests in `lexer` pass now"],
        ),
        (
            Assistant,
            "Removed the branch in src/old.rs",
            vec!["Removed the branch in src/old.rs"],
        ),
        (
            Assistant,
            "I changed `src/auth.py` to use `users.get(name)`.",
            vec!["changed `src/auth.py` to use `users.get(name)`"],
        ),
        (Assistant, "I changed the parser.", vec![]),
        (User, "done: the login page", vec!["the login page"]),
        (User, "the errors are gone", vec!["the errors are gone"]),
        (User, "- Fixed a crash when a hub throws", vec![]),
        (
            User,
            "I will add it. I tried a cache. I have added it to my list.",
            vec![],
        ),
        (
            Assistant,
            "If you moved `a.rs`, add it. You could rename `b`.",
            vec![],
        ),
        (
            Assistant,
            "Have you added `x`? I would have added `y`.",
            vec![],
        ),
    ] {
        assert_eq!(said_by(by, Kind::Progress, text), expected, "{text}");
    }
}

#[test]
fn diffs_and_version_control_tell_what_changed() {
    let reader = embedded();
    for (text, expected) in [
        (
            "--- a/x.rs\n+++ b/x.rs\n--- /dev/null",
            vec!["x.rs", "x.rs"],
        ),
        (
            "\tmodified:   src/a.ts\n\trenamed:    a.rs -> b.rs",
            vec!["src/a.ts", "a.rs", "b.rs"],
        ),
        (
            " create mode 100644 bin/run\n rename src/{a => b}/x.rs (90%)",
            vec!["bin/run", "src/a/x.rs", "src/b/x.rs"],
        ),
        (
            "M  src/x.rs\n M y.rs\nR100\ta.md\tb.md",
            vec!["src/x.rs", "y.rs", "a.md", "b.md"],
        ),
        (
            " src/main.rs | 12 ++++--\n logo.png | Bin 0 -> 12 bytes",
            vec!["src/main.rs", "logo.png"],
        ),
        ("*** Update File: src/p.py", vec!["src/p.py"]),
        (
            "--- FAIL: TestRound (0.00s)\nA list\n| a | 3 +|\n---",
            vec![],
        ),
    ] {
        assert_eq!(reader.changes.read(&reader.paths, text), expected, "{text}");
    }
}
