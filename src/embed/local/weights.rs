//! The weights of an encoder, from `model.safetensors`. Unit: one file. Invariant: every matrix has the
//! shape that the config says, so that the forward pass cannot fail.

use ndarray::{Array1, Array2, Axis, concatenate};
use safetensors::{Dtype, SafeTensors};

use super::config::Config;

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

/// All of them.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) words: Array2<f32>,
    /// Positions, with the vector of the only kind of text added.
    pub(super) positions: Array2<f32>,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    /// Reads the file; the error says what is missing or has another shape.
    pub(super) fn read(bytes: &[u8], config: &Config, n_words: usize) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let source = Source { tensors };
        let (size, wide) = (config.hidden_size, config.intermediate_size);
        let words = source.matrix("embeddings.word_embeddings.weight")?;
        if words.nrows() < n_words || words.ncols() != size {
            let shape = words.dim();
            return Err(format!("word vectors are {shape:?} for {n_words} words"));
        }
        let kinds = source.matrix("embeddings.token_type_embeddings.weight")?;
        let first = kinds.rows().into_iter().next();
        let first = first.filter(|row| row.len() == size);
        let first = first.ok_or("there is no vector for the kind of text")?;
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

/// Tensors by name, with or without the prefix that some files have.
struct Source<'a> {
    tensors: SafeTensors<'a>,
}

impl Source<'_> {
    fn values(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), String> {
        let found = self.tensors.tensor(name);
        let found = found.or_else(|_| self.tensors.tensor(&format!("bert.{name}")));
        let tensor = found.map_err(|_| format!("there is no {name}"))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(format!("{name} is {:?}, not F32", tensor.dtype()));
        }
        let (words, _) = tensor.data().as_chunks::<4>();
        let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("{name} holds numbers that are not finite"));
        }
        Ok((tensor.shape().to_vec(), values))
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>, String> {
        let (shape, values) = self.values(name)?;
        let [rows, columns] = shape[..] else {
            return Err(format!("{name} has the shape {shape:?}"));
        };
        let matrix = Array2::from_shape_vec((rows, columns), values);
        matrix.map_err(|error| format!("{name}: {error}"))
    }

    fn shaped(&self, name: &str, shape: (usize, usize)) -> Result<Array2<f32>, String> {
        let matrix = self.matrix(name)?;
        if matrix.dim() == shape {
            Ok(matrix)
        } else {
            Err(format!("{name} is {:?}, not {shape:?}", matrix.dim()))
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
