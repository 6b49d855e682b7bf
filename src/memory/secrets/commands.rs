//! Passwords that are given to a command: `mysql -pVALUE`, `sshpass -p VALUE`. Unit: a line. Pure.

use std::ops::Range;

/// Programs, and how they take a password behind `-p`.
const PROGRAMS: [(&str, Form); 5] = [
    ("mysql", Form::Tight),
    ("mysqldump", Form::Tight),
    ("mysqladmin", Form::Tight),
    ("mariadb", Form::Tight),
    ("sshpass", Form::Any),
];

/// Options that are no password, as people write them with one dash.
const OTHERS: [&str; 4] = ["-port", "-pipe", "-protocol", "-plugin-dir"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Without a blank; with one it is the name of a database.
    Tight,
    Any,
}

pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    text.lines()
        .filter_map(|line| password(text, line))
        .collect()
}

fn password(text: &str, line: &str) -> Option<Range<usize>> {
    let mut words = line.split_whitespace();
    let form = words.find_map(|word| {
        let program = word.trim_matches(|c: char| !c.is_alphanumeric());
        let program = program.rsplit('/').next().unwrap_or_default();
        PROGRAMS.iter().find(|(name, _)| *name == program)
    });
    let (_, form) = form?;
    while let Some(word) = words.next() {
        if OTHERS.contains(&word.split('=').next().unwrap_or_default()) {
            continue;
        }
        let Some(value) = word.strip_prefix("-p") else {
            continue;
        };
        let value = match (value, form) {
            ("", Form::Tight) => return None,
            ("", Form::Any) => words.next()?,
            (value, _) => value,
        };
        let value = value.trim_matches(['"', '\'', '`']);
        let start = value.as_ptr().addr() - text.as_ptr().addr();
        return (value.len() >= 3).then(|| start..start + value.len());
    }
    None
}
