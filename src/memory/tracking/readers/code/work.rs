//! The task, what got done, and which files version control says changed.
//!
//! Task and progress are read from the clauses of a person's own sentences; a clause ends where another
//! subject begins (`breaks` in the cue file), never inside code or quotes.

use std::collections::HashSet;

use super::paths::Paths;
use super::patterns;
use crate::memory::tracking::cues::Cues;
use crate::memory::tracking::exchange::Speaker;
use crate::memory::tracking::note::{Finding, Kind, Note};
use crate::memory::tracking::prose::{End, Sentence, sentences};
use crate::text::patterns::{BadPattern, Patterns};

/// Characters of a task.
const MAX: usize = 120;

/// Tasks of the person, and progress of both.
pub(super) fn said(
    cues: &Cues,
    clauses: &Clauses,
    paths: &Paths,
    by: Speaker,
    text: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for sentence in sentences(text) {
        let mut begins = true;
        for clause in clauses.of(sentence.text) {
            let mut seen = false;
            for (kind, parts) in cues.read(clause) {
                let Some(text) = parts.name("text") else {
                    continue;
                };
                let has = |name| parts.name(name).is_some();
                let says = match kind {
                    Kind::Task => {
                        by == Speaker::User
                            && is_order(
                                &sentence,
                                begins,
                                text.as_str(),
                                has("asked"),
                                has("frame"),
                            )
                    }
                    Kind::Progress => {
                        sentence.end != End::Question
                            && (by == Speaker::User || names(paths, clause))
                            && (by == Speaker::Assistant || !has("terse"))
                    }
                    _ => false,
                };
                if says && !std::mem::replace(&mut seen, true) {
                    findings.push(Note::new(capped(text.as_str())).of(kind));
                }
            }
            begins = begins && clauses.opens(clause);
        }
    }
    findings
}

/// A bare verb orders only at the beginning of a sentence that is no question; `UPDATE users` is no order.
fn is_order(sentence: &Sentence<'_>, begins: bool, text: &str, asked: bool, framed: bool) -> bool {
    let verb = text.split_whitespace().next().unwrap_or_default();
    let shouts = verb.len() > 1 && !verb.contains(char::is_lowercase);
    let is_question = sentence.end == End::Question;
    !shouts && (asked || (!is_question && (framed || begins)))
}

/// Whether the words name a file or something in back-ticks.
fn names(paths: &Paths, clause: &str) -> bool {
    clause.matches('`').count() > 1 || paths.has_file(clause)
}

fn capped(text: &str) -> &str {
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

/// Cuts sentences where another clause begins.
#[derive(Debug)]
pub(super) struct Clauses {
    /// One.
    breaks: Patterns,
    opening: HashSet<String>,
}

impl Clauses {
    /// Patterns of what stands between two clauses; a group `next` begins the second.
    pub(super) fn new(breaks: &[String], opening: Vec<String>) -> Self {
        Self {
            breaks: patterns([&format!("(?i)(?:{})", breaks.join("|"))]),
            opening: opening.into_iter().collect(),
        }
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.breaks.check()
    }

    /// Whether a clause only opens a sentence: `TODO`.
    fn opens(&self, clause: &str) -> bool {
        self.opening.contains(&clause.to_lowercase())
    }

    fn of<'t>(&self, sentence: &'t str) -> Vec<&'t str> {
        let breaks = self.breaks.matching(sentence);
        let mut clauses = Vec::new();
        let mut from = 0;
        let mut read = 0;
        let mut in_quotes = false;
        for found in breaks.flat_map(|(_, breaks)| breaks.captures_iter(sentence)) {
            let whole = found.get(0).map_or(0..0, |whole| whole.range());
            let marks = sentence[read..whole.start].matches(['`', '"']).count();
            in_quotes ^= marks % 2 == 1;
            read = whole.start;
            if in_quotes || whole.start == 0 {
                continue;
            }
            clauses.push(sentence[from..whole.start].trim());
            let parts = found.iter().skip(1).flatten();
            from = parts.last().map_or(whole.end, |next| next.start());
        }
        clauses.push(sentence[from..].trim());
        clauses
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
