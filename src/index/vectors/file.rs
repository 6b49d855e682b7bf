//! The vectors of one model on disk. Unit: one file, appended to; several processes may do so, since records have one
//! size and say what they are. Invariant: a damaged record is skipped, a torn end cut off before the next is written.
//!
//! ```text
//!   header    "cogtrix vectors 2\n", dimension u32, length of the model's name u32, the name
//!   record    key (16 bytes), scale f32, a code a dimension, checksum u64 of all that
//! ```
//!
//! The graph over them stands beside it, in a file that is replaced whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::graph::Graph;
use super::quantise::Grain;
use super::{KEY, Key};
use crate::files::{self, Disk, Lock, LockError, if_there};

const MAGIC: &[u8] = b"cogtrix vectors 2\n";
const ENDING: &str = "vectors";
const GRAPH: &str = "graph";
/// Bytes of a record beside its codes.
const FRAME: usize = KEY + 4 + 8;
/// Bytes read at once.
const PIECE: usize = 1 << 20;
/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a name of a model.
const MAX_NAME: usize = 1 << 10;

/// What made the vectors of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The embedder's model; vectors of two models cannot be compared.
    pub model: String,
    pub dimension: usize,
}

/// The file of one model.
#[derive(Clone, Debug)]
pub(super) struct VectorFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    made: Made,
    /// Where the next record begins that was not read; 0 before anything was.
    read_to: u64,
}

type Row = (Key, Vec<i8>, Grain);

impl Made {
    /// What made the vectors in a folder, as far as their files can be used.
    pub fn all(disk: &dyn Disk, folder: &Path) -> Vec<Self> {
        let files = disk.survey(folder).unwrap_or_default();
        let stores = files
            .iter()
            .filter(|file| file.path.extension().is_some_and(|it| it == ENDING));
        let head = |path: &Path| disk.read_head(path, MAGIC.len() + 8 + MAX_NAME).ok();
        stores
            .filter_map(|file| Self::from_header(&head(&file.path)?))
            .collect()
    }

    fn from_header(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut number = || Some(u32::from_le_bytes(*rest.split_off(..4)?.first_chunk()?) as usize);
        let (dimension, len) = (number()?, number()?);
        let model = String::from_utf8(rest.get(..len)?.to_vec()).ok()?;
        (dimension > 0).then_some(Self { model, dimension })
    }

    fn header(&self) -> Vec<u8> {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        let mut header = MAGIC.to_vec();
        header.extend(number(self.dimension));
        header.extend(number(self.model.len()));
        header.extend(self.model.as_bytes());
        header
    }
}

impl VectorFile {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: &Path, made: Made) -> Self {
        let mut name = files::digest(made.model.as_bytes());
        name.truncate(16);
        Self {
            disk,
            path: folder.join(name).with_extension(ENDING),
            made,
            read_to: 0,
        }
    }

    pub(super) fn made(&self) -> &Made {
        &self.made
    }

    /// Reads the records that were not read yet. A file of another model or dimension is as good as none.
    pub(super) fn read(&mut self, take: &mut dyn FnMut(Key, &[i8], Grain)) -> io::Result<()> {
        if self.read_to > 0
            && self
                .disk
                .size(&self.path)
                .is_ok_and(|size| size >= self.read_to)
        {
            // It has grown, if anything.
        } else {
            // Somebody removed it, or let go of some of it: it is read from the beginning.
            self.read_to = 0;
        }
        let header = self.made.header();
        if self.read_to == 0 {
            let head = if_there(self.disk.read_head(&self.path, header.len()))?;
            if head.as_deref() != Some(header.as_slice()) {
                return Ok(());
            }
            self.read_to = header.len() as u64;
        }
        let size = self.size();
        let piece = (PIECE / size).max(1) * size;
        let mut codes = vec![0; self.made.dimension];
        loop {
            let bytes = self.disk.read_at(&self.path, self.read_to, piece)?;
            for record in bytes.chunks_exact(size) {
                if let Some((key, grain)) = decode(record, &mut codes) {
                    take(key, &codes, grain);
                }
            }
            self.read_to += (bytes.len() - bytes.len() % size) as u64;
            if bytes.len() < piece {
                return Ok(());
            }
        }
    }

    /// Keeps other processes from writing until it is dropped.
    pub(super) fn lock(&self) -> io::Result<Lock> {
        self.disk
            .lock(&self.path.with_extension("lock"), PATIENCE)
            .map_err(|error| match error {
                LockError::Held { .. } => io::Error::from(io::ErrorKind::ResourceBusy),
                LockError::Io(error) => error,
            })
    }

    /// Adds records behind those that were read; on disk when it returns. Under the lock.
    pub(super) fn append(&mut self, rows: &[Row]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if self.read_to == 0 {
            return self.replace(rows);
        }
        // What is left behind the last whole record is of a writer that was killed.
        if self.disk.size(&self.path)? > self.read_to {
            self.disk.truncate(&self.path, self.read_to)?;
        }
        let bytes = encode_all(rows);
        self.disk.append_synced(&self.path, &bytes)?;
        self.read_to += bytes.len() as u64;
        Ok(())
    }

    /// A new file with these records alone.
    pub(super) fn replace(&mut self, rows: &[Row]) -> io::Result<()> {
        if let (Some(folder), Some(own)) = (self.path.parent(), self.path.file_stem()) {
            let own = own.to_string_lossy();
            let is_own = |name: &str| name.split('.').next() == Some(own.as_ref());
            files::sweep(self.disk.as_ref(), folder, is_own);
        }
        let mut bytes = self.made.header();
        bytes.extend(encode_all(rows));
        self.disk.replace(&self.path, &bytes)?;
        self.read_to = bytes.len() as u64;
        Ok(())
    }

    /// The graph that was kept, over the rows that its keys have by now.
    pub(super) fn graph(&self, row: impl Fn(Key) -> Option<u32>) -> Option<Graph> {
        let bytes = self.disk.read(&self.path.with_extension(GRAPH)).ok()?;
        let graph = Graph::from_bytes(&bytes, &self.made.header(), row);
        if graph.is_none() {
            tracing::info!("the vector graph cannot be used; building it again");
        }
        graph
    }

    /// Puts a graph on disk with the keys of its rows and those behind, or takes away the one that is there.
    pub(super) fn keep_graph(&self, graph: Option<&Graph>, keys: &[Key]) -> io::Result<()> {
        let path = self.path.with_extension(GRAPH);
        let Some(graph) = graph else {
            return self.disk.remove(&path);
        };
        let bytes = graph.to_bytes(&self.made.header(), &keys[..graph.len()]);
        self.disk.replace(&path, &bytes)
    }

    fn size(&self) -> usize {
        FRAME + self.made.dimension
    }
}

fn encode_all(rows: &[Row]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, codes, grain) in rows {
        let from = bytes.len();
        bytes.extend(key.0);
        bytes.extend(grain.scale.to_le_bytes());
        bytes.extend(codes.iter().map(|code| code.cast_unsigned()));
        bytes.extend(checksum(0, &bytes[from..]).to_le_bytes());
    }
    bytes
}

fn decode(record: &[u8], codes: &mut [i8]) -> Option<(Key, Grain)> {
    let (body, check) = record.split_last_chunk()?;
    if u64::from_le_bytes(*check) != checksum(0, body) {
        return None;
    }
    let (key, body) = body.split_first_chunk::<KEY>()?;
    let (scale, body) = body.split_first_chunk()?;
    for (code, byte) in codes.iter_mut().zip(body) {
        *code = byte.cast_signed();
    }
    Some((
        Key(*key),
        Grain {
            scale: f32::from_le_bytes(*scale),
        },
    ))
}

/// Spreads bits; odd.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The checksum of `bytes` in a place told by `seed`: the same bytes elsewhere have another.
pub(super) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let mut sum = mix(seed, bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = mix(sum, u64::from_le_bytes(*word));
    }
    for byte in rest {
        sum = mix(sum, u64::from(*byte));
    }
    mix(sum, FACTOR)
}

/// One step: `sum` after `word`.
pub(super) fn mix(sum: u64, word: u64) -> u64 {
    let product = (sum ^ word).wrapping_mul(FACTOR);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_and_every_moved_byte_shows() {
        let bytes: Vec<u8> = (0..200).collect();
        let whole = checksum(1, &bytes);
        for at in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[at / 8] ^= 1 << (at % 8);
            assert_ne!(checksum(1, &other), whole, "{at}");
        }
        assert_ne!(checksum(2, &bytes), whole);
        assert_ne!(checksum(1, &bytes[..199]), whole);
        assert_ne!(checksum(1, &[]), checksum(1, &[0]));
    }
}
