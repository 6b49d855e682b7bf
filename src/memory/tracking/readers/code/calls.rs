//! What tools did, as facts: files they changed, commands that failed (C43, C45, C47).
//!
//! Read from the calls of a turn and their results, as they stand in history; nothing here is guessed from prose.

use serde_json::Value;

use super::errors::Errors;
use super::paths::Paths;
use crate::memory::tracking::exchange::Called;
use crate::memory::tracking::note::{Finding, Kind, Note};

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
