//! One file of the workspace: read within bounds, appended to, changed as it is now.
//!
//! Invariant: a change that fails leaves the file as it was; a file that is not UTF-8 is never changed; what a person
//! wrote since we last looked is part of what is changed: every change begins by reading, and begins anew where a hand
//! was faster.

use std::io;
use std::path::PathBuf;

use super::error::NotesError;
use super::excerpt::{
    Excerpt, Keep, WIDEST, cut, plain, whole_characters_at_end, whole_characters_at_start,
};
use super::workspace::{Change, Desk, Held, Written};
use crate::files::Replaced;

/// A larger file is appended to and read in parts, and no more than that.
pub(super) const EDITABLE: u64 = 8 << 20;

/// A file that a hand changes so many times while we do is left to it.
const TRIES: usize = 20;

/// What can be done to a file.
#[derive(Clone, Debug)]
pub(super) struct Page<'a> {
    desk: &'a Desk,
    pub(super) path: PathBuf,
    /// Relative to the workspace.
    pub(super) source: String,
}

/// What a change makes of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    None,
    /// This at the end.
    Append(String),
    /// The whole of it, and what of it is new, if that is a piece.
    Replace {
        whole: String,
        added: Option<String>,
    },
}

impl Edit {
    pub(super) fn replace(whole: String) -> Self {
        Self::Replace { whole, added: None }
    }

    pub(super) fn replace_adding(whole: String, added: String) -> Self {
        let added = Some(added);
        Self::Replace { whole, added }
    }
}

impl<'a> Page<'a> {
    pub(super) fn new(desk: &'a Desk, source: &str) -> Self {
        Self {
            path: desk.root.join(source),
            source: source.to_owned(),
            desk,
        }
    }

    /// A file of the same name with another ending.
    pub(super) fn beside(&self, ending: &str) -> Self {
        let stem = self.source.trim_end_matches(".md");
        Self::new(self.desk, &format!("{stem}{ending}"))
    }

    /// Bytes; `None` where there is no file.
    pub(super) fn size(&self) -> Result<Option<u64>, NotesError> {
        match self.desk.disk.size(&self.path) {
            Ok(size) => Ok(Some(size)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(NotesError::io("read", &self.path)(error)),
        }
    }

    /// The whole text, if it is no larger than can be edited.
    pub(super) fn read(&self) -> Result<Option<String>, NotesError> {
        match self.size()? {
            None => return Ok(None),
            Some(size) if size > EDITABLE => {
                return Err(NotesError::TooLarge {
                    path: self.path.clone(),
                    limit: EDITABLE,
                });
            }
            Some(_) => {}
        }
        match self.desk.disk.read(&self.path) {
            Ok(bytes) => self.text(bytes).map(Some),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(NotesError::io("read", &self.path)(error)),
        }
    }

    /// So many bytes of the beginning, without half a character.
    pub(super) fn head(&self, bytes: usize) -> Result<String, NotesError> {
        let head = self.desk.disk.read_head(&self.path, bytes);
        let head = head.map_err(NotesError::io("read", &self.path))?;
        self.text(whole_characters_at_start(&head).to_owned())
    }

    /// So many bytes of the end, without half a character.
    pub(super) fn tail(&self, bytes: usize) -> Result<String, NotesError> {
        let from = self
            .size()?
            .unwrap_or_default()
            .saturating_sub(bytes as u64);
        let tail = self.desk.disk.read_at(&self.path, from, bytes);
        let tail = tail.map_err(NotesError::io("read", &self.path))?;
        let tail = if from > 0 {
            whole_characters_at_end(&tail)
        } else {
            &tail
        };
        self.text(tail.to_owned())
    }

    /// What of it goes into a request; `None` where there is nothing to read.
    pub(super) fn excerpt(&self, room: usize, keep: Keep) -> Result<Option<Excerpt>, NotesError> {
        let Some(size) = self.size()? else {
            return Ok(None);
        };
        // As much as its characters and the space around them can take, at the most.
        let bytes = room
            .saturating_add(1)
            .saturating_mul(WIDEST)
            .saturating_add(1 << 10);
        let is_whole = size <= bytes as u64;
        let text = match keep {
            _ if is_whole => self.head(bytes)?,
            Keep::Start => self.head(bytes)?,
            Keep::End => self.tail(bytes)?,
            Keep::Both => format!("{}\n{}", self.head(bytes)?, self.tail(bytes)?),
        };
        let (text, is_cut) = cut(&plain(&text), room, keep);
        Ok((!text.trim().is_empty()).then(|| Excerpt {
            source: self.source.clone(),
            text,
            is_cut: is_cut || !is_whole,
        }))
    }

    pub(super) fn hold(&self) -> Result<Held<'a>, NotesError> {
        self.desk.hold()
    }

    /// Changes the file as it is now; a missing one is an empty text. Asked again where it was changed meanwhile.
    pub(super) fn edit<T>(
        &self,
        mut change: impl FnMut(&str) -> Result<(Edit, T), NotesError>,
    ) -> Result<T, NotesError> {
        let _held = self.hold()?;
        self.desk.sweep(self.path.parent());
        for _ in 0..TRIES {
            let seen = self.read()?;
            let (edit, result) = change(seen.as_deref().unwrap_or_default())?;
            let replaced = match edit {
                Edit::None => Replaced::Done,
                // A person may have the file open: it is written only where a line changed.
                Edit::Replace { whole, .. } if seen.as_deref() == Some(whole.as_str()) => {
                    Replaced::Done
                }
                Edit::Append(more) => self.append(&more).map(|()| Replaced::Done)?,
                Edit::Replace { whole, added } => self.replace(seen.as_deref(), &whole, added)?,
            };
            if replaced == Replaced::Done {
                return Ok(result);
            }
        }
        let source = io::ErrorKind::ResourceBusy.into();
        Err(NotesError::io("write", &self.path)(source))
    }

    /// Puts the text in the place of the old one, unless that is another by now. To be called under the lock.
    fn replace(
        &self,
        seen: Option<&str>,
        whole: &str,
        added: Option<String>,
    ) -> Result<Replaced, NotesError> {
        let (seen, whole) = (seen.map(str::as_bytes), whole.as_bytes());
        let replaced = self.desk.disk.replace_seen(&self.path, seen, whole);
        let replaced = replaced.map_err(NotesError::io("write", &self.path))?;
        if replaced == Replaced::Done {
            self.tell(added.map_or(Change::Replaced, Change::Added));
        }
        Ok(replaced)
    }

    /// Adds at the end, whatever the size. To be called under the lock.
    pub(super) fn append(&self, more: &str) -> Result<(), NotesError> {
        let before = self.size()?;
        if let Err(error) = self.desk.disk.append_synced(&self.path, more.as_bytes()) {
            self.take_back(before, more.as_bytes());
            return Err(NotesError::io("write", &self.path)(error));
        }
        self.tell(Change::Added(more.to_owned()));
        Ok(())
    }

    /// Moves it to another name beside it. To be called under the lock.
    pub(super) fn rename(&self, to: &Self) -> io::Result<()> {
        self.desk.disk.rename(&self.path, &to.path)?;
        self.tell(Change::Removed);
        Ok(())
    }

    /// Takes the file away. To be called under the lock.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.desk.disk.remove(&self.path)?;
        self.tell(Change::Removed);
        Ok(())
    }

    /// Whether the last line has no end yet.
    pub(super) fn lacks_end(&self) -> Result<bool, NotesError> {
        let Some(last) = self.size()?.and_then(|size| size.checked_sub(1)) else {
            return Ok(false);
        };
        let end = self.desk.disk.read_at(&self.path, last, 1);
        Ok(end.map_err(NotesError::io("read", &self.path))? != b"\n")
    }

    pub(super) fn tell(&self, change: Change) {
        self.desk.tell(&Written {
            source: self.source.clone(),
            change,
        });
    }

    /// After an append that failed: cuts off what of it got there. That this may fail too is why readers stand half
    /// lines.
    fn take_back(&self, before: Option<u64>, more: &[u8]) {
        let disk = &self.desk.disk;
        let old = before.unwrap_or_default();
        let Ok(torn) = disk.read_at(&self.path, old, more.len() + 1) else {
            return;
        };
        // Anything else there is not ours.
        if !more.starts_with(&torn) {
            return;
        }
        let taken = match before {
            None => disk.remove(&self.path),
            Some(_) if torn.is_empty() => Ok(()),
            Some(old) => disk.truncate(&self.path, old),
        };
        if let Err(error) = taken {
            tracing::warn!("{} may end in half a line: {error}", self.path.display());
        }
    }

    fn text(&self, bytes: Vec<u8>) -> Result<String, NotesError> {
        String::from_utf8(bytes).map_err(|_| NotesError::NotText {
            path: self.path.clone(),
        })
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
