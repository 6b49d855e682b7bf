//! What is to be kept, before and after: checked, without secrets, with tags.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::entry::{Entry, Kind, Origin, Scope};
use super::error::EntriesError;
use super::list::New;
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
            tags: tags(&content, &given),
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

/// Tags of one entry.
const MAX_TAGS: usize = 20;

/// A path stands at the beginning or behind a blank, so that no address on the web is one.
static PATH: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?:^|\s)(/[a-zA-Z0-9_.\-/]+)"));

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:function|func|fn|def|class|struct|mod|package|crate)\s+([A-Za-z_][A-Za-z0-9_]*)",
    )
});

/// What follows such a word in a sentence and is no name.
const NO_NAMES: [&str; 20] = [
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "has", "in", "is", "it", "of", "on",
    "that", "the", "to", "which", "with",
];

/// The tags given, then those of the text in the order of its words.
pub(super) fn tags(text: &str, given: &[String]) -> Vec<String> {
    let paths = PATH.captures_iter(text);
    let names = NAME.captures_iter(text);
    let mut found: Vec<(usize, &str)> = paths
        .chain(names)
        .filter_map(|captures| captures.get(1))
        .map(|group| (group.start(), group.as_str()))
        .collect();
    found.sort_unstable();
    let found = found.into_iter().map(|(_, tag)| tag.trim_end_matches('.'));
    let found = found.filter(|tag| tag.len() > 1 && !NO_NAMES.contains(tag));
    let mut tags: Vec<String> = Vec::new();
    for tag in given.iter().map(|tag| tag.trim()).chain(found) {
        if !tag.is_empty() && tags.len() < MAX_TAGS && !tags.iter().any(|it| it == tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is written above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_tags_in_the_order_of_their_words() {
        let many: Vec<String> = (0..30).map(|n| format!("/f{n}")).collect();
        let many = many.join(" ");
        for (text, given, expected) in [
            (
                "fn parse in /src/a.rs, see https://example.com/x",
                "",
                vec!["parse", "/src/a.rs"],
            ),
            (
                "/etc/hosts. struct Session and class Of; package main",
                "net",
                vec!["net", "/etc/hosts", "Session", "Of", "main"],
            ),
            (
                "the function that parses, def run, def run",
                "run",
                vec!["run"],
            ),
            ("nothing to see", "", vec![]),
        ] {
            let given: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
            assert_eq!(tags(text, &given), expected, "{text}");
        }
        assert_eq!(tags(&many, &[]).len(), MAX_TAGS);
    }
}
