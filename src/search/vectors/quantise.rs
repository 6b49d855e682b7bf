//! Vectors as bytes, and dot products of such bytes. Unit: one vector, or one block of them. Invariant: the
//! true dot product of a query and a stored vector lies within [`Query::margin`] of the one computed here,
//! so that a scan of bytes can say which rows it is sure not to need.
//!
//! ```text
//!   x ~ scale * codes,   codes in -127..=127,   error = |x - scale * codes|
//! ```

use multiversion::multiversion;

use super::error::BadVector;

/// Codes reach from minus this to this.
const LARGEST_CODE: f32 = 127.0;
/// What rounding may add to a dot product of unit vectors.
const ROUNDING: f32 = 1e-5;
/// A vector this close to unit length is left as it is.
const NEARLY_UNIT: f32 = 1e-5;

/// `vector` with unit length.
pub(super) fn unit(vector: &[f32], dimension: usize) -> Result<Vec<f32>, BadVector> {
    if vector.len() != dimension {
        return Err(BadVector::Length {
            got: vector.len(),
            wanted: dimension,
        });
    }
    if !vector.iter().all(|x| x.is_finite()) {
        return Err(BadVector::NotFinite);
    }
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = squares.sqrt();
    if length < f64::from(f32::MIN_POSITIVE) {
        return Err(BadVector::Zero);
    }
    #[expect(clippy::cast_possible_truncation, reason = "as precise as its parts")]
    let scaled = |x: &f32| (f64::from(*x) / length) as f32;
    if (length - 1.0).abs() < f64::from(NEARLY_UNIT) {
        return Ok(vector.to_vec());
    }
    Ok(vector.iter().map(scaled).collect())
}

/// How codes become numbers again, and how far these are from the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grain {
    pub(super) scale: f32,
    pub(super) error: f32,
}

/// The codes of a unit vector.
#[expect(
    clippy::cast_possible_truncation,
    reason = "codes are rounded and within i8"
)]
pub(super) fn quantise(vector: &[f32]) -> (Vec<i8>, Grain) {
    let mut codes = Vec::with_capacity(vector.len());
    let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let scale = largest / LARGEST_CODE;
    let mut squares = 0.0_f64;
    for x in vector {
        let code = (x / scale).round().clamp(-LARGEST_CODE, LARGEST_CODE);
        codes.push(code as i8);
        let off = f64::from(*x) - f64::from(scale) * f64::from(code);
        squares += off * off;
    }
    let error = squares.sqrt() as f32 * 1.0001;
    (codes, Grain { scale, error })
}

/// A vector that is searched for: finer codes than the stored ones, at the same speed.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) exact: Vec<f32>,
    codes: Vec<i16>,
    grain: Grain,
}

impl Query {
    pub(super) fn new(exact: Vec<f32>) -> Self {
        // Sums of products must fit into 32 bits.
        let rows = u32::try_from(exact.len()).unwrap_or(u32::MAX).max(1);
        let fits = i32::MAX.unsigned_abs() / 127 / rows;
        let finest = i16::try_from(fits).unwrap_or(i16::MAX).max(1);
        let largest = exact.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let scale = largest / f32::from(finest);
        let mut squares = 0.0_f64;
        let code = |x: &f32| {
            let code = (x / scale)
                .round()
                .clamp(-f32::from(finest), f32::from(finest));
            let off = f64::from(*x) - f64::from(scale) * f64::from(code);
            squares += off * off;
            #[expect(clippy::cast_possible_truncation, reason = "within i16 by the clamp")]
            let code = code as i16;
            code
        };
        let codes = exact.iter().map(code).collect();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an error bound, rounded up"
        )]
        let error = squares.sqrt() as f32 * 1.0001;
        Self {
            exact,
            codes,
            grain: Grain { scale, error },
        }
    }

    /// The dot product with a row, from its codes.
    pub(super) fn near(&self, dot: i32, row: Grain) -> f32 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "what is lost is within ROUNDING"
        )]
        let dot = dot as f32;
        dot * (self.grain.scale * row.scale)
    }

    /// How far [`Self::near`] can be from the truth, by Cauchy and Schwarz.
    pub(super) fn margin(&self, row: Grain) -> f32 {
        row.error * 1.0001 + self.grain.error * (1.0 + row.error) + ROUNDING
    }

    /// The codes' dot products with consecutive rows.
    pub(super) fn dots(&self, rows: &[i8], dots: &mut [i32]) {
        dots_of(rows, &self.codes, dots);
    }
}

/// Written plainly: sums of integers may be taken in any order, so that the compiler uses whole registers.
#[multiversion(targets("x86_64+avx2+fma"))]
fn dots_of(rows: &[i8], query: &[i16], dots: &mut [i32]) {
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        let mut sum = 0_i32;
        for (code, wanted) in row.iter().zip(query) {
            sum += i32::from(*code) * i32::from(*wanted);
        }
        *dot = sum;
    }
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

/// The dot product of two vectors, in sixteen sums, which the compiler puts side by side.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    let mut sums = [0.0_f32; 16];
    for (x, y) in a.iter().zip(b) {
        for at in 0..16 {
            sums[at] += x[at] * y[at];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
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
        fn the_true_product_lies_within_the_margin((a, b) in vectors()) {
            let n = a.len();
            let (Ok(a), Ok(b)) = (unit(&a, n), unit(&b, n)) else { return Ok(()) };
            let (codes, grain) = quantise(&a);
            let query = Query::new(b.clone());
            let mut dots = [0];
            query.dots(&codes, &mut dots);
            let truth = dot(&a, &b);
            let off = (query.near(dots[0], grain) - truth).abs();
            prop_assert!(off <= query.margin(grain), "{off} > {}", query.margin(grain));
        }
    }

    #[test]
    fn the_largest_products_fit_into_the_sum() {
        for n in [1_usize, 384, 512, 768, 1536, 4096] {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let vector = vec![1.0 / (n as f32).sqrt(); n];
            let (codes, grain) = quantise(&vector);
            let query = Query::new(vector);
            let mut dots = [0];
            query.dots(&codes, &mut dots);
            assert!((query.near(dots[0], grain) - 1.0).abs() < 1e-3, "{n}");
        }
    }

    #[test]
    fn bad_vectors_are_refused_and_long_ones_shortened() {
        let length = BadVector::Length { got: 1, wanted: 2 };
        assert_eq!(unit(&[1.0], 2), Err(length));
        assert_eq!(unit(&[f32::NAN, 1.0], 2), Err(BadVector::NotFinite));
        assert_eq!(unit(&[f32::INFINITY, 1.0], 2), Err(BadVector::NotFinite));
        assert_eq!(unit(&[0.0, 0.0], 2), Err(BadVector::Zero));
        assert_eq!(unit(&[3.0, 4.0], 2), Ok(vec![0.6, 0.8]));
    }
}
