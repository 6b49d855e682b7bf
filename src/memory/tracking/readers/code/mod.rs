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

use super::{BadCue, Cued, Reader};
use crate::memory::texts;
use crate::memory::tracking::cues::{Cues, Language};
use crate::memory::tracking::exchange::{Exchange, Speaker};
use crate::memory::tracking::note::{Finding, Kind, Note};
use crate::text::patterns::{BadPattern, Case, Patterns};
use errors::Errors;
use paths::Paths;
use work::{Changes, Clauses};

/// Finds tasks, progress, files, errors and changes.
#[derive(Debug)]
pub struct CodeReader {
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

    fn parse(text: &str) -> Result<Self, BadCue> {
        let read: File = texts::read(text)?;
        let list = |name: &str| -> Vec<String> {
            let languages = read.languages.values();
            let lists = languages.filter_map(|language| language.lists.get(name));
            lists.flatten().cloned().collect()
        };
        Ok(Self {
            cues: Cues::new(read.languages.values())?,
            clauses: Clauses::new(&list("breaks"), list("opening")),
            errors: Errors::new(read.errors, &list("talk"))?,
            paths: Paths::new(read.paths),
            changes: Changes::new(&read.changes),
        })
    }

    fn check(&self) -> Result<(), BadPattern> {
        self.cues.check()?;
        self.clauses.check()?;
        self.paths.check()?;
        self.errors.check()?;
        self.changes.check()
    }
}

impl CodeReader {
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
mod tests;
