//! Vectors of one model on disk, by the digest of their text. Unit: one file. Invariant: a vector comes back
//! as it was put in or not at all; the file stays below its bound.
//!
//! ```text
//!   header    "cogtrix vectors 1\n", dimension u32, length of the model's name u32, the name
//!   records   digest of the text (16 bytes), dimension x f32, check (8 bytes of a SHA-256 over both)
//! ```
//! Appended to only; several processes may do so at once, since records have one size and say what they
//! are. A damaged record is skipped, a damaged end cut off. A full file is rewritten with its newer half.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::hex;
use crate::files::{self, Disk};

const MAGIC: &[u8] = b"cogtrix vectors 1\n";
const KEY: usize = 16;
const CHECK: usize = 8;
/// Bytes read at once.
const PIECE: usize = 1 << 20;

/// What a text is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; KEY]);

impl Key {
    pub(super) fn of(text: &str) -> Self {
        Self(head(&Sha256::digest(text.as_bytes())))
    }
}

/// The vectors of a model.
#[derive(Debug)]
pub(super) struct Cache {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    model: String,
    max_bytes: u64,
    /// `None` until the file was read.
    file: Option<File>,
}

/// The file as it was when it was last looked at.
#[derive(Debug, Default)]
struct File {
    /// 0 as long as there is none.
    dimension: usize,
    at: HashMap<Key, u64>,
}

impl Cache {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: &Path, model: &str, max_bytes: u64) -> Self {
        let digest = Sha256::digest(model.as_bytes());
        let name = hex(&digest[..8]);
        Self {
            disk,
            path: folder.join(format!("{name}.vectors")),
            model: model.to_owned(),
            max_bytes,
            file: None,
        }
    }

    /// Numbers in a vector, if there is any.
    pub(super) fn dimension(&mut self) -> io::Result<Option<usize>> {
        let dimension = self.file()?.dimension;
        Ok((dimension > 0).then_some(dimension))
    }

    pub(super) fn get(&mut self, key: Key) -> io::Result<Option<Vec<f32>>> {
        let file = self.file()?;
        let (dimension, Some(at)) = (file.dimension, file.at.get(&key).copied()) else {
            return Ok(None);
        };
        let bytes = self.disk.read_at(&self.path, at, size(dimension))?;
        // Another process may have rewritten the file meanwhile.
        let record = decode(&bytes, dimension).filter(|(found, _)| *found == key);
        Ok(record.map(|(_, vector)| vector))
    }

    /// Adds vectors of one length; of another than those before, and these are dropped.
    pub(super) fn put(&mut self, vectors: &[(Key, &[f32])]) -> io::Result<()> {
        let Some((_, first)) = vectors.first() else {
            return Ok(());
        };
        let dimension = first.len();
        let size = size(dimension) as u64;
        let header = self.header(dimension);
        if self.file()?.dimension != dimension {
            self.start(dimension, &[])?;
        }
        let most = self.max_bytes.saturating_sub(header.len() as u64) / size;
        let room = usize::try_from(most).unwrap_or(usize::MAX);
        let vectors = &vectors[..vectors.len().min(room)];
        let mut end = self.aligned_end(header.len() as u64, size)?;
        if end + vectors.len() as u64 * size > self.max_bytes {
            self.shrink(dimension, vectors.len() as u64)?;
            end = self.aligned_end(header.len() as u64, size)?;
        }
        let mut bytes = Vec::new();
        for (key, vector) in vectors {
            encode(*key, vector, &mut bytes);
        }
        self.disk.append_synced(&self.path, &bytes)?;
        let file = self.file()?;
        for ((key, _), n) in vectors.iter().zip(0..) {
            file.at.insert(*key, end + n * size);
        }
        Ok(())
    }

    /// Where the next record goes: behind the last whole one.
    fn aligned_end(&self, header: u64, size: u64) -> io::Result<u64> {
        let len = self.disk.size(&self.path)?;
        let torn = len.saturating_sub(header) % size;
        if torn > 0 {
            self.disk.truncate(&self.path, len - torn)?;
        }
        Ok(len - torn)
    }

    fn file(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            self.file = Some(self.read()?);
        }
        Ok(self.file.get_or_insert_default())
    }

    /// Removes what a killed process left of writing this file. Where another one is just doing that, its vectors are not
    /// kept this time.
    fn sweep(&self) {
        if let (Some(folder), Some(own)) = (self.path.parent(), self.path.file_name()) {
            let own = own.to_string_lossy();
            files::sweep(self.disk.as_ref(), folder, |name| name == own);
        }
    }

    fn header(&self, dimension: usize) -> Vec<u8> {
        let mut header = MAGIC.to_vec();
        header.extend(short(dimension).to_le_bytes());
        header.extend(short(self.model.len()).to_le_bytes());
        header.extend(self.model.as_bytes());
        header
    }

    /// Looks at every record. A file that is no cache of this model counts as none.
    fn read(&self) -> io::Result<File> {
        self.sweep();
        let head = match self.disk.read_head(&self.path, MAGIC.len() + 4) {
            Ok(head) => head,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(File::default()),
            Err(error) => return Err(error),
        };
        let dimension = head.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk());
        let dimension = dimension.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        let header = self.header(dimension);
        if dimension == 0 || self.disk.read_head(&self.path, header.len())? != header {
            return Ok(File::default());
        }
        let size = size(dimension);
        let piece = (PIECE / size).max(1) * size;
        let mut file = File {
            dimension,
            at: HashMap::new(),
        };
        let mut at = header.len() as u64;
        let mut good = at;
        loop {
            let bytes = self.disk.read_at(&self.path, at, piece)?;
            for (record, n) in bytes.chunks_exact(size).zip(0..) {
                let from = at + n * size as u64;
                if let Some((key, _)) = decode(record, dimension) {
                    file.at.insert(key, from);
                    good = from + size as u64;
                }
            }
            if bytes.len() < piece {
                break;
            }
            at += piece as u64;
        }
        if good < self.disk.size(&self.path)? {
            tracing::warn!(path = %self.path.display(), "the end of the vector cache was damaged");
            self.disk.truncate(&self.path, good)?;
        }
        Ok(file)
    }

    /// A new file that holds these records.
    fn start(&mut self, dimension: usize, records: &[u8]) -> io::Result<()> {
        let mut bytes = self.header(dimension);
        bytes.extend(records);
        self.file = None;
        self.disk.replace(&self.path, &bytes)
    }

    /// Keeps the newer records, in half of the space at most and with room for `n_coming`.
    fn shrink(&mut self, dimension: usize, n_coming: u64) -> io::Result<()> {
        let header = self.header(dimension).len() as u64;
        let size = size(dimension) as u64;
        let n = (self.disk.size(&self.path)? - header) / size;
        let most = (self.max_bytes.saturating_sub(header)) / size;
        let keep = (most / 2).min(most.saturating_sub(n_coming)).min(n);
        let from = header + (n - keep) * size;
        let len = usize::try_from(keep * size).unwrap_or(0);
        let records = self.disk.read_at(&self.path, from, len)?;
        self.start(dimension, &records)
    }
}

fn size(dimension: usize) -> usize {
    KEY + dimension * 4 + CHECK
}

fn short(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn head<const N: usize>(digest: &[u8]) -> [u8; N] {
    *digest.first_chunk().expect("a digest has 32 bytes")
}

fn encode(key: Key, vector: &[f32], bytes: &mut Vec<u8>) {
    let from = bytes.len();
    bytes.extend(key.0);
    bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
    let check: [u8; CHECK] = head(&Sha256::digest(&bytes[from..]));
    bytes.extend(check);
}

fn decode(bytes: &[u8], dimension: usize) -> Option<(Key, Vec<f32>)> {
    if bytes.len() != size(dimension) {
        return None;
    }
    let (body, check) = bytes.split_last_chunk::<CHECK>()?;
    if *check != head::<CHECK>(&Sha256::digest(body)) {
        return None;
    }
    let (key, floats) = body.split_first_chunk::<KEY>()?;
    let (words, _) = floats.as_chunks::<4>();
    let vector = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    Some((Key(*key), vector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    fn cache(disk: &MemoryDisk, max_bytes: u64) -> Cache {
        Cache::new(Arc::new(disk.clone()), Path::new("c"), "m", max_bytes)
    }

    #[expect(clippy::cast_precision_loss, reason = "small")]
    fn put(cache: &mut Cache, names: std::ops::Range<usize>, dimension: usize) {
        for n in names {
            let vector = vec![n as f32; dimension];
            cache.put(&[(Key::of(&n.to_string()), &vector)]).unwrap();
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "small")]
    fn known(cache: &mut Cache, names: std::ops::Range<usize>) -> Vec<usize> {
        let mut known = Vec::new();
        for n in names {
            if let Some(vector) = cache.get(Key::of(&n.to_string())).unwrap() {
                assert_eq!(vector, vec![n as f32; vector.len()]);
                known.push(n);
            }
        }
        known
    }

    const LARGE: u64 = 1 << 20;

    #[test]
    fn what_was_put_in_is_there_after_opening_again() {
        let disk = MemoryDisk::default();
        put(&mut cache(&disk, LARGE), 0..5, 3);
        let mut again = cache(&disk, LARGE);
        assert_eq!(known(&mut again, 0..9), [0, 1, 2, 3, 4]);
        assert_eq!(again.dimension().unwrap(), Some(3));
        put(&mut again, 5..6, 3);
        assert_eq!(known(&mut cache(&disk, LARGE), 5..9), [5]);
    }

    #[test]
    fn vectors_of_another_length_start_anew() {
        let disk = MemoryDisk::default();
        put(&mut cache(&disk, LARGE), 0..5, 3);
        put(&mut cache(&disk, LARGE), 5..6, 4);
        assert_eq!(known(&mut cache(&disk, LARGE), 0..9), [5]);
    }

    #[test]
    fn a_cut_at_any_place_loses_no_more_than_what_was_cut() {
        let disk = MemoryDisk::default();
        put(&mut cache(&disk, LARGE), 0..3, 2);
        let (path, whole) = disk.files().into_iter().next().unwrap();
        let header = whole.len() - 3 * size(2);
        for len in 0..=whole.len() {
            disk.put(&path, &whole[..len]);
            let n_whole = len.saturating_sub(header) / size(2);
            let mut cut = cache(&disk, LARGE);
            assert_eq!(known(&mut cut, 0..3).len(), n_whole, "{len}");
            put(&mut cut, 7..8, 2);
            assert_eq!(known(&mut cache(&disk, LARGE), 7..8), [7], "{len}");
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_never_brings_another_vector_back() {
        let disk = MemoryDisk::default();
        put(&mut cache(&disk, LARGE), 0..3, 2);
        let (path, whole) = disk.files().into_iter().next().unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            disk.put(&path, &bytes);
            // `known` compares what comes back.
            assert!(known(&mut cache(&disk, LARGE), 0..3).len() < 3, "{at}");
        }
    }

    #[test]
    fn the_file_stays_below_its_bound_and_keeps_the_newest() {
        let disk = MemoryDisk::default();
        let max_bytes = 1_000;
        let mut cache = cache(&disk, max_bytes);
        for n in 0..200 {
            put(&mut cache, n..n + 1, 2);
            let len = disk.files().into_values().next().unwrap().len() as u64;
            assert!(len <= max_bytes, "{len}");
            assert_eq!(known(&mut cache, n..n + 1), [n]);
        }
        assert!(known(&mut cache, 0..200).len() > 10);
    }

    #[test]
    fn two_processes_may_write_at_once() {
        let disk = MemoryDisk::default();
        let (mut one, mut other) = (cache(&disk, LARGE), cache(&disk, LARGE));
        put(&mut one, 0..2, 2);
        put(&mut other, 2..4, 2);
        put(&mut one, 4..6, 2);
        assert_eq!(known(&mut one, 0..9), [0, 1, 4, 5]);
        assert_eq!(known(&mut cache(&disk, LARGE), 0..9).len(), 6);
    }
}
