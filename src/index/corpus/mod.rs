//! The texts as they are searched: chunks of every source, each line of them a place of one index of words.
//!
//! Unit: a source, such as a file; it is read whole or not at all. Invariant: after [`Corpus::refresh`] what is held is
//! what stands on disk, but for the kind that was left out, and only what changed was read.

mod chunks;
mod ends;
mod held;
mod kept;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

pub use chunks::folded;
pub use chunks::is_heading;
pub(super) use held::{Chunk, Piece};
pub use sources::Written;
pub use sources::{Kind, Places};

use chunks::{Chunk as Stretch, chunks as parted, items};
use chunks::{parts, text_of};
use ends::{Ends, OF_END, Tail};
use held::{Held, Stamp, Standing, timestamp};
use sources::Found;

use super::EntryText;
use super::meaning::Wanted;
use super::session::clipped;
use super::vectors::Key;
use super::words::{Document, LexicalIndex, Lists};
use crate::chat::{Timestamp, is_stand_in};
use crate::files::Disk;
use crate::long_term::notes::NOTED;

/// Of one file so many bytes are read.
pub(super) const MAX_OF_FILE: usize = 1 << 20;
/// And of all of them together.
pub(super) const MAX_IN_ALL: usize = 64 << 20;
/// Lines that are thought to be there besides.
const OTHERS: u32 = 100;
/// Dead places from which on the index is made anew.
const MAX_DEAD: usize = 1_000;

/// A SHA-256.
type Digested = [u8; 32];

/// Everything that is searched but sessions.
#[derive(Debug)]
pub(super) struct Corpus {
    pub(super) index: LexicalIndex,
    /// What stands at each place of the index.
    pub(super) pieces: Vec<Piece>,
    pub(super) chunks: Vec<Chunk>,
    held: BTreeMap<Arc<str>, Held>,
    /// The entries among them.
    entries: Option<Arc<[EntryText]>>,
    lists: Arc<Lists>,
    bytes: usize,
    /// Places whose texts were not read yet, from the file of the index.
    known: kept::Known,
    /// Places that are new or gone since that file was written.
    n_unkept: usize,
}

/// A text that is new or has changed.
struct Text {
    source: Arc<str>,
    kind: Kind,
    at: Option<Timestamp>,
    stamp: Stamp,
    hash: Digested,
    whole: String,
    /// Where the end begins, of a file whose middle is left out.
    tail: Option<Tail>,
}

impl Text {
    /// What there is of it, each with the number of its first line.
    fn ends(&self) -> impl Iterator<Item = (usize, &str)> {
        let at = self.tail.map_or(self.whole.len(), |tail| tail.at);
        let tail = self.tail.map(|tail| (tail.line, &self.whole[at..]));
        [(1, &self.whole[..at])].into_iter().chain(tail)
    }
}

/// How a text is parted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Bytes of a chunk.
    pub(super) chunk: usize,
    /// Bytes of the one before it that an embedder gets with it.
    pub(super) overlap: usize,
    /// Bytes of all texts together.
    pub(super) all: usize,
}

/// How a refresh is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) sizes: Sizes,
    pub(super) now: Timestamp,
    /// A kind whose files were not looked for: what is held of it stays.
    pub(super) left_out: Option<Kind>,
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
            entries: None,
            lists,
            bytes: 0,
            known: BTreeMap::new(),
            n_unkept: 0,
        }
    }

    /// Brings what is held up to what is there; adds to `troubles` what could not be read whole.
    pub(super) fn refresh(
        &mut self,
        disk: &dyn Disk,
        files: &[Found],
        entries: &Arc<[EntryText]>,
        reading: Reading,
        troubles: &mut Vec<String>,
    ) -> Refreshed {
        let mut changed = Vec::new();
        let mut seen: Vec<Arc<str>> = Vec::new();
        for file in files {
            let source: Arc<str> = file.source.as_str().into();
            match self.changed(disk, file, &source, reading) {
                Ok(Some(text)) => changed.push(text),
                Ok(None) => {}
                Err(trouble) => {
                    troubles.push(format!("skipped {source} in search: {trouble}"));
                    let held = self.held.get(&source);
                    let is_refused = held.is_some_and(|held| held.standing == Standing::NoText);
                    seen.extend(is_refused.then_some(source));
                    continue;
                }
            }
            if file.size > MAX_OF_FILE as u64 {
                let what = if ends::are_read(file.size) {
                    format!("the first and the last {OF_END} bytes")
                } else {
                    format!("the first {MAX_OF_FILE} bytes")
                };
                troubles.push(format!("only {what} of {source} are searched"));
            }
            seen.push(source);
        }
        if self.has_entries(entries) {
            let held = self.held.iter();
            let held = held.filter(|(_, held)| held.kind == Kind::Entry);
            seen.extend(held.map(|(source, _)| Arc::clone(source)));
        } else {
            for entry in entries.iter() {
                let source: Arc<str> = format!("entry {}", entry.id).into();
                changed.extend(self.changed_entry(entry, &source, reading.sizes));
                seen.push(source);
            }
            self.entries = Some(Arc::clone(entries));
        }
        seen.sort_unstable();
        let gone: Vec<Arc<str>> = self
            .held
            .iter()
            .filter(|(_, held)| Some(held.kind) != reading.left_out)
            .map(|(source, _)| source)
            .filter(|source| seen.binary_search(source).is_err())
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
            self.take(text, reading.sizes, troubles);
        }
        for (_, places) in std::mem::take(&mut self.known).into_values() {
            self.n_unkept += places.len();
            self.index.withdraw_all(places);
        }
        refreshed
    }

    /// A file that is not as it was when it was read.
    fn changed(
        &mut self,
        disk: &dyn Disk,
        file: &Found,
        source: &Arc<str>,
        reading: Reading,
    ) -> Result<Option<Text>, String> {
        let stamp = Stamp::of(file, reading.now);
        let has_room = self.has_room_now(source, file.size, reading.sizes);
        let held = self.held.get(source);
        if held.is_some_and(|held| held.stamp.vouches(stamp)) && !has_room {
            return Ok(None);
        }
        let read = Ends::of(disk, file).map_err(|error| error.to_string())?;
        let Ends { bytes, tail } = read;
        let hash = digest(&bytes, tail);
        if let Some(held) = self.held.get_mut(source)
            && held.hash == hash
            && !has_room
        {
            held.stamp = stamp;
            return Ok(None);
        }
        let Some(whole) = text_of(bytes, file.size) else {
            self.let_go(std::slice::from_ref(source));
            let refused = Held::refused(Standing::NoText, file.kind, (stamp, hash));
            self.held.insert(Arc::clone(source), refused);
            return Err("it is not text".to_owned());
        };
        Ok(Some(Text {
            source: Arc::clone(source),
            kind: file.kind,
            at: file.at.or_else(|| file.modified.and_then(timestamp)),
            stamp,
            hash,
            whole,
            tail,
        }))
    }

    /// Whether these very entries were read, each of them: nothing of them is looked at then, however many there are.
    fn has_entries(&self, entries: &Arc<[EntryText]>) -> bool {
        let is_known = |known: &Arc<[EntryText]>| Arc::ptr_eq(known, entries);
        let waits = |held: &Held| held.kind == Kind::Entry && held.standing == Standing::NoRoom;
        self.entries.as_ref().is_some_and(is_known) && !self.held.values().any(waits)
    }

    fn changed_entry(&self, entry: &EntryText, source: &Arc<str>, sizes: Sizes) -> Option<Text> {
        let hash = digest(entry.text.as_bytes(), None);
        let size = entry.text.len() as u64;
        let is_held = self.held.get(source).is_some_and(|held| held.hash == hash);
        let is_known = is_held && !self.has_room_now(source, size, sizes);
        (!is_known).then(|| Text {
            source: Arc::clone(source),
            kind: Kind::Entry,
            at: entry.at,
            stamp: Stamp {
                size,
                modified: None,
                settled: false,
            },
            hash,
            whole: entry.text.clone(),
            tail: None,
        })
    }

    /// Whether there is room by now for a source that was refused because there was none.
    fn has_room_now(&self, source: &str, size: u64, sizes: Sizes) -> bool {
        let size = usize::try_from(size).map_or(MAX_OF_FILE, |size| size.min(MAX_OF_FILE));
        let held = self.held.get(source);
        held.is_some_and(|held| held.standing == Standing::NoRoom) && self.bytes + size <= sizes.all
    }

    /// From now on the stamps of these sources, or of all that stand in these folders, vouch for nothing.
    pub(super) fn mark(&mut self, written: &BTreeSet<String>) {
        if written.is_empty() {
            return;
        }
        for (source, held) in &mut self.held {
            let folders = source.match_indices('/').map(|(end, _)| &source[..end]);
            let mut names = folders.chain([source.as_ref()]);
            if names.any(|name| written.contains(name)) {
                held.stamp.settled = false;
            }
        }
    }

    /// Lets sources be found no more. Where much is dead then, the index is made anew of what is left.
    fn let_go(&mut self, sources: &[Arc<str>]) {
        let held: Vec<Held> = sources
            .iter()
            .filter_map(|source| self.held.remove(source))
            .collect();
        for held in &held {
            self.bytes -= held.bytes;
            self.n_unkept += held.places.len();
            for chunk in &mut self.chunks[held.chunks.clone()] {
                chunk.text = "".into();
            }
            for piece in &mut self.pieces[held.places.start as usize..held.places.end as usize] {
                piece.folded = "".into();
            }
        }
        let held_places = self.held.values().map(|held| held.places.len());
        let unread = self.known.values().map(|(_, places)| places.len());
        let live: usize = held_places.chain(unread).sum();
        let dead = self.pieces.len() - live;
        if dead > MAX_DEAD && dead > live {
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
        self.known.clear();
        self.index = empty(&self.lists);
        for (source, mut held) in held {
            let first = (self.index.len(), self.chunks.len());
            for chunk in &mut chunks[held.chunks.clone()] {
                let empty = chunk.hollow();
                self.push(std::mem::replace(chunk, empty), None);
            }
            held.places = first.0..self.index.len();
            held.chunks = first.1..self.chunks.len();
            self.held.insert(source, held);
        }
    }

    fn take(&mut self, text: Text, sizes: Sizes, troubles: &mut Vec<String>) {
        let bytes = text.whole.len();
        if self.bytes + bytes > sizes.all {
            let known = (text.stamp, text.hash);
            let refused = Held::refused(Standing::NoRoom, text.kind, known);
            self.held.insert(Arc::clone(&text.source), refused);
            let source = &text.source;
            troubles.push(format!(
                "skipped {source} in search: there is too much text"
            ));
            return;
        }
        self.bytes += bytes;
        let mut chunks = Vec::new();
        for (first_line, whole) in text.ends() {
            for stretch in parted(whole, sizes.chunk) {
                chunks.extend(chunks_of(&text, whole, first_line, &stretch, sizes));
            }
        }
        let before = self.index.len();
        let places = self.places_of(&text, &chunks);
        let mut next = places.clone().map(|places| places.start);
        let first = self.chunks.len();
        for chunk in chunks {
            self.push(chunk, next.as_mut());
        }
        self.held.insert(
            text.source,
            Held {
                stamp: text.stamp,
                standing: Standing::Searched,
                kind: text.kind,
                hash: text.hash,
                bytes,
                places: places.unwrap_or(before..self.index.len()),
                chunks: first..self.chunks.len(),
            },
        );
    }

    /// Where the words of a text stand already, as the file of the index has it.
    fn places_of(&mut self, text: &Text, chunks: &[Chunk]) -> Option<Range<u32>> {
        let (hash, places) = self.known.get(&text.source)?;
        let count: usize = chunks.iter().map(|chunk| lines_of(chunk).count()).sum();
        let is_same = *hash == text.hash && places.len() == count;
        let places = is_same.then(|| places.clone())?;
        self.known.remove(&text.source);
        Some(places)
    }

    /// Puts the lines of a chunk at places of the index, apart from all others; or what is shown of them where their
    /// words stand there already, from the next place on.
    fn push(&mut self, chunk: Chunk, mut next: Option<&mut u32>) {
        self.index.part();
        let number = self.chunks.len();
        for (line, bytes) in lines_of(&chunk) {
            let said = &chunk.text[bytes.clone()];
            // A heading speaks of what is below it, too; a title only of the first line, and so of those next to it.
            let above = if bytes.start == 0 {
                &chunk.title
            } else {
                &chunk.heading
            };
            let piece = Piece {
                chunk: number,
                line: chunk.line + line,
                folded: folded(said).into(),
                bytes,
            };
            if let Some(next) = &mut next {
                self.pieces[**next as usize] = piece;
                **next += 1;
                continue;
            }
            let titled = format!("{said}\n{above}");
            self.index.push(Document {
                text: &titled,
                at: chunk
                    .at
                    .filter(|_| chunk.kind.is_dated())
                    .map(Timestamp::unix),
                ..Document::default()
            });
            self.n_unkept += 1;
            self.pieces.push(piece);
        }
        self.chunks.push(chunk);
    }

    /// How many notes and entries there are, headings apart.
    pub(super) fn kept(&self) -> usize {
        let kept = self
            .live()
            .filter(|(_, chunk)| matches!(chunk.kind, Kind::Note | Kind::Entry));
        kept.filter(|(_, chunk)| {
            chunk
                .text
                .lines()
                .any(|line| !line.trim().is_empty() && !is_heading(line))
        })
        .count()
    }

    /// How many sources of each kind are held.
    pub(super) fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        let held = self.held.values();
        for held in held.filter(|held| held.standing == Standing::Searched) {
            *counts.entry(held.kind).or_default() += 1;
        }
        counts
    }

    /// The chunks that can be found, with their numbers.
    pub(super) fn live(&self) -> impl Iterator<Item = (usize, &Chunk)> {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter(|(_, chunk)| !chunk.text.is_empty())
    }

    /// The texts of so many chunks that have no vector, each once.
    pub(super) fn wanted(&self, max: usize, has: impl Fn(Key) -> bool) -> Vec<Wanted> {
        let chunks = self
            .live()
            .take(max)
            .filter(|(_, chunk)| !has(chunk.key) && !chunk.text.trim().is_empty());
        let wanted = chunks.map(|(_, chunk)| {
            let text = format!("{}\n{}", chunk.lead, chunk.text);
            Wanted {
                key: chunk.key,
                text: clipped(&text).into_owned(),
            }
        });
        let mut wanted: Vec<Wanted> = wanted.collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    pub(super) fn text_of(&self, piece: &Piece) -> &str {
        let text = &self.chunks[piece.chunk].text;
        text.get(piece.bytes.clone()).unwrap_or_default()
    }
}

/// A chunk item by item, each with the heading; of a document also with its title, or with the end of the chunk
/// before it where that has no heading.
fn chunks_of<'a>(
    text: &'a Text,
    whole: &'a str,
    first_line: usize,
    stretch: &Stretch,
    sizes: Sizes,
) -> impl Iterator<Item = Chunk> + use<'a> {
    let heading = whole[stretch.bytes.clone()].lines().next();
    let heading = heading.filter(|line| is_heading(line)).unwrap_or_default();
    let title = match text.kind {
        Kind::Document => title(&text.source),
        _ => String::new(),
    };
    let items = items(whole, stretch).into_iter().enumerate();
    items.map(move |(number, Stretch { line, bytes })| {
        let above = match (number, text.kind) {
            (0, Kind::Document) if heading.is_empty() => {
                let from = bytes.start.saturating_sub(sizes.overlap);
                &whole[whole.floor_char_boundary(from)..bytes.start]
            }
            // The first one has it.
            (0, _) => "",
            (_, _) => heading,
        };
        let lead = [title.as_str(), above].join("\n");
        let lead = lead.trim();
        let said = &whole[bytes];
        Chunk {
            source: Arc::clone(&text.source),
            kind: text.kind,
            at: text.at,
            line: first_line - 1 + line,
            key: Key::of(&[lead, "\n", said].concat()),
            lead: lead.into(),
            title: [title.as_str(), heading].join("\n").trim().into(),
            heading: heading.into(),
            text: said.into(),
        }
    })
}

/// The lines of a chunk that stand at places, and the parts of long ones: how many lines are before it, and its bytes.
fn lines_of(chunk: &Chunk) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut byte = 0;
    let lines = chunk.text.split_inclusive('\n').enumerate();
    let all = lines.flat_map(move |(line, text)| {
        let start = byte;
        byte += text.len();
        parts(text).map(move |part| (line, start + part.start..start + part.end))
    });
    all.filter(move |(_, bytes)| {
        let said = chunk.text[bytes.clone()].trim();
        // What was answered without a model is quotes of what is found anyway.
        let reply = said.strip_prefix(NOTED[1]).map(str::trim_start);
        let is_stand_in = chunk.kind == Kind::Daily && reply.is_some_and(is_stand_in);
        !said.is_empty() && !is_stand_in
    })
}

/// What a file is called, as a person would say it.
fn title(source: &str) -> String {
    let name = source.rsplit('/').next().unwrap_or(source);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.replace(['-', '_', '.'], " ")
}

/// Of a few notes alone nothing can be told of how rare a word is.
fn empty(lists: &Arc<Lists>) -> LexicalIndex {
    LexicalIndex::new(Arc::clone(lists)).among(OTHERS)
}

/// Tells what was read of a file, and where its lines stand, from anything else.
fn digest(bytes: &[u8], tail: Option<Tail>) -> Digested {
    let digest = Sha256::new().chain_update(bytes);
    let Some(tail) = tail else {
        return digest.finalize().into();
    };
    let places = digest.chain_update((tail.at as u64).to_le_bytes());
    let places = places.chain_update((tail.line as u64).to_le_bytes());
    places.finalize().into()
}
