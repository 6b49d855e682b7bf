//! Texts in pieces: chunks, which have vectors, and their lines, which have words. Unit: a chunk.
//!
//! Invariant: a chunk without text is of a source that has changed, and is not found.

use std::ops::Range;
use std::sync::Arc;

use super::Key;
use super::sources::Kind;
use crate::chat::Timestamp;

/// A line, or a part of a long one.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) chunk: usize,
    /// Counted from 1, in the file.
    pub(super) line: usize,
    /// In the text of the chunk.
    pub(super) bytes: Range<usize>,
    /// As exact words are looked for.
    pub(super) folded: Box<str>,
}

/// What an embedder gets as one text.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) source: Arc<str>,
    pub(super) kind: Kind,
    pub(super) at: Option<Timestamp>,
    pub(super) line: usize,
    /// The end of the chunk before it, which an embedder gets with it.
    pub(super) lead: Box<str>,
    /// Empty once the source has changed.
    pub(super) text: Box<str>,
    /// What its vector is kept under.
    pub(super) key: Key,
}

impl Kind {
    /// Whether the time of a text says when what it tells was so, not only when it was written.
    pub(super) fn is_dated(self) -> bool {
        matches!(self, Self::Daily | Self::Entry)
    }
}

impl Chunk {
    pub(super) fn hollow(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            text: "".into(),
            lead: "".into(),
            ..*self
        }
    }
}
