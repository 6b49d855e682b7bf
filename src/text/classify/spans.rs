//! Which words of a sentence say what: an objective, a constraint, the reason of a decision. Unit: one sentence.
//!
//! ```text
//!  sentence -> tokens, concepts -> features of each token, its clause, the sentence -> begins, goes on or none -> spans
//! ```
//! A linear chain over hashed features, learned from `tests/tracking` and `benches/corpus` by
//! `cargo bench --bench train_tracking`. Pure, deterministic, and linear in the length of the sentence.

use std::ops::Range;

use super::concepts::Concepts;
use super::tokens::{Form, Tokens};
use super::{Classifier, Reading};
use crate::text::is_function_word;
use crate::text::linear::{Feature, hash_of};

/// Begins the file of a table.
pub const MAGIC: [u8; 4] = *b"SPN1";
/// Rows of a bucket.
pub const WAYS: usize = 3;
/// Tokens of a sentence that are read.
const MAX: usize = 400;
/// What stands for a token that is no concept.
const OTHER: u8 = u8::MAX;

/// A sentence, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Line<'t> {
    pub text: &'t str,
    /// Byte of the message where it begins.
    pub at: usize,
    pub asks: bool,
    /// Of a list, under this heading.
    pub item: bool,
    pub heading: Option<&'t str>,
}

/// What of a sentence features tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Its words, whatever their letters.
    Words,
    /// Its capitals, too, and how common its words are: names and subjects are told by them.
    Letters,
}

/// Words that say something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Number of the label in the table.
    pub label: usize,
    /// Where it stands in the sentence.
    pub place: Range<usize>,
}

/// Features of a sentence: those that count for all of it, those of its clauses, those of its tokens.
#[derive(Debug, Default)]
pub struct Features {
    pub sentence: Vec<u64>,
    /// The first token behind each clause, and its features.
    pub clauses: Vec<(usize, Vec<u64>)>,
    pub tokens: Vec<Vec<u64>>,
    /// Where each token stands.
    pub places: Vec<Range<usize>>,
}

/// The bit of a feature that says whether it is of single words.
pub const OF_WORDS: u64 = 1;

fn feature(kind: u8, one: u64, other: u64) -> u64 {
    let of_words = matches!(kind, 20..=22 | 25 | 26 | 40..=49 | 60 | 61 | 67 | 68);
    Feature::new(kind, one, other).index(64) as u64 & !OF_WORDS | u64::from(of_words)
}

impl Classifier {
    /// Takes a sentence of a message apart, of which it is known what it is.
    pub fn features(&self, line: &Line<'_>, reading: &Reading, seen: Seen) -> Features {
        let tokens = Tokens::of(line.text);
        let n = tokens.all.len().min(MAX);
        let concepts = self.concepts.each(&tokens, n);
        let leads = self.leads.each(&tokens, n);
        let mut features = Features {
            places: (0..n).map(|i| tokens.place(line.text, i..i + 1)).collect(),
            ..Features::default()
        };
        sentence(
            &mut features.sentence,
            line,
            reading,
            &self.leads,
            &concepts,
        );
        bag(&mut features.sentence, 100, &leads, 0..n);
        let mut before = 0;
        for place in tokens.clauses(0..n) {
            let mut clause = Vec::new();
            put_clause(&mut clause, &tokens, &concepts, place.clone(), before);
            bag(&mut clause, 110, &leads, place.clone());
            before = tokens.all[place.start].id;
            features.clauses.push((place.end, clause));
        }
        let letters =
            (seen == Seen::Letters).then(|| self.letters(line.text, &tokens, &features.places));
        for i in 0..n {
            let mut of_token = token(&tokens, i, n);
            if let Some(letters) = &letters {
                put_letters(&mut of_token, &tokens, letters, i);
            }
            context(&mut of_token, 70, &concepts, i);
            context(&mut of_token, 85, &leads, i);
            features.tokens.push(of_token);
        }
        features
    }
}

impl Classifier {
    /// Returns how each token is written, and how common it is.
    fn letters(&self, text: &str, tokens: &Tokens, places: &[Range<usize>]) -> Vec<(u64, u64)> {
        let places = places.iter().enumerate();
        let letters =
            places.map(|(i, place)| (shape(&text[place.clone()]), self.commonness(tokens, i)));
        letters.collect()
    }

    /// Tells a word that says little by itself, one that strangers typed too, and one that hardly anybody types.
    fn commonness(&self, tokens: &Tokens, i: usize) -> u64 {
        match tokens.all[i].form {
            Form::Sign | Form::Break => 0,
            Form::Number => 1,
            Form::Word | Form::Han if is_function_word(tokens.folded(i..i + 1)) => 2,
            Form::Word | Form::Han if self.has_read(tokens.all[i].id) => 3,
            Form::Word | Form::Han => 4,
        }
    }
}

fn sentence(
    put: &mut Vec<u64>,
    line: &Line<'_>,
    reading: &Reading,
    known: &Concepts,
    concepts: &[u8],
) {
    let place = line.at..line.at + line.text.len();
    let kind = reading
        .kept_in(&place)
        .map_or(u64::MAX, |it| it.kind as u64);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few steps"
    )]
    let sure = (reading.score(&place).clamp(-4.0, 4.0) + 4.0) as u64;
    put.push(feature(1, 0, 0));
    put.push(feature(2, u64::from(line.asks), 0));
    put.push(feature(3, u64::from(line.item), 0));
    put.push(feature(
        4,
        reading.kind as u64,
        u64::from(reading.kept.is_empty()),
    ));
    put.push(feature(5, kind, 0));
    put.push(feature(6, sure, 0));
    put.push(feature(7, concepts.len().ilog2().into(), 0));
    if let Some(heading) = line.heading {
        let tokens = Tokens::of(heading);
        for token in &tokens.all {
            put.push(feature(8, token.id, 0));
        }
        for said in known.said(&tokens) {
            put.push(feature(9, said.what.into(), 0));
        }
    }
    for what in concepts.iter().filter(|it| **it != OTHER) {
        put.push(feature(10, (*what).into(), 0));
    }
}

fn put_clause(
    put: &mut Vec<u64>,
    tokens: &Tokens,
    concepts: &[u8],
    clause: Range<usize>,
    before: u64,
) {
    let all = &tokens.all[clause.clone()];
    put.push(feature(20, before, 0));
    for (i, token) in all.iter().enumerate() {
        put.push(feature(21, token.id, 0));
        if let Some(next) = all.get(i + 1) {
            put.push(feature(22, token.id, next.id));
        }
    }
    let said: Vec<u64> = concepts[clause]
        .iter()
        .filter(|it| **it != OTHER)
        .map(|it| u64::from(*it))
        .collect();
    for (i, what) in said.iter().enumerate() {
        put.push(feature(23, *what, 0));
        if let Some(next) = said.get(i + 1) {
            put.push(feature(24, *what, *next));
        }
    }
    let first = |i: usize| all.get(i).map_or(0, |it| it.id);
    put.push(feature(25, first(0), first(1)));
    put.push(feature(26, first(1), first(2)));
}

/// Concepts around a token, and those that were said last.
fn context(put: &mut Vec<u64>, kind: u8, concepts: &[u8], i: usize) {
    let c = |by: isize| {
        let place = i.checked_add_signed(by);
        place
            .and_then(|it| concepts.get(it))
            .map_or(254, |it| u64::from(*it))
    };
    put.push(feature(kind, c(0), 0));
    put.push(feature(kind + 1, c(-1), 0));
    put.push(feature(kind + 2, c(1), 0));
    put.push(feature(kind + 3, c(-1), c(0)));
    put.push(feature(kind + 4, c(0), c(1)));
    put.push(feature(kind + 5, c(-2), c(-1)));
    put.push(feature(kind + 6, c(-3) << 8 | c(-2), c(-1)));
    let known = |it: &&u8| **it != OTHER;
    let mut last = concepts[..i]
        .iter()
        .rev()
        .filter(known)
        .map(|it| u64::from(*it));
    let mut last = || last.next().unwrap_or(254);
    let (one, two, three) = (last(), last(), last());
    put.push(feature(kind + 7, one, 0));
    put.push(feature(kind + 8, one, two));
    put.push(feature(kind + 9, one << 8 | two, three));
    let next = concepts[i + 1..].iter().find(known);
    put.push(feature(
        kind + 10,
        next.map_or(254, |it| u64::from(*it)),
        c(0),
    ));
}

/// Concepts of some tokens, whatever their order, and each with the next.
fn bag(put: &mut Vec<u64>, kind: u8, concepts: &[u8], tokens: Range<usize>) {
    let said = concepts[tokens].iter().filter(|it| **it != OTHER);
    let said: Vec<u64> = said.map(|it| u64::from(*it)).collect();
    for (i, what) in said.iter().enumerate() {
        put.push(feature(kind, *what, 0));
        if let Some(next) = said.get(i + 1) {
            put.push(feature(kind + 1, *what, *next));
        }
    }
    put.push(feature(
        kind + 2,
        said.first().copied().unwrap_or(254),
        said.get(1).copied().unwrap_or(254),
    ));
}

fn token(tokens: &Tokens, i: usize, n: usize) -> Vec<u64> {
    let mut put = Vec::with_capacity(32);
    let place = |by: isize| i.checked_add_signed(by).filter(|it| *it < n);
    let w = |by: isize| place(by).map_or(by.unsigned_abs() as u64, |it| tokens.all[it].id);
    put.push(feature(40, w(0), 0));
    put.push(feature(41, w(-1), 0));
    put.push(feature(42, w(1), 0));
    put.push(feature(43, w(-2), 0));
    put.push(feature(44, w(2), 0));
    put.push(feature(45, w(-1), w(0)));
    put.push(feature(46, w(0), w(1)));
    put.push(feature(47, w(-2), w(-1)));
    put.push(feature(48, w(1), w(2)));
    put.push(feature(49, hash_of([w(-3), w(-2)].into_iter()), w(-1)));
    let word = tokens.folded(i..i + 1);
    let head = word.char_indices().nth(4).map_or(word.len(), |it| it.0);
    put.push(feature(60, hash_of(word[..head].bytes().map(u64::from)), 0));
    let tail = word.char_indices().rev().nth(2).map_or(0, |it| it.0);
    put.push(feature(61, hash_of(word[tail..].bytes().map(u64::from)), 0));
    put.push(feature(62, tokens.all[i].form as u64, i.min(3) as u64));
    put.push(feature(
        63,
        tokens.all[i].form as u64,
        place(-1).map_or(9, |it| tokens.all[it].form as u64),
    ));
    put
}

/// How a token is written: small, with a capital, all in capitals, a capital inside, or otherwise.
fn shape(token: &str) -> u64 {
    let mut letters = token.chars().filter(|c| c.is_alphabetic());
    let Some(first) = letters.next() else {
        return 0;
    };
    let rest: Vec<bool> = letters.map(char::is_uppercase).collect();
    match (first.is_uppercase(), rest.iter().any(|it| *it)) {
        (false, false) => 1,
        (true, false) => 2,
        (true, true) if rest.iter().all(|it| *it) => 3,
        _ => 4,
    }
}

fn put_letters(put: &mut Vec<u64>, tokens: &Tokens, letters: &[(u64, u64)], i: usize) {
    let at = |by: isize| i.checked_add_signed(by);
    let of = |by: isize| {
        at(by)
            .and_then(|it| letters.get(it))
            .copied()
            .unwrap_or((9, 7))
    };
    let w = |by: isize| {
        at(by)
            .and_then(|it| tokens.all.get(it))
            .map_or(0, |it| it.id)
    };
    let [two, one, here, next, after] = [-2, -1, 0, 1, 2].map(of);
    let begins = i == 0 || matches!(tokens.all[i - 1].form, Form::Sign | Form::Break);
    put.push(feature(50, here.1, 0));
    put.push(feature(51, one.1 << 4 | here.1, 0));
    put.push(feature(52, here.1 << 4 | next.1, 0));
    put.push(feature(53, two.1 << 8 | one.1 << 4 | here.1, next.1));
    put.push(feature(54, one.1 << 8 | here.1 << 4 | next.1, after.1));
    put.push(feature(64, here.0, u64::from(begins)));
    put.push(feature(65, here.0 << 4 | one.0, u64::from(i == 0)));
    put.push(feature(66, here.0 << 4 | next.0, u64::from(i == 0)));
    put.push(feature(67, here.0, w(-1)));
    put.push(feature(68, here.0, w(1)));
    put.push(feature(69, here.0 << 8 | one.0 << 4 | next.0, two.0));
}

/// Weights of features for each tag of a table: none, then for each label that it begins and that it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Table<'w> {
    tags: usize,
    scale: f32,
    transitions: &'w [u8],
    rows: &'w [u8],
}

/// `magic | tags, u8 | scale, f32 | transitions, i8 each, of a row and a column a tag | buckets of rows: check, u16, and a weight, i8, a tag`
impl<'w> Table<'w> {
    /// Reads a file that the trainer made; one of another form marks nothing.
    pub fn new(file: &'w [u8]) -> Self {
        let read = || {
            let rest = file.strip_prefix(&MAGIC)?;
            let (tags, rest) = rest.split_first()?;
            let (scale, rest) = rest.split_first_chunk::<4>()?;
            let tags = usize::from(*tags);
            let (transitions, rows) = rest.split_at_checked(tags * tags)?;
            let bucket = WAYS * (tags + 2);
            let whole = rows.len() % bucket == 0 && (rows.len() / bucket).is_power_of_two();
            whole.then_some(Self {
                tags,
                scale: f32::from_le_bytes(*scale),
                transitions,
                rows,
            })
        };
        read().unwrap_or(Self {
            tags: 1,
            scale: 0.0,
            transitions: &[0],
            rows: &[],
        })
    }

    fn add(&self, features: &[u64], sums: &mut [i32]) {
        let row = self.tags + 2;
        let buckets = self.rows.len() / (row * WAYS);
        if buckets == 0 {
            return;
        }
        for feature in features {
            #[expect(clippy::cast_possible_truncation, reason = "the lower bits")]
            let (bucket, check) = (
                (feature >> 16) as usize & (buckets - 1),
                (*feature as u16).to_le_bytes(),
            );
            let bucket = &self.rows[bucket * row * WAYS..(bucket + 1) * row * WAYS];
            for one in bucket.chunks_exact(row) {
                if one[..2] == check {
                    for (sum, weight) in sums.iter_mut().zip(&one[2..]) {
                        *sum += i32::from(weight.cast_signed());
                    }
                    break;
                }
            }
        }
    }

    /// Marks a sentence; `reserve` is what a span has to say more than nothing would.
    pub fn mark(&self, features: &Features, reserve: f32) -> Vec<Span> {
        let (n, tags) = (features.tokens.len(), self.tags);
        if n == 0 || tags < 2 {
            return Vec::new();
        }
        #[expect(clippy::cast_possible_truncation, reason = "a few steps of the scale")]
        let reserve = (reserve / self.scale.max(1e-6)) as i32;
        let mut whole = vec![0; tags];
        self.add(&features.sentence, &mut whole);
        whole[0] += reserve;
        let transition =
            |from: usize, to: usize| i32::from(self.transitions[from * tags + to].cast_signed());
        let mut best: Vec<i32> = Vec::new();
        let mut from: Vec<u8> = Vec::with_capacity(n * tags);
        let mut clauses = features.clauses.iter();
        let mut of_clause = whole.clone();
        let mut end = 0;
        for (i, token) in features.tokens.iter().enumerate() {
            if i == end
                && let Some((next, clause)) = clauses.next()
            {
                of_clause.copy_from_slice(&whole);
                self.add(clause, &mut of_clause);
                end = *next;
            }
            let mut sums = of_clause.clone();
            self.add(token, &mut sums);
            if i == 0 {
                for tag in (2..tags).step_by(2) {
                    sums[tag] = NEVER;
                }
                best = sums;
                from.extend(std::iter::repeat_n(0, tags));
                continue;
            }
            let mut now = vec![0; tags];
            for to in 0..tags {
                let goes_on = to > 0 && to % 2 == 0;
                let candidates = if goes_on { to - 1..to + 1 } else { 0..tags };
                let score = |tag: usize| best[tag].saturating_add(transition(tag, to));
                let chosen = candidates
                    .max_by_key(|tag| (score(*tag), std::cmp::Reverse(*tag)))
                    .unwrap_or(0);
                now[to] = score(chosen).saturating_add(sums[to]);
                from.push(u8::try_from(chosen).unwrap_or(0));
            }
            best = now;
        }
        let mut tag = (0..tags)
            .max_by_key(|tag| (best[*tag], std::cmp::Reverse(*tag)))
            .unwrap_or(0);
        let mut spans: Vec<Span> = Vec::new();
        let mut end = None;
        for i in (0..n).rev() {
            if tag > 0 {
                let end = *end.get_or_insert(features.places[i].end);
                if tag % 2 == 1 {
                    spans.push(Span {
                        label: tag / 2,
                        place: features.places[i].start..end,
                    });
                }
            }
            if tag == 0 || tag % 2 == 1 {
                end = None;
            }
            tag = usize::from(from[i * tags + tag]);
        }
        spans.reverse();
        spans
    }
}

const NEVER: i32 = i32::MIN / 2;
