//! docs/BEHAVIOUR.md names a test for each behaviour, docs/SECURITY.md and docs/COMPACTION.md for each promise: each of
//! them has to be there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The file a name in the table stands for, and the function in it.
fn place(name: &str) -> (PathBuf, &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (module, function) = name.rsplit_once("::").unwrap();
    let path = if module.starts_with("src/") {
        root.join(module)
    } else {
        root.join("tests/it")
            .join(module.replace("::", "/") + ".rs")
    };
    (path, function)
}

/// The functions of a file that are tests, whatever attribute says so.
fn tests(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let function = line.strip_prefix("async ").unwrap_or(line);
        if let Some(rest) = function.strip_prefix("fn ") {
            if is_test {
                found.extend(rest.split('(').next());
            }
            is_test = false;
        }
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    }
    found
}

/// Ids and names of tests of each row.
fn rows(table: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| id "));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [ids, behaviour, names] = cells[..] else {
            panic!("not three cells: {row}")
        };
        assert!(!behaviour.is_empty(), "{row}");
        let names = names.split(", ").map(|name| name.trim_matches('`'));
        (ids.split(", ").collect(), names.collect())
    })
    .collect()
}

#[test]
fn every_test_in_the_table_of_behaviours_exists() {
    let table = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/BEHAVIOUR.md"));
    let rows = rows(&table);
    assert!(rows.len() > 50, "only {} rows were read", rows.len());
    for (ids, names) in rows {
        assert!(!names.is_empty(), "{ids:?} has no test");
        for name in names {
            let (path, function) = place(name);
            let text = read(&path);
            assert!(
                tests(&text).contains(function),
                "{ids:?}: there is no test {name}"
            );
        }
    }
}

#[test]
fn no_id_is_written_in_two_ways() {
    let table = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/BEHAVIOUR.md"));
    for (ids, _) in rows(&table) {
        for id in ids {
            let (letter, number) = id.split_at(1);
            assert!(letter.chars().all(|c| c.is_ascii_uppercase()), "{id}");
            assert!(number.parse::<u32>().is_ok(), "{id}");
        }
    }
}

#[test]
fn every_test_that_the_promises_name_exists() {
    for (document, least) in [("docs/SECURITY.md", 30), ("docs/COMPACTION.md", 30)] {
        let promises = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(document));
        let names: BTreeSet<&str> = promises
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.contains("::"))
            .collect();
        assert!(names.len() > least, "{document}: {names:?}");
        for name in names {
            let (path, function) = place(name);
            let text = read(&path);
            assert!(
                tests(&text).contains(function),
                "{document}: no test {function} in {}",
                path.display()
            );
        }
    }
}
