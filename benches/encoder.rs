//! Whether the local encoder gives the vectors that its model's authors have: run by hand where the files are,
//! `cargo bench --bench encoder -- FOLDER VECTORS.json`, the second with `{"sentences": [{"text": …, "vector": […]}]}`.
//! Fails where a cosine is not above 0.999. Without arguments it says so and measures nothing.

#![expect(clippy::print_stdout, reason = "a report")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use cogtrix::embed::{Embedder, Local};
use cogtrix::files::LocalDisk;
use serde::Deserialize;

#[derive(Deserialize)]
struct Sentences {
    sentences: Vec<Sentence>,
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    vector: Vec<f32>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds a flag of its own.
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let [folder, vectors] = files.as_slice() else {
        println!("encoder: not measured, no folder of weights and file of vectors were named");
        return Ok(());
    };
    let wanted: Sentences = serde_json::from_slice(&std::fs::read(vectors)?)?;
    let encoder = Local::open(Path::new(folder), Arc::new(LocalDisk))?;
    let texts: Vec<&str> = wanted
        .sentences
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    let found = encoder.embed(&texts).await?;
    let pairs = wanted.sentences.iter().zip(&found);
    let least = pairs
        .map(|(wanted, found)| cosine(&wanted.vector, found))
        .fold(f32::INFINITY, f32::min);
    println!(
        "{}: {} sentences, least cosine {least}",
        encoder.model(),
        found.len()
    );
    if least > 0.999 && !found.is_empty() {
        Ok(())
    } else {
        Err("the encoder does not agree".into())
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
