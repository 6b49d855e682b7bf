//! How many secrets of a file are masked, and how many harmless texts are changed:
//! `cargo bench --bench secrets -- SECRETS.jsonl HARMLESS.jsonl`. Without files the sets of `tests/secrets/`.
//!
//! A line of the first is `{"id", "text", "secrets": [parts of the text], "class"}`, of the second `{"id", "text"}`.

#![expect(clippy::print_stdout, reason = "shares are no times")]

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use cogtrix::text::secrets::masked;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    class: String,
}

fn rows(path: &str) -> Vec<Row> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).expect("a row of the set"))
        .collect()
}

/// Secrets that are masked, and all of them.
#[derive(Default)]
struct Recall {
    masked: usize,
    all: usize,
}

fn main() {
    let paths: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| !it.starts_with("--"))
        .collect();
    let shipped = ["tests/secrets/said.jsonl", "tests/secrets/harmless.jsonl"];
    let path = |n: usize| paths.get(n).map_or(shipped[n], String::as_str);
    let (said, harmless) = (rows(path(0)), rows(path(1)));

    let mut classes: BTreeMap<&str, Recall> = BTreeMap::new();
    for row in &said {
        let masked = masked(&row.text);
        let recall = classes.entry(&row.class).or_default();
        for secret in &row.secrets {
            recall.all += 1;
            if masked.contains(secret.as_str()) {
                println!("missed  {} {}: {secret:?}", row.id, row.class);
            } else {
                recall.masked += 1;
            }
        }
    }
    let changed: Vec<&Row> = harmless
        .iter()
        .filter(|row| masked(&row.text) != row.text)
        .collect();
    for row in &changed {
        println!("changed {}: {:?}", row.id, masked(&row.text));
    }

    println!("\nclass             masked   all");
    for (class, recall) in &classes {
        println!("{class:<16} {:>7} {:>5}", recall.masked, recall.all);
    }
    let (n_masked, n_all) = classes
        .values()
        .fold((0, 0), |sum, it| (sum.0 + it.masked, sum.1 + it.all));
    println!(
        "recall            {n_masked} of {n_all}: {:.4}",
        share(n_masked, n_all)
    );
    println!(
        "harmless changed  {} of {}: {:.4}",
        changed.len(),
        harmless.len(),
        share(changed.len(), harmless.len())
    );

    let texts: Vec<&str> = said
        .iter()
        .chain(&harmless)
        .map(|row| row.text.as_str())
        .collect();
    println!(
        "one of these      {:?}",
        time(&texts) / u32::try_from(texts.len().max(1)).expect("few texts")
    );
    let ordinary = "The build fails since yesterday evening. I changed the parser so that it reads the second line first, and \
        now two tests of the importer are red. Please look at src/import/lines.rs and tell me why the offset is wrong there. ";
    println!(
        "{} bytes of talk {:?}",
        ordinary.len() * 2,
        time(&[&ordinary.repeat(2)])
    );
    for (name, piece) in [
        ("words", "word "),
        ("names", "password "),
        ("addresses", "://"),
        ("keys", "sk-a."),
        ("digits", "1234 "),
        ("quotes", "my password is \""),
    ] {
        println!(
            "1 MB of {name:<9} {:?}",
            time(&[&piece.repeat((1 << 20) / piece.len())])
        );
    }
}

fn time(texts: &[&str]) -> Duration {
    let start = Instant::now();
    for text in texts {
        std::hint::black_box(masked(text));
    }
    start.elapsed()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}
