//! Learns which words of a message say what a plan is made of, from `tests/tracking/reasoning*.yaml` and
//! `benches/corpus/tracking/reasoning-*.yaml`, and writes the weights: `cargo bench --bench train_tracking`. With
//! `-- --leave-out` it says instead how well each file is read by weights that were learned from the others, with
//! `-- --score FILE…` how well files are read by the program as it is. `--list` shows each mistake.

#![expect(clippy::print_stdout, reason = "a report")]
#![expect(clippy::cast_precision_loss, reason = "counts are small")]
#![expect(
    clippy::disallowed_methods,
    reason = "the weights are a file of the sources"
)]
#![expect(
    clippy::cast_possible_truncation,
    reason = "rounded and clamped before, or a check"
)]

#[path = "common/learning.rs"]
#[expect(dead_code, reason = "another trainer needs more of it")]
mod learning;
#[path = "../tests/it/tracking/score.rs"]
#[expect(clippy::unwrap_used, reason = "of the tests")]
mod score;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cogtrix::memory::tracking::Kind;
use cogtrix::memory::tracking::readers::reasoning::ReasoningReader;
use cogtrix::memory::tracking::readers::reasoning::marked::{Marking, REASONING, RESERVE, lines};
use cogtrix::memory::tracking::readers::{Cued, Reader, Readers};
use cogtrix::text::classify::Classifier;
use cogtrix::text::classify::spans::{Features, MAGIC, OF_WORDS, WAYS};
use learning::Random;
use score::{Labelled, Misses, Score};

const OPEN: &str = "tests/tracking/reasoning.yaml";
/// Sentences that the tests of the reader name, and others of their forms.
const ROWS: &str = "tests/tracking/reasoning-rows.yaml";
const HELD_OUT: &str = "tests/tracking/reasoning-held-out.yaml";
const CORPUS: &str = "benches/corpus/tracking";
/// Messages that are no plan: what is not worth keeping of the corpus of kinds.
const KINDS: &str = "benches/corpus/kinds";
/// What one of these counts.
const TRAP: f32 = 0.03;
const WEIGHTS: &str = "src/memory/tracking/readers/reasoning.weights";

/// None, and for each label that it begins and that it goes on.
const TAGS: usize = 2 * REASONING.len() + 1;
const BUCKETS: usize = 4096;
const EPOCHS: usize = 10;
const RATE: f32 = 0.1;
const SHRINK: f32 = 0.001;
/// Times of a hundred when a sentence is read without its words, as one in words that nobody used before.
const UNHEARD: usize = 40;
/// Messages that have a feature, at least.
const LEAST: usize = 2;
/// The score of what cannot be.
const NEVER: f32 = -1e9;

/// A sentence with the tag of each token.
struct Example {
    features: Features,
    tags: Vec<usize>,
    counts: f32,
    message: usize,
}

/// The same, features as rows of a table.
struct Indexed<'e> {
    of: &'e Example,
    sentence: Vec<Row>,
    clauses: Vec<(usize, Vec<Row>)>,
    tokens: Vec<Vec<Row>>,
}

#[derive(Clone, Copy)]
struct Row {
    number: usize,
    of_words: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let has = |name: &str| arguments.iter().any(|it| it == name);
    let told = if has("--list") {
        Misses::Told
    } else {
        Misses::Kept
    };
    if has("--score") {
        let readers = Readers::embedded();
        for file in arguments.iter().filter(|it| !it.starts_with("--")) {
            let file = Path::new(file);
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let reader = match name.split('-').next() {
                Some("code") => &readers.code,
                Some("conversation") => &readers.conversation,
                _ => &readers.reasoning,
            };
            report(file, reader.as_ref(), told);
        }
        return;
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(CORPUS)
        .expect("the corpus")
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.to_string_lossy().contains("reasoning-"))
        .collect();
    files.sort();
    files.splice(0..0, [OPEN.into(), ROWS.into()]);
    let traps = traps();
    if has("--leave-out") {
        files.push(HELD_OUT.into());
        for out in &files {
            let others = files
                .iter()
                .filter(|it| *it != out && *it != Path::new(HELD_OUT));
            let weights = learned(&others.collect::<Vec<_>>(), &traps);
            let marking = Marking::new(weights.leak(), RESERVE);
            let reader = ReasoningReader::embedded().marking(marking);
            report(out, &reader, told);
        }
        return;
    }
    let weights = learned(&files.iter().collect::<Vec<_>>(), &traps);
    println!("{} bytes", weights.len());
    std::fs::write(WEIGHTS, weights).expect("weights are written");
}

fn report(file: &Path, reader: &dyn Reader, told: Misses) {
    let mut all = Score::default();
    for (field, score) in score::score(reader, &score::corpus(file), told) {
        say(file, field, score);
        all.right += score.right;
        all.wrong += score.wrong;
        all.missed += score.missed;
    }
    say(file, "all", all);
}

fn say(file: &Path, field: &str, score: Score) {
    println!(
        "{} {field}: precision {:.3}, recall {:.3} ({} right, {} wrong, {} missed)",
        file.display(),
        score.precision(),
        score.recall(),
        score.right,
        score.wrong,
        score.missed,
    );
}

/// Returns the messages of which nothing is worth keeping.
fn traps() -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Row {
        text: String,
        keep: bool,
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(KINDS)
        .expect("the corpus of kinds")
        .map(|it| it.expect("an entry").path())
        .collect();
    files.sort();
    let mut traps = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a corpus");
        let rows = text.lines().filter(|line| !line.trim().is_empty());
        let rows = rows.map(|line| serde_json::from_str::<Row>(line).expect("a row"));
        traps.extend(rows.filter(|row| !row.keep).map(|row| row.text));
    }
    traps
}

/// Returns the weights that these files teach.
fn learned(files: &[&PathBuf], traps: &[String]) -> Vec<u8> {
    let classifier = Classifier::default();
    let mut examples = Vec::new();
    let mut message = 0;
    for labelled in files.iter().flat_map(|file| score::corpus(file)) {
        message += 1;
        let gold = gold(&labelled);
        take_apart(
            &classifier,
            &labelled.user,
            &gold,
            1.0,
            message,
            &mut examples,
        );
    }
    for text in traps {
        message += 1;
        take_apart(&classifier, text, &[], TRAP, message, &mut examples);
    }
    Chain::learn(&examples)
}

/// Where what is expected stands in a message, and its label.
fn gold(labelled: &Labelled) -> Vec<(Range<usize>, usize)> {
    let mut gold: Vec<(Range<usize>, usize)> = Vec::new();
    let mut add = |text: &str, label: usize| {
        let taken: Vec<Range<usize>> = gold.iter().map(|it| it.0.clone()).collect();
        let under = || find(&labelled.user, text.split_once(": ")?.1, &taken);
        let place = find(&labelled.user, text, &taken).or_else(under);
        gold.extend(place.map(|place| (place, label)));
    };
    for (label, kind) in REASONING.iter().enumerate() {
        let field = kind.map_or("", |kind: Kind| kind.row().section);
        for expected in labelled.expect.get(field).into_iter().flatten() {
            let (text, why) = match expected.split_once(" :: ") {
                Some((text, why)) => (text, Some(why)),
                None => (expected.as_str(), None),
            };
            add(text, label);
            if let Some(why) = why {
                add(why, 0);
            }
        }
    }
    gold
}

/// Where most of these words stand together.
fn find(text: &str, wanted: &str, taken: &[Range<usize>]) -> Option<Range<usize>> {
    let (have, want) = (words(text), words(wanted));
    let mut best: Option<(f64, Range<usize>)> = None;
    let lengths = want.len().saturating_sub(2).max(1)..=want.len() + 2;
    for start in 0..have.len() {
        for found in lengths.clone().filter_map(|n| have.get(start..start + n)) {
            let place = found[0].1.start..found[found.len() - 1].1.end;
            if taken
                .iter()
                .any(|it| it.start < place.end && place.start < it.end)
            {
                continue;
            }
            let mut left: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
            let mut common = 0.0;
            for (word, _) in &want {
                if let Some(at) = left.iter().position(|it| it == word) {
                    left.swap_remove(at);
                    common += 1.0;
                }
            }
            let alike = 2.0 * common / (found.len() + want.len()) as f64;
            if alike > best.as_ref().map_or(0.79, |it| it.0) {
                best = Some((alike, place));
            }
        }
    }
    best.map(|it| it.1)
}

/// Words in small letters with their places; a character of Chinese is one.
fn words(text: &str) -> Vec<(String, Range<usize>)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_han = ('\u{3400}'..='\u{9fff}').contains(&c);
        if c.is_alphanumeric() && !is_han {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take() {
            words.push((text[from..at].to_lowercase(), from..at));
        }
        if is_han {
            words.push((c.to_string(), at..at + c.len_utf8()));
        }
    }
    words
}

fn take_apart(
    classifier: &Classifier,
    text: &str,
    gold: &[(Range<usize>, usize)],
    counts: f32,
    message: usize,
    examples: &mut Vec<Example>,
) {
    let reading = classifier.read(text, "");
    for line in lines(text) {
        let features = classifier.features(&line, &reading);
        if features.tokens.is_empty() {
            continue;
        }
        let mut tags = vec![0; features.tokens.len()];
        for (place, label) in gold {
            let mut tag = 2 * label + 1;
            for (token, of) in features.places.iter().zip(&mut tags) {
                if token.start + line.at < place.end && place.start < token.end + line.at {
                    *of = tag;
                    tag = 2 * label + 2;
                }
            }
        }
        examples.push(Example {
            features,
            tags,
            counts,
            message,
        });
    }
}

/// Weights with what they were moved already.
struct Weights {
    values: Vec<f32>,
    squares: Vec<f32>,
}

impl Weights {
    fn new(n: usize) -> Self {
        Self {
            values: vec![0.0; n],
            squares: vec![0.01; n],
        }
    }

    fn step(&mut self, place: usize, slope: f32) {
        if slope.abs() > 1e-6 {
            self.squares[place] += slope * slope;
            self.values[place] += RATE * slope / self.squares[place].sqrt();
        }
    }
}

/// A linear chain of tags over the tokens of a sentence.
struct Chain {
    rows: Weights,
    transitions: Weights,
}

impl Chain {
    /// Returns the file that `spans::Table` reads.
    fn learn(examples: &[Example]) -> Vec<u8> {
        let keys = known(examples);
        let places: HashMap<u64, usize> = keys.iter().enumerate().map(|(i, it)| (*it, i)).collect();
        let rows = |of: &Vec<u64>| -> Vec<Row> {
            let known = of.iter().filter_map(|it| Some((*places.get(it)?, *it)));
            known
                .map(|(number, it)| Row {
                    number,
                    of_words: it & OF_WORDS != 0,
                })
                .collect()
        };
        let mut all = Vec::with_capacity(examples.len());
        for of in examples {
            let features = &of.features;
            let clauses = features.clauses.iter();
            all.push(Indexed {
                of,
                sentence: rows(&features.sentence),
                clauses: clauses.map(|(end, it)| (*end, rows(it))).collect(),
                tokens: features.tokens.iter().map(rows).collect(),
            });
        }
        let mut chain = Self {
            rows: Weights::new(keys.len() * TAGS),
            transitions: Weights::new(TAGS * TAGS),
        };
        let mut random = Random(7);
        let mut order: Vec<usize> = (0..all.len()).collect();
        for _ in 0..EPOCHS {
            random.shuffle(&mut order);
            for number in &order {
                let hides = random.chance(UNHEARD);
                chain.take(&all[*number], hides);
            }
        }
        chain.file(&keys)
    }

    /// One step: what a sentence is moves its weights up, what it might be taken for down.
    fn take(&mut self, one: &Indexed<'_>, hides: bool) {
        let n = one.tokens.len();
        let seen = |row: &&Row| !(hides && row.of_words);
        let add = |rows: &[Row], sums: &mut [f32]| {
            for row in rows.iter().filter(seen) {
                let weights = &self.rows.values[row.number * TAGS..(row.number + 1) * TAGS];
                sums.iter_mut()
                    .zip(weights)
                    .for_each(|(sum, it)| *sum += it);
            }
        };
        let mut whole = [0.0; TAGS];
        add(&one.sentence, &mut whole);
        let mut scores = Vec::with_capacity(n * TAGS);
        let mut start = 0;
        for (end, clause) in &one.clauses {
            let mut sums = whole;
            add(clause, &mut sums);
            for token in &one.tokens[start..*end] {
                let mut sums = sums;
                add(token, &mut sums);
                scores.extend(sums);
            }
            start = *end;
        }
        for goes_on in (2..TAGS).step_by(2) {
            scores[goes_on] = NEVER;
        }
        let gradient = self.gradient(&scores, one.of);
        let mut step = |rows: &[Row], slopes: &[f32]| {
            for row in rows.iter().filter(seen) {
                for (tag, slope) in slopes.iter().enumerate() {
                    let place = row.number * TAGS + tag;
                    self.rows
                        .step(place, slope - SHRINK * self.rows.values[place]);
                }
            }
        };
        let mut total = [0.0; TAGS];
        let mut start = 0;
        for (end, clause) in &one.clauses {
            let mut sums = [0.0; TAGS];
            for i in start..*end {
                let slopes = &gradient[i * TAGS..(i + 1) * TAGS];
                step(&one.tokens[i], slopes);
                sums.iter_mut().zip(slopes).for_each(|(sum, it)| *sum += it);
            }
            total.iter_mut().zip(sums).for_each(|(sum, it)| *sum += it);
            step(clause, &sums.map(|it| it.clamp(-2.0, 2.0)));
            start = *end;
        }
        step(&one.sentence, &total.map(|it| it.clamp(-2.0, 2.0)));
    }

    /// Returns for each token and tag how far it is from what it should be, and moves the transitions.
    fn gradient(&mut self, scores: &[f32], of: &Example) -> Vec<f32> {
        let n = of.tags.len();
        let between = self.transitions.values.clone();
        let (mut ahead, mut behind) = (scores[..TAGS].to_vec(), vec![0.0; n * TAGS]);
        for i in 1..n {
            for to in 0..TAGS {
                let from = |from: usize| ahead[(i - 1) * TAGS + from] + between[from * TAGS + to];
                let sum = log_sum((0..TAGS).filter(|it| follows(*it, to)).map(from));
                ahead.push(scores[i * TAGS + to] + sum);
            }
        }
        let next = |behind: &[f32], i: usize, from: usize, to: usize| {
            between[from * TAGS + to] + scores[i * TAGS + to] + behind[i * TAGS + to]
        };
        for i in (1..n).rev() {
            for from in 0..TAGS {
                let to = (0..TAGS).filter(|it| follows(from, *it));
                behind[(i - 1) * TAGS + from] = log_sum(to.map(|to| next(&behind, i, from, to)));
            }
        }
        let all = log_sum(ahead[(n - 1) * TAGS..].iter().copied());
        let mut slopes = [0.0; TAGS * TAGS];
        for i in 1..n {
            for from in 0..TAGS {
                for to in (0..TAGS).filter(|it| follows(from, *it)) {
                    let likely = ahead[(i - 1) * TAGS + from] + next(&behind, i, from, to) - all;
                    let is = of.tags[i - 1] == from && of.tags[i] == to;
                    slopes[from * TAGS + to] +=
                        of.counts * (f32::from(u8::from(is)) - likely.exp());
                }
            }
        }
        for (place, slope) in slopes.into_iter().enumerate() {
            self.transitions.step(place, slope);
        }
        let tags = (0..n * TAGS).map(|place| {
            let is = of.tags[place / TAGS] == place % TAGS;
            of.counts * (f32::from(u8::from(is)) - (ahead[place] + behind[place] - all).exp())
        });
        tags.collect()
    }

    fn file(&self, keys: &[u64]) -> Vec<u8> {
        let mut rows: Vec<(u64, &[f32])> = keys
            .iter()
            .copied()
            .zip(self.rows.values.chunks(TAGS))
            .collect();
        let size = |row: &[f32]| {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            most - row.iter().copied().fold(f32::INFINITY, f32::min)
        };
        rows.sort_by(|one, other| {
            size(other.1)
                .total_cmp(&size(one.1))
                .then(one.0.cmp(&other.0))
        });
        let mut buckets: Vec<Vec<(u64, &[f32])>> = vec![Vec::new(); BUCKETS];
        for (key, row) in rows {
            let bucket = &mut buckets[(key >> 16) as usize & (BUCKETS - 1)];
            if bucket.len() < WAYS && bucket.iter().all(|it| it.0 as u16 != key as u16) {
                bucket.push((key, row));
            }
        }
        let kept = buckets.iter().flatten().flat_map(|it| it.1);
        let sizes = kept.chain(&self.transitions.values).map(|it| it.abs());
        let scale = sizes.fold(f32::MIN_POSITIVE, f32::max) / 127.0;
        let byte = |it: &f32| ((it / scale).round().clamp(-127.0, 127.0) as i8).cast_unsigned();
        let mut file = MAGIC.to_vec();
        file.push(TAGS as u8);
        file.extend(scale.to_le_bytes());
        file.extend(self.transitions.values.iter().map(byte));
        for bucket in buckets {
            for way in 0..WAYS {
                let (key, row) = bucket.get(way).copied().unwrap_or((0, &[0.0; TAGS]));
                file.extend((key as u16).to_le_bytes());
                file.extend(row.iter().map(byte));
            }
        }
        file
    }
}

/// Features of more than one message, in order.
fn known(examples: &[Example]) -> Vec<u64> {
    let mut seen: HashMap<u64, (usize, usize)> = HashMap::new();
    for Example {
        features, message, ..
    } in examples
    {
        let clauses = features.clauses.iter().flat_map(|it| &it.1);
        let tokens = features.tokens.iter().flatten();
        for feature in features.sentence.iter().chain(clauses).chain(tokens) {
            let (last, count) = seen.entry(*feature).or_default();
            *count += usize::from(last != message);
            *last = *message;
        }
    }
    seen.retain(|_, (_, count)| *count >= LEAST);
    let mut keys: Vec<u64> = seen.into_keys().collect();
    keys.sort_unstable();
    keys
}

/// Whether a tag may stand behind another: what goes on has begun.
fn follows(from: usize, to: usize) -> bool {
    to == 0 || to % 2 == 1 || from == to || from + 1 == to
}

fn log_sum(all: impl Iterator<Item = f32> + Clone) -> f32 {
    let most = all.clone().fold(NEVER, f32::max);
    if most <= NEVER {
        return NEVER;
    }
    most + all.map(|it| (it - most).exp()).sum::<f32>().ln()
}
