//! Lines that a capture took the place of, and that count again once it is forgotten. Pure.
//!
//! Invariant: only a line that still stands there as it was marked counts again, and none that another capture took the
//! place of as well.

use super::capturing::bullets;
use crate::long_term::notes::{Captured, Line, Receipt, Revision, unmarked};

/// Lines that these took the place of: not those whose own line another one took the place of since. `receipts`: all.
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
