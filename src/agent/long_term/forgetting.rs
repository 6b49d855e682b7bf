//! Taking what is forgotten out of the workspace: the lines of captures, and the words wherever they stand; a line that
//! a capture had taken the place of counts again; receipts keep their number and nothing of the text.
//!
//! Invariant: a line that merely shares a word stays. A file that cannot be changed keeps no other from being changed.
//! The receipts come last: until they are written, forgetting the same again finishes what was begun.

use std::path::PathBuf;

use super::captures::Captures;
use super::capturing::{LONG_TERM, bullets, is_captured_as};
use crate::chat::{SessionName, Timestamp};
use crate::hint::chain;
use crate::long_term::notes::{
    Captured, Line, NOTED, NotesError, Receipt, ReceiptsError, Revision, SessionNotes, unmarked,
};
use crate::text::statement::{Author, Statements};

/// What was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// All that said it.
    pub receipts: Vec<Receipt>,
    /// Files that no longer have it.
    pub from: Vec<String>,
    /// Lines of MEMORY.md that it had taken the place of, and that count again.
    pub restored: Vec<String>,
    /// Files in which no line is as it was written.
    pub changed: Vec<String>,
    /// Files that could not be changed, each with why: the line may still be there.
    pub failed: Vec<(String, String)>,
}

/// Folder of the model's own files.
const MEMORIES: &str = "memories/";
/// How a part of a working buffer is headed that has a reply.
const AGENT_PART: &str = "Agent (summary)";

impl Captures {
    /// Takes captures, and all else that says the same, out of the files. `open`: the session whose notes are looked at
    /// where that of a capture has none any more.
    pub fn forget(
        &self,
        numbers: &[u64],
        statements: &Statements,
        open: &SessionName,
        now: Timestamp,
    ) -> Result<Forgotten, ReceiptsError> {
        let receipts = self.receipts.all()?;
        let says_it = |it: &&Receipt| {
            numbers.contains(&it.number) || statements.are_in(it.what.words(), Author::Person)
        };
        let taken: Vec<Receipt> = receipts
            .iter()
            .filter(|it| !it.forgotten)
            .filter(says_it)
            .cloned()
            .collect();
        let mut forgotten = Forgotten::default();
        let mut is_current = false;
        for receipt in &taken {
            is_current |= self.take_out(&mut forgotten, receipt, open);
        }
        self.strike(&mut forgotten, statements);
        if is_current {
            self.restore(&mut forgotten, &taken, &receipts);
        }
        let is_unchanged = forgotten.from.is_empty() && !forgotten.failed.is_empty();
        // Where nothing was taken back it can be tried again; half of it done is done.
        if !is_unchanged {
            self.close(&taken, now)?;
        }
        let Forgotten { from, changed, .. } = &mut forgotten;
        changed.retain(|file| !from.contains(file));
        forgotten.receipts = taken;
        Ok(forgotten)
    }

    /// Takes its own lines out; tells whether the one of MEMORY.md counted.
    fn take_out(&self, forgotten: &mut Forgotten, receipt: &Receipt, open: &SessionName) -> bool {
        let mut is_current = false;
        for file in &receipt.what.files {
            match self.remove(receipt, file, open) {
                Ok(None) => once(&mut forgotten.changed, file),
                Ok(Some(counted)) => {
                    is_current |= counted && file == LONG_TERM;
                    once(&mut forgotten.from, file);
                }
                Err(error) => forgotten.fail(file, &error),
            }
        }
        is_current
    }

    /// Removes the lines of a capture from a file; tells whether they counted, `None` where none is as it was written.
    fn remove(
        &self,
        receipt: &Receipt,
        file: &str,
        open: &SessionName,
    ) -> Result<Option<bool>, NotesError> {
        let texts = bullets(&receipt.what);
        if file == LONG_TERM {
            let memory = self.workspace.long_term();
            let lines = memory.lines()?;
            let line = newest(&lines, |line| {
                written(line).is_some_and(|line| texts.contains(&line))
            });
            let line = line.or_else(|| newest(&lines, |it| is_captured_as(it, &receipt.what.text)));
            let Some(line) = line else {
                return Ok(None);
            };
            memory.remove(line)?;
            return Ok(Some(unmarked(&line.text).is_none()));
        }
        let state = self.notes_of(receipt, open)?.state();
        let mut removed = None;
        for text in texts {
            let lines = state.lines()?;
            if let Some(line) = newest(&lines, |line| line.ends_with(&text)) {
                state.remove(line)?;
                removed = Some(true);
            }
        }
        Ok(removed)
    }

    /// The notes of the session it was said in, or else of the open one: it may have another name by now.
    fn notes_of(
        &self,
        receipt: &Receipt,
        open: &SessionName,
    ) -> Result<SessionNotes<'_>, NotesError> {
        let own = receipt.what.session.parse().ok();
        let own = own.map(|name: SessionName| self.workspace.session(&name));
        Ok(match own {
            Some(own) if own.state().read()?.is_some() => own,
            Some(_) | None => self.workspace.session(open),
        })
    }

    /// Takes the words out of notes that were put away with a session.
    pub fn forget_put_away(&self, folder: PathBuf, statements: &Statements) -> Forgotten {
        let mut forgotten = Forgotten::default();
        let put_away = Self {
            workspace: self.workspace.elsewhere(folder),
            receipts: self.receipts.clone(),
        };
        put_away.strike(&mut forgotten, statements);
        forgotten
    }

    /// Takes the words out wherever they stand.
    fn strike(&self, forgotten: &mut Forgotten, statements: &Statements) {
        let decide = |file: &str, lines: &[Line]| {
            let struck = lines
                .iter()
                .filter_map(|line| struck(file, line, statements));
            struck.collect()
        };
        for (file, revised) in self.workspace.revise_all(&decide) {
            match revised {
                Ok(_) => once(&mut forgotten.from, &file),
                Err(error) => forgotten.fail(&file, &error),
            }
        }
    }

    /// Lines that they had taken the place of count again.
    fn restore(&self, forgotten: &mut Forgotten, taken: &[Receipt], receipts: &[Receipt]) {
        let memory = self.workspace.long_term();
        for line in outdated_by(taken, receipts) {
            match memory.revise(&|lines| unmark(&line, lines)) {
                Ok(0) => {}
                Ok(_) => forgotten.restored.push(line),
                Err(error) => forgotten.fail(LONG_TERM, &error),
            }
        }
    }

    /// Receipts keep their numbers. What later ones had taken the place of is what these had.
    fn close(&self, taken: &[Receipt], now: Timestamp) -> Result<(), ReceiptsError> {
        if taken.is_empty() {
            return Ok(());
        }
        let numbers: Vec<u64> = taken.iter().map(|it| it.number).collect();
        let before = |line: &str| {
            let wrote = taken.iter().find(|it| is_line_of(line, &it.what));
            wrote.map(|it| it.what.superseded.clone())
        };
        self.receipts.redact(&numbers, &before, now)
    }
}

impl Forgotten {
    fn fail(&mut self, file: &str, error: &NotesError) {
        let failed = (file.to_owned(), chain(error));
        if !self.failed.contains(&failed) {
            self.failed.push(failed);
        }
    }
}

/// What becomes of a line; `None`: it stays as it is.
fn struck(file: &str, line: &Line, statements: &Statements) -> Option<Revision> {
    let section = line.section.as_deref().unwrap_or_default();
    let is_of_model = file.starts_with(MEMORIES)
        || line.text.starts_with(NOTED[1])
        || section.ends_with(AGENT_PART);
    let author = if is_of_model {
        Author::Derived
    } else {
        Author::Person
    };
    let bare = unmarked(&line.text);
    let text = bare.as_ref().map_or(line.text.as_str(), |(text, _)| text);
    let masked = statements.masked(text, author)?;
    let is_item = text.trim_start().starts_with(['-', '*', '+'])
        && !NOTED.iter().any(|it| text.starts_with(it));
    let goes = is_item && statements.are_all_of(text, author);
    Some(Revision {
        number: line.number,
        text: (!goes).then_some(masked),
    })
}

fn once(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// What a line of a list says as it was written: a later one may have taken its place since.
pub(super) fn written(line: &str) -> Option<String> {
    let unmarked = unmarked(line).map(|(line, _)| line);
    let line = unmarked.as_deref().unwrap_or(line).trim_start();
    line.strip_prefix("- ").map(str::to_owned)
}

fn newest(lines: &[Line], is_it: impl Fn(&str) -> bool) -> Option<&Line> {
    lines.iter().rev().find(|line| is_it(&line.text))
}

/// Returns the lines that these took the place of, which count again once these are forgotten: not those whose own line
/// another one took the place of since. `receipts`: all.
pub(super) fn outdated_by(taken: &[Receipt], receipts: &[Receipt]) -> Vec<String> {
    let is_taken = |it: &Receipt| taken.iter().any(|taken| taken.number == it.number);
    let others = || receipts.iter().filter(|it| !it.forgotten && !is_taken(it));
    let is_outdated = |receipt: &Receipt| {
        let mut later = others().filter(|it| it.number > receipt.number);
        later.any(|it| {
            it.what
                .superseded
                .iter()
                .any(|line| is_line_of(line, &receipt.what))
        })
    };
    let is_shared = |line: &String| others().any(|it| it.what.superseded.contains(line));
    let is_own = |line: &str| taken.iter().any(|it| is_line_of(line, &it.what));
    let mut found: Vec<String> = Vec::new();
    for receipt in taken.iter().filter(|it| !is_outdated(it)) {
        for line in &receipt.what.superseded {
            if !is_shared(line) && !is_own(line) && !found.contains(line) {
                found.push(line.clone());
            }
        }
    }
    found
}

/// Whether a line is one that a capture wrote.
pub(super) fn is_line_of(line: &str, what: &Captured) -> bool {
    let written = line.trim_start().strip_prefix("- ");
    written.is_some_and(|line| bullets(what).iter().any(|bullet| line == bullet))
}

/// The newest line that is marked and says this, without its mark.
pub(super) fn unmark(line: &str, lines: &[Line]) -> Vec<Revision> {
    let is_it = |it: &&Line| unmarked(&it.text).is_some_and(|(unmarked, _)| unmarked == line);
    let newest = lines.iter().rfind(is_it);
    let revision = newest.map(|it| Revision {
        number: it.number,
        text: Some(line.to_owned()),
    });
    revision.into_iter().collect()
}
