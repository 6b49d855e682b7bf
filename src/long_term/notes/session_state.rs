//! SESSION-STATE.md: what a person said that counts, a line each, written before a model is asked (Q2, Q11, Q12).
//!
//! ```text
//!  # Session State
//!
//!  - [2025-01-15T10:30:00+00:00] **preference**: tabs, not spaces
//! ```
//! Invariant: only lines of this form ever leave the file to make room; what a person wrote among them stays.

use std::collections::HashSet;

use super::error::NotesError;
use super::excerpt::{Excerpt, Keep};
use super::markdown::{Line, changed, line_end, lines};
use super::page::{EDITABLE, Edit, Page};
use crate::chat::Timestamp;
use crate::text::lines::one_line;

const TITLE: &str = "# Session State";
/// Characters of it in a request.
const READ: usize = 20_000;
/// Of all lines of ours, so many in a hundred leave a file that is full.
const LEAVE: usize = 40;

/// The file.
#[derive(Clone, Debug)]
pub struct SessionState<'a>(Page<'a>);

impl<'a> SessionState<'a> {
    pub(super) fn new(page: Page<'a>) -> Self {
        Self(page)
    }

    /// Relative to the workspace.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Adds a line for each category and detail, all at once. Where the file would grow beyond `max` bytes, its oldest
    /// lines leave, and a note says so.
    pub fn append(
        &self,
        at: Timestamp,
        captured: &[(&str, &str)],
        max: usize,
    ) -> Result<(), NotesError> {
        let time = at.iso().replace('Z', "+00:00");
        let line = |(category, detail): &(&str, &str)| {
            format!(
                "- [{time}] **{}**: {}",
                one_line(category),
                one_line(detail)
            )
        };
        let lines = captured.iter().map(line).collect::<Vec<_>>().join("\n");
        if self.0.size()?.is_some_and(|size| size > EDITABLE) {
            return self.append_to_large(&lines);
        }
        self.0.edit(|text| {
            let end = line_end(text);
            let line = lines.replace('\n', end);
            if text.trim().is_empty() {
                let whole = format!("{text}{TITLE}{end}{end}{line}{end}");
                return Ok((Edit::replace_adding(whole, line), ()));
            }
            let gap = if text.ends_with('\n') { "" } else { end };
            if text.len() + gap.len() + line.len() + end.len() <= max {
                return Ok((Edit::Append(format!("{gap}{line}{end}")), ()));
            }
            let kept = without_oldest(text, at);
            let gap = if kept.is_empty() || kept.ends_with('\n') {
                ""
            } else {
                end
            };
            let whole = format!("{kept}{gap}{line}{end}");
            Ok((Edit::replace_adding(whole, line), ()))
        })
    }

    /// The newest of it; what was said again and again stands where it was said last.
    pub fn read(&self) -> Result<Option<Excerpt>, NotesError> {
        let excerpt = self.0.excerpt(READ, Keep::End)?;
        Ok(excerpt.map(|excerpt| Excerpt {
            text: once(&excerpt.text),
            ..excerpt
        }))
    }

    /// Puts it away under the time, so that nothing of it is in a request any more; whether there was one.
    pub fn put_away(&self, at: Timestamp) -> Result<bool, NotesError> {
        if self.0.size()?.is_none() {
            return Ok(false);
        }
        let _held = self.0.hold()?;
        let to = self.0.beside(&format!("-{}.md", at.compact()));
        self.0
            .rename(&to)
            .map_err(NotesError::io("move", &self.0.path))?;
        Ok(true)
    }

    /// Every line of its list.
    pub fn lines(&self) -> Result<Vec<Line>, NotesError> {
        let text = self.0.read()?.unwrap_or_default();
        let mut lines = lines(&text);
        lines.retain(|line| line.text.starts_with("- "));
        Ok(lines)
    }

    /// Takes a line out, if it still is there.
    pub fn remove(&self, line: &Line) -> Result<(), NotesError> {
        self.0.remove_line(line)
    }

    fn append_to_large(&self, line: &str) -> Result<(), NotesError> {
        let _held = self.0.hold()?;
        let gap = if self.0.lacks_end()? { "\n" } else { "" };
        self.0.append(&format!("{gap}{line}\n"))
    }
}

impl Page<'_> {
    /// Takes a line out: the one of that number, if it still reads so, else the only one that does.
    pub(super) fn remove_line(&self, line: &Line) -> Result<(), NotesError> {
        self.edit(|text| {
            let number = self.place_of(text, line)?;
            let whole = changed(text, number, None);
            Ok((Edit::replace(whole), ()))
        })
    }

    /// Where a line is by now.
    pub(super) fn place_of(&self, text: &str, line: &Line) -> Result<usize, NotesError> {
        let alike: Vec<usize> = lines(text)
            .into_iter()
            .filter(|it| it.text == line.text)
            .map(|it| it.number)
            .collect();
        let (path, text) = (self.path.clone(), line.text.clone());
        match alike[..] {
            [] => Err(NotesError::Gone { path, line: text }),
            [only] => Ok(only),
            _ if alike.contains(&line.number) => Ok(line.number),
            _ => Err(NotesError::Ambiguous { path, line: text }),
        }
    }
}

/// The text without the oldest of our lines, and a note in their place.
fn without_oldest(text: &str, at: Timestamp) -> String {
    let pieces: Vec<&str> = text.split_inclusive('\n').collect();
    let ours: usize = pieces
        .iter()
        .filter(|line| is_ours(line))
        .map(|line| line.len())
        .sum();
    let end = line_end(text);
    let note = format!("- [older lines dropped, {}]{end}", at.date());
    let (mut gone, mut is_noted) = (0, false);
    let mut kept = String::with_capacity(text.len());
    for line in pieces {
        if is_ours(line) && gone * 100 < ours * LEAVE {
            gone += line.len();
            if !is_noted {
                kept.push_str(&note);
                is_noted = true;
            }
        } else if !is_note(line) {
            kept.push_str(line);
        }
    }
    kept
}

fn is_note(line: &str) -> bool {
    line.starts_with("- [older lines dropped, ")
}

/// The text without those of our lines that come again later, be it at another time.
fn once(text: &str) -> String {
    let mut seen = HashSet::new();
    let lines = text.split_inclusive('\n').rev();
    let kept = lines.filter(|line| captured(line).is_none_or(|said| seen.insert(said)));
    let mut kept: Vec<&str> = kept.collect();
    kept.reverse();
    kept.concat()
}

/// The text without those of our lines that were written later.
pub(super) fn until(text: &str, at: Timestamp) -> String {
    let is_later = |line: &&str| {
        let time = line
            .strip_prefix("- [")
            .and_then(|rest| rest.split_once(']'));
        let time = time.and_then(|(time, _)| Timestamp::parse(time));
        is_ours(line) && time.is_some_and(|time| time > at)
    };
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !is_later(line)).collect()
}

fn is_ours(line: &str) -> bool {
    captured(line).is_some()
}

/// What a line says that was written here: a category and a detail behind a time in brackets.
fn captured(line: &str) -> Option<&str> {
    let (time, rest) = line.strip_prefix("- [")?.split_once("] **")?;
    let is_ours = Timestamp::parse(time).is_some() && rest.contains("**: ");
    is_ours.then(|| rest.trim_end())
}
