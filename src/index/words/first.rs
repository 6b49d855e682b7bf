//! The best few of many messages, without sorting them all.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::index::words::Match;

/// The first `k` so far, the worst on top.
pub(super) struct First {
    k: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

/// Better is greater: the higher score, then the earlier message.
#[derive(Clone, Copy, PartialEq)]
struct Ranked {
    score: f32,
    segment: usize,
    place: u32,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        let by_place = |one: &Self| (one.segment, one.place);
        by_score.then(by_place(other).cmp(&by_place(self)))
    }
}

impl First {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            heap: BinaryHeap::new(),
        }
    }

    /// Whether a message after those offered would be among the first with this score.
    pub(super) fn admits(&self, score: f32) -> bool {
        self.heap.len() < self.k || self.heap.peek().is_some_and(|worst| score > worst.0.score)
    }

    /// Takes a message after those offered, if it is among the first; only then the filter is asked.
    pub(super) fn offer(
        &mut self,
        (segment, at): (usize, usize),
        score: f32,
        filter: &dyn Fn(usize, u32) -> bool,
    ) {
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        if !self.admits(score) || !filter(segment, place) {
            return;
        }
        if self.heap.len() == self.k {
            self.heap.pop();
        }
        self.heap.push(Reverse(Ranked {
            score,
            segment,
            place,
        }));
    }

    pub(super) fn into_hits(self, overlap: impl Fn(usize, u32) -> f32) -> Vec<Match> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse(ranked)| Match {
                segment: ranked.segment,
                place: ranked.place,
                score: ranked.score,
                overlap: overlap(ranked.segment, ranked.place),
            })
            .collect()
    }
}
