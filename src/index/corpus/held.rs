//! What is known of a source that was read, so that it is not read again while it is as it was; and its pieces: chunks, which
//! have vectors, and their lines, which have words.
//!
//! Invariant: a source that was refused is known too, and has no places; a chunk without text is of one that has changed.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Digested;
use super::sources::{Found, Kind};
use crate::chat::Timestamp;
use crate::index::vectors::Key;

/// A file that was changed so short a while ago may be changed again within one tick of the clock of the file system.
const UNSETTLED: Duration = Duration::from_secs(2);

/// A source that was read.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) stamp: Stamp,
    pub(super) standing: Standing,
    pub(super) kind: Kind,
    pub(super) hash: Digested,
    pub(super) bytes: usize,
    pub(super) places: Range<u32>,
    pub(super) chunks: Range<usize>,
}

/// What became of a source when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Searched,
    NoText,
    /// It is read again when there is.
    NoRoom,
}

/// What tells without reading that a file is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// `false`: it says nothing yet.
    pub(super) settled: bool,
}

impl Held {
    /// Read, and not searched.
    pub(super) fn refused(
        standing: Standing,
        kind: Kind,
        (stamp, hash): (Stamp, Digested),
    ) -> Self {
        Self {
            stamp,
            standing,
            kind,
            hash,
            bytes: 0,
            places: 0..0,
            chunks: 0..0,
        }
    }
}

impl Stamp {
    pub(super) fn of(file: &Found, now: Timestamp) -> Self {
        let age = file
            .modified
            .and_then(timestamp)
            .map(|modified| now.unix().saturating_sub(modified.unix()));
        Self {
            size: file.size,
            modified: file.modified,
            settled: age.is_some_and(|age| age > UNSETTLED.as_secs().cast_signed()),
        }
    }

    /// Whether a file with the other stamp is the one that was read.
    pub(super) fn vouches(self, now: Self) -> bool {
        self.settled && (self.size, self.modified) == (now.size, now.modified)
    }
}

pub(super) fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_unix(i64::try_from(since.as_secs()).ok()?)
}

/// A line, or a part of a long one.
#[derive(Debug)]
pub(in crate::index) struct Piece {
    pub(in crate::index) chunk: usize,
    /// Counted from 1, in the file.
    pub(in crate::index) line: usize,
    /// In the text of the chunk.
    pub(in crate::index) bytes: Range<usize>,
    /// As exact words are looked for.
    pub(in crate::index) folded: Box<str>,
}

/// What an embedder gets as one text.
#[derive(Debug)]
pub(in crate::index) struct Chunk {
    pub(in crate::index) source: Arc<str>,
    pub(in crate::index) kind: Kind,
    pub(in crate::index) at: Option<Timestamp>,
    pub(in crate::index) line: usize,
    /// What an embedder gets before it: heading, title, or the end of the chunk before it.
    pub(in crate::index) lead: Box<str>,
    /// The heading, whose words count for each line, and with the title for the first.
    pub(in crate::index) heading: Box<str>,
    pub(in crate::index) title: Box<str>,
    /// Empty once the source has changed.
    pub(in crate::index) text: Box<str>,
    /// What its vector is kept under.
    pub(in crate::index) key: Key,
}

impl Kind {
    /// Whether the time of a text says when what it tells was so, not only when it was written.
    pub(in crate::index) fn is_dated(self) -> bool {
        matches!(self, Self::Daily | Self::Entry)
    }
}

impl Chunk {
    pub(in crate::index) fn hollow(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            text: "".into(),
            lead: "".into(),
            heading: "".into(),
            title: "".into(),
            ..*self
        }
    }
}
