//! The task, what got done, and which files version control says changed.
//!
//! Task and progress are read from the clauses of a person's own sentences; a clause ends where another
//! subject begins (`breaks` in the cue file), never inside code or quotes.

use std::collections::HashSet;

use super::paths::Paths;
use super::patterns;
use crate::memory::patterns::{BadPattern, Patterns};
use crate::memory::tracking::cues::Cues;
use crate::memory::tracking::exchange::Speaker;
use crate::memory::tracking::note::{Finding, Kind, Note};
use crate::memory::tracking::prose::{End, Sentence, sentences};

/// Characters of a task.
const MAX: usize = 120;

/// Tasks of the person, and progress of both.
pub(super) fn said(
    cues: &Cues,
    clauses: &Clauses,
    paths: &Paths,
    by: Speaker,
    text: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for sentence in sentences(text) {
        let mut begins = true;
        for clause in clauses.of(sentence.text) {
            let mut seen = false;
            for (kind, parts) in cues.read(clause) {
                let Some(text) = parts.name("text") else {
                    continue;
                };
                let has = |name| parts.name(name).is_some();
                let says = match kind {
                    Kind::Task => {
                        by == Speaker::User
                            && is_order(
                                &sentence,
                                begins,
                                text.as_str(),
                                has("asked"),
                                has("frame"),
                            )
                    }
                    Kind::Progress => {
                        sentence.end != End::Question
                            && (by == Speaker::User || names(paths, clause))
                            && (by == Speaker::Assistant || !has("terse"))
                    }
                    _ => false,
                };
                if says && !std::mem::replace(&mut seen, true) {
                    findings.push(Note::new(capped(text.as_str())).of(kind));
                }
            }
            begins = begins && clauses.opens(clause);
        }
    }
    findings
}

/// A bare verb orders only at the beginning of a sentence that is no question; `UPDATE users` is no order.
fn is_order(sentence: &Sentence<'_>, begins: bool, text: &str, asked: bool, framed: bool) -> bool {
    let verb = text.split_whitespace().next().unwrap_or_default();
    let shouts = verb.len() > 1 && !verb.contains(char::is_lowercase);
    let is_question = sentence.end == End::Question;
    !shouts && (asked || (!is_question && (framed || begins)))
}

/// Whether the words name a file or something in back-ticks.
fn names(paths: &Paths, clause: &str) -> bool {
    clause.matches('`').count() > 1 || paths.has_file(clause)
}

fn capped(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || ".,:;!?…".contains(c);
    let text = text.trim().trim_end_matches(ends);
    match text.char_indices().nth(MAX) {
        None => text,
        Some((end, _)) => {
            let cut = &text[..end];
            cut.rsplit_once(char::is_whitespace)
                .map_or(cut, |(cut, _)| cut)
        }
    }
}

/// Cuts sentences where another clause begins.
#[derive(Debug)]
pub(super) struct Clauses {
    /// One.
    breaks: Patterns,
    opening: HashSet<String>,
}

impl Clauses {
    /// Patterns of what stands between two clauses; a group `next` begins the second.
    pub(super) fn new(breaks: &[String], opening: Vec<String>) -> Self {
        Self {
            breaks: patterns([&format!("(?i)(?:{})", breaks.join("|"))]),
            opening: opening.into_iter().collect(),
        }
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.breaks.check()
    }

    /// Whether a clause only opens a sentence: `TODO`.
    fn opens(&self, clause: &str) -> bool {
        self.opening.contains(&clause.to_lowercase())
    }

    fn of<'t>(&self, sentence: &'t str) -> Vec<&'t str> {
        let breaks = self.breaks.possible(sentence);
        let mut clauses = Vec::new();
        let mut from = 0;
        let mut read = 0;
        let mut in_quotes = false;
        for found in breaks.flat_map(|(_, breaks)| breaks.captures_iter(sentence)) {
            let whole = found.get(0).map_or(0..0, |whole| whole.range());
            let marks = sentence[read..whole.start].matches(['`', '"']).count();
            in_quotes ^= marks % 2 == 1;
            read = whole.start;
            if in_quotes || whole.start == 0 {
                continue;
            }
            clauses.push(sentence[from..whole.start].trim());
            let parts = found.iter().skip(1).flatten();
            from = parts.last().map_or(whole.end, |next| next.start());
        }
        clauses.push(sentence[from..].trim());
        clauses
    }
}

/// Reads diffs and what version control prints, line by line.
#[derive(Debug)]
pub(super) struct Changes(Patterns);

impl Changes {
    /// Patterns of lines, with groups `path` and `to`; both are one word each.
    pub(super) fn new(lines: &[String]) -> Self {
        Self(patterns(lines))
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.0.check()
    }

    /// Files that changed, in order, with repeats.
    pub(super) fn read(&self, paths: &Paths, text: &str) -> Vec<String> {
        let mut changed = Vec::new();
        for line in text.lines() {
            let Some((_, parts)) = self.0.captures(line).next() else {
                continue;
            };
            for name in ["path", "to"] {
                if let Some(path) = parts.name(name) {
                    add(paths, path.as_str(), &mut changed);
                }
            }
        }
        changed
    }
}

/// One path, or two in `src/{old => new}/x.rs`.
fn add(paths: &Paths, path: &str, changed: &mut Vec<String>) {
    let path = path.trim_matches(['"', '`', '\'']);
    if let Some((before, rest)) = path.split_once('{')
        && let Some((inside, after)) = rest.split_once('}')
        && let Some((old, new)) = inside.split_once(" => ")
    {
        for part in [old, new] {
            let path = format!("{before}{part}{after}");
            changed.push(path.replace("//", "/"));
        }
        return;
    }
    let has_ending = path
        .rsplit_once('.')
        .is_some_and(|(stem, end)| !(stem.is_empty() || end.is_empty()));
    let is_path = path.contains('/') || has_ending || paths.has_file(path);
    if is_path && path != "/dev/null" && !path.ends_with('/') && !path.starts_with("...") {
        changed.push(path.trim_start_matches("./").to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::embedded;
    use super::*;

    fn said_by(by: Speaker, kind: Kind, text: &str) -> Vec<String> {
        let reader = embedded();
        let said = said(&reader.cues, &reader.clauses, &reader.paths, by, text).into_iter();
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
            (Assistant, "I changed the parser.", vec![]),
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
}
