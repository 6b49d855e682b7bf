//! Vectors as bytes, and dot products of such bytes.
//!
//! ```text
//!   x ~ scale * codes,   codes in -127..=127
//! ```

use std::sync::Arc;

use multiversion::multiversion;

/// Codes reach from minus this to this.
const LARGEST_CODE: f32 = 127.0;
/// A vector this close to unit length is left as it is.
const NEARLY_UNIT: f32 = 1e-5;

/// `vector` with unit length; `None` where it has another dimension, no direction, or what is no number.
pub(super) fn unit(vector: &[f32], dimension: usize) -> Option<Vec<f32>> {
    if vector.len() != dimension || !vector.iter().all(|x| x.is_finite()) {
        return None;
    }
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = squares.sqrt();
    if length < f64::from(f32::MIN_POSITIVE) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "as precise as its parts")]
    let scaled = |x: &f32| (f64::from(*x) / length) as f32;
    if (length - 1.0).abs() < f64::from(NEARLY_UNIT) {
        return Some(vector.to_vec());
    }
    Some(vector.iter().map(scaled).collect())
}

/// How codes become numbers again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grain {
    pub(super) scale: f32,
}

/// The codes of a vector; of one without a direction they are zero.
#[expect(
    clippy::cast_possible_truncation,
    reason = "codes are rounded and within i8"
)]
pub(super) fn quantise(vector: &[f32]) -> (Vec<i8>, Grain) {
    let largest = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
    let scale = largest / LARGEST_CODE;
    if scale == 0.0 {
        return (vec![0; vector.len()], Grain { scale });
    }
    let codes = vector
        .iter()
        .map(|x| (x / scale).round().clamp(-LARGEST_CODE, LARGEST_CODE) as i8);
    (codes.collect(), Grain { scale })
}

/// A vector that is searched for: finer codes than the stored ones, at the same speed.
#[derive(Clone, Debug)]
pub(super) struct Query {
    codes: Vec<i16>,
    scale: f32,
}

impl Query {
    pub(super) fn new(unit: &[f32]) -> Self {
        // Sums of products must fit into 32 bits.
        let rows = u32::try_from(unit.len()).unwrap_or(u32::MAX).max(1);
        let fits = i32::MAX.unsigned_abs() / 127 / rows;
        let finest = i16::try_from(fits).unwrap_or(i16::MAX).max(1);
        let largest = unit.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
        let scale = largest / f32::from(finest);
        let limit = f32::from(finest);
        #[expect(clippy::cast_possible_truncation, reason = "within i16 by the clamp")]
        let code = |x: &f32| (x / scale).round().clamp(-limit, limit) as i16;
        Self {
            codes: unit.iter().map(code).collect(),
            scale,
        }
    }

    /// As near as a row itself would be asked for.
    pub(super) fn of_row((codes, grain): (&[i8], Grain)) -> Self {
        let unit = codes.iter().map(|code| f32::from(*code) * grain.scale);
        Self::new(&unit.collect::<Vec<_>>())
    }

    /// The dot product with a row.
    pub(super) fn near(&self, (codes, grain): (&[i8], Grain)) -> f32 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "seven digits of a product are enough"
        )]
        let dot = dot_with_query(codes, &self.codes) as f32;
        dot * (self.scale * grain.scale)
    }
}

/// Written plainly: sums of integers may be taken in any order, so that the compiler uses whole registers.
#[multiversion(targets("x86_64+avx2+fma"))]
fn dot_with_query(row: &[i8], query: &[i16]) -> i32 {
    let mut sum = 0_i32;
    for (code, wanted) in row.iter().zip(query) {
        sum += i32::from(*code) * i32::from(*wanted);
    }
    sum
}

/// The dot product of two rows of codes.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn dot_of_codes(a: &[i8], b: &[i8]) -> i32 {
    let mut sum = 0_i32;
    for (x, y) in a.iter().zip(b) {
        sum += i32::from(*x) * i32::from(*y);
    }
    sum
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
        (1_usize..70).prop_flat_map(|n| {
            let one = || prop::collection::vec(-1.0_f32..1.0, n);
            (one(), one())
        })
    }

    proptest! {
        #[test]
        fn a_product_of_codes_is_near_the_true_one((a, b) in vectors()) {
            let n = a.len();
            let (Some(a), Some(b)) = (unit(&a, n), unit(&b, n)) else { return Ok(()) };
            let (codes, grain) = quantise(&a);
            let truth: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let off = (Query::new(&b).near((&codes, grain)) - truth).abs();
            prop_assert!(off <= 0.05, "{off}");
        }
    }

    #[test]
    fn the_largest_products_fit_into_the_sum() {
        for n in [1_usize, 384, 512, 768, 1536, 4096] {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let vector = vec![1.0 / (n as f32).sqrt(); n];
            let (codes, grain) = quantise(&vector);
            let near = Query::new(&vector).near((&codes, grain));
            assert!((near - 1.0).abs() < 1e-3, "{n}: {near}");
        }
    }

    #[test]
    fn what_has_no_direction_is_no_vector_and_others_get_unit_length() {
        for bad in [
            &[1.0][..],
            &[f32::NAN, 1.0],
            &[f32::INFINITY, 1.0],
            &[0.0, 0.0],
        ] {
            assert_eq!(unit(bad, 2), None);
        }
        assert_eq!(unit(&[3.0, 4.0], 2), Some(vec![0.6, 0.8]));
        assert_eq!(quantise(&[0.0, 0.0]), (vec![0, 0], Grain { scale: 0.0 }));
    }
}
