//! Reads programming work: the task, what got done, files, errors, and what version control says changed.
//!
//! ```text
//!  scan.rs    words of a line -> paths.rs   which of them are files     (from everyone)
//!  pass.rs    lines -> errors.rs            which of them are errors    (from the person and from failed tools)
//!  work.rs    what tools did, as facts; changes, from pasted diffs and status
//!  marked.rs  task, progress, errors and changes that are told in sentences
//! ```
//! Words, patterns and tables are in `config/cues/code.yaml`; linear in the length of what is read.

mod errors;
mod pass;
mod paths;
mod scan;
mod work;

use std::cell::LazyCell;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::marked::{CODE, Marking, lines, trimmed};
use super::{BadCue, Cued, Found, Reader};
use crate::memory::texts;
use crate::memory::tracking::cues::{Cues, Language};
use crate::memory::tracking::exchange::{Exchange, Speaker};
use crate::memory::tracking::note::{Finding, Kind, Note, Status};
use crate::text::patterns::{BadPattern, Case, Patterns};
use errors::Errors;
use paths::Paths;
use work::Changes;

/// Finds tasks, progress, files, errors and changes.
#[derive(Debug)]
pub struct CodeReader {
    cues: Cues,
    paths: Paths,
    errors: Errors,
    changes: Changes,
    marking: Marking,
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
            errors: Errors::new(read.errors, &list("talk"))?,
            paths: Paths::new(read.paths),
            changes: Changes::new(&read.changes),
            marking: Marking::new(CODE),
        })
    }

    fn check(&self) -> Result<(), BadPattern> {
        self.cues.check()?;
        self.paths.check()?;
        self.errors.check()?;
        self.changes.check()
    }
}

impl CodeReader {
    /// With other weights than those of the program.
    #[must_use]
    pub fn marking(mut self, marking: Marking) -> Self {
        self.marking = marking;
        self
    }

    /// What a person says of the work, and what the assistant says that it did with a file or a `name`.
    fn said(&self, by: Speaker, text: &str) -> Vec<Finding> {
        let is_user = by == Speaker::User;
        let reading = LazyCell::new(|| self.marking.read(text));
        let mut found = Vec::new();
        for line in lines(text) {
            if !is_user && !work::names(&self.paths, line.text) {
                continue;
            }
            let cues = is_user.then(|| self.cues.read(line.text));
            let told: Vec<_> = cues.into_iter().flatten().collect();
            for (kind, parts) in &told {
                let is_asked = *kind == Kind::Error && line.asks;
                if let Some(part) = parts.name("text").filter(|_| !is_asked) {
                    let mut note = Note::new(work::capped(part.as_str()));
                    // Words say of errors only that they are gone.
                    note.status = (*kind == Kind::Error).then_some(Status::Completed);
                    found.push(note.of(*kind));
                }
            }
            for said in self.marking.said(&line, &reading) {
                let Some(kind) = said.kind else { continue };
                let is_told = told.iter().any(|it| it.0 == kind);
                let text = trimmed(said.text);
                if !is_told && !text.is_empty() && (is_user || kind == Kind::Progress) {
                    found.push(Note::new(work::capped(text)).of(kind));
                }
            }
        }
        found
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
            let changed = if is_talk {
                self.changes.read(&self.paths, text)
            } else {
                Vec::new()
            };
            if is_talk {
                for said in self.said(piece.by, text) {
                    let is_second = said.kind == Kind::Task && has_task;
                    // What version control printed says by itself what changed, and a version alone says nothing.
                    let is_printed = said.kind == Kind::Change
                        && (!changed.is_empty() || !said.note.text.contains(' '));
                    if !is_second && !is_printed {
                        has_task |= said.kind == Kind::Task;
                        add(&mut found, said);
                    }
                }
            }
            for file in self.files(piece.by, text, &changed) {
                add(&mut found, Note::new(file).of(Kind::File));
            }
            if matches!(piece.by, Speaker::User | Speaker::Failure) {
                for error in self.errors.read(&self.paths, text) {
                    add(&mut found, error.of(Kind::Error));
                }
            }
            for file in changed {
                add(&mut found, Note::new(file).of(Kind::Change));
            }
        }
        found.findings
    }

    fn facts(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        work::facts(&exchange.calls, &self.errors, &self.paths)
    }
}

fn add(found: &mut Found, finding: Finding) {
    let note = &finding.note;
    let place = note.place.as_deref().unwrap_or_default();
    let key = format!("{}\n{place}", note.text);
    found.add(finding, key);
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
