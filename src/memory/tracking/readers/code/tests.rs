use std::collections::HashSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::memory::tracking::exchange::Piece;
use crate::memory::tracking::readers::with;

/// Compiled once for all tests.
fn text() -> String {
    texts::embedded(CodeReader::FILE).text
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
    let error = with::<CodeReader>("my.yaml", &unknown).unwrap_err();
    assert!(error.to_string().starts_with("my.yaml: "));
    assert!(error.to_string().contains("words"), "{error}");
    let bad = text().replace("changes:\n", "changes:\n  - '(open'\n");
    let error = with::<CodeReader>("my.yaml", &bad).unwrap_err();
    assert!(error.to_string().starts_with("my.yaml: "));
    assert!(error.to_string().contains("(open"), "{error}");
}

#[test]
fn another_language_is_added_beside_the_first() {
    let german = format!(
        "{}\nde:\n  cues:\n    task: ['^bitte (?P<text>.+)']\n",
        text()
    );
    let reader = CodeReader::parse(&german).unwrap();
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
    let kinds = |by| -> Vec<Kind> { read(by, text).into_iter().map(|(kind, _)| kind).collect() };
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

#[test]
fn a_person_says_that_errors_are_gone() {
    let is_gone = |text: &str| {
        let said = embedded().said(Speaker::User, text).into_iter();
        said.filter(|it| it.kind == Kind::Error)
            .all(|it| it.note.status == Some(Status::Completed))
            && embedded()
                .said(Speaker::User, text)
                .iter()
                .any(|it| it.kind == Kind::Error)
    };
    for text in [
        "the errors are gone",
        "All the build errors are gone now, thanks",
        "no more errors",
        "ok no errors anymore",
        "die Fehler sind weg",
        "ошибки исчезли",
        "ya no hay errores",
        "les erreurs ont disparu",
        "报错都没了",
        "xatolar yo'qoldi",
        "fixed the key error, tests are green",
        "ok I finally got rid of that import error",
    ] {
        assert!(is_gone(text), "{text}");
    }
    for text in [
        "the errors are still there",
        "are the errors gone?",
        "fix the errors",
        "I want no more errors in prod",
        "if the errors are gone we ship",
    ] {
        assert!(!is_gone(text), "{text}");
    }
}
