//! The graph over many rows: quicker than the scan, less certain, and made of the same codes. Unit: one
//! graph and the thread that builds it. Invariant: nothing of it is on disk, so nothing damaged can be
//! loaded; it answers only after it was found to agree with the scan, and never again once it was in doubt.
//! The thread ends with its owner, at the latest after the row it is at.
//!
//! It covers full blocks only; the rows behind them are scanned.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use hnsw_rs::prelude::{Distance, Hnsw};

use super::quantise::{Grain, Query, dot_of_codes};
use super::rows::{BLOCK, Block, Rows};

/// Neighbours of a row, and rows looked at to find them.
const NEIGHBOURS: usize = 16;
const LOOK_AT_BUILDING: usize = 128;
/// Enough layers for a hundred million rows.
const LAYERS: usize = 7;
/// Rows that try out a new graph, how many neighbours they ask for, and what share of these it must know.
const TRIALS: usize = 40;
const TRIAL_HITS: usize = 10;
const TRIAL_SHARE: f64 = 0.97;
/// Further behind than this it is of no use.
const MAX_BEHIND: usize = 16 * BLOCK;

/// What a graph is worth at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphState {
    /// There are too few rows for one, or it was given up.
    None,
    /// Being built; all rows are scanned meanwhile.
    Building {
        rows: usize,
        of: usize,
    },
    Ready,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Building,
    Ready,
    /// It answered what cannot be, or panicked: to be dropped.
    InDoubt,
    /// It misses too much of such data: to be dropped, and another would be no better.
    Unfit,
}

/// Codes, then the four bytes of their scale: the crate hands a distance nothing but slices.
#[derive(Clone, Copy, Debug, Default)]
struct CodeDistance;

impl Distance<i8> for CodeDistance {
    fn eval(&self, a: &[i8], b: &[i8]) -> f32 {
        let (Some((a, a_scale)), Some((b, b_scale))) =
            (a.split_last_chunk::<4>(), b.split_last_chunk::<4>())
        else {
            return 1.0;
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "an estimate of codes to begin with"
        )]
        let dot = dot_of_codes(a, b) as f32;
        (1.0 - dot * scale(*a_scale) * scale(*b_scale)).max(0.0)
    }
}

fn scale(bytes: [i8; 4]) -> f32 {
    f32::from_le_bytes(bytes.map(i8::cast_unsigned))
}

fn point(codes: &[i8], grain: Grain) -> Vec<i8> {
    let mut point = Vec::with_capacity(codes.len() + 4);
    point.extend_from_slice(codes);
    point.extend(grain.scale.to_le_bytes().map(u8::cast_signed));
    point
}

/// A graph and its builder.
pub(super) struct Graph {
    shared: Arc<Shared>,
    /// Gone when dropped, which ends the thread.
    blocks: Option<Sender<Arc<Block>>>,
    n_sent: usize,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("stage", &self.shared.stage())
            .field("covered", &self.shared.covered)
            .finish_non_exhaustive()
    }
}

/// What the threads share; the crate lets rows be inserted and searched side by side.
struct Shared {
    graph: Hnsw<'static, i8, CodeDistance>,
    dimension: usize,
    /// Rows that are in the graph.
    covered: AtomicUsize,
    stop: AtomicBool,
    /// Behind a lock for the order of its changes; held for a copy only.
    stage: Mutex<Stage>,
}

impl Graph {
    /// Starts building from all full blocks, in a thread.
    pub(super) fn start(rows: &Rows) -> Option<Self> {
        let shared = Arc::new(Shared {
            graph: Hnsw::new(
                NEIGHBOURS,
                rows.len(),
                LAYERS,
                LOOK_AT_BUILDING,
                CodeDistance,
            ),
            dimension: rows.dimension(),
            covered: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            stage: Mutex::new(Stage::Building),
        });
        let (blocks, received) = channel();
        let n_first = rows.full().len();
        let builder = Arc::clone(&shared);
        let named = thread::Builder::new().name("vector graph".to_owned());
        let thread = named.spawn(move || builder.build(&received, n_first));
        let mut graph = Self {
            shared,
            blocks: Some(blocks),
            n_sent: 0,
            // Without a thread there is no graph, and the scan answers.
            thread: Some(thread.ok()?),
        };
        graph.extend(rows);
        Some(graph)
    }

    /// Hands the builder the blocks that became full.
    pub(super) fn extend(&mut self, rows: &Rows) {
        for block in &rows.full()[self.n_sent..] {
            if let Some(blocks) = &self.blocks
                && blocks.send(Arc::clone(block)).is_err()
            {
                // The thread ended because the graph is in doubt.
                break;
            }
            self.n_sent += 1;
        }
    }

    pub(super) fn state(&self, rows: &Rows) -> GraphState {
        match self.shared.stage() {
            Stage::Ready if self.is_near(rows) => GraphState::Ready,
            Stage::Ready | Stage::Building => GraphState::Building {
                rows: self.shared.covered.load(Ordering::Acquire),
                of: rows.len(),
            },
            Stage::InDoubt | Stage::Unfit => GraphState::None,
        }
    }

    fn is_near(&self, rows: &Rows) -> bool {
        rows.len() - self.shared.covered.load(Ordering::Acquire) <= MAX_BEHIND
    }

    pub(super) fn stage(&self) -> Stage {
        self.shared.stage()
    }

    #[cfg(test)]
    pub(super) fn put_in_doubt(&self) {
        self.shared.give_up(Stage::InDoubt);
    }

    /// The one that answers, if it can.
    pub(super) fn searcher(&self, rows: &Rows) -> Option<Searcher> {
        let ready = self.shared.stage() == Stage::Ready && self.is_near(rows);
        ready.then(|| Searcher(Arc::clone(&self.shared)))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.blocks = None;
        if let Some(thread) = self.thread.take() {
            // A panic inside has put the graph in doubt already.
            thread.join().ok();
        }
    }
}

/// A graph that is ready, apart from its owner.
pub(super) struct Searcher(Arc<Shared>);

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher").finish_non_exhaustive()
    }
}

/// What a graph found.
#[derive(Debug)]
pub(super) struct Found {
    /// About the nearest of the rows before `covered`.
    pub(super) rows: Vec<u32>,
    pub(super) covered: usize,
}

impl Searcher {
    /// About the `n` nearest rows; `None` puts the graph in doubt.
    pub(super) fn nearest(&self, query: &Query, n: usize) -> Option<Found> {
        let (codes, grain) = &query.stored;
        let covered = self.0.covered.load(Ordering::Acquire);
        let found = self.0.nearest(&point(codes, *grain), n);
        let found = found.filter(|rows| rows.len() >= n.min(covered) / 2);
        let Some(mut rows) = found else {
            self.0.give_up(Stage::InDoubt);
            return None;
        };
        // Rows of a block that is just being inserted are scanned by the caller.
        rows.retain(|row| (*row as usize) < covered);
        Some(Found { rows, covered })
    }
}

impl Shared {
    fn stage(&self) -> Stage {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn become_ready(&self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *stage == Stage::Building {
            *stage = Stage::Ready;
        }
    }

    fn give_up(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The crate may panic; that must not reach who asked.
    fn nearest(&self, point: &[i8], n: usize) -> Option<Vec<u32>> {
        let search = || self.graph.search(point, n, n);
        let found = catch_unwind(AssertUnwindSafe(search)).ok()?;
        let rows = found.iter().map(|hit| u32::try_from(hit.d_id).ok());
        let mut rows = rows.collect::<Option<Vec<u32>>>()?;
        rows.sort_unstable();
        rows.dedup();
        (rows.len() == found.len()).then_some(rows)
    }

    fn build(&self, received: &Receiver<Arc<Block>>, n_first: usize) {
        let mut blocks: Vec<Arc<Block>> = Vec::new();
        while let Ok(block) = received.recv() {
            let first = blocks.len() * BLOCK;
            blocks.push(block);
            let block = &blocks[blocks.len() - 1];
            let insert = || self.insert(block, first);
            if catch_unwind(AssertUnwindSafe(insert)).is_err() {
                tracing::warn!("could not build the vector graph; scanning rows instead");
                self.give_up(Stage::InDoubt);
            }
            if self.is_stopped() {
                return;
            }
            self.covered.store(first + BLOCK, Ordering::Release);
            if blocks.len() == n_first {
                self.judge(&blocks);
            }
        }
    }

    fn insert(&self, block: &Block, first: usize) {
        for at in 0..block.grains.len() {
            if self.is_stopped() {
                return;
            }
            let (codes, grain) = block.row(at, self.dimension);
            self.graph.insert((&point(codes, grain), first + at));
        }
    }

    /// Compares some answers with those of a scan: of data without any structure a graph knows too little.
    fn judge(&self, blocks: &[Arc<Block>]) {
        let n = blocks.len() * BLOCK;
        let mut known = 0;
        for trial in 0..TRIALS {
            if self.is_stopped() {
                return;
            }
            let row = trial * n / TRIALS;
            let (codes, grain) = blocks[row / BLOCK].row(row % BLOCK, self.dimension);
            let asked = point(codes, grain);
            let nearest = self.scan(blocks, &asked);
            let Some(found) = self.nearest(&asked, super::LOOK_AT) else {
                return self.give_up(Stage::InDoubt);
            };
            known += nearest
                .iter()
                .filter(|row| found.binary_search(row).is_ok())
                .count();
        }
        #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
        let share = known as f64 / (TRIALS * TRIAL_HITS) as f64;
        tracing::info!(rows = n, share, "vector graph built");
        if share < TRIAL_SHARE {
            tracing::warn!(
                share,
                "the vector graph misses too many rows; scanning rows instead"
            );
            return self.give_up(Stage::Unfit);
        }
        self.become_ready();
    }

    fn scan(&self, blocks: &[Arc<Block>], asked: &[i8]) -> Vec<u32> {
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(TRIAL_HITS + 1);
        let mut row = 0;
        for block in blocks {
            for at in 0..block.grains.len() {
                let (codes, grain) = block.row(at, self.dimension);
                let dot = dot_of_codes(codes, &asked[..self.dimension]);
                #[expect(clippy::cast_precision_loss, reason = "an estimate to begin with")]
                let score = dot as f32 * grain.scale;
                let place = best.partition_point(|(better, _)| *better >= score);
                if place < TRIAL_HITS {
                    best.insert(place, (score, row));
                    best.truncate(TRIAL_HITS);
                }
                row += 1;
            }
        }
        best.into_iter().map(|(_, row)| row).collect()
    }
}
