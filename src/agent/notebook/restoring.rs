//! Lines that a capture took the place of, and that count again once it is taken back. Pure.
//!
//! Invariant: only a line that still stands there as it was marked counts again, and none that another capture took the place
//! of as well.

use super::capturing::{LONG_TERM, bullets};
use crate::chat::Timestamp;
use crate::notes::{Captured, Line, Receipt, Revision, unmarked};

/// A line that was marked on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outdated {
    pub(super) line: String,
    date: String,
}

/// What captures that said the same took the place of: not those whose own line another one took the place of since.
/// `receipts`: all, as they are now.
pub(super) fn outdated_by<'a>(
    taken: impl Iterator<Item = &'a Receipt>,
    receipts: &[Receipt],
) -> Vec<Outdated> {
    let mut found: Vec<Outdated> = Vec::new();
    for receipt in taken.filter(|it| !is_outdated(it, receipts)) {
        for outdated in outdated(receipt, receipts) {
            if !found.contains(&outdated) {
                found.push(outdated);
            }
        }
    }
    found
}

fn is_outdated(receipt: &Receipt, receipts: &[Receipt]) -> bool {
    let is_later = |it: &&Receipt| !it.forgotten && it.number > receipt.number;
    let mut later = receipts.iter().filter(is_later);
    later.any(|it| {
        let mut lines = it.what.superseded.iter();
        lines.any(|line| is_line_of(line, &receipt.what))
    })
}

/// What a capture took the place of: where that was taken back since, what that one had taken the place of. `receipts`: all.
fn outdated(receipt: &Receipt, receipts: &[Receipt]) -> Vec<Outdated> {
    let mut found = Vec::new();
    let mut newer = receipt;
    loop {
        let mut before = None;
        for line in &newer.what.superseded {
            let date = newer.at.map_or_else(String::new, Timestamp::date);
            let outdated = Outdated {
                line: line.clone(),
                date,
            };
            let is_shared = receipts.iter().any(|other| {
                let is_other = !other.forgotten && other.number != receipt.number;
                is_other && other.number != newer.number && outdated.is_of(other)
            });
            if !is_shared {
                found.push(outdated);
            }
            before = before.or_else(|| taken_back(line, newer.number, receipts));
        }
        match before {
            Some(receipt) => newer = receipt,
            None => return found,
        }
    }
}

/// The capture that wrote a line before another one, if it was taken back.
fn taken_back<'a>(line: &str, before: u64, receipts: &'a [Receipt]) -> Option<&'a Receipt> {
    let wrote = |receipt: &&Receipt| {
        let what = &receipt.what;
        let is_kept = what.files.iter().any(|file| file == LONG_TERM);
        receipt.number < before && is_kept && is_line_of(line, what)
    };
    let newest = receipts.iter().rev().find(wrote);
    newest.filter(|receipt| receipt.forgotten)
}

fn is_line_of(line: &str, what: &Captured) -> bool {
    let written = line.trim_start().strip_prefix("- ");
    written.is_some_and(|line| bullets(what).iter().any(|bullet| line == bullet))
}

impl Outdated {
    fn is_of(&self, receipt: &Receipt) -> bool {
        let is_its_day = receipt.at.is_some_and(|at| at.date() == self.date);
        is_its_day && receipt.what.superseded.contains(&self.line)
    }

    /// The newest line that is marked so, without its mark.
    pub(super) fn unmark(&self, lines: &[Line]) -> Vec<Revision> {
        let is_it = |line: &&Line| {
            let unmarked = unmarked(&line.text);
            unmarked.is_some_and(|(line, date)| line == self.line && date == self.date)
        };
        let newest = lines.iter().rfind(is_it);
        let revision = newest.map(|line| Revision {
            number: line.number,
            text: Some(self.line.clone()),
        });
        revision.into_iter().collect()
    }
}
