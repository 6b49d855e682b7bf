//! The stored vectors' codes in memory. Unit: blocks of [`BLOCK`] rows, so that growing copies nothing and
//! a full block can be shared with the thread that builds a graph. Invariant: all blocks but the last are
//! full, and only full ones are shared.

use std::sync::Arc;

use super::quantise::Grain;

/// Rows of a block.
pub(super) const BLOCK: usize = 1024;

/// Some rows, one after the other.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) codes: Vec<i8>,
    pub(super) grains: Vec<Grain>,
}

/// All rows.
#[derive(Debug)]
pub(super) struct Rows {
    dimension: usize,
    blocks: Vec<Arc<Block>>,
}

impl Rows {
    pub(super) fn new(dimension: usize) -> Self {
        Self {
            dimension,
            blocks: Vec::new(),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| {
            (self.blocks.len() - 1) * BLOCK + last.grains.len()
        })
    }

    /// The rows of the blocks that will not change any more.
    pub(super) fn full(&self) -> Self {
        Self {
            dimension: self.dimension,
            blocks: self.blocks[..self.len() / BLOCK].to_vec(),
        }
    }

    /// Appends a row that is quantised already.
    pub(super) fn push(&mut self, codes: &[i8], grain: Grain) {
        if self.len().is_multiple_of(BLOCK) {
            self.blocks.push(Arc::new(Block {
                codes: Vec::with_capacity(BLOCK * self.dimension),
                grains: Vec::with_capacity(BLOCK),
            }));
        }
        let last = self.blocks.last_mut().and_then(Arc::get_mut);
        let last = last.expect("a block that is not full is there and not shared");
        last.codes.extend_from_slice(codes);
        last.grains.push(grain);
    }

    /// The codes of one row.
    pub(super) fn row(&self, row: usize) -> (&[i8], Grain) {
        let block = &self.blocks[row / BLOCK];
        block.row(row % BLOCK, self.dimension)
    }
}

impl Block {
    pub(super) fn row(&self, at: usize, dimension: usize) -> (&[i8], Grain) {
        let codes = &self.codes[at * dimension..][..dimension];
        (codes, self.grains[at])
    }
}
