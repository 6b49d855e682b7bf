//! The index of the corpus on disk, so that a start need not read every word again. Invariant: what it says of a source
//! counts only while that has the digest it had; texts are in the sources alone.
//!
//! ```text
//!  "cogtrix notes 1\n", bytes of a chunk u32, sources u32,
//!  of each: digest [32], first place u32, the one behind its last u32, bytes of its name u32, name
//!  SHA-256 of all that [32], the index of words
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::held::Standing;
use super::{Chunk, Corpus, Digested, Kind, OTHERS, Piece, digest};
use crate::files::Disk;
use crate::index::vectors::Key;
use crate::index::words::{LexicalIndex, Lists};

const MAGIC: &[u8] = b"cogtrix notes 1\n";
/// New places from which on writing the file again is worth it, and the part of all that they must be.
const WORTH_WRITING: usize = 512;
const GROWTH: usize = 16;

/// Where the words of sources stand that were not read yet, by their names.
pub(super) type Known = BTreeMap<Arc<str>, (Digested, Range<u32>)>;

impl Corpus {
    /// The corpus as it was kept, its texts yet to be read; an empty one where nothing was kept that can be used.
    pub(in crate::index) fn kept_at(
        disk: &dyn Disk,
        path: &Path,
        lists: Arc<Lists>,
        chunk: usize,
    ) -> Self {
        let bytes = disk.read(path).unwrap_or_default();
        let kept = read(&bytes, &lists, chunk);
        let mut corpus = Self::new(lists);
        if let Some((known, index)) = kept {
            // What no source is read for is found by nobody.
            corpus.chunks.push(Chunk {
                source: "".into(),
                kind: Kind::Said,
                at: None,
                line: 0,
                lead: "".into(),
                heading: "".into(),
                title: "".into(),
                text: "".into(),
                key: Key::of(""),
            });
            let piece = || Piece {
                chunk: 0,
                line: 0,
                bytes: 0..0,
                folded: "".into(),
            };
            corpus.pieces.resize_with(index.len() as usize, piece);
            (corpus.index, corpus.known) = (index, known);
        }
        corpus
    }

    /// Puts the index on disk where enough of it is new. A failure is logged: the words are read again.
    pub(in crate::index) fn keep(&mut self, disk: &dyn Disk, path: &Path, chunk: usize) {
        if self.n_unkept < WORTH_WRITING.max(self.pieces.len() / GROWTH) {
            return;
        }
        self.n_unkept = 0;
        if let Err(error) = disk.replace(path, &self.to_bytes(chunk)) {
            tracing::warn!("cannot write {}: {error}", path.display());
        }
    }

    fn to_bytes(&self, chunk: usize) -> Vec<u8> {
        let searched = |(_, held): &(_, &super::Held)| held.standing == Standing::Searched;
        let searched: Vec<_> = self.held.iter().filter(searched).collect();
        let mut bytes = MAGIC.to_vec();
        bytes.extend([chunk, searched.len()].map(number).concat());
        for (source, held) in searched {
            bytes.extend(held.hash);
            bytes.extend(
                [held.places.start, held.places.end]
                    .map(u32::to_le_bytes)
                    .concat(),
            );
            bytes.extend(number(source.len()));
            bytes.extend(source.as_bytes());
        }
        bytes.extend(digest(&bytes, None));
        bytes.extend(self.index.to_bytes());
        bytes
    }
}

fn read(bytes: &[u8], lists: &Arc<Lists>, chunk: usize) -> Option<(Known, LexicalIndex)> {
    let mut rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&number(chunk))?;
    let sources = take_number(&mut rest)?;
    let mut known = Known::new();
    for _ in 0..sources {
        let hash = *rest.split_off(..32)?.first_chunk()?;
        let places = take_number(&mut rest)?..take_number(&mut rest)?;
        let length = usize::try_from(take_number(&mut rest)?).ok()?;
        let name = std::str::from_utf8(rest.split_off(..length)?).ok()?;
        known.insert(name.into(), (hash, places));
    }
    let head = &bytes[..bytes.len() - rest.len()];
    if *rest.split_off(..32)? != digest(head, None) {
        return None;
    }
    let index = LexicalIndex::from_bytes(Arc::clone(lists), rest)
        .ok()?
        .among(OTHERS);
    let is_there =
        |(_, places): &(_, Range<u32>)| places.start <= places.end && places.end <= index.len();
    known.values().all(is_there).then_some((known, index))
}

fn number(n: usize) -> [u8; 4] {
    u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes()
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*rest.split_off(..4)?.first_chunk()?))
}
