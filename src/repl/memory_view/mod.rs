//! What memory holds and a person owns: entries, captures and files, looked at, explained and taken back, in a chat and
//! from the command line alike.
//!
//! ```text
//!   name     a number, an id or key, a file: what is meant      origin   which message something came from
//!   list     everything, briefly        show   one thing whole     why   where it came from
//!   find     what is to be forgotten    forget everywhere but in the open session
//!   edit     a file for an editor       places where all of it is
//! ```
//! Invariant: nothing here changes anything but [`MemoryView::forget`]; what comes from files is made harmless for a
//! terminal.

mod edit;
mod error;
mod find;
mod forget;
mod list;
mod name;
mod origin;
mod places;
mod show;
#[cfg(test)]
mod tests;
mod why;

use std::path::Path;

pub use error::{MemoryViewError, entries_hint};
pub use find::Found;
pub use forget::{Chosen, Gone, History, remove};
pub use list::Extent;
pub use show::whole;

use crate::agent::long_term::Captures;
use crate::chat::{Session, SessionName, Timestamp};
use crate::files::Disk;
use crate::long_term::entries::EntryStore;
use crate::store::SessionStore;

/// All that is held, as one session sees it.
#[derive(Debug)]
pub struct MemoryView<'a> {
    /// As of their last refresh.
    pub entries: &'a EntryStore,
    pub captures: Captures,
    pub store: &'a dyn SessionStore,
    pub disk: &'a dyn Disk,
    pub data: &'a Path,
    /// The file with earlier inputs.
    pub line_history: Option<&'a Path>,
    pub session: &'a SessionName,
    /// The session where it is open here.
    pub open: Option<&'a Session>,
    pub now: Timestamp,
    pub caller: Caller,
    /// Whether what is captured for good goes to a memory behind a server, too.
    pub has_external: bool,
}

/// Who asks: how a command is named to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Chat,
    Shell,
    /// A run of one prompt that keeps nothing: no command finds anything of it.
    Private,
}

impl Caller {
    /// The command as it is typed: `/memory forget 3`.
    pub(super) fn command(self, rest: &str) -> String {
        match self {
            Self::Chat => format!("`/memory {rest}`"),
            Self::Shell | Self::Private => format!("`cogtrix memory {rest}`"),
        }
    }

    /// The command that lists everything.
    pub(super) fn all(self) -> String {
        self.command(match self {
            Self::Chat => "list all",
            Self::Shell | Self::Private => "list --all",
        })
    }

    /// The command that lists files.
    fn files(self) -> &'static str {
        match self {
            Self::Chat => "`/memory layers`",
            Self::Shell | Self::Private => "`/memory layers` in a chat",
        }
    }
}

/// A category as a person calls it; the first where a note has several.
pub(super) fn kind(category: &str) -> String {
    match category.split(", ").next().unwrap_or_default() {
        "proper_noun" => "name",
        "specific_value" => "detail",
        "remember" => "reminder",
        "profile" => "fact about you",
        "project" => "project fact",
        other => return other.replace('_', " "),
    }
    .to_owned()
}

/// A text with its category in front, unless its first words name it: `remember: remember that …` says it twice.
fn labelled(category: &str, text: &str) -> String {
    const FIRST: usize = 3;
    let kind = kind(category);
    let bare = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    };
    if text
        .split_whitespace()
        .take(FIRST)
        .any(|word| [kind.as_str(), category].contains(&bare(word).as_str()))
    {
        text.to_owned()
    } else {
        format!("{kind}: {text}")
    }
}
