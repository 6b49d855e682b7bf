//! Error messages in what a person pasted or a failed tool gave back, each with the place it names.
//!
//! A line is an error if a row of the table matches it; a row says where the place
//! is found: in the line, in a frame above (Python, Gradle) or in a frame below (`--> file`, `at f (file)`).
//! Lines that are prose are searched for quoted errors, unless the sentence talks about errors.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;

use super::pass::{Found, Pass};
use super::paths::Paths;
use super::{pattern, patterns};
use crate::memory::tracking::cues::{BadPattern, filled};
use crate::memory::tracking::note::Note;

/// Bytes of a line that are read.
const WIDEST: usize = 2000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Words that patterns name.
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    /// A line that none of these matches has no error.
    gate: Vec<String>,
    /// Lines that only sound like one.
    never: Vec<String>,
    /// Lines of programs; no errors are quoted in them.
    code: Vec<String>,
    /// Names of fences around programs.
    pub(super) languages: Vec<String>,
    pub(super) rows: Vec<Row>,
    inline: Vec<String>,
    pub(super) frames: Vec<Frame>,
}

/// How one tool writes an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// For the reader of the table.
    #[serde(rename = "tool")]
    _tool: String,
    /// Groups: `text`; `file`, `line`, `col`; `same`, the part that may have been told before.
    pattern: String,
    #[serde(default)]
    pub(super) place: Vec<Where>,
    /// The message is the next line.
    #[serde(default)]
    pub(super) next: bool,
    /// What the message begins with.
    #[serde(default)]
    pub(super) prefix: String,
    /// Counts only under the frames of a Python traceback.
    #[serde(default)]
    pub(super) traceback: bool,
    /// Counts only where a sentence quotes it.
    #[serde(default)]
    pub(super) quoted: bool,
}

/// Where the frame of an error stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Where {
    Above,
    Below,
}

/// A line that names a place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Frame {
    pattern: String,
    pub(super) place: Where,
    /// The last of these holds, however far it is above.
    #[serde(default)]
    pub(super) traceback: bool,
    /// A file alone; the errors under it name their lines.
    #[serde(default)]
    pub(super) heading: bool,
}

#[derive(Debug)]
pub(super) struct Errors {
    table: Table,
    talk: Vec<String>,
    compiled: OnceLock<Option<Compiled>>,
}

#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) gate: Regex,
    pub(super) never: RegexSet,
    pub(super) code: RegexSet,
    pub(super) talk: RegexSet,
    pub(super) any: RegexSet,
    pub(super) rows: Vec<Regex>,
    pub(super) inline: Vec<Regex>,
    pub(super) any_frame: RegexSet,
    pub(super) frames: Vec<Regex>,
}

impl Errors {
    pub(super) fn new(mut table: Table, talk: Vec<String>) -> Result<Self, BadPattern> {
        let lists = std::mem::take(&mut table.lists);
        for row in &mut table.rows {
            row.pattern = filled(&row.pattern, &lists)?;
        }
        for frame in &mut table.frames {
            frame.pattern = filled(&frame.pattern, &lists)?;
        }
        for inline in &mut table.inline {
            *inline = filled(inline, &lists)?;
        }
        Ok(Self {
            table,
            talk,
            compiled: OnceLock::new(),
        })
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.compile().map(drop)
    }

    fn compile(&self) -> Result<Compiled, BadPattern> {
        let each = |all: &[String]| {
            all.iter()
                .map(|p| pattern(p))
                .collect::<Result<Vec<_>, _>>()
        };
        let table = &self.table;
        let rows: Vec<_> = table.rows.iter().map(|row| row.pattern.clone()).collect();
        let frames: Vec<_> = table.frames.iter().map(|f| f.pattern.clone()).collect();
        Ok(Compiled {
            gate: pattern(&table.gate.join("|"))?,
            never: patterns(&table.never)?,
            code: patterns(&table.code)?,
            talk: patterns(&self.talk)?,
            any: patterns(&rows)?,
            rows: each(&rows)?,
            inline: each(&table.inline)?,
            any_frame: patterns(&frames)?,
            frames: each(&frames)?,
        })
    }

    /// Errors in order, each once.
    pub(super) fn read(&self, paths: &Paths, text: &str) -> Vec<Note> {
        let compiled = self.compiled.get_or_init(|| self.compile().ok());
        let Some(compiled) = compiled else {
            return Vec::new();
        };
        let mut pass = Pass::new(&self.table, compiled, paths);
        for line in text.lines() {
            pass.line(&line[..line.floor_char_boundary(WIDEST)]);
        }
        once(pass.found())
    }
}

/// Without what was told before: the same words at the same place, or at no place.
fn once(found: Vec<Found>) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
    for error in found {
        if error.text.is_empty() || (error.is_doubtful && error.place.is_none()) {
            continue;
        }
        if error
            .same
            .is_some_and(|same| seen.contains_key(&alike(&same)))
        {
            continue;
        }
        let earlier = seen.entry(alike(&error.text)).or_default();
        // Where one of them has no place, only the first and the last have to be looked at.
        let again = [earlier.first(), earlier.last()]
            .into_iter()
            .flatten()
            .find(|at| {
                let place = &notes[**at].place;
                place.is_none() || error.place.is_none() || *place == error.place
            });
        if let Some(again) = again {
            if notes[*again].place.is_none() {
                notes[*again].place = error.place;
            }
            continue;
        }
        earlier.push(notes.len());
        notes.push(Note {
            place: error.place,
            ..Note::new(error.text)
        });
    }
    notes
}

/// The words of a message without its numbers and addresses.
fn alike(text: &str) -> String {
    let mut alike = String::with_capacity(text.len());
    let mut in_number = false;
    for word in text.split_inclusive(' ') {
        if word.starts_with("0x") {
            alike.push_str("# ");
            continue;
        }
        for c in word.chars() {
            let is_digit = c.is_ascii_digit();
            if !is_digit {
                alike.extend(c.to_lowercase());
            } else if !in_number {
                alike.push('#');
            }
            in_number = is_digit;
        }
    }
    alike
}
