//! The texts as they are searched: chunks of every source, each line of them a place of one index of words.
//!
//! Unit: a source, such as a file; it is read whole or not at all. Invariant: after [`Corpus::refresh`] what is held is
//! what stands on disk, and only what changed was read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::chunks::{Chunk as Stretch, chunks};
use super::sources::{Found, Kind};
use super::{EntryText, Key};
use crate::chat::Timestamp;
use crate::files::Disk;
use crate::search::{Document, LexicalIndex, Lists};

/// Of one file so many bytes are read.
const MOST_OF_FILE: usize = 1 << 20;
/// And of all of them together.
const MOST_IN_ALL: usize = 64 << 20;
/// A longer line stands at several places.
const LONG_LINE: usize = 900;
const PART: usize = 600;
/// A file that was changed so short a while ago may be changed again within one tick of the clock of the file system.
const UNSETTLED: Duration = Duration::from_secs(2);
/// Lines that are thought to be there besides.
const OTHERS: u32 = 100;
/// Dead places from which on the index is made anew.
const MOST_DEAD: usize = 1_000;

/// Everything that is searched but sessions.
#[derive(Debug)]
pub(super) struct Corpus {
    pub(super) index: LexicalIndex,
    /// What stands at each place of the index.
    pub(super) pieces: Vec<Piece>,
    pub(super) chunks: Vec<Chunk>,
    held: BTreeMap<Arc<str>, Held>,
    lists: Arc<Lists>,
    bytes: usize,
}

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

/// A source that was read.
#[derive(Debug)]
struct Held {
    stamp: Stamp,
    kind: Kind,
    hash: Key,
    bytes: usize,
    places: Range<u32>,
    chunks: Range<usize>,
}

/// What tells without reading that a file is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// `false`: it says nothing yet.
    settled: bool,
}

/// A text that is new or has changed.
struct Text {
    source: Arc<str>,
    kind: Kind,
    at: Option<Timestamp>,
    stamp: Stamp,
    hash: Key,
    whole: String,
}

/// How a text is parted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Bytes of a chunk.
    pub(super) chunk: usize,
    /// Bytes of the one before it that an embedder gets with it.
    pub(super) overlap: usize,
}

/// What a refresh read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Sources that were read again or for the first time.
    pub read: usize,
    /// Sources that are not there any more.
    pub gone: usize,
}

impl Corpus {
    pub(super) fn new(lists: Arc<Lists>) -> Self {
        Self {
            index: empty(&lists),
            pieces: Vec::new(),
            chunks: Vec::new(),
            held: BTreeMap::new(),
            lists,
            bytes: 0,
        }
    }

    /// Brings what is held up to what is there; adds to `troubles` what could not be read whole.
    pub(super) fn refresh(
        &mut self,
        disk: &dyn Disk,
        files: &[Found],
        entries: &[EntryText],
        (sizes, now): (Sizes, Timestamp),
        troubles: &mut Vec<String>,
    ) -> Refreshed {
        let mut changed = Vec::new();
        let mut seen: Vec<Arc<str>> = Vec::new();
        for file in files {
            let source: Arc<str> = file.source.as_str().into();
            match self.changed(disk, file, &source, now) {
                Ok(Some(text)) => changed.push(text),
                Ok(None) => {}
                Err(trouble) => {
                    troubles.push(format!("{source} is not searched: {trouble}"));
                    continue;
                }
            }
            if file.size > MOST_OF_FILE as u64 {
                troubles.push(format!(
                    "of {source} the first {MOST_OF_FILE} bytes are searched"
                ));
            }
            seen.push(source);
        }
        for entry in entries {
            let source: Arc<str> = format!("entry {}", entry.id).into();
            changed.extend(self.changed_entry(entry, &source));
            seen.push(source);
        }
        seen.sort_unstable();
        let gone: Vec<Arc<str>> = self
            .held
            .keys()
            .filter(|held| seen.binary_search(held).is_err())
            .cloned()
            .collect();
        let refreshed = Refreshed {
            read: changed.len(),
            gone: gone.len(),
        };
        let replaced = changed.iter().map(|text| Arc::clone(&text.source));
        let gone: Vec<Arc<str>> = gone.into_iter().chain(replaced).collect();
        self.let_go(&gone);
        for text in changed {
            self.take(text, sizes, troubles);
        }
        refreshed
    }

    /// A file that is not as it was when it was read.
    fn changed(
        &mut self,
        disk: &dyn Disk,
        file: &Found,
        source: &Arc<str>,
        now: Timestamp,
    ) -> Result<Option<Text>, String> {
        let stamp = Stamp::of(file, now);
        if self
            .held
            .get(source)
            .is_some_and(|held| held.stamp.vouches(stamp))
        {
            return Ok(None);
        }
        let bytes = disk.read_head(&file.path, MOST_OF_FILE);
        let bytes = bytes.map_err(|error| error.to_string())?;
        let hash = Key::of(&bytes);
        if let Some(held) = self.held.get_mut(source)
            && held.hash == hash
        {
            held.stamp = stamp;
            return Ok(None);
        }
        let text = text_of(bytes, file.size).ok_or("it is no text")?;
        Ok(Some(Text {
            source: Arc::clone(source),
            kind: file.kind,
            at: file.at.or_else(|| file.modified.and_then(timestamp)),
            stamp,
            hash,
            whole: text,
        }))
    }

    fn changed_entry(&self, entry: &EntryText, source: &Arc<str>) -> Option<Text> {
        let hash = Key::of(entry.text.as_bytes());
        let is_held = self.held.get(source).is_some_and(|held| held.hash == hash);
        (!is_held).then(|| Text {
            source: Arc::clone(source),
            kind: Kind::Entry,
            at: entry.at,
            stamp: Stamp {
                size: entry.text.len() as u64,
                modified: None,
                settled: false,
            },
            hash,
            whole: entry.text.clone(),
        })
    }

    /// Lets sources be found no more. Where much is dead then, the index is made anew of what is left.
    fn let_go(&mut self, sources: &[Arc<str>]) {
        let held: Vec<Held> = sources
            .iter()
            .filter_map(|source| self.held.remove(source))
            .collect();
        for held in &held {
            self.bytes -= held.bytes;
            for chunk in &mut self.chunks[held.chunks.clone()] {
                chunk.text = "".into();
            }
            for piece in &mut self.pieces[held.places.start as usize..held.places.end as usize] {
                piece.folded = "".into();
            }
        }
        let live: usize = self.held.values().map(|held| held.places.len()).sum();
        let dead = self.pieces.len() - live;
        if dead > MOST_DEAD && dead > live {
            self.make_anew();
        } else {
            for held in held {
                self.index.withdraw_all(held.places);
            }
        }
    }

    fn make_anew(&mut self) {
        let held = std::mem::take(&mut self.held);
        let mut chunks = std::mem::take(&mut self.chunks);
        self.pieces.clear();
        self.index = empty(&self.lists);
        for (source, mut held) in held {
            let first = (self.index.len(), self.chunks.len());
            for chunk in &mut chunks[held.chunks.clone()] {
                let empty = chunk.hollow();
                self.push(std::mem::replace(chunk, empty));
            }
            held.places = first.0..self.index.len();
            held.chunks = first.1..self.chunks.len();
            self.held.insert(source, held);
        }
    }

    fn take(&mut self, text: Text, sizes: Sizes, troubles: &mut Vec<String>) {
        let bytes = text.whole.len();
        if self.bytes + bytes > MOST_IN_ALL {
            let source = &text.source;
            troubles.push(format!(
                "{source} is not searched: there is too much of all texts together"
            ));
            return;
        }
        self.bytes += bytes;
        let first = (self.index.len(), self.chunks.len());
        let whole = &text.whole;
        for Stretch { line, bytes } in chunks(whole, sizes.chunk) {
            let from = match text.kind {
                Kind::Document => {
                    whole.floor_char_boundary(bytes.start.saturating_sub(sizes.overlap))
                }
                _ => bytes.start,
            };
            self.push(Chunk {
                source: Arc::clone(&text.source),
                kind: text.kind,
                at: text.at,
                line,
                key: Key::of(&whole.as_bytes()[from..bytes.end]),
                lead: whole[from..bytes.start].into(),
                text: whole[bytes].into(),
            });
        }
        self.held.insert(
            text.source,
            Held {
                stamp: text.stamp,
                kind: text.kind,
                hash: text.hash,
                bytes,
                places: first.0..self.index.len(),
                chunks: first.1..self.chunks.len(),
            },
        );
    }

    /// Puts the lines of a chunk at places of the index, apart from all others.
    fn push(&mut self, chunk: Chunk) {
        self.index.part();
        let number = self.chunks.len();
        let mut byte = 0;
        for (line, text) in chunk.text.split_inclusive('\n').enumerate() {
            for part in parts(text) {
                let said = &text[part.clone()];
                if said.trim().is_empty() {
                    continue;
                }
                self.index.push(Document {
                    text: said,
                    at: chunk
                        .at
                        .filter(|_| chunk.kind.is_dated())
                        .map(Timestamp::unix),
                    ..Document::default()
                });
                self.pieces.push(Piece {
                    chunk: number,
                    line: chunk.line + line,
                    bytes: byte + part.start..byte + part.end,
                    folded: folded(said).into(),
                });
            }
            byte += text.len();
        }
        self.chunks.push(chunk);
    }

    /// How many sources of each kind are held.
    pub(super) fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for held in self.held.values() {
            *counts.entry(held.kind).or_default() += 1;
        }
        counts
    }

    /// The chunks that can be found, with their numbers.
    pub(super) fn live(&self) -> impl Iterator<Item = (usize, &Chunk)> {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter(|(_, chunk)| !chunk.text.is_empty())
    }

    pub(super) fn text_of(&self, piece: &Piece) -> &str {
        let text = &self.chunks[piece.chunk].text;
        text.get(piece.bytes.clone()).unwrap_or_default()
    }
}

impl Kind {
    /// Whether the time of a text says when what it tells was so, not only when it was written.
    fn is_dated(self) -> bool {
        matches!(self, Self::Daily | Self::Entry)
    }
}

impl Chunk {
    fn hollow(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            text: "".into(),
            lead: "".into(),
            ..*self
        }
    }
}

impl Stamp {
    fn of(file: &Found, now: Timestamp) -> Self {
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
    fn vouches(self, now: Self) -> bool {
        self.settled && (self.size, self.modified) == (now.size, now.modified)
    }
}

/// Of a few notes alone nothing can be told of how rare a word is.
fn empty(lists: &Arc<Lists>) -> LexicalIndex {
    LexicalIndex::new(Arc::clone(lists)).among(OTHERS)
}

/// A text, whole or cut at a letter; `None` of what is none.
fn text_of(mut bytes: Vec<u8>, size: u64) -> Option<String> {
    if size > bytes.len() as u64
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(bytes).ok()?;
    let text = text
        .strip_prefix('\u{feff}')
        .map_or(text.clone(), str::to_owned);
    (!text.contains('\0')).then_some(text)
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_unix(i64::try_from(since.as_secs()).ok()?)
}

/// The parts of a line, which they tile.
fn parts(line: &str) -> impl Iterator<Item = Range<usize>> {
    let part = if line.len() > LONG_LINE {
        PART
    } else {
        LONG_LINE
    };
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = line.get(start..).filter(|rest| !rest.is_empty())?;
        let end = if rest.len() <= part {
            rest.len()
        } else {
            let most = rest.ceil_char_boundary(part);
            let blank = rest[..most].rfind(char::is_whitespace);
            blank.filter(|blank| *blank > 0).unwrap_or(most)
        };
        let range = start..start + end;
        start += end;
        Some(range)
    })
}

/// A text as exact words are compared: in lower case, every run of blanks one space.
pub(super) fn folded(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

impl Key {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}
