//! What is to be kept, before and after: checked, without secrets, with tags.

use std::borrow::Cow;

use super::entry::{Entry, Kind, Origin, Scope};
use super::error::EntriesError;
use super::list::New;
use super::tags::Tagger;
use crate::chat::Timestamp;
use crate::declare::named;

/// Takes secrets out of a text.
pub type Mask = fn(&str) -> Cow<'_, str>;

/// Nothing is taken out.
pub fn unmasked(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// What is to be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    pub key: Option<String>,
    pub content: String,
    pub kind: Kind,
    pub tags: Vec<String>,
    pub from: Option<Origin>,
}

named! {
    /// What became of it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status {
        Added = "added",
        Updated = "updated",
        Unchanged = "unchanged",
    }
}

/// An entry that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub scope: Scope,
    pub entry: Entry,
    pub status: Status,
    /// Whether a secret was taken out of it.
    pub is_masked: bool,
    /// Oldest entries that left for it.
    pub left: usize,
}

/// Characters of one entry, and of its key.
pub(super) const MAX_CHARS: usize = 8_000;
pub(super) const MAX_KEY_CHARS: usize = 200;

impl Wanted {
    /// What is kept of it, and whether a secret was taken out.
    pub(super) fn checked(
        &self,
        scope: Scope,
        mask: Mask,
        tagger: &Tagger,
        now: Timestamp,
    ) -> Result<(New, bool), EntriesError> {
        let said = self.content.trim();
        let named = self.key.as_deref().unwrap_or_default().trim();
        let (content, key) = (mask(said), mask(named));
        if content.trim().is_empty() {
            return Err(EntriesError::Empty);
        }
        within("content", &content, MAX_CHARS)?;
        within("key", &key, MAX_KEY_CHARS)?;
        let is_masked = content != said || key != named;
        let kind = (self.kind != Kind::Note).then(|| self.kind.as_str().to_owned());
        let given = self.tags.iter().map(|tag| mask(tag).into_owned());
        let given: Vec<String> = kind.into_iter().chain(given).collect();
        let new = New {
            scope,
            key: (!key.is_empty()).then(|| key.into_owned()),
            tags: tagger.tags(&content, &given),
            content: content.into_owned(),
            kind: self.kind,
            at: now,
            project: None,
            from: self.from.clone(),
        };
        Ok((new, is_masked))
    }
}

pub(super) fn within(what: &'static str, text: &str, max: usize) -> Result<(), EntriesError> {
    let chars = text.chars().count();
    if chars > max {
        return Err(EntriesError::TooLong { what, chars, max });
    }
    Ok(())
}
