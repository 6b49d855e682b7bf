//! Learns what the tagger of secrets knows, from the messages in `benches/corpus/secrets`:
//! `cargo bench --bench train_secrets` writes `src/text/secrets/tagger.weights`;
//! with `-- --leave-out` it says instead how good it is on each writer whom it has not read.
//!
//! `secrets-X.jsonl` and `harmless-X.jsonl` are messages of a writer, every other file is harmless talk.

#![expect(clippy::print_stdout, reason = "shares are no times")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "small numbers"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the weights are a file of the sources"
)]

mod frames;
#[path = "../common/learning.rs"]
mod learning;
mod varying;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cogtrix::text::secrets::{Learned, MASK, masked_by, training};
use learning::{Learner, Random};
use serde::Deserialize;

const CORPUS: &str = "benches/corpus/secrets";
/// Messages of all kinds, hardly any with a secret.
const TALK: &str = "benches/corpus/kinds";
const WEIGHTS: &str = "src/text/secrets/tagger.weights";
const WORDS: &str = "src/text/secrets/tagger.words";

const EPOCHS: usize = 4;
const SHRINK: f32 = 0.001;
/// Writers with this in their name were asked for everyday messages: each is read so many times.
const PLAIN: &str = "plain-";
const TIMES: usize = 5;
/// Times what the tests promise is read again at the end.
const PROMISED: usize = 40;
/// Of a hundred messages so many stand between other sentences.
const AMID: usize = 50;
/// Messages that are not made from one another and have a feature, at least.
const LEAST: u8 = 8;
/// Times a message with a secret is read with another value.
const VARIED: usize = 5;
/// Writers left out at the same time.
const AT_ONCE: usize = 2;
/// Upper bits of a feature: 2^16 buckets, and a tag.
const BITS: u32 = 24;

#[derive(Clone, Default, Deserialize)]
struct Row {
    #[serde(default)]
    id: String,
    text: String,
    /// What was said before it.
    #[serde(default)]
    before: String,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    class: String,
    /// Rows of one are made from the same.
    #[serde(skip)]
    group: usize,
}

struct Writer {
    name: String,
    rows: Vec<Row>,
}

struct Chain {
    of_token: Vec<Vec<u32>>,
    of_pair: Vec<Vec<u32>>,
    secret: Vec<bool>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut writers = writers(&root.join(CORPUS));
    writers.push(talk(&root.join(TALK)));
    if arguments.iter().any(|it| it == "--leave-out") {
        leave_out(&writers, arguments.iter().any(|it| it == "--list"));
        return;
    }
    let all: Vec<&Writer> = writers.iter().collect();
    let (weights, words) = learned(&all);
    println!(
        "{} bytes and {} common words",
        weights.len(),
        words.len() / 4
    );
    fs::write(root.join(WEIGHTS), weights).expect("the weights are written");
    fs::write(root.join(WORDS), words).expect("the words are written");
}

/// What people say of themselves and of their work, but for what may be a secret.
fn talk(folder: &Path) -> Writer {
    const MAY_BE_SECRET: [&str; 30] = [
        "pass",
        "pw",
        "pin",
        "code",
        "secret",
        "token",
        "key",
        "login",
        "lock",
        "safe",
        "account",
        "iban",
        "card",
        "licen",
        "kennwort",
        "geheim",
        "schlüssel",
        "konto",
        "парол",
        "код",
        "ключ",
        "токен",
        "счёт",
        "contraseñ",
        "clave",
        "cuenta",
        "motdepasse",
        "mot de passe",
        "parol",
        "密码",
    ];
    let mut rows: Vec<Row> = writers(folder)
        .into_iter()
        .flat_map(|writer| writer.rows)
        .collect();
    rows.retain(|row| {
        let text = row.text.to_lowercase();
        !MAY_BE_SECRET.iter().any(|word| text.contains(word))
            && text.chars().filter(char::is_ascii_digit).count() < 6
    });
    Writer {
        name: "talk".to_owned(),
        rows,
    }
}

fn writers(folder: &Path) -> Vec<Writer> {
    let mut writers: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let entries = fs::read_dir(folder).expect("the corpus");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
    {
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let name = stem
            .split_once('-')
            .map_or(String::new(), |(_, name)| name.to_owned());
        let text = fs::read_to_string(path).expect("a file of the corpus");
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let rows = lines.map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}: {line}", path.display()))
        });
        writers.entry(name).or_default().extend(rows);
    }
    writers
        .into_iter()
        .map(|(name, rows)| Writer { name, rows })
        .collect()
}

/// Returns the files of weights and of common words.
fn learned(writers: &[&Writer]) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(7);
    let mut learner = Learner::new(BITS, SHRINK);
    let said = writers.iter().flat_map(|it| &it.rows);
    let words_file = training::common_words(said.map(|row| (row.text.as_str(), places(row, 0))));
    let common = Learned::new(&[], &words_file);
    let words = words(writers);
    let mut rows: Vec<Row> = Vec::new();
    let mut group = 0;
    let times = |writer: &Writer| {
        if writer.name.starts_with(PLAIN) {
            TIMES
        } else {
            1
        }
    };
    let said = writers
        .iter()
        .flat_map(|it| it.rows.iter().cycle().take(it.rows.len() * times(it)));
    for row in said {
        group += 1;
        let row = &Row {
            group,
            ..row.clone()
        };
        rows.push(row.clone());
        if row.secrets.is_empty() {
            let text = varying::wording(&row.text, &mut random);
            rows.push(Row {
                text: if random.chance(50) {
                    numbered(&text, &mut random)
                } else {
                    text.to_lowercase()
                },
                ..row.clone()
            });
            continue;
        }
        for _ in 0..VARIED {
            rows.push(varied(row, &words, &mut random));
        }
        rows.push(hidden(row));
    }
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(CORPUS)
            .join("frames.txt"),
    )
    .expect("the frames");
    let made = frames::messages(&text, &words, &mut random);
    rows.extend(made.into_iter().map(|it| Row {
        text: it.text,
        secrets: it.secrets,
        group: group + 1 + it.frame,
        ..Row::default()
    }));
    let talk: Vec<String> = rows
        .iter()
        .filter(|it| it.secrets.is_empty() && it.text.len() < 200 && !it.text.contains('\n'))
        .map(|it| it.text.clone())
        .collect();
    for row in &mut rows {
        if random.chance(AMID) {
            amid(row, &talk, &mut random);
        }
    }
    let mut chains: Vec<(usize, Chain)> = rows
        .iter()
        .filter_map(|row| Some((row.group, chain(row, &common, &learner)?)))
        .collect();
    let seen = seen(&chains);
    keep_seen(&mut chains, &seen);
    let mut order: Vec<usize> = (0..chains.len()).collect();
    for epoch in 0..EPOCHS {
        if epoch + 2 == EPOCHS {
            learner.prune();
        }
        random.shuffle(&mut order);
        for index in &order {
            step(&mut learner, &chains[*index].1);
        }
    }
    // What the tests promise holds.
    let promised = writers
        .iter()
        .flat_map(|it| &it.rows)
        .filter(|row| row.class == "test");
    let mut promised: Vec<(usize, Chain)> = promised
        .filter_map(|row| Some((0, chain(row, &common, &learner)?)))
        .collect();
    for _ in 0..PROMISED {
        random.shuffle(&mut promised);
        for (_, chain) in &promised {
            step(&mut learner, chain);
        }
    }
    (learner.file(), words_file)
}

/// Counts the messages of each feature.
fn seen(chains: &[(usize, Chain)]) -> Vec<u8> {
    let mut seen: Vec<(usize, u8)> = vec![(usize::MAX, 0); 1 << BITS];
    for (group, chain) in chains {
        for index in chain.of_token.iter().chain(&chain.of_pair).flatten() {
            let (last, count) = &mut seen[*index as usize];
            if *last != *group {
                *last = *group;
                *count = count.saturating_add(1);
            }
        }
    }
    seen.into_iter().map(|(_, count)| count).collect()
}

/// Leaves out the features of few messages, which say nothing about others.
fn keep_seen(chains: &mut [(usize, Chain)], seen: &[u8]) {
    for (_, chain) in chains {
        for features in chain.of_token.iter_mut().chain(&mut chain.of_pair) {
            features.retain(|index| seen[*index as usize] >= LEAST);
        }
    }
}

/// Puts other sentences around it.
fn amid(row: &mut Row, talk: &[String], random: &mut Random) {
    let joint = *random.one(&[". ", " ", "\n", ". ", ", "]);
    if random.chance(60) {
        row.text = format!(
            "{}{joint}{}",
            random.one(talk).trim_end_matches('.'),
            row.text
        );
    }
    if random.chance(60) {
        row.text = format!("{}{joint}{}", row.text, random.one(talk));
    }
}

/// Words of the corpus that a value may be made of.
fn words(writers: &[&Writer]) -> Vec<String> {
    let texts = writers
        .iter()
        .flat_map(|it| &it.rows)
        .filter(|row| row.secrets.is_empty());
    let words = texts.flat_map(|row| row.text.split(|c: char| !c.is_alphabetic()));
    let mut words: Vec<String> = words
        .filter(|it| {
            (4..=9).contains(&it.chars().count()) && it.chars().all(|c| u32::from(c) < 0x500)
        })
        .map(str::to_lowercase)
        .collect();
    words.sort();
    words.dedup();
    words
}

fn varied(row: &Row, words: &[String], random: &mut Random) -> Row {
    let mut new = row.clone();
    new.text = varying::wording(&new.text, random);
    for secret in &mut new.secrets {
        let value = varying::value(secret, words, random);
        if new.text.contains(secret.as_str()) && secret.chars().count() > 2 {
            new.text = new.text.replace(secret.as_str(), &value);
            *secret = value;
        }
    }
    if random.chance(15) {
        new.text = new.text.to_lowercase();
        new.secrets = new.secrets.iter().map(|it| it.to_lowercase()).collect();
    }
    new
}

/// What stands around a mask is no secret.
fn hidden(row: &Row) -> Row {
    let mut new = row.clone();
    for secret in &row.secrets {
        new.text = new.text.replace(secret.as_str(), MASK);
    }
    new.secrets.clear();
    new
}

/// Other digits in long rows of them.
fn numbered(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for word in &mut words {
        if word.bytes().filter(u8::is_ascii_digit).count() >= 4 {
            *word = varying::digits(word, random);
        }
    }
    words.join(" ")
}

fn chain(row: &Row, common: &Learned<'_>, learner: &Learner) -> Option<Chain> {
    let offset = if row.before.is_empty() {
        0
    } else {
        row.before.len() + 1
    };
    let text = if offset > 0 {
        format!("{}\n{}", row.before, row.text)
    } else {
        row.text.clone()
    };
    let example = training::example(&text, common)?;
    let places = places(row, offset);
    let is_secret = |place: &std::ops::Range<usize>| {
        places
            .iter()
            .any(|it| it.start < place.end && place.start < it.end)
    };
    let indexes = |features: Vec<Vec<_>>| {
        features
            .into_iter()
            .map(|it| it.into_iter().map(|it| learner.index(it)).collect())
            .collect()
    };
    Some(Chain {
        secret: example.places.iter().map(is_secret).collect(),
        of_token: indexes(example.of_token),
        of_pair: indexes(example.of_pair),
    })
}

/// Where the secrets stand, so many bytes further.
fn places(row: &Row, offset: usize) -> Vec<std::ops::Range<usize>> {
    let of = |secret: &String| {
        let found = row.text.match_indices(secret.as_str());
        found
            .map(|(at, it)| offset + at..offset + at + it.len())
            .collect::<Vec<_>>()
    };
    row.secrets.iter().flat_map(of).collect()
}

/// One step towards what is secret in a message.
fn step(learner: &mut Learner, chain: &Chain) {
    let scores: Vec<f32> = chain.of_token.iter().map(|it| learner.score(it)).collect();
    let pairs: Vec<f32> = chain.of_pair.iter().map(|it| learner.score(it)).collect();
    let (odds, both) = training::odds_of(&scores, &pairs);
    for i in 0..scores.len() {
        let is = chain.secret[i];
        let share = odds[i] / (1.0 + odds[i]);
        let gradient = f32::from(is) - share;
        if gradient.abs() > 0.002 {
            learner.step(&chain.of_token[i], gradient);
        }
        if i > 0 {
            let gradient = f32::from(is && chain.secret[i - 1]) - both[i];
            if gradient.abs() > 0.002 {
                learner.step(&chain.of_pair[i], gradient);
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    secrets: usize,
    masked: usize,
    whole: usize,
    harmless: usize,
    changed: usize,
    classes: BTreeMap<String, (usize, usize)>,
}

/// Says how good a model is on each writer whom it has not read.
fn leave_out(writers: &[Writer], lists: bool) {
    let left_out: Vec<&Writer> = writers
        .iter()
        .filter(|it| it.name != "tests" && it.rows.iter().any(|row| !row.secrets.is_empty()))
        .collect();
    let mut all = Tally::default();
    // A run holds the features of the whole corpus.
    let models = left_out.chunks(AT_ONCE).flat_map(|some| {
        std::thread::scope(|scope| {
            let run = |out: &str| {
                let others: Vec<&Writer> = writers.iter().filter(|it| it.name != out).collect();
                learned(&others)
            };
            let runs = some.iter().map(|out| scope.spawn(move || run(&out.name)));
            let runs: Vec<_> = runs.collect();
            let files = runs.into_iter().map(|it| it.join().expect("a run"));
            files.collect::<Vec<_>>()
        })
    });
    let results: Vec<Tally> = left_out
        .iter()
        .zip(models)
        .map(|(out, files)| tally(out, &files, lists))
        .collect();
    for (out, tally) in left_out.iter().zip(&results) {
        say(&out.name, tally);
        all.secrets += tally.secrets;
        all.masked += tally.masked;
        all.whole += tally.whole;
        all.harmless += tally.harmless;
        all.changed += tally.changed;
        for (class, (masked, of)) in &tally.classes {
            let sum = all.classes.entry(class.clone()).or_default();
            sum.0 += masked;
            sum.1 += of;
        }
    }
    for (class, (masked, of)) in &all.classes {
        println!("{class:<14} {masked:>4} of {of:>4}");
    }
    say("all", &all);
}

fn say(name: &str, it: &Tally) {
    let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
    println!(
        "{name:<8} masked {:.4} ({} of {}, {} to the end), harmless changed {:.4} ({} of {})",
        share(it.masked, it.secrets),
        it.masked,
        it.secrets,
        it.whole,
        share(it.changed, it.harmless),
        it.changed,
        it.harmless
    );
}

fn tally(writer: &Writer, (weights, words): &(Vec<u8>, Vec<u8>), lists: bool) -> Tally {
    let learned = Learned::new(weights, words);
    let mut tally = Tally::default();
    for row in &writer.rows {
        let masked = masked_by(&learned, &row.before, &row.text);
        if row.secrets.is_empty() {
            tally.harmless += 1;
            if masked != row.text {
                tally.changed += 1;
                if lists {
                    println!(
                        "changed {} {}: {masked:?}  <- {:?}",
                        writer.name, row.id, row.text
                    );
                }
            }
        }
        for secret in &row.secrets {
            let is_masked = !masked.contains(secret.as_str());
            let left = secret
                .split_whitespace()
                .filter(|part| part.chars().count() > 3 && masked.contains(*part))
                .count();
            tally.secrets += 1;
            tally.masked += usize::from(is_masked);
            tally.whole += usize::from(is_masked && left == 0);
            let class = tally.classes.entry(row.class.clone()).or_default();
            class.0 += usize::from(is_masked);
            class.1 += 1;
            if lists && !is_masked {
                println!(
                    "missed {} {} {}: {secret:?} in {:?} -> {masked:?}",
                    writer.name, row.id, row.class, row.text
                );
            }
        }
    }
    tally
}
