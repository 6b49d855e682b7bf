//! Weights as a byte each: a quarter of the file, with vectors as good (docs/RECALL.md).
//!
//! Every matrix becomes codes with a scale for each row, in a tensor of its name and `.scale`; the rest stays as it is. In
//! the metadata stands which file it was made of, a digest of what it holds now, and how its model is called, so that
//! the vectors of either file can be compared.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};

use super::weights::values_of;
use crate::files::digest;

/// Behind the name of a matrix.
pub(super) const SCALE: &str = ".scale";
/// Codes reach from minus this to this.
const LARGEST: f32 = 127.0;

const SOURCE: &str = "source";
const DATA: &str = "data";
pub(super) const MODEL: &str = "model";

/// A file with the weights of another; `None` of one that is no such file, or that was made so before.
pub(super) fn quantised(original: &[u8], model: &str) -> Option<Vec<u8>> {
    let tensors = SafeTensors::deserialize(original).ok()?;
    let mut made: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    for (name, tensor) in tensors.iter() {
        let shape = tensor.shape().to_vec();
        let values = values_of(tensor.dtype(), tensor.data());
        match (values, shape.as_slice()) {
            (_, _) if tensor.dtype() == Dtype::I8 => return None,
            (Some(values), [_, columns]) if *columns > 0 => {
                let rows = values.chunks_exact(*columns);
                let scales: Vec<f32> = rows.clone().map(scale_of).collect();
                let codes = rows
                    .zip(&scales)
                    .flat_map(|(row, scale)| codes_of(row, *scale));
                made.push((name.to_owned(), Dtype::I8, shape.clone(), codes.collect()));
                let bytes = scales.iter().flat_map(|scale| scale.to_le_bytes());
                made.push((
                    format!("{name}{SCALE}"),
                    Dtype::F32,
                    vec![shape[0]],
                    bytes.collect(),
                ));
            }
            (_, _) => made.push((
                name.to_owned(),
                tensor.dtype(),
                shape,
                tensor.data().to_vec(),
            )),
        }
    }
    let views = || {
        let views = made.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes).ok()?;
            Some((name, view))
        });
        views.collect::<Option<Vec<_>>>()
    };
    let about = |data: String| {
        let about = [
            (SOURCE, digest(original)),
            (DATA, data),
            (MODEL, model.to_owned()),
        ];
        HashMap::from(about.map(|(key, value)| (key.to_owned(), value)))
    };
    // What it holds is known once it was laid out.
    let first = serialize(views()?, Some(about(String::new()))).ok()?;
    serialize(views()?, Some(about(digest(data_of(&first)?)))).ok()
}

/// Whether a file holds what was made of the one with this digest.
pub(in crate::embed) fn is_made_of(bytes: &[u8], source: &str) -> bool {
    let Ok((_, header)) = SafeTensors::read_metadata(bytes) else {
        return false;
    };
    let says = |key: &str| Some(header.metadata().as_ref()?.get(key)?.as_str());
    let data = data_of(bytes).map(digest);
    says(SOURCE) == Some(source) && data.is_some() && says(DATA) == data.as_deref()
}

/// The bytes behind the header.
fn data_of(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.get(usize::try_from(u64::from_le_bytes(*length)).ok()?..)
}

fn scale_of(row: &[f32]) -> f32 {
    row.iter().fold(0.0_f32, |max, x| max.max(x.abs())) / LARGEST
}

fn codes_of(row: &[f32], scale: f32) -> impl Iterator<Item = u8> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded and within i8")]
    let code = move |x: &f32| {
        (x / scale.max(f32::MIN_POSITIVE))
            .round()
            .clamp(-LARGEST, LARGEST) as i8
    };
    row.iter().map(code).map(i8::cast_unsigned)
}
