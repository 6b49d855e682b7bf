//! Builds a graph in the background. Invariant: a graph was found to agree with a scan before anybody gets it; the thread
//! ends with its owner, at the latest after the row it is at.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use hnsw_rs::prelude::{Distance, Hnsw};

use super::graph::Graph;
use super::graph::{Best, number};
use super::quantise::Rows;
use super::quantise::{Query, dot_of_codes};

/// Links of a row, twice as many on the lowest layer, and rows looked at to find them.
const NEIGHBOURS: usize = 16;
const LOOK_AT_BUILDING: usize = 128;
/// Enough layers for a hundred million rows.
const LAYERS: usize = 7;
/// What building takes for each row beside its codes (`cargo bench --bench vectors`).
pub(super) const BYTES_PER_ROW: u64 = 2_400;
/// Rows that try out a new graph, how many neighbours they ask for, and what share of these it must know.
const TRIALS: usize = 40;
const TRIAL_HITS: usize = 10;
const TRIAL_SHARE: f64 = 0.97;

/// The rows are compared where they are: the crate would keep a copy of each.
#[derive(Debug)]
struct OfRows(Arc<Rows>);

impl Distance<u32> for OfRows {
    fn eval(&self, a: &[u32], b: &[u32]) -> f32 {
        let (Some(a), Some(b)) = (a.first(), b.first()) else {
            return 1.0;
        };
        let [(a, a_grain), (b, b_grain)] = [a, b].map(|row| self.0.row(*row as usize));
        #[expect(
            clippy::cast_precision_loss,
            reason = "an estimate of codes to begin with"
        )]
        let dot = dot_of_codes(a, b) as f32;
        (1.0 - dot * a_grain.scale * b_grain.scale).max(0.0)
    }
}

/// A graph that is being built.
pub(super) struct Builder {
    pub(super) n_rows: usize,
    n_done: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<Graph>>>,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Begins with rows that do not change any more; `keep` puts the graph on disk. Without a thread there is no graph.
    pub(super) fn start(rows: Rows, keep: impl FnOnce(&Graph) + Send + 'static) -> Option<Self> {
        let (n_done, stop) = (Arc::default(), Arc::default());
        let n_rows = rows.len();
        let (counter, stopped) = (Arc::clone(&n_done), Arc::clone(&stop));
        let named = thread::Builder::new().name("vector graph".to_owned());
        let thread = named.spawn(move || {
            let graph = build(&Arc::new(rows), &counter, &stopped)?;
            keep(&graph);
            Some(graph)
        });
        Some(Self {
            n_rows,
            n_done,
            stop,
            thread: Some(thread.ok()?),
        })
    }

    pub(super) fn n_done(&self) -> usize {
        self.n_done.load(Ordering::Relaxed)
    }

    pub(super) fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What came of it: `None` where the data have too little structure, or where the crate panicked.
    pub(super) fn graph(mut self) -> Option<Graph> {
        self.thread.take()?.join().ok().flatten()
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Of a graph that nobody wants it does not matter how it ended.
            thread.join().ok();
        }
    }
}

fn build(rows: &Arc<Rows>, n_done: &AtomicUsize, stop: &AtomicBool) -> Option<Graph> {
    let n = rows.len();
    let distance = OfRows(Arc::clone(rows));
    let hnsw = Hnsw::new(NEIGHBOURS, n, LAYERS, LOOK_AT_BUILDING, distance);
    for row in 0..n {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        hnsw.insert((&[number(row)], row));
        n_done.store(row, Ordering::Relaxed);
    }
    let mut layers = vec![Vec::new(); LAYERS];
    for point in hnsw.get_point_indexation() {
        let row = number(point.get_origin_id());
        let levels = usize::from(point.get_point_id().0) + 1;
        let links = point.get_neighborhood_id().into_iter().take(levels);
        for (layer, links) in layers.iter_mut().zip(links) {
            let links = links.iter().map(|link| number(link.get_origin_id()));
            layer.push((row, links.collect::<Vec<_>>()));
        }
    }
    drop(hnsw);
    let graph = Graph::of(layers);
    let share = share_known(&graph, rows);
    tracing::info!(rows = n, share, "vector graph built");
    if share < TRIAL_SHARE {
        tracing::warn!(
            share,
            "the vector graph misses too many rows; scanning rows instead"
        );
        return None;
    }
    Some(graph)
}

/// Compares some answers with those of a scan: of data without any structure a graph knows too little.
fn share_known(graph: &Graph, rows: &Rows) -> f64 {
    let n = rows.len();
    let mut known = 0;
    for trial in 0..TRIALS {
        let query = Query::of_row(rows.row(trial * n / TRIALS));
        let mut best = Best::new(TRIAL_HITS);
        (0..n).for_each(|row| best.offer(row, query.near(rows.row(row))));
        let found = graph.nearest(&query, rows, super::LOOK_AT);
        let is_known = |(row, _): &(usize, f32)| found.iter().any(|(_, it)| *it as usize == *row);
        known += best.found().iter().filter(|it| is_known(it)).count();
    }
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let share = known as f64 / (TRIALS * TRIAL_HITS).max(1) as f64;
    share
}
