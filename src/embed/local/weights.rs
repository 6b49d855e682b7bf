//! The weights of an encoder, from `model.safetensors`. Invariant: every matrix has the shape that the config says, so
//! that the forward pass cannot fail.

use ndarray::{Array1, Array2, ArrayViewMut1, Axis, concatenate};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::config::Config;
use super::quantised::SCALE;

/// Bytes that hold the header's length, and how long a header may be.
const LENGTH: usize = 8;
const LONGEST_HEADER: usize = 16 << 20;
/// A header may be damaged too; no encoder that is run here has so large a matrix.
const LONGEST_TENSOR: usize = 2 << 30;
/// Read at once, so that the file is not in memory twice. A multiple of the size of every number.
const PIECE: usize = 1 << 20;

/// `y = x · weight + bias`.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) weight: Array2<f32>,
    pub(super) bias: Array1<f32>,
}

/// Scale and shift after a normalisation.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) weight: Array1<f32>,
    pub(super) bias: Array1<f32>,
}

/// One layer; query, key and value stand side by side in `qkv`.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) qkv: Linear,
    pub(super) attended: Linear,
    pub(super) attended_norm: Norm,
    pub(super) widened: Linear,
    pub(super) narrowed: Linear,
    pub(super) output_norm: Norm,
}

/// The vectors of words, half of all weights; those kept as codes become numbers when a text has the word.
#[derive(Debug)]
pub(super) struct Words {
    numbers: Array2<f32>,
    codes: Array2<i8>,
    scales: Array1<f32>,
}

impl Words {
    pub(super) fn add(&self, word: usize, state: &mut ArrayViewMut1<'_, f32>) {
        if self.codes.is_empty() {
            *state += &self.numbers.row(word);
            return;
        }
        let scale = self.scales[word];
        state.zip_mut_with(&self.codes.row(word), |x, code| {
            *x += scale * f32::from(*code);
        });
    }

    fn dim(&self) -> (usize, usize) {
        self.numbers.dim().max(self.codes.dim())
    }
}

/// All of them.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) words: Words,
    /// Positions, with the vector of the only kind of text added.
    pub(super) positions: Array2<f32>,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    /// Reads the file; the error says what is missing or has another shape.
    pub(super) fn read(
        read_at: ReadAt<'_>,
        config: &Config,
        n_words: usize,
    ) -> Result<Self, String> {
        let source = Source::open(read_at)?;
        let (size, wide) = (config.hidden_size, config.intermediate_size);
        let words = source.words("embeddings.word_embeddings.weight")?;
        let shape = words.dim();
        if shape.0 < n_words || shape.1 != size {
            return Err(format!(
                "the word vectors have shape {shape:?} for {n_words} words"
            ));
        }
        let kinds = source.matrix("embeddings.token_type_embeddings.weight")?;
        let first = kinds.rows().into_iter().next();
        let first = first.filter(|row| row.len() == size);
        let first = first.ok_or("the token type embedding is missing")?;
        let mut positions = source.shaped(
            "embeddings.position_embeddings.weight",
            (config.max_position_embeddings, size),
        )?;
        positions += &first;
        let layers = 0..config.num_hidden_layers;
        Ok(Self {
            words,
            positions,
            norm: source.norm("embeddings.LayerNorm", size)?,
            layers: layers
                .map(|n| source.layer(n, size, wide))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Reads some bytes of the file.
pub(super) type ReadAt<'a> = &'a dyn Fn(u64, usize) -> Result<Vec<u8>, String>;

/// Tensors by name, with or without the prefix that some files have.
pub(super) struct Source<'a> {
    header: Metadata,
    /// Where the data begin.
    data: u64,
    read_at: ReadAt<'a>,
}

impl<'a> Source<'a> {
    /// The header: its length in eight bytes, then a list of tensors.
    pub(super) fn open(read_at: ReadAt<'a>) -> Result<Self, String> {
        let start = read_at(0, LENGTH)?;
        let length = start.first_chunk::<LENGTH>().ok_or("it is empty")?;
        let length = usize::try_from(u64::from_le_bytes(*length));
        let length = length.ok().filter(|length| *length <= LONGEST_HEADER);
        let length = length.ok_or("its header is too long")?;
        let bytes = read_at(LENGTH as u64, length)?;
        Ok(Self {
            header: serde_json::from_slice(&bytes).map_err(|error| error.to_string())?,
            data: (LENGTH + length) as u64,
            read_at,
        })
    }

    /// What the file says of itself.
    pub(super) fn says(&self, key: &str) -> Option<&str> {
        Some(self.header.metadata().as_ref()?.get(key)?.as_str())
    }

    fn info(&self, name: &str) -> Result<&'_ TensorInfo, String> {
        let found = self.header.info(name);
        let found = found.or_else(|| self.header.info(&format!("bert.{name}")));
        found.ok_or_else(|| format!("{name} is missing"))
    }

    /// Hands over the bytes piece by piece.
    fn bytes(&self, name: &str, mut take: impl FnMut(&[u8])) -> Result<(), String> {
        let (from, to) = self.info(name)?.data_offsets;
        let len = to.checked_sub(from).filter(|len| *len <= LONGEST_TENSOR);
        let len = len.ok_or_else(|| format!("{name} is too long"))?;
        let mut left = len;
        for at in (from..to).step_by(PIECE) {
            let bytes = (self.read_at)(self.data + at as u64, PIECE.min(to - at))?;
            left -= bytes.len().min(left);
            take(&bytes);
        }
        if left > 0 {
            return Err(format!("{name} is truncated"));
        }
        Ok(())
    }

    fn values(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), String> {
        let tensor = self.info(name)?;
        let (from, to) = tensor.data_offsets;
        let mut values = Vec::with_capacity(to.saturating_sub(from).min(LONGEST_TENSOR) / 4);
        let mut is_known = true;
        self.bytes(name, |bytes| match values_of(tensor.dtype, bytes) {
            Some(some) => values.extend(some),
            None => is_known = false,
        })?;
        if !is_known {
            return Err(format!("{name} is {:?}, which is not read", tensor.dtype));
        }
        if let (Dtype::I8, [rows, columns]) = (tensor.dtype, tensor.shape.as_slice())
            && *columns > 0
        {
            let scales = self.row(&format!("{name}{SCALE}"), *rows)?;
            for (row, scale) in values.chunks_mut(*columns).zip(&scales) {
                for x in row {
                    *x *= scale;
                }
            }
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("{name} contains numbers that are not finite"));
        }
        Ok((tensor.shape.clone(), values))
    }

    fn words(&self, name: &str) -> Result<Words, String> {
        let tensor = self.info(name)?;
        let (Dtype::I8, [rows, columns]) = (tensor.dtype, tensor.shape.as_slice()) else {
            return Ok(Words {
                numbers: self.matrix(name)?,
                codes: Array2::default((0, 0)),
                scales: Array1::default(0),
            });
        };
        let mut codes = Vec::new();
        self.bytes(name, |bytes| {
            codes.extend(bytes.iter().map(|byte| byte.cast_signed()));
        })?;
        let codes = Array2::from_shape_vec((*rows, *columns), codes);
        Ok(Words {
            numbers: Array2::default((0, 0)),
            codes: codes.map_err(|error| format!("{name}: {error}"))?,
            scales: self.row(&format!("{name}{SCALE}"), *rows)?,
        })
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>, String> {
        let (shape, values) = self.values(name)?;
        let [rows, columns] = shape[..] else {
            return Err(format!("{name} has shape {shape:?}"));
        };
        let matrix = Array2::from_shape_vec((rows, columns), values);
        matrix.map_err(|error| format!("{name}: {error}"))
    }

    fn shaped(&self, name: &str, shape: (usize, usize)) -> Result<Array2<f32>, String> {
        let matrix = self.matrix(name)?;
        if matrix.dim() == shape {
            Ok(matrix)
        } else {
            Err(format!(
                "{name} has shape {:?}, not {shape:?}",
                matrix.dim()
            ))
        }
    }

    fn row(&self, name: &str, len: usize) -> Result<Array1<f32>, String> {
        let (_, values) = self.values(name)?;
        if values.len() == len {
            Ok(Array1::from_vec(values))
        } else {
            Err(format!("{name} has {} numbers, not {len}", values.len()))
        }
    }

    /// Stored as rows of outputs; turned here once, so that products need not.
    fn linear(&self, name: &str, from: usize, to: usize) -> Result<Linear, String> {
        let weight = self.shaped(&format!("{name}.weight"), (to, from))?;
        Ok(Linear {
            weight: weight.t().as_standard_layout().into_owned(),
            bias: self.row(&format!("{name}.bias"), to)?,
        })
    }

    fn norm(&self, name: &str, len: usize) -> Result<Norm, String> {
        Ok(Norm {
            weight: self.row(&format!("{name}.weight"), len)?,
            bias: self.row(&format!("{name}.bias"), len)?,
        })
    }

    fn layer(&self, n: usize, size: usize, wide: usize) -> Result<Layer, String> {
        let name = |part: &str| format!("encoder.layer.{n}.{part}");
        let part = |part: &str| self.linear(&name(&format!("attention.self.{part}")), size, size);
        let parts = [part("query")?, part("key")?, part("value")?];
        let weights = parts.each_ref().map(|part| part.weight.view());
        let biases = parts.each_ref().map(|part| part.bias.view());
        let side_by_side = "parts of one shape fit side by side";
        Ok(Layer {
            qkv: Linear {
                weight: concatenate(Axis(1), &weights).expect(side_by_side),
                bias: concatenate(Axis(0), &biases).expect(side_by_side),
            },
            attended: self.linear(&name("attention.output.dense"), size, size)?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"), size)?,
            widened: self.linear(&name("intermediate.dense"), size, wide)?,
            narrowed: self.linear(&name("output.dense"), wide, size)?,
            output_norm: self.norm(&name("output.LayerNorm"), size)?,
        })
    }
}

/// What bytes of a type are as numbers; codes as they are. `None` of a type that no encoder here has.
pub(super) fn values_of(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    let (words, halves) = (bytes.as_chunks().0.iter(), bytes.as_chunks().0.iter());
    Some(match dtype {
        Dtype::F32 => words.map(|four| f32::from_le_bytes(*four)).collect(),
        Dtype::F16 => halves.map(|two| half(u16::from_le_bytes(*two))).collect(),
        Dtype::BF16 => halves
            .map(|two| f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16))
            .collect(),
        Dtype::I8 => bytes
            .iter()
            .map(|byte| f32::from(byte.cast_signed()))
            .collect(),
        _ => return None,
    })
}

/// A number of sixteen bits: sign, five of the exponent, ten of the fraction.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7FFF);
    // The larger exponent is put right by a product, which also knows numbers that begin with no one.
    let magnitude = f32::from_bits(rest << 13) * 2.0_f32.powi(112);
    let magnitude = if rest >= 0x7C00 {
        f32::INFINITY
    } else {
        magnitude
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_sixteen_bits_are_read() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7BFF, 65_504.0),
            (0x0001, 5.960_464_5e-8),
            (0xFC00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits).to_bits(), f32::to_bits(number), "{bits:x}");
        }
    }
}
