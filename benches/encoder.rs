//! Whether the local encoder gives the vectors that its model's authors have: run by hand where the files are,
//! `cargo bench --bench encoder -- FOLDER VECTORS.json`, the second with `{"sentences": [{"text": …, "vector": […]}]}`;
//! or `-- FOLDER OTHER TEXTS.jsonl`, whether two folders give the same, over lines with a `text`. Fails where a cosine is
//! not above 0.999, or of weights a byte each not above 0.99. Without arguments it says so and measures nothing.

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
struct Line {
    text: String,
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
    let (folder, texts, wanted, enough) = match files.as_slice() {
        [folder, vectors] => {
            let wanted: Sentences = serde_json::from_slice(&std::fs::read(vectors)?)?;
            let sentences = wanted.sentences.into_iter();
            let (texts, vectors) = sentences.map(|one| (one.text, one.vector)).unzip();
            (folder, texts, vectors, 0.999)
        }
        [folder, other, lines] => {
            let lines = std::fs::read_to_string(lines)?;
            let lines = lines.lines().map(serde_json::from_str::<Line>);
            let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
            let texts: Vec<String> = lines.into_iter().map(|line| line.text).collect();
            (folder, texts.clone(), embedded(other, &texts).await?, 0.99)
        }
        _ => {
            println!("encoder: not measured, no folder of weights and file of vectors were named");
            return Ok(());
        }
    };
    let found = embedded(folder, &texts).await?;
    let pairs = wanted.iter().zip(&found);
    let cosines: Vec<f32> = pairs.map(|(wanted, found)| cosine(wanted, found)).collect();
    let least = cosines.iter().copied().fold(f32::INFINITY, f32::min);
    let count = u16::try_from(cosines.len()).map_or(f32::INFINITY, f32::from);
    let mean = cosines.iter().sum::<f32>() / count;
    println!(
        "{folder}: {} texts, cosine {mean} in the mean, {least} at least",
        found.len()
    );
    if least > enough && !found.is_empty() {
        Ok(())
    } else {
        Err("the encoder does not agree".into())
    }
}

async fn embedded(folder: &str, texts: &[String]) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let encoder = Local::open(Path::new(folder), Arc::new(LocalDisk))?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Ok(encoder.embed(&texts).await?)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
