//! The forward pass of a BERT encoder. Unit: some texts as ids, computed together: their
//! tokens stand one below the other in one matrix, without padding, and attend only within their text.
//! Invariant: a text's vector does not depend on which others it was computed with.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, Slice};

use super::config::Config;
use super::weights::{Layer, Linear, Norm, Weights};
use crate::embed::framing::Pooling;

/// The rows of one text.
type Span = std::ops::Range<usize>;

/// The mean of each text's last states, or the first of them, not yet of unit length.
pub(super) fn encode(
    (config, pooling): (&Config, Pooling),
    weights: &Weights,
    texts: &[Vec<u32>],
) -> Vec<Vec<f32>> {
    let mut spans = Vec::with_capacity(texts.len());
    let mut n = 0;
    for text in texts {
        spans.push(n..n + text.len());
        n += text.len();
    }
    let mut states = Array2::zeros((n, config.hidden_size));
    let ids = texts.iter().flat_map(|text| text.iter().zip(0..));
    for (mut state, (id, position)) in states.rows_mut().into_iter().zip(ids) {
        weights.words.add(*id as usize, &mut state);
        state += &weights.positions.row(position);
    }
    normalise(&mut states, &weights.norm, config.layer_norm_eps);
    for layer in &weights.layers {
        states = pass(config, layer, &states, &spans);
    }
    let mean = |span: &Span| {
        let span = match pooling {
            Pooling::Mean => span.clone(),
            Pooling::First => span.start..span.start + 1,
        };
        let rows = part(&states, &span, 0..config.hidden_size);
        let mean = rows.mean_axis(Axis(0));
        mean.map_or_else(Vec::new, |mean| mean.to_vec())
    };
    spans.iter().map(mean).collect()
}

fn pass(config: &Config, layer: &Layer, states: &Array2<f32>, spans: &[Span]) -> Array2<f32> {
    let qkv = apply(&layer.qkv, &states.view());
    let attended = attend(config, &qkv, spans);
    let mut attended = apply(&layer.attended, &attended.view());
    attended += states;
    normalise(&mut attended, &layer.attended_norm, config.layer_norm_eps);
    let mut wide = apply(&layer.widened, &attended.view());
    wide.mapv_inplace(gelu);
    let mut output = apply(&layer.narrowed, &wide.view());
    output += &attended;
    normalise(&mut output, &layer.output_norm, config.layer_norm_eps);
    output
}

fn apply(linear: &Linear, states: &ArrayView2<'_, f32>) -> Array2<f32> {
    let mut out = states.dot(&linear.weight);
    out += &linear.bias;
    out
}

/// Each token of a text looks at all tokens of it, once in each head.
fn attend(config: &Config, qkv: &Array2<f32>, spans: &[Span]) -> Array2<f32> {
    let size = config.hidden_size;
    let head = size / config.num_attention_heads;
    #[expect(clippy::cast_precision_loss, reason = "some dozens")]
    let scale = 1.0 / (head as f32).sqrt();
    let mut attended = Array2::zeros((qkv.nrows(), size));
    for span in spans {
        for from in (0..size).step_by(head) {
            let third = |at: usize| part(qkv, span, at + from..at + from + head);
            let (query, key, value) = (third(0), third(size), third(2 * size));
            let mut weights = query.dot(&key.t());
            weights *= scale;
            for row in weights.rows_mut() {
                softmax(row);
            }
            let seen = weights.dot(&value);
            let mut place = attended.view_mut();
            place.slice_axis_inplace(Axis(0), Slice::from(span.clone()));
            place.slice_axis_inplace(Axis(1), Slice::from(from..from + head));
            place.assign(&seen);
        }
    }
    attended
}

/// Rows of one text, and some of their numbers.
fn part<'a>(states: &'a Array2<f32>, rows: &Span, columns: Span) -> ArrayView2<'a, f32> {
    let mut part = states.view();
    part.slice_axis_inplace(Axis(0), Slice::from(rows.clone()));
    part.slice_axis_inplace(Axis(1), Slice::from(columns));
    part
}

fn softmax(mut row: ndarray::ArrayViewMut1<'_, f32>) {
    let largest = row.fold(f32::NEG_INFINITY, |max, x| max.max(*x));
    row.mapv_inplace(|x| (x - largest).exp());
    let sum = row.sum();
    row /= sum;
}

fn normalise(states: &mut Array2<f32>, norm: &Norm, epsilon: f32) {
    for mut state in states.rows_mut() {
        let (mean, deviation) = spread(&state.view(), epsilon);
        state -= mean;
        state /= deviation;
        state *= &norm.weight;
        state += &norm.bias;
    }
}

fn spread(state: &ArrayView1<'_, f32>, epsilon: f32) -> (f32, f32) {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let n = state.len() as f32;
    let mean = state.sum() / n;
    let squares: f32 = state.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / n + epsilon).sqrt())
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function, to within 2e-7 (Abramowitz and Stegun, 7.1.26).
fn erf(x: f32) -> f32 {
    const FACTORS: [f32; 5] = [
        1.061_405_4,
        -1.453_152,
        1.421_413_7,
        -0.284_496_74,
        0.254_829_6,
    ];
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let sum = FACTORS.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_close_enough() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.1, 0.112_462_9),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (-1.0, -0.842_700_8),
            (2.0, 0.995_322_3),
            (9.0, 1.0),
        ] {
            assert!((erf(x) - expected).abs() < 1e-6, "{x}");
        }
    }
}
