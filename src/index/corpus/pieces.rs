//! Texts in pieces: chunks, which have vectors, and their lines, which have words. Unit: a chunk.
//!
//! Invariant: a chunk without text is of a source that has changed, and is not found.

use std::ops::Range;
use std::sync::Arc;

use super::sources::Kind;
use crate::chat::Timestamp;
use crate::index::vectors::Key;

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
