//! Lines that leave notes, or say something else from now on, wherever they are by now. Unit: one file.
//!
//! Invariant: what is to become of them is decided on the file as it is under the lock; no other line changes.

use std::cmp::Reverse;

use super::buffer::Buffer;
use super::daily::{Daily, DayFile};
use super::error::NotesError;
use super::long_term::LongTerm;
use super::markdown::{Line, changed, lines};
use super::page::{Edit, Page};

/// What becomes of the line of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub number: usize,
    /// `None`: it goes.
    pub text: Option<String>,
}

impl Page<'_> {
    /// Does what is decided of the lines; tells of how many.
    pub(super) fn revise(
        &self,
        decide: &dyn Fn(&[Line]) -> Vec<Revision>,
    ) -> Result<usize, NotesError> {
        // Most files have nothing to revise: nobody waits for those.
        let text = self.read()?.unwrap_or_default();
        if decide(&lines(&text)).is_empty() {
            return Ok(0);
        }
        self.edit(|text| {
            let mut revisions = decide(&lines(text));
            let count = revisions.len();
            // From the end, so that numbers go on counting.
            revisions.sort_by_key(|revision| Reverse(revision.number));
            let whole = revisions.iter().fold(text.to_owned(), |text, revision| {
                changed(&text, revision.number, revision.text.as_deref())
            });
            let edit = if count == 0 {
                Edit::None
            } else {
                Edit::Replace { whole, added: None }
            };
            Ok((edit, count))
        })
    }
}

impl LongTerm<'_> {
    pub fn revise(&self, decide: &dyn Fn(&[Line]) -> Vec<Revision>) -> Result<usize, NotesError> {
        self.page().revise(decide)
    }
}

impl Daily<'_> {
    pub fn revise(
        &self,
        day: &DayFile,
        decide: &dyn Fn(&[Line]) -> Vec<Revision>,
    ) -> Result<usize, NotesError> {
        self.page_of(day).revise(decide)
    }
}

impl Buffer<'_> {
    /// Of the buffer and the closed ones; tells what came of each file that has any.
    pub fn revise(
        &self,
        decide: &dyn Fn(&[Line]) -> Vec<Revision>,
    ) -> Vec<(String, Result<usize, NotesError>)> {
        let pages = match self.all() {
            Ok(pages) => pages,
            Err(error) => return vec![(self.source().to_owned(), Err(error))],
        };
        let revised = pages.into_iter().map(|page| {
            let revised = page.revise(decide);
            (page.source, revised)
        });
        revised.collect()
    }
}
