//! The vectors of what was said, and which of them are near. Unit: one folder, vectors of one model.
//! Invariant: a search returns the `k` nearest allowed vectors, exactly as comparing all of them would; only
//! where the graph is at work may a few be missing. What the vectors stand for, and when to rebuild, is left
//! to the caller.
//!
//! ```text
//!   search ── scan ── codes in memory (rows, quantise) ──> candidates ──> f32 read again (store) ──> hits
//!          └─ graph ── the same codes, above a number of rows ──────┘
//! ```
//!
//! Codes say how far they may be off, so the scan knows which rows it need not look at again; the exact
//! scores come from the floats on disk, each row checked as it is read. Memory: a byte a dimension and 40
//! bytes a row; a graph takes some six times that on top.

mod check;
mod error;
mod file;
mod graph;
mod meta;
mod quantise;
mod record;
mod rows;
mod scan;
mod store;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::graph::{Graph, Searcher, Stage};
use self::quantise::Query;
use self::record::Record;
use self::rows::Rows;
use self::scan::{Candidate, Gathered, number};
use self::store::Store;

pub use error::{BadVector, Unusable, VectorError};
pub use graph::GraphState;
pub use meta::Spec;

/// Rows a graph is asked for at least; more than wanted, because codes tell neighbours apart less well
/// than floats do.
const LOOK_AT: usize = 64;
/// Rows read again for one search at most. Only where thousands of vectors are as good as equal would more
/// be needed, and then it matters little which of them are returned.
const MOST_READ: usize = 2_048;
/// How often a graph that came into doubt is built again.
const REBUILDS: u32 = 1;

/// What a caller calls a vector: the number of a message or an exchange, say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u64);

/// A vector that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub place: Place,
    /// The cosine of the angle to what was searched for.
    pub score: f32,
}

/// Which vectors may be found.
#[derive(Clone, Copy)]
pub enum Filter<'a> {
    All,
    /// Those of which this is true. Asked only of vectors that would be hits otherwise.
    Only(&'a dyn Fn(Place) -> bool),
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::All => "All",
            Self::Only(_) => "Only(..)",
        })
    }
}

impl Filter<'_> {
    fn allows(&self, place: Place) -> bool {
        match self {
            Self::All => true,
            Self::Only(allows) => allows(place),
        }
    }
}

/// How an index works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// From this many vectors on there is a graph.
    pub hnsw_min: usize,
    /// Threads that build it.
    pub builders: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hnsw_min: 50_000,
            builders: 1,
        }
    }
}

/// Vectors by place.
#[derive(Debug)]
pub struct VectorIndex {
    store: Store,
    rows: Rows,
    /// Of each row: where it belongs, the checksum of its floats, whether it was withdrawn.
    places: Vec<u64>,
    checks: Vec<u32>,
    gone: Vec<bool>,
    /// The row of each place that is not withdrawn.
    at: HashMap<u64, u32>,
    options: Options,
    /// Behind a lock because a search may find that it must be dropped; held for single steps.
    graph: Mutex<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    graph: Option<Graph>,
    n_dropped: u32,
}

impl VectorIndex {
    /// Opens the index in `folder`, or starts an empty one where there is none. What was pushed after the
    /// last sync is there as far as it was written whole.
    pub fn open(folder: &Path, spec: &Spec, options: Options) -> Result<Self, VectorError> {
        let mut read = Read::new(spec.dimension);
        let store = Store::open(folder, spec, &mut |record| read.take(&record))?;
        Ok(read.into_index(store, options))
    }

    /// Opens the index in `folder` for searches alone, as far as it is there by now; nothing is written. It has no graph.
    pub fn read(folder: &Path, spec: &Spec) -> Result<Self, VectorError> {
        let mut read = Read::new(spec.dimension);
        let store = Store::read(folder, spec, &mut |record| read.take(&record))?;
        let options = Options {
            hnsw_min: usize::MAX,
            ..Options::default()
        };
        Ok(read.into_index(store, options))
    }

    /// Drops what is in `folder` and starts an empty index.
    pub fn recreate(folder: &Path, spec: &Spec, options: Options) -> Result<Self, VectorError> {
        let store = Store::create(folder, spec)?;
        Ok(Read::new(spec.dimension).into_index(store, options))
    }

    /// What made the vectors in `folder`, if there are any that can be used: so an index can be opened
    /// before the embedder was asked for its dimension.
    pub fn stored(folder: &Path) -> Option<Spec> {
        Store::spec(folder)
    }

    /// Stores the vector of `place`, with unit length; one that was there for it is withdrawn.
    pub fn push(&mut self, place: Place, vector: &[f32]) -> Result<(), VectorError> {
        let unit = quantise::unit(vector, self.rows.dimension())?;
        let row = u32::try_from(self.rows.len()).map_err(|_| VectorError::Full)?;
        let (codes, grain) = quantise::quantise(&unit);
        let check = self.store.came(place.0, &unit, &codes, grain)?;
        self.rows.push(&codes, grain);
        self.places.push(place.0);
        self.checks.push(check);
        self.gone.push(false);
        if let Some(old) = self.at.insert(place.0, row) {
            self.gone[old as usize] = true;
        }
        self.tend_graph();
        Ok(())
    }

    /// Lets the vector of `place` be found no more; says whether there was one.
    pub fn withdraw(&mut self, place: Place) -> Result<bool, VectorError> {
        let Some(row) = self.at.get(&place.0).copied() else {
            return Ok(false);
        };
        self.store.went(place.0)?;
        self.at.remove(&place.0);
        self.gone[row as usize] = true;
        Ok(true)
    }

    /// Makes everything so far last; costs three syncs, so do it after a batch.
    pub fn sync(&mut self) -> Result<(), VectorError> {
        self.store.sync()
    }

    /// Vectors that can be found.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    pub fn contains(&self, place: Place) -> bool {
        self.at.contains_key(&place.0)
    }

    /// Vectors that were replaced or withdrawn and still take space, until the index is recreated.
    pub fn withdrawn(&self) -> usize {
        self.rows.len() - self.at.len()
    }

    /// How the graph is doing.
    pub fn graph(&self) -> GraphState {
        let slot = self.slot();
        let graph = slot.graph.as_ref();
        graph.map_or(GraphState::None, |graph| graph.state(&self.rows))
    }

    /// The `k` nearest allowed vectors, nearest first; of equally near ones the earlier pushed.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        filter: Filter<'_>,
    ) -> Result<Vec<Hit>, VectorError> {
        let unit = quantise::unit(query, self.rows.dimension())?;
        let k = k.min(self.at.len());
        if k == 0 {
            return Ok(Vec::new());
        }
        let query = Query::new(unit);
        let allowed = |row: u32| {
            let row = row as usize;
            !self.gone[row] && filter.allows(Place(self.places[row]))
        };
        let candidates = self
            .by_graph(&query, k, &allowed)
            .unwrap_or_else(|| self.by_scan(&query, k, &allowed));
        self.settle(&query, k, &candidates)
    }

    fn by_scan(&self, query: &Query, k: usize, allowed: &dyn Fn(u32) -> bool) -> Vec<Candidate> {
        let mut gathered = Gathered::new(k);
        gathered.scan(&self.rows, 0, query, allowed);
        gathered.candidates()
    }

    /// What the graph finds, and a scan of the rows it does not cover. `None` where there is no graph, or
    /// where the filter leaves too little of what it found.
    fn by_graph(
        &self,
        query: &Query,
        k: usize,
        allowed: &dyn Fn(u32) -> bool,
    ) -> Option<Vec<Candidate>> {
        let searcher = self.searcher()?;
        let (codes, grain) = quantise::quantise(&query.exact);
        let Some(found) = searcher.nearest(&codes, grain, LOOK_AT.max(k * 3)) else {
            // It is in doubt now; the next search lets go of it.
            return None;
        };
        let picked: Vec<u32> = found.rows.into_iter().filter(|row| allowed(*row)).collect();
        if picked.len() < k {
            return None;
        }
        let mut gathered = Gathered::new(k);
        gathered.offer_rows(&self.rows, picked, query);
        gathered.scan(&self.rows, found.covered, query, allowed);
        Some(gathered.candidates())
    }

    fn searcher(&self) -> Option<Searcher> {
        let mut slot = self.slot();
        if slot.review() {
            slot.feed(&self.rows, self.options);
        }
        slot.graph.as_ref()?.searcher(&self.rows)
    }

    /// The exact scores of the most promising candidates, until no other can be better.
    fn settle(
        &self,
        query: &Query,
        k: usize,
        candidates: &[Candidate],
    ) -> Result<Vec<Hit>, VectorError> {
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(k + 1);
        for (n_read, candidate) in candidates.iter().enumerate() {
            if let Some((worst, _)) = best.get(k - 1)
                && (candidate.most < *worst || n_read >= MOST_READ.max(k))
            {
                break;
            }
            let row = candidate.row;
            let floats = self.store.floats(row, self.checks[row as usize])?;
            let score = quantise::dot(&query.exact, &floats);
            let is_before = |(other, at): &(f32, u32)| (*other, row) > (score, *at);
            let at = best.partition_point(is_before);
            best.insert(at, (score, row));
            best.truncate(k);
        }
        let hit = |(score, row): (f32, u32)| Hit {
            place: Place(self.places[row as usize]),
            score,
        };
        Ok(best.into_iter().map(hit).collect())
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the graph when it is time, and feeds it.
    fn tend_graph(&mut self) {
        let is_time = self.rows.len().is_multiple_of(rows::BLOCK);
        if is_time && self.rows.len() >= self.options.hnsw_min {
            let mut slot = self.slot();
            slot.review();
            slot.feed(&self.rows, self.options);
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
    fn feed(&mut self, rows: &Rows, options: Options) {
        match &mut self.graph {
            Some(graph) => graph.extend(rows),
            None if self.n_dropped > REBUILDS => {}
            None => self.graph = Graph::start(rows, options.builders),
        }
    }
}

/// An index while its records are read.
#[derive(Debug)]
struct Read {
    rows: Rows,
    places: Vec<u64>,
    checks: Vec<u32>,
    gone: Vec<bool>,
    at: HashMap<u64, u32>,
}

impl Read {
    fn new(dimension: usize) -> Self {
        Self {
            rows: Rows::new(dimension),
            places: Vec::new(),
            checks: Vec::new(),
            gone: Vec::new(),
            at: HashMap::new(),
        }
    }

    fn take(&mut self, record: &Record<'_>) {
        let old = match *record {
            Record::Came {
                place,
                grain,
                floats,
                codes,
            } => {
                let row = number(self.rows.len());
                self.rows.push(codes, grain);
                self.places.push(place);
                self.checks.push(floats);
                self.gone.push(false);
                self.at.insert(place, row)
            }
            Record::Went { place } => self.at.remove(&place),
        };
        if let Some(old) = old {
            self.gone[old as usize] = true;
        }
    }

    fn into_index(self, store: Store, options: Options) -> VectorIndex {
        let rows = self.rows;
        let is_large = !rows.full().is_empty() && rows.len() >= options.hnsw_min;
        let graph = is_large
            .then(|| Graph::start(&rows, options.builders))
            .flatten();
        VectorIndex {
            store,
            rows,
            places: self.places,
            checks: self.checks,
            gone: self.gone,
            at: self.at,
            options,
            graph: Mutex::new(Slot {
                graph,
                n_dropped: 0,
            }),
        }
    }
}
