//! Lines that a model keeps for good: a line of MEMORY.md that goes with the entry that says it (Q20).
//!
//! Invariant: a receipt ties the line to the entry. A line that nothing ties to it, a person's own among them, is
//! neither marked nor removed.

use super::Parts;
use super::captures::Captures;
use super::capturing::{LONG_TERM, statement};
use super::forgetting::written;
use crate::chat::Timestamp;
use crate::hint::chain;
use crate::long_term::entries::Entry;
use crate::long_term::notes::{Added, Captured, Judgement, Line, LongTerm, Receipt};
use crate::memory::Backend;

/// What became of the lines of an entry that is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LetGo {
    pub lines: usize,
    /// Lines that are not as they were written.
    pub changed: usize,
    pub failed: Option<String>,
}

impl LetGo {
    /// For a person or a model; `None` where there was no line.
    pub fn told(&self) -> Option<String> {
        let lines = match self.lines {
            0 => None,
            1 => Some("its line was removed".to_owned()),
            several => Some(format!("its {several} lines were removed")),
        };
        let changed = (self.changed > 0)
            .then(|| "a line is missing or was edited by hand, so nothing was removed".to_owned());
        let failed = self.failed.as_ref();
        let failed =
            failed.map(|why| format!("could not be changed; remove the line by hand: {why}"));
        let parts: Vec<String> = [lines, changed, failed].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl Parts {
    /// Adds what an entry says to MEMORY.md, unless it is there, and marks what it said before; tells what became of
    /// it.
    pub fn remember(&self, entry: &Entry, now: Timestamp) -> String {
        if self.settings.backend == Backend::None {
            return "not written: nothing is kept beyond this session".to_owned();
        }
        let folded = entry.content.split_whitespace().collect::<Vec<_>>();
        let folded = folded.join(" ");
        let before = self.captures().of_entry(entry.id.as_str());
        let memory = self.workspace.long_term();
        let mut outdated = Vec::new();
        let judge = |lines: &[Line]| {
            outdated = outdated_by(&folded, lines, &before);
            let key = statement(&folded);
            if lines.iter().any(|line| statement(&line.text) == key) {
                Judgement::Known
            } else if outdated.is_empty() {
                Judgement::Add
            } else {
                Judgement::Supersedes(outdated.iter().map(|line| line.number).collect())
            }
        };
        match memory.add(
            now,
            &crate::long_term::notes::Section::Notes,
            &folded,
            judge,
        ) {
            Ok(Added::Known) => match supersede(&memory, &outdated, now) {
                None => "already there".to_owned(),
                Some(why) => {
                    format!("already there; could not mark its earlier text as outdated: {why}")
                }
            },
            Ok(added @ (Added::Added | Added::AtEndOfLarge)) => {
                // Of a large file no other line was changed.
                if added == Added::AtEndOfLarge {
                    outdated.clear();
                }
                let tied = self.receipts.add(vec![tie(entry, folded, &outdated)], now);
                tied.err().map_or_else(
                    || "written".to_owned(),
                    |error| {
                        format!(
                            "written, but it will not be removed with the entry: {}",
                            chain(&error)
                        )
                    },
                )
            }
            Ok(Added::NoFile | Added::Full) => "not written: it is full".to_owned(),
            Err(error) => format!("not written: {}", chain(&error)),
        }
    }

    /// Brings MEMORY.md up to an entry that has a line there.
    pub fn keep_in_step(&self, entry: &Entry, now: Timestamp) -> Option<String> {
        let has = !self.captures().of_entry(entry.id.as_str()).is_empty();
        has.then(|| self.remember(entry, now))
    }

    /// The same for an entry that is back, and had a line before it was taken away.
    pub fn bring_back(&self, entry: &Entry, now: Timestamp) -> Option<String> {
        let all = self.receipts.all().unwrap_or_default();
        let id = Some(entry.id.as_str());
        let had = all.iter().any(|it| it.what.entry.as_deref() == id);
        had.then(|| self.remember(entry, now))
    }
}

impl Captures {
    /// Takes out of MEMORY.md what an entry said there.
    pub fn let_go(&self, entry: &str, now: Timestamp) -> LetGo {
        let mut gone = LetGo::default();
        if let Err(error) = self.receipts.all() {
            gone.failed = Some(chain(&error));
        }
        for receipt in self.of_entry(entry) {
            match self.remove_line_of(&receipt) {
                Ok(true) => gone.lines += 1,
                Ok(false) => gone.changed += 1,
                Err(why) => {
                    gone.failed.get_or_insert(why);
                    continue;
                }
            }
            if let Err(error) = self.receipts.forget(receipt.number, now) {
                gone.failed.get_or_insert(chain(&error));
            }
        }
        gone
    }

    /// Receipts of the lines that an entry has. Without receipts it has none.
    pub fn of_entry(&self, entry: &str) -> Vec<Receipt> {
        let mut all = self.receipts.all().unwrap_or_default();
        all.retain(|it| !it.forgotten && it.what.entry.as_deref() == Some(entry));
        all
    }

    /// Whether there was one.
    fn remove_line_of(&self, receipt: &Receipt) -> Result<bool, String> {
        let memory = self.workspace.long_term();
        let lines = memory.lines().map_err(|error| chain(&error))?;
        let line = lines.iter().rfind(|line| is_of(line, receipt));
        let removed = line.map(|line| memory.remove(line));
        let is_there = removed.is_some();
        let failed = removed.and_then(Result::err);
        failed.map_or(Ok(is_there), |error| Err(chain(&error)))
    }
}

/// Lines of an entry that say something else than it says now.
fn outdated_by(text: &str, lines: &[Line], before: &[Receipt]) -> Vec<Line> {
    let older = before.iter().filter(|it| it.what.text != text);
    let found = older.filter_map(|receipt| {
        let is_its = |line: &&Line| {
            let written = line.text.trim_start().strip_prefix("- ");
            written == Some(receipt.what.text.as_str())
        };
        lines.iter().rfind(is_its).cloned()
    });
    found.collect()
}

/// As it was written, or marked since.
fn is_of(line: &Line, receipt: &Receipt) -> bool {
    written(&line.text).as_deref() == Some(receipt.what.text.as_str())
}

fn supersede(memory: &LongTerm<'_>, outdated: &[Line], now: Timestamp) -> Option<String> {
    let marked = outdated.iter().map(|line| memory.supersede(now, line));
    marked
        .filter_map(Result::err)
        .map(|error| chain(&error))
        .next()
}

fn tie(entry: &Entry, text: String, outdated: &[Line]) -> Captured {
    let from = entry.from.clone();
    let (session, message) = from
        .map(|from| (from.session, from.message))
        .unwrap_or_default();
    Captured {
        session,
        message,
        category: Captured::MEMORIZED.to_owned(),
        text,
        files: vec![LONG_TERM.to_owned()],
        superseded: outdated.iter().map(|line| line.text.clone()).collect(),
        entry: Some(entry.id.as_str().to_owned()),
    }
}
