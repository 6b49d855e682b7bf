//! Who may import whom: each module of `src/` uses only rows below its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Module and row, in the order of the picture in `src/lib.rs` and docs/ARCHITECTURE.md.
const ROWS: [(&str, u32); 24] = [
    ("main", 11),
    ("cli", 10),
    ("config", 9),
    ("repl", 8),
    ("term", 7),
    ("agent", 6),
    ("tools", 5),
    ("memory", 4),
    ("index", 3),
    ("testing", 5),
    ("context", 2),
    ("embed", 2),
    ("provider", 2),
    ("store", 2),
    ("long_term", 2),
    ("mem0", 2),
    ("net", 1),
    ("files", 1),
    ("clock", 1),
    ("chat", 1),
    ("text", 0),
    ("hint", 0),
    ("declare", 0),
    ("lib", 12),
];

/// Neighbours in one row that may be used all the same: (user, used).
const BESIDE: [(&str, &str); 7] = [
    ("text", "declare"),
    ("clock", "chat"),
    ("net", "chat"),
    ("testing", "tools"),
    // For tests of tools alone, as everywhere.
    ("tools", DOUBLES),
    ("index", DOUBLES),
    ("mem0", DOUBLES),
];

/// Doubles stand in for the world in tests, and nowhere else.
const DOUBLES: &str = "testing";

/// Rows a module may not reach although they are below: (user, used, why).
const FORBIDDEN: [(&str, &str, &str); 7] = [
    (
        "memory",
        "provider",
        "what needs a model leaves memory as a Job",
    ),
    (
        "memory",
        "store",
        "what must last leaves memory as a Record",
    ),
    ("term", "agent", "the terminal knows nothing of turns"),
    ("term", "memory", "the terminal knows nothing of memory"),
    ("repl", "config", "settings come in by value"),
    ("term", "provider", "the terminal knows nothing of models"),
    ("index", "net", "an index knows nothing of servers"),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_dir() {
            files.extend(sources(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files
}

/// `agent` of `src/agent/turn.rs`, `clock` of `src/clock.rs`.
fn module(file: &Path, root: &Path) -> String {
    let first = file
        .strip_prefix(root)
        .unwrap()
        .components()
        .next()
        .unwrap();
    first
        .as_os_str()
        .to_str()
        .unwrap()
        .trim_end_matches(".rs")
        .to_owned()
}

/// Whether a whole file is there for tests alone: its `mod` line stands behind `#[cfg(test)]`.
fn is_test(file: &Path, root: &Path) -> bool {
    let inside = file.strip_prefix(root).unwrap().with_extension("");
    let names = ["tests", "fixture"];
    inside
        .iter()
        .any(|part| names.iter().any(|name| part == *name))
}

/// What of a text is built into the program: all but the items behind `#[cfg(test)]`, as they are formatted.
fn production(text: &str) -> String {
    let mut lines = text.lines();
    let mut code = String::new();
    while let Some(line) = lines.next() {
        let Some(indent) = line.strip_suffix("#[cfg(test)]") else {
            code.extend([line, "\n"]);
            continue;
        };
        let end = format!("{indent}}}");
        let is_last = |line: &&str| {
            *line == end || line.ends_with(';') && !line[indent.len()..].starts_with(' ')
        };
        lines.find(is_last);
    }
    code
}

/// Modules that a text names as `crate::x` or `cogtrix::x`, comments apart, tests too.
fn uses(text: &str) -> Vec<String> {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in code {
        for prefix in ["crate::", "cogtrix::"] {
            for (at, _) in line.match_indices(prefix) {
                let rest = &line[at + prefix.len()..];
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn every_module_imports_only_rows_below_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rows: BTreeMap<&str, u32> = ROWS.into();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in sources(&root) {
        let user = module(&file, &root);
        let Some(row) = rows.get(user.as_str()) else {
            panic!("src/{user} is not in the table of rows");
        };
        let text = fs::read_to_string(&file).unwrap();
        for used in uses(&text).into_iter().filter(|used| *used != user) {
            let Some(used_row) = rows.get(used.as_str()) else {
                continue;
            };
            seen += 1;
            let beside = BESIDE.contains(&(user.as_str(), used.as_str()));
            if used_row >= row && !beside {
                wrong.push(format!("{}: {user} uses {used}", file.display()));
            }
            if let Some((.., why)) = FORBIDDEN.iter().find(|(a, b, _)| *a == user && *b == used) {
                wrong.push(format!("{}: {user} uses {used}, but {why}", file.display()));
            }
        }
    }
    assert!(seen > 20, "the scan found only {seen} imports");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn doubles_are_for_tests_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in sources(&root) {
        let text = fs::read_to_string(&file).unwrap();
        let names_doubles = |text: &str| uses(text).iter().any(|used| used == DOUBLES);
        seen += usize::from(names_doubles(&text));
        let is_double = module(&file, &root) == DOUBLES;
        if !is_double && !is_test(&file, &root) && names_doubles(&production(&text)) {
            wrong.push(file.display().to_string());
        }
    }
    assert!(seen > 3, "the scan found doubles in {seen} files only");
    assert!(wrong.is_empty(), "doubles in {}", wrong.join(", "));
}

/// Files and folders of `src/` that reach the file system past [`Disk`](cogtrix::files::Disk), and why they must.
const PAST_THE_DISK: [(&str, &str); 11] = [
    ("files", "the disk itself"),
    ("memory/capture/corpus.rs", "reads the corpus of a test"),
    (
        "config/search.rs",
        "looks for the config file, which says where the disk has its roots",
    ),
    ("config/overrides.rs", "reads a person's own texts at start"),
    ("config/warnings.rs", "looks at the mode of the config file"),
    (
        "config/trust/data_folder.rs",
        "looks at a folder that is not trusted yet",
    ),
    (
        "long_term/notes/identity.rs",
        "reads rules behind links that stay inside of the project",
    ),
    ("tools/files", "works on the person's project"),
    (
        "tools/shell",
        "confines a command to folders of the machine",
    ),
    ("term/restore.rs", "duplicates the terminal's handle"),
    (
        "cli",
        "opens what the command line names: standard input, the log",
    ),
];

#[test]
fn files_are_read_and_written_through_the_disk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut needed = [false; PAST_THE_DISK.len()];
    for file in sources(&root) {
        let inside = file.strip_prefix(&root).unwrap();
        let code = production(&fs::read_to_string(&file).unwrap());
        let lines = code.lines().map(str::trim_start);
        let reaches_past = lines.filter(|line| !line.starts_with("//")).any(|line| {
            ["std::fs", "tokio::fs", "cap_std"]
                .iter()
                .any(|name| line.contains(name))
        });
        if !reaches_past || is_test(&file, &root) {
            continue;
        }
        match PAST_THE_DISK
            .iter()
            .position(|(part, _)| inside.starts_with(part))
        {
            Some(index) => needed[index] = true,
            None => wrong.push(inside.display().to_string()),
        }
    }
    assert!(wrong.is_empty(), "past the disk: {}", wrong.join(", "));
    let rows = PAST_THE_DISK.iter().zip(needed);
    let stale: Vec<&str> = rows
        .filter(|(_, needed)| !needed)
        .map(|((part, _), _)| *part)
        .collect();
    assert!(
        stale.is_empty(),
        "no exception is needed for {}",
        stale.join(", ")
    );
}

#[test]
fn items_behind_the_test_attribute_are_no_production() {
    let test = "#[cfg(test)]\nmod tests {\n    use crate::testing::A;\n\n    fn b() {}\n}\n";
    for (text, expected) in [
        (test.to_owned(), &[][..]),
        (format!("use crate::testing::A;\n{test}"), &["testing"]),
        (format!("{test}use crate::net::Net;\n"), &["net"]),
        ("#[cfg(test)]\nmod fixture;\nuse crate::net::Net;\n".to_owned(), &["net"]),
        ("impl A {\n    #[cfg(test)]\n    fn a() {\n        crate::testing::a();\n    }\n}\nuse crate::net::Net;".to_owned(), &["net"]),
    ] {
        assert_eq!(uses(&production(&text)), expected, "{text}");
    }
    let root = Path::new("src");
    for (file, expected) in [
        ("src/tools/fetch/tests.rs", true),
        ("src/tools/tests/fetch.rs", true),
        ("src/tools/files/fixture.rs", true),
        ("src/tools/fetch/mod.rs", false),
        ("src/testing/mod.rs", false),
    ] {
        assert_eq!(is_test(Path::new(file), root), expected, "{file}");
    }
}
