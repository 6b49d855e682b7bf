//! Learns the weights of a linear model over hashed features: gradient steps whose size shrinks with what a weight has
//! been moved already. Deterministic.

use cogtrix::text::linear::{Feature, MAGIC, TAG_BITS, WAYS};

const RATE: f32 = 0.1;

pub(crate) struct Learner {
    weights: Vec<f32>,
    squares: Vec<f32>,
    bits: u32,
    shrink: f32,
}

impl Learner {
    /// Begins with 2^`bits` weights of nothing, which `shrink` keeps small.
    pub(crate) fn new(bits: u32, shrink: f32) -> Self {
        Self {
            weights: vec![0.0; 1 << bits],
            squares: vec![1e-3; 1 << bits],
            bits,
            shrink,
        }
    }

    /// Returns where a feature has its weight.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a table has fewer than 2^32 weights"
    )]
    pub(crate) fn index(&self, feature: Feature) -> u32 {
        feature.index(self.bits) as u32
    }

    pub(crate) fn score(&self, indexes: &[u32]) -> f32 {
        indexes
            .iter()
            .map(|index| self.weights[*index as usize])
            .sum()
    }

    /// Moves the weights of these features by a gradient.
    pub(crate) fn step(&mut self, indexes: &[u32], gradient: f32) {
        for index in indexes {
            let index = *index as usize;
            let slope = gradient - self.shrink * self.weights[index];
            self.squares[index] += slope * slope;
            self.weights[index] += RATE * slope / self.squares[index].sqrt();
        }
    }

    /// Forgets the weights that have no room in the file, for good.
    pub(crate) fn prune(&mut self) {
        let buckets = self
            .weights
            .chunks_mut(1 << TAG_BITS)
            .zip(self.squares.chunks_mut(1 << TAG_BITS));
        for (weights, squares) in buckets {
            let mut sizes: Vec<f32> = weights.iter().map(|it| it.abs()).collect();
            sizes.sort_by(|one, other| other.total_cmp(one));
            let least = sizes[WAYS - 1].max(f32::MIN_POSITIVE);
            for (weight, square) in weights.iter_mut().zip(squares) {
                if weight.abs() < least {
                    *weight = 0.0;
                    *square = f32::INFINITY;
                }
            }
        }
    }

    /// Returns the file that `linear::Model` reads: of each bucket the weights that count most.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded and clamped before, or a tag"
    )]
    pub(crate) fn file(&self) -> Vec<u8> {
        let mut buckets = self.weights.chunks(1 << TAG_BITS).map(|bucket| {
            let mut all: Vec<(u8, f32)> = bucket
                .iter()
                .enumerate()
                .map(|(tag, weight)| (tag as u8, *weight))
                .collect();
            all.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
            all.truncate(WAYS);
            all
        });
        let kept: Vec<Vec<(u8, f32)>> = buckets.by_ref().collect();
        let mut sizes: Vec<f32> = kept
            .iter()
            .flatten()
            .map(|(_, weight)| weight.abs())
            .collect();
        sizes.sort_by(f32::total_cmp);
        // The few that are larger are cut.
        let scale = sizes
            .get(sizes.len() * 9_999 / 10_000)
            .copied()
            .unwrap_or(1.0)
            .max(1e-6)
            / 127.0;
        let mut file = MAGIC.to_vec();
        file.extend(scale.to_le_bytes());
        for bucket in kept {
            file.extend(bucket.iter().map(|(tag, _)| *tag));
            file.extend(
                bucket.iter().map(|(_, it)| {
                    ((it / scale).round().clamp(-127.0, 127.0) as i8).cast_unsigned()
                }),
            );
        }
        file
    }
}

/// Random numbers that are the same each time (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    #[expect(clippy::cast_possible_truncation, reason = "below a length")]
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Whether it happens that happens so many times of a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}
