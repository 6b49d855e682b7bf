//! How long a task is, what the assistant says that it did, which files version control says changed, and what tools
//! did: files they changed, commands that failed (C43, C45, C47).

use serde_json::Value;

use super::errors::Errors;
use super::paths::Paths;
use super::patterns;
use crate::memory::tracking::exchange::Called;
use crate::memory::tracking::note::{Finding, Kind, Note};
use crate::text::patterns::{BadPattern, Patterns};

/// Characters of a task.
const MAX: usize = 120;

/// Whether the words name a file or something in back-ticks.
pub(super) fn names(paths: &Paths, clause: &str) -> bool {
    clause.matches('`').count() > 1 || paths.has_file(clause)
}

pub(super) fn capped(text: &str) -> &str {
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

/// What a tool's success or failure says of the work.
#[derive(Clone, Copy, Debug)]
enum Says {
    Read,
    /// It changed a file.
    Changed,
    /// The command of its argument `command` went wrong, if it did.
    Ran,
}

/// Tools that say something, by name.
const TOOLS: [(&str, Says); 4] = [
    ("read_file", Says::Read),
    ("write_file", Says::Changed),
    ("edit_file", Says::Changed),
    ("shell", Says::Ran),
];

/// What the calls of a turn say.
pub(super) fn facts(calls: &[Called<'_>], errors: &Errors, paths: &Paths) -> Vec<Finding> {
    let facts = calls.iter().flat_map(|call| {
        let row = TOOLS.iter().find(|(name, _)| *name == call.name);
        match row {
            Some((_, Says::Read)) => read(call).into_iter().collect(),
            Some((_, Says::Changed)) => changed(call),
            Some((_, Says::Ran)) => failed(call, errors, paths).into_iter().collect(),
            None => Vec::new(),
        }
    });
    facts.collect()
}

fn read(call: &Called<'_>) -> Option<Finding> {
    let path = argument(call, "path").filter(|_| !call.failed)?;
    let path = path.trim_start_matches("./");
    Some(Note::new(path).of(Kind::File))
}

/// The result says it in one line: `src/a.rs: +3 -1`.
fn changed(call: &Called<'_>) -> Vec<Finding> {
    let said = call.output.lines().next().unwrap_or_default();
    match said.rsplit_once(": ") {
        Some((path, _)) if !call.failed => vec![
            Note::new(path).of(Kind::File),
            Note::new(said).of(Kind::Change),
        ],
        Some(_) | None => Vec::new(),
    }
}

/// A command that ran and failed, and whose output has no error that is known by its form.
fn failed(call: &Called<'_>, errors: &Errors, paths: &Paths) -> Option<Finding> {
    let command = argument(call, "command").filter(|_| call.failed)?;
    if !errors.read(paths, call.output).is_empty() {
        return None;
    }
    // The last line of the result: `[exit 1, 2.3 s]`; the time is no part of the error.
    let end = call.output.lines().last().unwrap_or_default();
    let end = end.trim_start_matches('[').split([',', ']']).next();
    let end = end.filter(|end| end.starts_with("exit ") || end.starts_with("killed "))?;
    Some(Note::new(format!("`{command}` failed ({end})")).of(Kind::Error))
}

fn argument(call: &Called<'_>, name: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(call.arguments).ok()?;
    let text = arguments.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
