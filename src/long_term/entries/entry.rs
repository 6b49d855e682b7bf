//! One text that is kept, and what is known of it (G2).

use std::fmt;

use crate::chat::{Timestamp, Unknown};
use crate::declare::named;
use crate::files::digest;

named! {
    /// Where an entry counts (G1).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// Until the session ends; never on disk.
        Session = "session",
        Project = "project",
        /// In every project.
        Global = "global",
    }
}

named! {
    /// What kind of text it is (G11).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Kind {
        #[default]
        Note = "note",
        Fact = "fact",
        Preference = "preference",
        Convention = "convention",
        Pattern = "pattern",
    }
}

/// `mem_` and 16 hexadecimal digits (G3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(String);

impl EntryId {
    const START: &str = "mem_";
    const DIGITS: usize = 16;

    /// The id of these texts; another salt gives another.
    pub(super) fn of(texts: &[&str], salt: u32) -> Self {
        let whole = format!("{}\0{salt}", texts.join("\0"));
        let digits = &digest(whole.as_bytes())[..Self::DIGITS];
        Self(format!("{}{digits}", Self::START))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(Self::START)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let fits = digits.len() == Self::DIGITS && digits.bytes().all(is_digit);
        fits.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where an entry came from: the message that was being answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub session: String,
    pub message: String,
    /// When that was said: a session that begins anew counts its messages anew.
    pub at: Option<Timestamp>,
}

/// What an entry said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub content: String,
    pub at: Timestamp,
}

/// A text that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub id: EntryId,
    /// Trimmed, never empty.
    pub key: Option<String>,
    pub content: String,
    pub kind: Kind,
    pub tags: Vec<String>,
    /// When it was last said.
    pub at: Timestamp,
    /// When it was first said, where that is another time.
    pub created: Option<Timestamp>,
    /// The hash of its project.
    pub project: Option<String>,
    pub from: Option<Origin>,
    /// What it said before, oldest first: a contradiction loses nothing.
    pub earlier: Vec<Earlier>,
    pub unknown: Unknown,
}

/// Earlier contents that are kept of one entry.
const MAX_EARLIER: usize = 10;

impl Entry {
    /// Puts a content in place of the one there is, which is kept.
    pub(super) fn say(&mut self, content: &str, at: Timestamp) {
        let said_at = self.at;
        self.touch(at);
        if self.content == content {
            return;
        }
        let was = std::mem::replace(&mut self.content, content.to_owned());
        self.remember(was, said_at);
    }

    /// Keeps what was said before; the oldest of too much of it leaves.
    pub(super) fn remember(&mut self, content: String, at: Timestamp) {
        let current = &self.content;
        self.earlier
            .retain(|it| it.content != content && it.content != *current);
        if content != *current {
            self.earlier.push(Earlier { content, at });
        }
        let beyond = self.earlier.len().saturating_sub(MAX_EARLIER);
        self.earlier.drain(..beyond);
    }

    /// Takes in what it said once, unless that is known; of too much of it the oldest leaves.
    pub(super) fn recall(&mut self, past: Earlier) {
        let is_known = |it: &Earlier| it.content == past.content;
        if self.content == past.content || self.earlier.iter().any(is_known) {
            return;
        }
        self.earlier.push(past);
        self.earlier.sort_by_key(|it| it.at);
        let beyond = self.earlier.len().saturating_sub(MAX_EARLIER);
        self.earlier.drain(..beyond);
    }

    /// It was said again.
    pub(super) fn touch(&mut self, at: Timestamp) {
        if self.at != at {
            self.created.get_or_insert(self.at);
            self.at = at;
        }
    }
}
