//! Which rows can be among the nearest, judged by codes alone. Unit: one search. Invariant: the k nearest of
//! all rows offered are among the candidates, whatever the codes lost.

use super::quantise::Query;
use super::rows::{BLOCK, Rows};

/// A row that may be among the nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) row: u32,
    /// Its true score is at most this.
    pub(super) most: f32,
}

/// The rows that may still be among the `k` nearest of those offered so far.
#[derive(Debug)]
pub(super) struct Gathered {
    k: usize,
    /// The `k` best scores that are certain, best first.
    certain: Vec<f32>,
    found: Vec<Candidate>,
}

impl Gathered {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            certain: Vec::with_capacity(k + 1),
            found: Vec::new(),
        }
    }

    /// What a row must be able to score to be of interest.
    fn floor(&self) -> f32 {
        match self.certain.get(self.k - 1) {
            Some(floor) => *floor,
            None => f32::NEG_INFINITY,
        }
    }

    /// Takes a row into account whose score is `near`, give or take `margin`.
    fn offer(&mut self, row: u32, near: f32, margin: f32) {
        let most = near + margin;
        if most < self.floor() {
            return;
        }
        self.found.push(Candidate { row, most });
        let least = near - margin;
        let at = self.certain.partition_point(|better| *better >= least);
        if at < self.k {
            self.certain.insert(at, least);
            self.certain.truncate(self.k);
        }
    }

    /// Offers every allowed row from `from` on.
    pub(super) fn scan(
        &mut self,
        rows: &Rows,
        from: usize,
        query: &Query,
        allowed: &dyn Fn(u32) -> bool,
    ) {
        let mut dots = [0_i32; BLOCK];
        for (block, at) in rows.blocks().iter().zip((0..).step_by(BLOCK)) {
            let skip = from.saturating_sub(at).min(block.grains.len());
            let grains = &block.grains[skip..];
            let codes = &block.codes[skip * rows.dimension()..];
            query.dots(codes, &mut dots[..grains.len()]);
            let mut floor = self.floor();
            for (row, (grain, dot)) in (at + skip..).zip(grains.iter().zip(&dots)) {
                let near = query.near(*dot, *grain);
                let margin = query.margin(*grain);
                let row = number(row);
                if near + margin >= floor && allowed(row) {
                    self.offer(row, near, margin);
                    floor = self.floor();
                }
            }
        }
    }

    /// Offers single rows.
    pub(super) fn offer_rows(
        &mut self,
        rows: &Rows,
        picked: impl IntoIterator<Item = u32>,
        query: &Query,
    ) {
        for row in picked {
            let (codes, grain) = rows.row(row as usize);
            let mut dots = [0];
            query.dots(codes, &mut dots);
            self.offer(row, query.near(dots[0], grain), query.margin(grain));
        }
    }

    /// Those that can still be among the nearest, the most promising first.
    pub(super) fn candidates(self) -> Vec<Candidate> {
        let floor = self.floor();
        let mut found = self.found;
        found.retain(|candidate| candidate.most >= floor);
        found.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then(a.row.cmp(&b.row)));
        found
    }
}

/// Row numbers fit: an index refuses more rows than that.
pub(super) fn number(row: usize) -> u32 {
    u32::try_from(row).expect("an index holds at most u32::MAX rows")
}
