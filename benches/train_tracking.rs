//! Learns which words of a message say what a board keeps, from `tests/tracking/` and `benches/corpus/tracking/`, and
//! writes the weights: `cargo bench --bench train_tracking`, or those of some modes: `-- conversation`. With
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
use cogtrix::memory::tracking::readers::code::CodeReader;
use cogtrix::memory::tracking::readers::conversation::ConversationReader;
use cogtrix::memory::tracking::readers::marked::{
    CODE, CONVERSATION, Labels, Marking, REASONING, lines,
};
use cogtrix::memory::tracking::readers::reasoning::ReasoningReader;
use cogtrix::memory::tracking::readers::{Cued, Reader, Readers};
use cogtrix::text::classify::Classifier;
use cogtrix::text::classify::spans::{Features, MAGIC, OF_WORDS, WAYS};
use learning::Random;
use score::{Labelled, Misses, Score};

const CORPUS: &str = "benches/corpus/tracking";
/// Messages of strangers, many of which say no fact and plan nothing.
const KINDS: &str = "benches/corpus/kinds";
/// What a message counts of which nothing is worth keeping.
const TRAP: f32 = 0.03;
/// The names in that corpus, and what a message of it counts for them: they were told by their capitals and by lists
/// of words, nine of ten rightly.
const NAMES: &str = "benches/corpus/names.jsonl";
const NAMED: f32 = 0.1;
/// Bytes of all weights of a mode, at most.
const MOST: usize = 300_000;
const EPOCHS: usize = 10;
const RATE: f32 = 0.1;
const SHRINK: f32 = 0.001;
/// Times of a hundred when a sentence is read without its words, as one in words that nobody used before.
const UNHEARD: usize = 40;
/// Messages that have a feature, at least.
const LEAST: usize = 2;
/// The same for names: of what two people have in common much is chance.
const LEAST_OF_NAMES: usize = 4;
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

/// What is learned for one mode.
struct Mode {
    name: &'static str,
    labels: &'static [Labels],
    reader: fn(Marking) -> Box<dyn Reader>,
}

const MODES: [Mode; 3] = [
    Mode {
        name: "code",
        labels: CODE,
        reader: |marking| Box::new(CodeReader::embedded().marking(marking)),
    },
    Mode {
        name: "conversation",
        labels: CONVERSATION,
        reader: |marking| Box::new(ConversationReader::embedded().marking(marking)),
    },
    Mode {
        name: "reasoning",
        labels: REASONING,
        reader: |marking| Box::new(ReasoningReader::embedded().marking(marking)),
    },
];

impl Mode {
    /// A file of `tests/tracking`.
    fn file(&self, part: &str) -> PathBuf {
        format!("tests/tracking/{}{part}.yaml", self.name).into()
    }
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
    let named = arguments.iter().any(|it| !it.starts_with("--"));
    let modes = MODES.iter().filter(|mode| !named || has(mode.name));
    for mode in modes {
        let mut files = corpus(mode);
        if !has("--leave-out") {
            for labels in mode.labels {
                let weights = learned(labels, &files.iter().collect::<Vec<_>>());
                println!("{}: {} bytes", labels.name, weights.len());
                let file = format!("src/memory/tracking/readers/{}.weights", labels.name);
                std::fs::write(file, weights).expect("weights are written");
            }
            continue;
        }
        let held_out = mode.file("-held-out");
        files.push(held_out.clone());
        for out in &files {
            let others = files.iter().filter(|it| *it != out && **it != held_out);
            let others: Vec<_> = others.collect();
            let labels = mode.labels.iter().map(|labels| Labels {
                weights: learned(labels, &others).leak(),
                ..*labels
            });
            let marking = Marking::new(&labels.collect::<Vec<_>>());
            report(out, (mode.reader)(marking).as_ref(), told);
        }
    }
}

/// The files that a mode learns from: those that the program is tuned on, sentences that tests of the reader name and
/// others of their forms, and those of strangers.
fn corpus(mode: &Mode) -> Vec<PathBuf> {
    let begins = format!("{}-", mode.name);
    let mut files: Vec<PathBuf> = std::fs::read_dir(CORPUS)
        .expect("the corpus")
        .map(|it| it.expect("an entry").path())
        .filter(|it| {
            it.file_name()
                .is_some_and(|it| it.to_string_lossy().starts_with(&begins))
        })
        .collect();
    files.sort();
    let ours = [mode.file(""), mode.file("-rows")];
    files.splice(0..0, ours.into_iter().filter(|it| it.exists()));
    files
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

/// A message of the corpus of kinds: whether anything of it is worth keeping, and the names in it.
struct Judged {
    text: String,
    keep: bool,
    names: Vec<String>,
}

fn kinds() -> Vec<Judged> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(KINDS)
        .expect("the corpus of kinds")
        .map(|it| it.expect("an entry").path())
        .collect();
    files.sort();
    let mut named: HashMap<String, Vec<String>> = rows(Path::new(NAMES))
        .map(|(text, row)| {
            (
                text,
                serde_json::from_value(row["names"].clone()).expect("names"),
            )
        })
        .collect();
    let rows = files.iter().flat_map(|file| rows(file));
    rows.map(|(text, row)| Judged {
        keep: row["keep"].as_bool().expect("a judgement"),
        names: named.remove(&text).unwrap_or_default(),
        text,
    })
    .collect()
}

/// The rows of a file, each with its text.
fn rows(file: &Path) -> impl Iterator<Item = (String, serde_json::Value)> + use<> {
    let text = std::fs::read_to_string(file).expect("a corpus");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines
        .into_iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(&line).expect("a row");
            (row["text"].as_str().expect("a text").to_owned(), row)
        })
}

/// Returns the weights that these files teach.
fn learned(labels: &Labels, files: &[&PathBuf]) -> Vec<u8> {
    let mut examples = Vec::new();
    let mut message = 0;
    for labelled in files.iter().flat_map(|file| score::corpus(file)) {
        message += 1;
        let said = gold(labels, &labelled, &labelled.user);
        take_apart(labels, &labelled.user, &said, 1.0, message, &mut examples);
        if labels.name == "code" {
            let said = gold(labels, &labelled, &labelled.assistant);
            if !said.is_empty() {
                take_apart(
                    labels,
                    &labelled.assistant,
                    &said,
                    1.0,
                    message,
                    &mut examples,
                );
            }
        }
    }
    for Judged { text, keep, names } in kinds() {
        message += 1;
        match labels.name {
            "names" => {
                let places = names
                    .iter()
                    .filter_map(|name| text.find(name).map(|at| at..at + name.len()));
                let gold: Vec<_> = places.map(|place| (place, 0)).collect();
                take_apart(labels, &text, &gold, NAMED, message, &mut examples);
            }
            "facts" | "reasoning" if !keep => {
                take_apart(labels, &text, &[], TRAP, message, &mut examples);
            }
            _ => {}
        }
    }
    // None, and for each label that it begins and that it goes on.
    let tags = 2 * labels.kinds.len() + 1;
    // Names are many.
    let (least, max_bytes) = match labels.name {
        "names" => (LEAST_OF_NAMES, MOST / 2),
        "topics" | "facts" => (LEAST, MOST / 4),
        _ => (LEAST, MOST),
    };
    Chain::learn(tags, least, &examples).file(max_bytes)
}

/// Where what is expected stands in a message, and its label.
fn gold(labels: &Labels, labelled: &Labelled, text: &str) -> Vec<(Range<usize>, usize)> {
    let mut gold: Vec<(Range<usize>, usize)> = Vec::new();
    let mut add = |said: &str, label: usize| {
        let taken: Vec<Range<usize>> = gold.iter().map(|it| it.0.clone()).collect();
        let under = || find(text, said.split_once(": ")?.1, &taken);
        let place = find(text, said, &taken).or_else(under);
        gold.extend(place.map(|place| (place, label)));
    };
    for (label, kind) in labels.kinds.iter().enumerate() {
        let field = kind.map_or("", |kind: Kind| kind.row().section);
        for expected in labelled.expect.get(field).into_iter().flatten() {
            let (said, why) = match expected.split_once(" :: ") {
                Some((said, why)) => (said, Some(why)),
                None => (expected.as_str(), None),
            };
            add(said, label);
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
    labels: &Labels,
    text: &str,
    gold: &[(Range<usize>, usize)],
    counts: f32,
    message: usize,
    examples: &mut Vec<Example>,
) {
    let classifier = &Classifier::default();
    let reading = classifier.read(text, "");
    for line in lines(text) {
        let features = classifier.features(&line, &reading, labels.seen);
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
    tags: usize,
    /// The features, each a row of weights.
    keys: Vec<u64>,
    rows: Weights,
    transitions: Weights,
}

impl Chain {
    fn learn(tags: usize, least: usize, examples: &[Example]) -> Self {
        let keys = known(least, examples);
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
            tags,
            keys: Vec::new(),
            rows: Weights::new(keys.len() * tags),
            transitions: Weights::new(tags * tags),
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
        chain.keys = keys;
        chain
    }

    /// One step: what a sentence is moves its weights up, what it might be taken for down.
    fn take(&mut self, one: &Indexed<'_>, hides: bool) {
        let (n, tags) = (one.tokens.len(), self.tags);
        let seen = |row: &&Row| !(hides && row.of_words);
        let add = |rows: &[Row], sums: &mut [f32]| {
            for row in rows.iter().filter(seen) {
                let weights = &self.rows.values[row.number * tags..(row.number + 1) * tags];
                sums.iter_mut()
                    .zip(weights)
                    .for_each(|(sum, it)| *sum += it);
            }
        };
        let mut whole = vec![0.0; tags];
        add(&one.sentence, &mut whole);
        let mut scores = Vec::with_capacity(n * tags);
        let mut start = 0;
        for (end, clause) in &one.clauses {
            let mut sums = whole.clone();
            add(clause, &mut sums);
            for token in &one.tokens[start..*end] {
                let mut sums = sums.clone();
                add(token, &mut sums);
                scores.extend(sums);
            }
            start = *end;
        }
        for goes_on in (2..tags).step_by(2) {
            scores[goes_on] = NEVER;
        }
        let gradient = self.gradient(&scores, one.of);
        let mut step = |rows: &[Row], slopes: &[f32]| {
            for row in rows.iter().filter(seen) {
                for (tag, slope) in slopes.iter().enumerate() {
                    let place = row.number * tags + tag;
                    self.rows
                        .step(place, slope - SHRINK * self.rows.values[place]);
                }
            }
        };
        let mut total = vec![0.0; tags];
        let mut start = 0;
        for (end, clause) in &one.clauses {
            let mut sums = vec![0.0; tags];
            for i in start..*end {
                let slopes = &gradient[i * tags..(i + 1) * tags];
                step(&one.tokens[i], slopes);
                sums.iter_mut().zip(slopes).for_each(|(sum, it)| *sum += it);
            }
            total.iter_mut().zip(&sums).for_each(|(sum, it)| *sum += it);
            step(clause, &clamped(&sums));
            start = *end;
        }
        step(&one.sentence, &clamped(&total));
    }

    /// Returns for each token and tag how far it is from what it should be, and moves the transitions.
    fn gradient(&mut self, scores: &[f32], of: &Example) -> Vec<f32> {
        let (n, tags) = (of.tags.len(), self.tags);
        let between = self.transitions.values.clone();
        let (mut ahead, mut behind) = (scores[..tags].to_vec(), vec![0.0; n * tags]);
        for i in 1..n {
            for to in 0..tags {
                let from = |from: usize| ahead[(i - 1) * tags + from] + between[from * tags + to];
                let sum = log_sum((0..tags).filter(|it| follows(*it, to)).map(from));
                ahead.push(scores[i * tags + to] + sum);
            }
        }
        let next = |behind: &[f32], i: usize, from: usize, to: usize| {
            between[from * tags + to] + scores[i * tags + to] + behind[i * tags + to]
        };
        for i in (1..n).rev() {
            for from in 0..tags {
                let to = (0..tags).filter(|it| follows(from, *it));
                behind[(i - 1) * tags + from] = log_sum(to.map(|to| next(&behind, i, from, to)));
            }
        }
        let all = log_sum(ahead[(n - 1) * tags..].iter().copied());
        let mut slopes = vec![0.0; tags * tags];
        for i in 1..n {
            for from in 0..tags {
                for to in (0..tags).filter(|it| follows(from, *it)) {
                    let likely = ahead[(i - 1) * tags + from] + next(&behind, i, from, to) - all;
                    let is = of.tags[i - 1] == from && of.tags[i] == to;
                    slopes[from * tags + to] +=
                        of.counts * (f32::from(u8::from(is)) - likely.exp());
                }
            }
        }
        for (place, slope) in slopes.into_iter().enumerate() {
            self.transitions.step(place, slope);
        }
        let moved = (0..n * tags).map(|place| {
            let is = of.tags[place / tags] == place % tags;
            of.counts * (f32::from(u8::from(is)) - (ahead[place] + behind[place] - all).exp())
        });
        moved.collect()
    }

    /// Returns the file that `spans::Table` reads.
    fn file(&self, max_bytes: usize) -> Vec<u8> {
        let tags = self.tags;
        let n_buckets = 1 << (max_bytes / (WAYS * (tags + 2))).ilog2();
        let mut rows: Vec<(u64, &[f32])> = self
            .keys
            .iter()
            .copied()
            .zip(self.rows.values.chunks(tags))
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
        let mut buckets: Vec<Vec<(u64, &[f32])>> = vec![Vec::new(); n_buckets];
        for (key, row) in rows {
            let bucket = &mut buckets[(key >> 16) as usize & (n_buckets - 1)];
            if bucket.len() < WAYS && bucket.iter().all(|it| it.0 as u16 != key as u16) {
                bucket.push((key, row));
            }
        }
        let kept = buckets.iter().flatten().flat_map(|it| it.1);
        let sizes = kept.chain(&self.transitions.values).map(|it| it.abs());
        let scale = sizes.fold(f32::MIN_POSITIVE, f32::max) / 127.0;
        let byte = |it: &f32| ((it / scale).round().clamp(-127.0, 127.0) as i8).cast_unsigned();
        let mut file = MAGIC.to_vec();
        file.push(tags as u8);
        file.extend(scale.to_le_bytes());
        file.extend(self.transitions.values.iter().map(byte));
        let none = vec![0.0; tags];
        for bucket in buckets {
            for way in 0..WAYS {
                let (key, row) = bucket.get(way).copied().unwrap_or((0, &none));
                file.extend((key as u16).to_le_bytes());
                file.extend(row.iter().map(byte));
            }
        }
        file
    }
}

fn clamped(slopes: &[f32]) -> Vec<f32> {
    slopes.iter().map(|it| it.clamp(-2.0, 2.0)).collect()
}

/// Features of more than one message, in order.
fn known(least: usize, examples: &[Example]) -> Vec<u64> {
    let mut seen: HashMap<u64, (usize, usize)> = HashMap::new();
    for Example {
        features, message, ..
    } in examples
    {
        let clauses = features.clauses.iter().flat_map(|it| &it.1);
        let tokens = features.tokens.iter().flatten();
        for feature in features.sentence.iter().chain(clauses).chain(tokens) {
            let (newest, count) = seen.entry(*feature).or_default();
            *count += usize::from(newest != message);
            *newest = *message;
        }
    }
    seen.retain(|_, (_, count)| *count >= least);
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
