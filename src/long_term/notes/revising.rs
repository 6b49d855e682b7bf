//! Lines that leave notes, or say something else from now on, wherever they are by now.
//!
//! Invariant: what is to become of them is decided on the file as it is under the lock; no other line changes.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::Path;

use super::error::NotesError;
use super::long_term::LongTerm;
use super::markdown::{Line, changed, lines};
use super::page::{Edit, Page};
use super::workspace::Workspace;
use crate::files::What;

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
                Edit::replace(whole)
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

/// Folders below each other that are looked through.
const MAX_DEPTH: usize = 8;
/// Of the model's own files any may hold text.
const MEMORIES: &str = "memories/";

impl Workspace {
    /// The same in every file here, those in the trash too; tells of each that changed, or could not be.
    pub fn revise_all(
        &self,
        decide: &dyn Fn(&str, &[Line]) -> Vec<Revision>,
    ) -> Vec<(String, Result<usize, NotesError>)> {
        let mut names = Vec::new();
        self.collect("", MAX_DEPTH, &mut names);
        let revised = names.into_iter().filter_map(|name| {
            let page = Page::new(self.desk(), &name);
            match page.revise(&|lines| decide(&name, lines)) {
                // Nothing was ever written there by us.
                Ok(0) | Err(NotesError::NotText { .. }) => None,
                revised => Some((name.clone(), revised)),
            }
        });
        revised.collect()
    }

    /// The text of every file here, by its name; what cannot be read is left out.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> {
        let mut names = Vec::new();
        self.collect("", MAX_DEPTH, &mut names);
        names.into_iter().filter_map(|name| {
            let text = Page::new(self.desk(), &name).read().ok().flatten()?;
            Some((name, text))
        })
    }

    fn collect(&self, folder: &str, depth: usize, names: &mut Vec<String>) {
        let path = self.root().join(folder);
        for found in self.desk().disk.survey(&path).unwrap_or_default() {
            let Some(name) = found.path.file_name().and_then(OsStr::to_str) else {
                continue;
            };
            let is_own = folder.starts_with(MEMORIES)
                || Path::new(name).extension().is_some_and(|end| end == "md");
            let is_hidden = name.starts_with('.');
            match found.what {
                What::Folder if depth > 0 && !is_hidden => {
                    self.collect(&format!("{folder}{name}/"), depth - 1, names);
                }
                What::File if is_own && !is_hidden => names.push(format!("{folder}{name}")),
                // A link of the model's own folder is never followed.
                What::Link if is_own && !folder.starts_with(MEMORIES) => {
                    names.push(format!("{folder}{name}"));
                }
                What::Folder | What::File | What::Link | What::Other => {}
            }
        }
    }
}
