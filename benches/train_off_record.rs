//! Learns by which words a person asks that nothing is kept of a message, from `benches/corpus/off_record` and from
//! messages of `benches/corpus/kinds`, and writes the weights: `cargo bench --features testing --bench train_off_record`.
//! With `-- --leave-out` it says instead how well each file is read by weights that were learned from the others, with
//! `-- --score FILE` how well a file is read by the program as it is; `--list` shows each mistake.
//!
//! A line is `{"text", "off"}`.

#![expect(clippy::print_stdout, reason = "a report")]
#![expect(
    clippy::disallowed_methods,
    reason = "the weights are a file of the sources"
)]

#[path = "common/learning.rs"]
#[expect(dead_code, reason = "another trainer needs more of it")]
mod learning;

use std::fs;
use std::path::Path;

use cogtrix::text::classify::off_record::{features, is_off_record, is_off_record_by, sentences};
use cogtrix::text::linear::Model;
use learning::{Learner, Random};
use serde_json::Value;

const CORPUS: &str = "benches/corpus/off_record";
const OTHERS: &str = "benches/corpus/kinds";
const WEIGHTS: &str = "src/text/classify/off_record.weights";

/// Upper bits of a feature: 2^14 buckets and a tag.
const BITS: u32 = 22;
const EPOCHS: usize = 20;
const SHRINK: f32 = 0.0004;
/// What a message of the others counts.
const OTHERS_COUNT: f32 = 0.5;

struct Row {
    file: String,
    text: String,
    off: bool,
    counts: f32,
}

fn rows(folder: &str, mut row: impl FnMut(&Value) -> Option<(bool, f32)>) -> Vec<Row> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("a corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        let file = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        for line in fs::read_to_string(&path).expect("text").lines() {
            let value: Value = serde_json::from_str(line).expect("a row");
            let text = value["text"].as_str().expect("a text").to_owned();
            if let Some((off, counts)) = row(&value) {
                let file = format!("{folder}/{file}");
                rows.push(Row {
                    file,
                    text,
                    off,
                    counts,
                });
            }
        }
    }
    rows
}

fn of_corpus() -> Vec<Row> {
    rows(CORPUS, |row| {
        Some((row["off"].as_bool().expect("off"), 1.0))
    })
}

fn of_others() -> Vec<Row> {
    rows(OTHERS, |row| {
        let off = row["trap"].as_str() == Some("do_not_remember");
        Some((off, OTHERS_COUNT))
    })
}

/// The sentences of a message as indexes of weights.
fn indexes(learner: &Learner, text: &str) -> Vec<Vec<u32>> {
    sentences(text)
        .map(|sentence| {
            let mut indexes = Vec::new();
            features(sentence, |feature| indexes.push(learner.index(feature)));
            indexes
        })
        .collect()
}

/// A message is what its surest sentence is.
fn learn(rows: &[&Row]) -> Learner {
    let mut learner = Learner::new(BITS, SHRINK);
    let mut examples: Vec<(Vec<Vec<u32>>, bool, f32)> = rows
        .iter()
        .map(|row| (indexes(&learner, &row.text), row.off, row.counts))
        .collect();
    let mut random = Random(1);
    for epoch in 0..EPOCHS {
        if epoch + 4 == EPOCHS {
            learner.prune();
        }
        random.shuffle(&mut examples);
        for (sentences, off, counts) in &examples {
            let scored = sentences.iter().map(|it| (learner.score(it), it));
            let Some((score, surest)) = scored.max_by(|one, other| one.0.total_cmp(&other.0))
            else {
                continue;
            };
            let wanted = if *off { 1.0 } else { 0.0 };
            let gradient = wanted - 1.0 / (1.0 + (-score).exp());
            learner.step(surest, gradient * counts);
        }
    }
    learner
}

fn report(name: &str, rows: &[&Row], list: bool, is_off: impl Fn(&str) -> bool) {
    let count = |off: bool| rows.iter().filter(|row| row.off == off).count();
    let (mut heard, mut wrong) = (0, 0);
    for row in rows {
        let is_off = is_off(&row.text);
        heard += usize::from(row.off && is_off);
        wrong += usize::from(!row.off && is_off);
        if list && row.off != is_off {
            println!(
                "  {} {}",
                if row.off { "missed" } else { "wrong" },
                row.text
            );
        }
    }
    println!(
        "{name}: heard {heard} of {}, wrong {wrong} of {}",
        count(true),
        count(false)
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = arguments.iter().any(|it| it == "--list");
    if let Some(at) = arguments.iter().position(|it| it == "--score") {
        let path = Path::new(&arguments[at + 1]);
        let text = fs::read_to_string(path).expect("a file");
        let rows: Vec<Row> = text
            .lines()
            .map(|line| {
                let row: Value = serde_json::from_str(line).expect("a row");
                let text = row["text"].as_str().expect("a text").to_owned();
                let off = row["off"].as_bool().expect("off");
                Row {
                    file: String::new(),
                    text,
                    off,
                    counts: 1.0,
                }
            })
            .collect();
        let rows: Vec<&Row> = rows.iter().collect();
        return report(&path.display().to_string(), &rows, list, is_off_record);
    }
    let all: Vec<Row> = of_corpus().into_iter().chain(of_others()).collect();
    let learned = |left_out: &str| {
        let rows: Vec<&Row> = all.iter().filter(|row| row.file != left_out).collect();
        learn(&rows).file()
    };
    let reads = |file: &[u8], text: &str| is_off_record_by(&Model::new(file), text);
    if arguments.iter().any(|it| it == "--leave-out") {
        let mut files: Vec<&str> = all.iter().map(|row| row.file.as_str()).collect();
        files.dedup();
        for file in files {
            let weights = learned(file);
            let rows: Vec<&Row> = all.iter().filter(|row| row.file == file).collect();
            report(file, &rows, list, |text| reads(&weights, text));
        }
        return;
    }
    let weights = learned("");
    let rows: Vec<&Row> = all.iter().collect();
    report("all, as learned", &rows, list, |text| reads(&weights, text));
    fs::write(WEIGHTS, weights).expect("the weights are written");
}
