//! How long a task is, what the assistant says that it did, and which files version control says changed.

use super::paths::Paths;
use super::patterns;
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

#[cfg(test)]
mod tests;
