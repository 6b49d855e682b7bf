//! One store of vectors for everything that is found by meaning: messages, notes, entries, documents. Unit: one
//! embedding model; a vector is known by the digest of its text ([`Key`]). What the vectors stand for is left to the
//! caller.
//!
//! ```text
//!   nearest_of(rows) ── scan ── codes in memory (rows, quantise) ──> the k best
//!                    └─ graph ── the same codes, above a number of rows
//!   put ── file ── one record a vector, appended
//! ```
//!
//! A vector is kept as a byte a dimension; a cosine is off by some thousandths, which ranks alike (docs/RECALL.md).
//! Invariant: a vector comes back as it was put in or not at all.

mod check;
mod file;
mod graph;
mod quantise;
mod rows;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use self::file::VectorFile;
use self::graph::{Graph, Stage};
use self::quantise::Query;
use self::rows::Rows;
use self::scan::Best;
use crate::files::Disk;

pub use file::Made;
pub use graph::GraphState;

/// Rows a graph is asked for at least; more than wanted, since some belong to other texts than those searched.
const LOOK_AT: usize = 64;
/// How often a graph that came into doubt is built again.
const REBUILDS: u32 = 1;
const KEY: usize = 16;

/// What a text is known by: the beginning of its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; KEY]);

impl Key {
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        Self(*digest.first_chunk().expect("a digest has 32 bytes"))
    }
}

/// Keys are digests: any eight bytes of one spread as well as a hash of it.
#[derive(Debug, Default)]
struct OfDigest(u64);

impl Hasher for OfDigest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    /// The length of the array says nothing.
    fn write_usize(&mut self, _: usize) {}
}

type ByKey = HashMap<Key, u32, BuildHasherDefault<OfDigest>>;

/// The vectors of one model.
#[derive(Debug)]
pub struct VectorStore {
    file: VectorFile,
    rows: Rows,
    at: ByKey,
    /// Vectors from which on there is a graph.
    hnsw_min: usize,
    /// Behind a lock because a search may find that it must be dropped; held for single steps.
    graph: Mutex<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    graph: Option<Graph>,
    n_dropped: u32,
}

/// Lets go of the vectors of these texts in the stores of all models but one, which is open.
pub fn let_go(
    disk: &Arc<dyn Disk>,
    folder: &Path,
    gone: &BTreeSet<Key>,
    open: Option<&Made>,
) -> io::Result<()> {
    for made in Made::all(disk.as_ref(), folder) {
        if Some(&made) != open {
            let mut store = VectorStore::open(Arc::clone(disk), folder, made, usize::MAX)?;
            store.retain(|key| !gone.contains(&key))?;
        }
    }
    Ok(())
}

impl VectorStore {
    /// Reads the vectors in `folder` that were made so; none where there are none. Nothing is written.
    pub fn open(
        disk: Arc<dyn Disk>,
        folder: &Path,
        made: Made,
        hnsw_min: usize,
    ) -> io::Result<Self> {
        let mut store = Self {
            rows: Rows::new(made.dimension),
            file: VectorFile::new(disk, folder, made),
            at: ByKey::default(),
            hnsw_min,
            graph: Mutex::default(),
        };
        store.catch_up()?;
        Ok(store)
    }

    /// Reads what another process added.
    fn catch_up(&mut self) -> io::Result<()> {
        let (rows, at) = (&mut self.rows, &mut self.at);
        self.file.read(&mut |key, codes, grain| {
            at.insert(key, scan::number(rows.len()));
            rows.push(codes, grain);
        })?;
        self.tend_graph();
        Ok(())
    }

    pub fn made(&self) -> &Made {
        self.file.made()
    }

    /// Vectors that can be found.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The row of a text, once it has a vector.
    pub fn row(&self, key: Key) -> Option<u32> {
        self.at.get(&key).copied()
    }

    /// Keeps vectors; on disk when it returns. One without a direction or of another length is near nothing.
    pub fn put(&mut self, vectors: &[(Key, Vec<f32>)]) -> io::Result<()> {
        let _alone = self.file.lock()?;
        self.catch_up()?;
        let dimension = self.made().dimension;
        let mut new = HashSet::new();
        let missing = vectors
            .iter()
            .filter(|(key, _)| self.row(*key).is_none() && new.insert(*key));
        let quantised = missing.map(|(key, vector)| {
            let unit = quantise::unit(vector, dimension);
            let (codes, grain) = quantise::quantise(&unit.unwrap_or_else(|| vec![0.0; dimension]));
            (*key, codes, grain)
        });
        let quantised: Vec<_> = quantised.collect();
        // What cannot be written is found in this run all the same.
        for (key, codes, grain) in &quantised {
            self.at.insert(*key, scan::number(self.rows.len()));
            self.rows.push(codes, *grain);
        }
        self.tend_graph();
        self.file.append(&quantised)
    }

    /// Lets go of every vector but those of these texts, on disk too.
    pub fn retain(&mut self, is_wanted: impl Fn(Key) -> bool) -> io::Result<()> {
        let _alone = self.file.lock()?;
        self.catch_up()?;
        let mut kept: Vec<(u32, Key)> = self.at.iter().map(|(key, row)| (*row, *key)).collect();
        let before = kept.len();
        kept.retain(|(_, key)| is_wanted(*key));
        if kept.len() == before {
            return Ok(());
        }
        kept.sort_unstable();
        let kept = kept.into_iter().map(|(row, key)| {
            let (codes, grain) = self.rows.row(row as usize);
            (key, codes.to_vec(), grain)
        });
        let kept: Vec<_> = kept.collect();
        self.file.replace(&kept)?;
        self.rows = Rows::new(self.made().dimension);
        self.at.clear();
        *self.slot() = Slot::default();
        for (key, codes, grain) in kept {
            self.at.insert(key, scan::number(self.rows.len()));
            self.rows.push(&codes, grain);
        }
        self.tend_graph();
        Ok(())
    }

    /// How the graph is doing.
    pub fn graph(&self) -> GraphState {
        let slot = self.slot();
        let graph = slot.graph.as_ref();
        graph.map_or(GraphState::None, |graph| graph.state(&self.rows))
    }

    /// Those of some rows that are nearest to a vector, nearest first: their positions among `rows`, with the cosines.
    /// A row that is not there is near nothing.
    pub fn nearest_of(&self, vector: &[f32], rows: &[Option<u32>], k: usize) -> Vec<(usize, f32)> {
        let Some(unit) = quantise::unit(vector, self.rows.dimension()) else {
            return Vec::new();
        };
        let query = Query::new(&unit);
        self.by_graph(&query, rows, k).unwrap_or_else(|| {
            let mut best = Best::new(k);
            let len = self.rows.len();
            for (position, row) in rows.iter().enumerate() {
                if let Some(row) = row.map(|row| row as usize).filter(|row| *row < len) {
                    best.offer(position, query.near(self.rows.row(row)));
                }
            }
            best.found()
        })
    }

    /// What the graph finds of these rows. `None` where there is no graph, where it does not cover them, or where the
    /// others leave too little of what it found.
    fn by_graph(&self, query: &Query, rows: &[Option<u32>], k: usize) -> Option<Vec<(usize, f32)>> {
        if rows.len() < self.hnsw_min {
            return None;
        }
        let searcher = {
            let mut slot = self.slot();
            slot.review();
            slot.feed(&self.rows);
            slot.graph.as_ref()?.searcher(&self.rows)?
        };
        let found = searcher.nearest(query, LOOK_AT.max(k * 3))?;
        let near: HashSet<u32> = found.rows.into_iter().collect();
        let mut best = Best::new(k);
        let mut looked_at = 0;
        for (position, row) in rows.iter().enumerate() {
            if let Some(row) =
                row.filter(|row| near.contains(row) || *row as usize >= found.covered)
            {
                looked_at += 1;
                best.offer(position, query.near(self.rows.row(row as usize)));
            }
        }
        (looked_at >= k).then(|| best.found())
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Feeds the graph, where a search has begun one.
    fn tend_graph(&mut self) {
        let mut slot = self.slot();
        slot.review();
        if slot.graph.is_some() {
            slot.feed(&self.rows);
        }
    }
}

impl Slot {
    /// Lets go of a graph that must not answer any more; says whether it did.
    fn review(&mut self) -> bool {
        let n_dropped = match self.graph.as_ref().map(Graph::stage) {
            None | Some(Stage::Building | Stage::Ready) => return false,
            Some(Stage::InDoubt) => self.n_dropped + 1,
            Some(Stage::Unfit) => REBUILDS + 1,
        };
        *self = Self {
            graph: None,
            n_dropped,
        };
        true
    }

    /// Builds a graph if there is none, or hands it what is new.
    fn feed(&mut self, rows: &Rows) {
        match &mut self.graph {
            Some(graph) => graph.extend(rows),
            None if self.n_dropped > REBUILDS => {}
            None => self.graph = Graph::start(rows),
        }
    }
}
