//! One store of vectors for everything that is found by meaning: messages, notes, entries, documents. Unit: one
//! embedding model; a vector is known by the digest of its text ([`Key`]). What the vectors stand for is left to the
//! caller.
//!
//! ```text
//!   nearest_of(rows) ── scan ── codes in memory (quantise) ───────> the k best
//!                    └─ graph ── the same codes, of fewer rows; builder makes it in the background
//!   put ── file ── one record a vector, appended
//! ```
//!
//! A vector is kept as a byte a dimension; a cosine is off by some thousandths, which ranks alike (docs/RECALL.md).
//! Invariant: a vector comes back as it was put in or not at all.

mod builder;
mod file;
mod graph;
mod quantise;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use self::builder::{BYTES_PER_ROW, Builder};
use self::file::VectorFile;
use self::graph::Best;
use self::graph::Graph;
use self::quantise::Query;
use self::quantise::Rows;
use crate::files::Disk;

pub use file::Made;

/// Rows from which on a graph is quicker than a scan (`cargo bench --bench vectors`).
const GRAPH_FROM: usize = 32_768;
/// Rows a graph is asked for at least; more than wanted, since some belong to other texts than those searched.
const LOOK_AT: usize = 64;
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
    graph_from: usize,
    /// Bytes that a graph may take while it is built.
    graph_memory: u64,
    /// Behind a lock because a search may find that it is ready or outgrown; held for single steps.
    graph: Mutex<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    graph: Option<Arc<Graph>>,
    builder: Option<Builder>,
    /// None came of so many rows.
    n_in_vain: usize,
}

/// How the graph is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphState {
    /// There are too few rows for one or too many for its memory, or it is no good.
    None,
    /// Being built; what no older one has is scanned meanwhile.
    Building {
        rows: usize,
        of: usize,
    },
    Ready,
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
            let mut store = VectorStore::open(Arc::clone(disk), folder, made, 0)?;
            store.retain(|key| !gone.contains(&key))?;
        }
    }
    Ok(())
}

impl VectorStore {
    /// Reads the vectors in `folder` that were made so, and their graph; none where there are none. Nothing is written.
    pub fn open(
        disk: Arc<dyn Disk>,
        folder: &Path,
        made: Made,
        graph_memory: u64,
    ) -> io::Result<Self> {
        Self::open_from(disk, folder, made, (GRAPH_FROM, graph_memory))
    }

    fn open_from(
        disk: Arc<dyn Disk>,
        folder: &Path,
        made: Made,
        (graph_from, graph_memory): (usize, u64),
    ) -> io::Result<Self> {
        let mut store = Self {
            rows: Rows::new(made.dimension),
            file: VectorFile::new(disk, folder, made),
            at: ByKey::default(),
            graph_from,
            graph_memory,
            graph: Mutex::default(),
        };
        store.catch_up()?;
        if store.may_have_graph() {
            store.slot().graph = store.file.graph(|key| store.row(key)).map(Arc::new);
        }
        Ok(store)
    }

    /// Reads what another process added.
    fn catch_up(&mut self) -> io::Result<()> {
        let (rows, at) = (&mut self.rows, &mut self.at);
        self.file.read(&mut |key, codes, grain| {
            at.insert(key, graph::number(rows.len()));
            rows.push(codes, grain);
        })
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
            self.at.insert(*key, graph::number(self.rows.len()));
            self.rows.push(codes, *grain);
        }
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
        let mut new = vec![None; self.rows.len()];
        let kept = kept.into_iter().enumerate().map(|(at, (row, key))| {
            new[row as usize] = Some(graph::number(at));
            let (codes, grain) = self.rows.row(row as usize);
            (key, codes.to_vec(), grain)
        });
        let kept: Vec<_> = kept.collect();
        self.file.replace(&kept)?;
        let before = std::mem::take(&mut *self.slot()).graph;
        self.rows = Rows::new(self.made().dimension);
        self.at.clear();
        for (key, codes, grain) in kept {
            self.at.insert(key, graph::number(self.rows.len()));
            self.rows.push(&codes, grain);
        }
        let graph = before.and_then(|graph| graph.renumbered(&new[..graph.len()]));
        // The file of the graph has keys of what is gone.
        self.file.keep_graph(graph.as_ref(), &self.keys())?;
        self.slot().graph = graph.map(Arc::new);
        Ok(())
    }

    /// The keys in the order of their rows; a row that no text has any more gets one that is none.
    fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Key([0; KEY]); self.rows.len()];
        for (key, row) in &self.at {
            keys[*row as usize] = *key;
        }
        keys
    }

    /// How the graph is doing.
    pub fn graph(&self) -> GraphState {
        let mut slot = self.slot();
        slot.review();
        match (&slot.builder, &slot.graph) {
            (Some(builder), _) => GraphState::Building {
                rows: builder.n_done(),
                of: builder.n_rows,
            },
            (None, Some(_)) => GraphState::Ready,
            (None, None) => GraphState::None,
        }
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

    /// What the graph finds of these rows. `None` where there is none yet, where a scan is as quick, or where other
    /// rows leave too little of what it found.
    fn by_graph(&self, query: &Query, rows: &[Option<u32>], k: usize) -> Option<Vec<(usize, f32)>> {
        if rows.len() < self.graph_from {
            return None;
        }
        let graph = self.current_graph()?;
        let found = graph.nearest(query, &self.rows, LOOK_AT.max(2 * k));
        let (worst, _) = *found.last()?;
        let mut near = vec![false; graph.len()];
        for (_, row) in found {
            near[row as usize] = true;
        }
        let mut best = Best::new(k);
        for (position, row) in rows.iter().enumerate() {
            if let Some(row) = row.map(|row| row as usize)
                && near.get(row).is_none_or(|is_near| *is_near)
                && row < self.rows.len()
            {
                best.offer(position, query.near(self.rows.row(row)));
            }
        }
        let best = best.found();
        // Of rows that it did not look at none is nearer than the last that it found.
        let is_all = best.len() == k && best.last().is_none_or(|(_, cosine)| *cosine >= worst);
        is_all.then_some(best)
    }

    /// The graph that is there; begins to build one where none is, or where it is outgrown.
    fn current_graph(&self) -> Option<Arc<Graph>> {
        let mut slot = self.slot();
        slot.review();
        let n = self.rows.len();
        let is_outgrown = slot.graph.as_ref().is_none_or(|graph| graph.is_outgrown(n));
        let is_in_vain = 5 * n < 6 * slot.n_in_vain;
        if slot.builder.is_none() && is_outgrown && !is_in_vain && self.may_have_graph() {
            let (file, keys) = (self.file.clone(), self.keys());
            slot.builder = Builder::start(self.rows.full(), move |graph| {
                if let Err(error) = file.keep_graph(Some(graph), &keys) {
                    tracing::warn!("cannot keep the vector graph: {error}");
                }
            });
        }
        slot.graph.clone()
    }

    fn may_have_graph(&self) -> bool {
        let n = self.rows.len();
        n >= self.graph_from && n as u64 * BYTES_PER_ROW <= self.graph_memory
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Takes over what was built.
    fn review(&mut self) {
        let Some(builder) = self.builder.take_if(|builder| builder.is_done()) else {
            return;
        };
        let n_rows = builder.n_rows;
        match builder.graph() {
            Some(graph) => self.graph = Some(Arc::new(graph)),
            None => self.n_in_vain = n_rows,
        }
    }
}
