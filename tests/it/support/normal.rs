//! Output as a snapshot can hold it: paths, ports, times and process ids by name.

use std::path::Path;

/// What is replaced: `#` stands for one digit, `*` for one or more.
const PATTERNS: [(&str, &str); 8] = [
    ("127.0.0.1:*", "127.0.0.1:PORT"),
    ("####-##-## ##:##:## UTC", "TIME"),
    ("####-##-## ##:## UTC", "TIME"),
    ("####-##-##T##:##:##Z", "TIME"),
    ("########T######Z", "TIME"),
    ("####-##-##.md", "DATE.md"),
    ("pid *", "pid PID"),
    ("cogtrix *.*.*", "cogtrix VERSION"),
];

/// `text` with what differs from run to run named; `root` is the folder all paths are in.
pub(crate) fn normal(text: &str, root: &Path) -> String {
    let text = text.replace(&*root.to_string_lossy(), "ROOT");
    PATTERNS
        .iter()
        .fold(text, |text, (pattern, name)| replaced(&text, pattern, name))
}

/// `text` with every match of a pattern replaced.
pub(crate) fn replaced(text: &str, pattern: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = matched(rest, pattern) {
            out.push_str(name);
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// How many bytes at the start of `text` match.
fn matched(text: &str, pattern: &str) -> Option<usize> {
    let mut at = 0;
    for wanted in pattern.chars() {
        let rest = &text[at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        at += match wanted {
            '#' if digits > 0 => 1,
            '*' if digits > 0 => digits,
            '#' | '*' => return None,
            other => rest.starts_with(other).then(|| other.len_utf8())?,
        };
    }
    Some(at)
}

#[test]
fn what_differs_from_run_to_run_is_named() {
    assert_eq!(
        normal(
            "at http://127.0.0.1:4711/v1 on 2026-02-14 15:23:05 UTC, /r/x.damaged-20260214T152305Z (pid 12)",
            Path::new("/r")
        ),
        "at http://127.0.0.1:PORT/v1 on TIME, ROOT/x.damaged-TIME (pid PID)"
    );
}
