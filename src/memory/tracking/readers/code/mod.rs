//! Reads programming work: the task, what got done, files, errors, and what version control says changed.
//!
//! ```text
//!  scan.rs    words of a line -> paths.rs   which of them are files     (from everyone)
//!  pass.rs    lines -> errors.rs            which of them are errors    (from the person and from failed tools)
//!  calls.rs   what tools did
//!  work.rs    task and progress, from sentences; changes, from pasted diffs and status
//! ```
//! Words, patterns and tables are in `config/cues/code.yaml`; linear in the length of what is read.

mod calls;
mod errors;
mod pass;
mod paths;
mod scan;
mod work;

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

use super::{BadCues, Cued, Reader};
use crate::memory::patterns::{BadPattern, Case, Patterns};
use crate::memory::tracking::cues::{Cues, Language};
use crate::memory::tracking::exchange::{Exchange, Speaker};
use crate::memory::tracking::note::{Finding, Kind, Note};
use errors::Errors;
use paths::Paths;
use work::{Changes, Clauses};

/// Finds tasks, progress, files, errors and changes.
#[derive(Debug)]
pub struct CodeReader {
    /// Where the cues come from.
    file: String,
    cues: Cues,
    clauses: Clauses,
    paths: Paths,
    errors: Errors,
    changes: Changes,
}

/// A cue file: tables that hold in every language, and the languages by name.
#[derive(Debug, Deserialize)]
struct File {
    paths: paths::Table,
    errors: errors::Table,
    changes: Vec<String>,
    /// Every other key; [`Language`] refuses what is none.
    #[serde(flatten)]
    languages: BTreeMap<String, Language>,
}

impl Cued for CodeReader {
    const FILE: &'static str = "cues/code.yaml";

    fn parse(text: &str, file: &str) -> Result<Self, BadCues> {
        let bad = |what: String| BadCues {
            file: file.to_owned(),
            what,
        };
        let read: File = serde_yaml::from_str(text).map_err(|error| bad(error.to_string()))?;
        let wrong = |error: BadPattern| bad(error.to_string());
        let list = |name: &str| -> Vec<String> {
            let languages = read.languages.values();
            let lists = languages.filter_map(|language| language.lists.get(name));
            lists.flatten().cloned().collect()
        };
        Ok(Self {
            file: file.to_owned(),
            cues: Cues::new(read.languages.values()).map_err(wrong)?,
            clauses: Clauses::new(&list("breaks"), list("opening")),
            errors: Errors::new(read.errors, &list("talk")).map_err(wrong)?,
            paths: Paths::new(read.paths),
            changes: Changes::new(&read.changes),
        })
    }

    fn check(&self) -> Result<(), BadCues> {
        self.checked().map_err(|error| BadCues {
            file: self.file.clone(),
            what: error.to_string(),
        })
    }
}

impl CodeReader {
    fn checked(&self) -> Result<(), BadPattern> {
        self.cues.check()?;
        self.clauses.check()?;
        self.paths.check()?;
        self.errors.check()?;
        self.changes.check()
    }

    fn files(&self, by: Speaker, text: &str, changed: &[String]) -> Vec<String> {
        let mut files = Vec::new();
        match by {
            Speaker::Call => self.files_of_call(text, &mut files),
            Speaker::User | Speaker::Assistant | Speaker::Failure => {
                self.paths.scan(text, |path| files.push(path.to_owned()));
            }
            Speaker::Output => {}
        }
        files.extend_from_slice(changed);
        files
    }

    /// Paths in the texts of the arguments; what is no JSON is read as it stands.
    fn files_of_call(&self, arguments: &str, files: &mut Vec<String>) {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(arguments) else {
            self.paths
                .scan(arguments, |path| files.push(path.to_owned()));
            return;
        };
        let mut open = vec![&value];
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::String(text) => {
                    self.paths.scan(text, |path| files.push(path.to_owned()));
                }
                serde_json::Value::Array(values) => open.extend(values.iter().rev()),
                serde_json::Value::Object(fields) => open.extend(fields.values().rev()),
                serde_json::Value::Null
                | serde_json::Value::Bool(_)
                | serde_json::Value::Number(_) => {}
            }
        }
    }
}

impl Reader for CodeReader {
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        let mut found = Found::default();
        let mut has_task = false;
        for piece in &exchange.pieces {
            let text = piece.text.as_ref();
            let is_talk = matches!(piece.by, Speaker::User | Speaker::Assistant);
            if is_talk {
                for said in work::said(&self.cues, &self.clauses, &self.paths, piece.by, text) {
                    if said.kind == Kind::Task && std::mem::replace(&mut has_task, true) {
                        continue;
                    }
                    found.add(said);
                }
            }
            let changed = if is_talk {
                self.changes.read(&self.paths, text)
            } else {
                Vec::new()
            };
            for file in self.files(piece.by, text, &changed) {
                found.add(Note::new(file).of(Kind::File));
            }
            if matches!(piece.by, Speaker::User | Speaker::Failure) {
                for error in self.errors.read(&self.paths, text) {
                    found.add(error.of(Kind::Error));
                }
            }
            for file in changed {
                found.add(Note::new(file).of(Kind::Change));
            }
        }
        found.findings
    }

    fn facts(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        calls::facts(&exchange.calls, &self.errors, &self.paths)
    }
}

/// Findings, each once.
#[derive(Debug, Default)]
struct Found {
    findings: Vec<Finding>,
    seen: HashSet<(Kind, String)>,
}

impl Found {
    fn add(&mut self, finding: Finding) {
        let note = &finding.note;
        let place = note.place.as_deref().unwrap_or_default();
        let key = format!("{}\n{place}", note.text);
        if self.seen.insert((finding.kind, key)) {
            self.findings.push(finding);
        }
    }
}

/// Patterns, case and all. Their classes are those of ASCII: what programs print is, and it is much faster.
fn patterns<'p>(patterns: impl IntoIterator<Item = &'p String>) -> Patterns {
    Patterns::new(
        Case::Counts,
        patterns.into_iter().map(|pattern| ascii(pattern)),
    )
}

fn ascii(pattern: &str) -> String {
    let mut ascii = String::with_capacity(pattern.len() * 2);
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            ascii.push(c);
            continue;
        }
        match characters.next() {
            Some('w') => ascii.push_str("[0-9A-Za-z_]"),
            Some('d') => ascii.push_str("[0-9]"),
            Some('s') => ascii.push_str("[ \\t]"),
            Some('S') => ascii.push_str("[^ \\t]"),
            Some('b') => ascii.push_str("(?-u:\\b)"),
            other => {
                ascii.push('\\');
                ascii.extend(other);
            }
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::memory::tracking::exchange::Piece;

    /// Compiled once for all tests.
    fn text() -> String {
        crate::memory::texts::embedded(CodeReader::FILE).text
    }

    pub(super) fn embedded() -> &'static CodeReader {
        static READER: LazyLock<CodeReader> = LazyLock::new(CodeReader::embedded);
        &READER
    }

    fn read(by: Speaker, text: &str) -> Vec<(Kind, String)> {
        let pieces = vec![Piece {
            by,
            text: text.into(),
        }];
        let findings = embedded().read(&Exchange {
            pieces,
            ..Exchange::default()
        });
        let written = findings.into_iter().map(|finding| {
            let place = finding.note.place.map(|place| format!(" @ {place}"));
            (finding.kind, finding.note.text + &place.unwrap_or_default())
        });
        written.collect()
    }

    fn of(kind: Kind, by: Speaker, text: &str) -> Vec<String> {
        let findings = read(by, text).into_iter();
        let findings = findings.filter(|(found, _)| *found == kind);
        findings.map(|(_, text)| text).collect()
    }

    #[test]
    fn the_embedded_cues_can_all_be_used() {
        CodeReader::embedded().check().unwrap();
    }

    #[test]
    fn an_unknown_key_or_a_bad_pattern_is_refused_with_the_file_it_is_in() {
        let unknown = format!("{}\nfr:\n  words: [x]\n", text());
        let error = CodeReader::parse(&unknown, "my.yaml").unwrap_err();
        assert_eq!(error.file, "my.yaml");
        assert!(error.what.contains("words"), "{error}");
        let bad = text().replace("changes:\n", "changes:\n  - '(open'\n");
        let reader = CodeReader::parse(&bad, "my.yaml").unwrap();
        let error = reader.check().unwrap_err();
        assert_eq!(error.file, "my.yaml");
        assert!(error.what.contains("(open"), "{error}");
    }

    #[test]
    fn another_language_is_added_beside_the_first() {
        let german = format!(
            "{}\nde:\n  cues:\n    task: ['^bitte (?P<text>.+)']\n",
            text()
        );
        let reader = CodeReader::parse(&german, "de").unwrap();
        for (text, task) in [
            ("Bitte den Fehler beheben.", "den Fehler beheben"),
            ("Fix the bug.", "Fix the bug"),
        ] {
            let pieces = vec![Piece {
                by: Speaker::User,
                text: text.into(),
            }];
            let findings = reader.read(&Exchange {
                pieces,
                ..Exchange::default()
            });
            assert_eq!(findings, [Note::new(task).of(Kind::Task)], "{text}");
        }
    }

    #[test]
    fn each_kind_is_read_only_from_those_who_can_say_it() {
        use Speaker::{Assistant, Call, Failure, Output, User};
        let text = "Add a test. KeyError: 'x' is in src/a.rs\nmodified:   src/b.rs";
        let kinds =
            |by| -> Vec<Kind> { read(by, text).into_iter().map(|(kind, _)| kind).collect() };
        assert_eq!(
            kinds(User),
            [
                Kind::Task,
                Kind::File,
                Kind::File,
                Kind::Error,
                Kind::Change
            ]
        );
        assert_eq!(kinds(Assistant), [Kind::File, Kind::File, Kind::Change]);
        assert_eq!(kinds(Call), [Kind::File, Kind::File]);
        assert_eq!(kinds(Failure), [Kind::File, Kind::File, Kind::Error]);
        assert_eq!(kinds(Output), []);
    }

    #[test]
    fn the_arguments_of_a_call_are_read_as_what_they_say() {
        for (arguments, files) in [
            (
                r#"{"command":"cat a.txt\nsort b.txt","path":"src\\main.rs"}"#,
                vec!["a.txt", "b.txt", r"src\main.rs"],
            ),
            (
                r#"{"edits":[{"file":"x/y.py"},{"file":"x/z.py"}],"n":1,"all":true}"#,
                vec!["x/y.py", "x/z.py"],
            ),
            (
                r#"{"path": "src/cut.rs", "old": "\ud800"#,
                vec!["src/cut.rs"],
            ),
        ] {
            assert_eq!(
                of(Kind::File, Speaker::Call, arguments),
                files,
                "{arguments}"
            );
        }
    }

    #[test]
    fn the_same_finding_comes_once_and_the_first_task_counts() {
        let text = "Fix src/a.rs. Then add b.py.\nKeyError: 1\nKeyError: 1\nsrc/a.rs";
        assert_eq!(of(Kind::File, Speaker::User, text), ["src/a.rs", "b.py"]);
        assert_eq!(of(Kind::Task, Speaker::User, text), ["Fix src/a.rs"]);
        assert_eq!(of(Kind::Error, Speaker::User, text), ["KeyError: 1"]);
    }

    /// What the tables look for, and what breaks scanners.
    const FRAGMENTS: [&str; 44] = [
        "src/main.rs",
        ":12:3",
        "C:\\a b\\c.cs",
        "\"",
        "'",
        "`",
        "```",
        "```python\n",
        "\n",
        " ",
        "(",
        "[",
        "...slug]",
        "/",
        "\\",
        "KeyError: 'x'",
        "error[E0308]: y",
        "  --> ",
        "Traceback (most recent call last):\n",
        "  File \"",
        "\", line 3",
        "panicked at src/x.rs:1:2:",
        "thread 'main' ",
        "at f (",
        "npm ERR! code X",
        "FAILED a.py - ",
        "fix ",
        "please ",
        "I added ",
        ", and ",
        "tests pass now",
        "diff --git a/",
        "+++ b/",
        "rename {a => b}/",
        "modified:   ",
        "M  ",
        "修复",
        "é",
        "\u{202e}",
        "\u{0}",
        "\u{1b}[31m",
        "👩‍💻",
        "“",
        "://",
    ];

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>(), by in 0..4_usize) {
            let by = [Speaker::User, Speaker::Assistant, Speaker::Call, Speaker::Failure][by];
            read(by, &text);
        }

        #[test]
        fn shuffled_cues_are_read_without_a_panic_and_each_finding_once(
            picks in prop::collection::vec(0..FRAGMENTS.len(), 0..60),
            by in 0..4_usize,
        ) {
            let by = [Speaker::User, Speaker::Assistant, Speaker::Call, Speaker::Failure][by];
            let text: String = picks.into_iter().map(|pick| FRAGMENTS[pick]).collect();
            let findings = read(by, &text);
            let different: HashSet<_> = findings.iter().collect();
            prop_assert_eq!(different.len(), findings.len());
        }
    }
}
