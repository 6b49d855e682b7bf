//! Learns what kind of sentence is worth keeping from `benches/corpus/kinds`, and from messages that say several things
//! (`benches/corpus/mixed`), and writes the weights: `cargo bench --features testing --bench train_kinds`. With
//! `-- --leave-out` it says instead how well each author is read by weights that were learned from the others; with
//! `-- --score FILE…` how well messages of files are read by the program as it is, and with `-- --mixed FILE…` how well
//! messages that say several things. `--list` shows each mistake.
//!
//! A line is `{"writer", "lang", "before", "text", "keep", "kind", "scope", "span", "trap"}`; of those that say several
//! things `{"lang", "text", "keep": [spans]}`.

#![expect(clippy::print_stdout, reason = "a report")]
#![expect(clippy::cast_precision_loss, reason = "counts are small")]
#![expect(
    clippy::disallowed_methods,
    reason = "the weights are a file of the sources"
)]

#[path = "common/learning.rs"]
#[expect(dead_code, reason = "another trainer needs more of it")]
mod learning;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cogtrix::chat::{Message, MessageId, Role};
use cogtrix::memory::capture::{Capture, Extractor, WalSettings};
use cogtrix::text::classify::training::{
    Example, OF_PROJECT, OF_TRAP, Reader, WORDING, Weighed, classifier, of_label,
};
use cogtrix::text::classify::{Classifier, Judged, Kind, Scope};
use cogtrix::text::linear::Feature;
use learning::{Learner, Random};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const CORPUS: &str = "benches/corpus/kinds";
const MIXED: &str = "benches/corpus/mixed";
/// Short messages that patterns were made for: what is captured of each.
const SAID: &str = "tests/capture/corpus.yaml";
/// What one of these counts beside a message of a person.
const SAID_COUNTS: f32 = 0.5;
const WEIGHTS: &str = "src/text/classify";

/// Upper bits of a feature: 2^16 buckets for what is kept, 2^15 for kinds, and a tag.
const KEEP: u32 = 24;
const KINDS: u32 = 23;
const EPOCHS: usize = 12;
const SHRINK: f32 = 0.0008;
/// Times of a hundred when a message is read by its concepts and its shape alone, as one in words that nobody used
/// before.
const UNHEARD: usize = 30;
/// Messages that have a feature, at least.
const LEAST: u8 = 2;

#[derive(Clone, Deserialize)]
struct Row {
    writer: String,
    #[serde(default = "english")]
    lang: String,
    #[serde(default)]
    before: String,
    text: String,
    keep: bool,
    kind: String,
    scope: String,
    #[serde(default)]
    span: String,
    #[serde(default)]
    trap: String,
    /// Who wrote it: the name of the file.
    #[serde(skip)]
    author: String,
    /// Of a message that says several things: what of it is worth keeping.
    #[serde(skip)]
    several: Option<Vec<String>>,
    #[serde(skip, default = "one")]
    counts: f32,
}

fn one() -> f32 {
    1.0
}

fn english() -> String {
    "en".to_owned()
}

/// Features as places in a table of weights.
type Indexed = Vec<(f32, Vec<u32>)>;

struct Learned {
    /// The message, and whether anything of it is kept.
    message: (Indexed, bool),
    sentences: Vec<(Indexed, bool)>,
    /// What it is, and which labels that is; `None` where it says nothing of a label.
    kind: Option<(Vec<Weighed>, usize, Option<bool>)>,
    /// Whether it is a trap; `None` of a clause, which may stand in one.
    trap: Option<(Vec<Weighed>, bool)>,
    counts: f32,
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let has = |name: &str| arguments.iter().any(|it| it == name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if has("--score") {
        let files = arguments.iter().filter(|it| !it.starts_with("--"));
        let rows: Vec<Row> = files.flat_map(|file| rows(Path::new(file))).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let classifier = Classifier::default();
        let extractor = Extractor::with(|_| None, &WalSettings::default()).expect("its own cues");
        println!("the classifier");
        let mut tallies = Tallies::default();
        tallies.read(&rows, has("--list"), |row| judged(&classifier, row));
        tallies.say();
        println!("the program");
        let mut tallies = Tallies::default();
        tallies.read(&rows, has("--list"), |row| captured(&extractor, row));
        tallies.say();
        return;
    }
    if has("--mixed") {
        let extractor = Extractor::with(|_| None, &WalSettings::default()).expect("its own cues");
        let files = arguments.iter().filter(|it| !it.starts_with("--"));
        let rows: Vec<Row> = files.flat_map(|file| several(Path::new(file))).collect();
        let mut all = Several::default();
        all.read(&rows.iter().collect::<Vec<_>>(), has("--list"), |row| {
            captured(&extractor, row)
        });
        all.say();
        return;
    }
    let mut rows: Vec<Row> = files(&root.join(CORPUS))
        .iter()
        .flat_map(|it| rows(it))
        .collect();
    rows.extend(files(&root.join(MIXED)).iter().flat_map(|it| several(it)));
    rows.extend(said(&root.join(SAID)));
    if has("--leave-out") {
        leave_out(&rows, has("--list"));
        return;
    }
    let (keep, kinds) = learned(&rows.iter().collect::<Vec<_>>());
    println!("{} and {} bytes", keep.len(), kinds.len());
    fs::write(root.join(WEIGHTS).join("keep.weights"), keep).expect("weights are written");
    fs::write(root.join(WEIGHTS).join("kinds.weights"), kinds).expect("weights are written");
}

/// A message that says several things.
#[derive(Deserialize)]
struct Mixed {
    lang: String,
    text: String,
    /// What of it is worth keeping.
    keep: Vec<String>,
}

/// Says how much of what is worth keeping is kept, and how much of what is kept is worth it.
#[derive(Default)]
struct Several {
    worth: usize,
    found: usize,
    kept: usize,
    right: usize,
}

impl Several {
    fn read(&mut self, rows: &[&Row], lists: bool, read: impl Fn(&Row) -> Vec<Keep>) {
        for row in rows {
            let keep = row.several.as_deref().unwrap_or_default();
            let mut lines: Vec<String> = read(row).into_iter().map(|it| it.text).collect();
            lines.dedup();
            let missed = keep
                .iter()
                .filter(|keep| !lines.iter().any(|it| overlap(it, keep)));
            let wrong = lines
                .iter()
                .filter(|line| !keep.iter().any(|it| overlap(line, it)));
            let (missed, wrong): (Vec<_>, Vec<_>) = (missed.collect(), wrong.collect());
            if lists && !(missed.is_empty() && wrong.is_empty()) {
                println!("{}: missed {missed:?}, wrong {wrong:?}", row.author);
            }
            self.worth += keep.len();
            self.found += keep.len() - missed.len();
            self.kept += lines.len();
            self.right += lines.len() - wrong.len();
        }
    }

    fn say(&self) {
        println!(
            "of several things: kept {} of {} that are worth it; {} of {} lines are worth it",
            self.found, self.worth, self.right, self.kept
        );
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the corpus");
    let mut files: Vec<_> = files.map(|it| it.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Messages that say several things.
fn several(path: &Path) -> Vec<Row> {
    let author = format!("several {}", author(path));
    let rows = read::<Mixed>(path).into_iter();
    rows.map(|row| Row {
        lang: row.lang,
        keep: !row.keep.is_empty(),
        several: Some(row.keep),
        ..plain(&author, row.text)
    })
    .collect()
}

/// A message of which nothing is kept.
fn plain(author: &str, text: String) -> Row {
    Row {
        writer: author.to_owned(),
        lang: english(),
        before: String::new(),
        text,
        keep: false,
        kind: String::new(),
        scope: String::new(),
        span: String::new(),
        trap: String::new(),
        author: author.to_owned(),
        several: None,
        counts: 1.0,
    }
}

fn author(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn rows(path: &Path) -> Vec<Row> {
    let author = author(path);
    let rows = read::<Row>(path).into_iter();
    rows.map(|row| Row {
        author: author.clone(),
        ..row
    })
    .collect()
}

fn read<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}: {line}", path.display()))
        })
        .collect()
}

/// Messages with what is captured of them.
fn said(path: &Path) -> Vec<Row> {
    let text = fs::read_to_string(path).expect("the messages");
    let all: Vec<Vec<String>> = serde_yaml::from_str(&text).expect("rows");
    let row = |row: Vec<String>| Row {
        keep: row.len() > 1,
        span: row[0].clone(),
        counts: SAID_COUNTS,
        ..plain("said", row[0].clone())
    };
    all.into_iter().map(row).collect()
}

/// Returns the weights of what is kept, and of kinds.
fn learned(rows: &[&Row]) -> (Vec<u8>, Vec<u8>) {
    let reader = Reader::default();
    let mut keep = Learner::new(KEEP, SHRINK);
    let mut kinds = Learner::new(KINDS, SHRINK);
    let mut all: Vec<Vec<Learned>> = rows
        .iter()
        .map(|row| examples(row, &reader, &keep))
        .collect();
    leave_rare(&mut all);
    let all: Vec<Learned> = all.into_iter().flatten().collect();
    let mut random = Random(11);
    let mut order: Vec<usize> = (0..all.len()).collect();
    for epoch in 0..EPOCHS {
        if epoch + 3 == EPOCHS {
            keep.prune();
            kinds.prune();
        }
        random.shuffle(&mut order);
        for index in &order {
            let one = &all[*index];
            let sentences = one.sentences.iter();
            for (features, is_kept) in sentences.chain([&one.message]) {
                let hidden = if random.chance(UNHEARD) { WORDING } else { 0 };
                step(&mut keep, &features[hidden..], *is_kept, one.counts);
            }
            if let Some((features, kind, project)) = &one.kind {
                step_kind(&mut kinds, features, *kind, *project);
            }
            if let Some((features, is_trap)) = &one.trap {
                let hidden = if random.chance(UNHEARD) { WORDING } else { 0 };
                let features = of(&kinds, &features[hidden..], OF_TRAP);
                step(&mut kinds, &features, *is_trap, one.counts);
            }
        }
    }
    (keep.file(), kinds.file())
}

/// What is learned from a message; from one that says several things also each of its clauses by itself.
fn examples(row: &Row, reader: &Reader, keep: &Learner) -> Vec<Learned> {
    let spans = match &row.several {
        Some(several) => several.iter().map(String::as_str).collect(),
        None if row.keep => vec![row.span.as_str()],
        None => Vec::new(),
    };
    let mut examples = vec![example(row, &spans, reader, keep)];
    if row.several.is_some() {
        let clauses = reader.clauses(&row.text).into_iter();
        examples.extend(clauses.map(|place| {
            let clause = row.text[place].to_owned();
            let keeps = spans.iter().any(|span| overlap(&clause, span));
            let clause = Row {
                keep: keeps,
                ..plain(&row.author, clause)
            };
            let spans = if keeps {
                vec![clause.text.as_str()]
            } else {
                Vec::new()
            };
            Learned {
                trap: None,
                ..example(&clause, &spans, reader, keep)
            }
        }));
    }
    examples
}

fn example(row: &Row, spans: &[&str], reader: &Reader, keep: &Learner) -> Learned {
    let Example {
        message,
        sentences,
        kind,
        kinds,
    } = reader.example(&row.text, &row.before);
    let index = |features: &[Weighed]| -> Indexed {
        let groups = features.iter();
        groups
            .map(|(value, of)| (*value, of.iter().map(|it| keep.index(*it)).collect()))
            .collect()
    };
    let spans = spans
        .iter()
        .filter_map(|span| row.text.find(span).map(|at| at..at + span.len()));
    let spans: Vec<Range<usize>> = spans.collect();
    let held = |place: &Range<usize>| {
        spans.iter().any(|span| {
            let common = span
                .end
                .min(place.end)
                .saturating_sub(span.start.max(place.start));
            common > 0 && common * 5 >= 2 * span.len().min(place.len())
        })
    };
    let first = sentences.iter().position(|(place, _)| held(place));
    let label = |name: &str| Kind::ALL.iter().position(|it| it.as_str() == name);
    let trap = label(&row.trap);
    let is_trap = trap.is_some_and(|it| Kind::ALL[it].is_trap());
    let of_kind = if row.keep {
        first.and_then(|number| {
            Some((
                kinds[number].clone(),
                label(&row.kind)?,
                Some(row.scope == "project"),
            ))
        })
    } else {
        trap.map(|label| (kind.clone(), label, None))
    };
    Learned {
        message: (index(&message), row.keep),
        sentences: sentences
            .iter()
            .map(|(place, features)| (index(features), held(place)))
            .collect(),
        kind: of_kind,
        trap: Some((kind, is_trap)),
        counts: row.counts,
    }
}

/// Leaves out the features of single messages, which say nothing about others.
fn leave_rare(all: &mut [Vec<Learned>]) {
    let mut seen: Vec<(usize, u8)> = vec![(usize::MAX, 0); 1 << KEEP];
    for (number, examples) in all.iter().enumerate() {
        let groups = examples.iter().flat_map(|it| {
            let sentences = it.sentences.iter().map(|it| &it.0);
            sentences.chain([&it.message.0]).flatten()
        });
        for index in groups.flat_map(|it| &it.1) {
            let (last, count) = &mut seen[*index as usize];
            if *last != number {
                *last = number;
                *count = count.saturating_add(1);
            }
        }
    }
    for one in all.iter_mut().flatten() {
        let sentences = one.sentences.iter_mut().map(|it| &mut it.0);
        for group in sentences.chain([&mut one.message.0]).flatten() {
            group.1.retain(|index| seen[*index as usize].1 >= LEAST);
        }
    }
}

fn logistic(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

fn step(learner: &mut Learner, features: &[(f32, Vec<u32>)], is: bool, counts: f32) {
    let score: f32 = features
        .iter()
        .map(|(value, of)| value * learner.score(of))
        .sum();
    let gradient = counts * (f32::from(u8::from(is)) - logistic(score));
    for (value, of) in features {
        learner.step(of, gradient * value);
    }
}

/// Features for a label of the kinds.
fn of(learner: &Learner, features: &[Weighed], label: usize) -> Indexed {
    let groups = features.iter();
    let index = |it: &Feature| learner.index(of_label(*it, label));
    groups
        .map(|(value, of)| (*value, of.iter().map(index).collect()))
        .collect()
}

/// One step of the kinds: against one another, and whether it is of a project.
fn step_kind(learner: &mut Learner, features: &[Weighed], kind: usize, project: Option<bool>) {
    let range = if Kind::ALL[kind].is_kept() {
        0..Kind::KEPT
    } else {
        Kind::KEPT..Kind::ALL.len()
    };
    let all: Vec<Indexed> = range
        .clone()
        .map(|label| of(learner, features, label))
        .collect();
    let score = |learner: &Learner, features: &Indexed| -> f32 {
        features
            .iter()
            .map(|(value, of)| value * learner.score(of))
            .sum()
    };
    let scores: Vec<f32> = all.iter().map(|it| score(learner, it).exp()).collect();
    let sum: f32 = scores.iter().sum();
    for ((label, features), score) in range.zip(&all).zip(&scores) {
        let gradient = f32::from(u8::from(label == kind)) - score / sum;
        for (value, of) in features {
            learner.step(of, gradient * value);
        }
    }
    if let Some(project) = project {
        step(learner, &of(learner, features, OF_PROJECT), project, 1.0);
    }
}

#[derive(Clone, Copy, Default)]
struct Tally {
    worth: usize,
    kept: usize,
    right: usize,
    /// Of what is right: with the right kind, and the right scope.
    kinds: usize,
    scopes: usize,
}

#[derive(Default)]
struct Tallies {
    by_language: BTreeMap<String, Tally>,
    by_author: BTreeMap<String, Tally>,
    /// Of each trap: how many there are, and how many were kept.
    traps: BTreeMap<String, (usize, usize)>,
    missed: BTreeMap<String, (usize, usize)>,
}

/// One thing that was kept of a message.
struct Keep {
    text: String,
    /// What the classifier says of it.
    judged: Option<(Kind, Scope)>,
}

impl Tallies {
    fn read(&mut self, rows: &[&Row], lists: bool, read: impl Fn(&Row) -> Vec<Keep>) {
        for row in rows {
            let kept = read(row);
            let hit = kept
                .iter()
                .find(|it| row.keep && overlap(&it.text, &row.span));
            let tallies = [
                self.by_language.entry(row.lang.clone()).or_default(),
                self.by_author.entry(row.author.clone()).or_default(),
            ];
            for tally in tallies {
                tally.worth += usize::from(row.keep);
                tally.kept += usize::from(!kept.is_empty());
                let Some(hit) = hit else { continue };
                tally.right += 1;
                if let Some((kind, scope)) = hit.judged {
                    tally.kinds += usize::from(kind.as_str() == row.kind);
                    tally.scopes +=
                        usize::from((scope == Scope::Project) == (row.scope == "project"));
                }
            }
            let is_wrong = if row.keep {
                let missed = self.missed.entry(row.kind.clone()).or_default();
                missed.0 += 1;
                missed.1 += usize::from(hit.is_none());
                hit.is_none()
            } else {
                let trap = self.traps.entry(row.trap.clone()).or_default();
                trap.0 += 1;
                trap.1 += usize::from(!kept.is_empty());
                !kept.is_empty()
            };
            if lists && is_wrong {
                let kept: Vec<&str> = kept.iter().map(|it| it.text.as_str()).collect();
                let what = if row.keep { &row.kind } else { &row.trap };
                println!(
                    "{} {} {what}: {:?} kept {kept:?}",
                    row.author, row.lang, row.text
                );
            }
        }
    }

    fn say(&self) {
        let mut all = Tally::default();
        for tally in self.by_language.values() {
            all.worth += tally.worth;
            all.kept += tally.kept;
            all.right += tally.right;
            all.kinds += tally.kinds;
            all.scopes += tally.scopes;
        }
        for (trap, (of, kept)) in &self.traps {
            println!("{trap:<22} kept {kept:>4} of {of:>4}");
        }
        for (kind, (of, missed)) in &self.missed {
            println!("{kind:<22} missed {missed:>4} of {of:>4}");
        }
        let lines = self.by_author.iter().chain(&self.by_language);
        for (name, tally) in lines
            .map(|(name, tally)| (name.as_str(), *tally))
            .chain([("all", all)])
        {
            let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
            println!(
                "{name:<12} precision {:.3}, recall {:.3} ({} right of {} kept, {} worth it), kind {:.3}, scope {:.3}",
                share(tally.right, tally.kept),
                share(tally.right, tally.worth),
                tally.right,
                tally.kept,
                tally.worth,
                share(tally.kinds, tally.right),
                share(tally.scopes, tally.right),
            );
        }
    }
}

/// Whether three words in a row, or all where there are fewer, stand in both.
fn overlap(kept: &str, span: &str) -> bool {
    let folded = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").to_lowercase()
    };
    let (kept, span) = (folded(kept), folded(span));
    let end = |c: char| c.is_ascii_punctuation();
    let words: Vec<&str> = span.split(' ').map(|it| it.trim_matches(end)).collect();
    let length = 3.min(words.len());
    // Chinese has no blanks.
    kept.contains(&*span)
        || span.contains(kept.trim_matches(end))
        || words.len() > 2 && words.windows(length).any(|it| kept.contains(&it.join(" ")))
}

fn judged(classifier: &Classifier, row: &Row) -> Vec<Keep> {
    let kept = classifier.read(&row.text, &row.before).kept.into_iter();
    let keep = |it: Judged| Keep {
        text: row.text[it.place].to_owned(),
        judged: Some((it.kind, it.scope)),
    };
    kept.map(keep).collect()
}

/// What the program keeps, as it is set by default.
fn captured(extractor: &Extractor, row: &Row) -> Vec<Keep> {
    let message = Message::text(MessageId::numbered(1), Role::User, row.text.as_str(), None);
    let captures = extractor.capture(&message, &row.before).into_iter();
    let keep = |it: Capture| Keep {
        text: it.detail,
        judged: None,
    };
    captures.map(keep).collect()
}

/// Says how well each author is read who is left out; one who is alone with a language is left out voice by voice.
fn leave_out(rows: &[Row], lists: bool) {
    let alone = |row: &Row| {
        !rows
            .iter()
            .any(|it| it.lang == row.lang && it.author != row.author)
    };
    let fold = |row: &Row| {
        if alone(row) {
            row.writer.clone()
        } else {
            row.author.clone()
        }
    };
    let folds: BTreeSet<String> = rows.iter().map(&fold).collect();
    let folds: Vec<String> = folds.into_iter().collect();
    let models: Vec<(Vec<u8>, Vec<u8>)> = std::thread::scope(|scope| {
        let halves: Vec<_> = folds
            .chunks(folds.len().div_ceil(2))
            .map(|folds| {
                scope.spawn(move || {
                    let others = |out: &String| {
                        rows.iter()
                            .filter(|it| fold(it) != *out)
                            .collect::<Vec<_>>()
                    };
                    folds
                        .iter()
                        .map(|out| learned(&others(out)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        halves
            .into_iter()
            .flat_map(|it| it.join().expect("a run"))
            .collect()
    });
    let (mut tallies, mut all) = (Tallies::default(), Several::default());
    for (out, (keep, kinds)) in folds.iter().zip(models) {
        let left = rows.iter().filter(|it| fold(it) == *out);
        let (several, single) = left.partition::<Vec<&Row>, _>(|it| it.several.is_some());
        let classifier = classifier(keep, kinds);
        tallies.read(&single, lists, |row| judged(&classifier, row));
        all.read(&several, lists, |row| judged(&classifier, row));
    }
    tallies.say();
    all.say();
}
