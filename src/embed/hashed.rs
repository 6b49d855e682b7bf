//! Vectors of hashed pieces of words: texts that share spelling are near, meaning plays no part. The same
//! on every machine and at once, so tests can use it as they would a real one.

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, said, unit};

/// Lengths of the pieces, in characters.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;

/// The embedder.
#[derive(Clone, Debug)]
pub struct Hashed {
    model: String,
    dimensions: usize,
}

impl Hashed {
    /// With that many dimensions, at least one.
    pub fn new(dimensions: usize) -> Self {
        let dimensions = dimensions.max(1);
        Self {
            model: format!("hashed/{dimensions}"),
            dimensions,
        }
    }

    /// The vector of one text.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dimensions];
        for word in said(text).split_whitespace() {
            let word = format!("<{}>", word.to_lowercase());
            let letters: Vec<char> = word.chars().collect();
            for n in PIECES {
                for piece in letters.windows(n.min(letters.len())) {
                    let piece: String = piece.iter().collect();
                    let hash = Sha256::digest(piece.as_bytes());
                    let at = hash
                        .iter()
                        .take(7)
                        .fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
                    let at = usize::try_from(at % self.dimensions as u64);
                    let at = at.expect("less than the number of dimensions");
                    vector[at] += if hash[7] & 1 == 0 { 1.0 } else { -1.0 };
                }
            }
        }
        unit(vector).unwrap_or_else(|| {
            // All pieces cancelled each other out.
            let mut first = vec![0.0; self.dimensions];
            first[0] = 1.0;
            first
        })
    }
}

#[async_trait]
impl Embedder for Hashed {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[tokio::test]
    async fn alike_spelling_is_near_and_every_vector_has_unit_length() {
        let texts = [
            "the red bicycle",
            "The bicycles are red",
            "quantum foam",
            "",
            "é",
        ];
        let embedder = Hashed::new(256);
        let vectors = embedder.embed(&texts).await.unwrap();
        for vector in &vectors {
            assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
        }
        assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.3);
        assert_eq!(vectors, embedder.embed(&texts).await.unwrap());
        assert_eq!(embedder.probe().await, Ok(256));
    }
}
