//! A question -> hits: BM25 on counts that take in the neighbours' words, and what else speaks for a message.
//!
//! ```text
//!  words(i)   = sum over terms of  idf * tf' * (K + 1) / (tf' + K * (1 - B + B * window / mean window))
//!  m(i)       = words(i) / best words  +  meaning * cosine, scaled to 0..1
//!  score(i)   = m(i) +- speaker + date + time - question + sitting * best m of the sitting
//! ```
//!
//! `tf'` counts a term in the message and, at the discounts of [`SPREAD`](super::index::SPREAD), in those around: the
//! answer often shares no word with the question, but the message before it does.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use super::dates::{self, Span};
use super::index::{Entry, LexicalIndex, REACH, Reach, SPREAD};
use super::names::{self, Named};
use super::postings::Postings;
use super::terms::{Purpose, terms};
use crate::search::{Cosines, Hit, Weights};

const K: f32 = 0.6;
const B: f32 = 0.2;
/// Cosines closer together than this are not stretched over the whole scale.
const LEAST_RANGE: f32 = 0.3;

/// What a question asks, as far as the index can tell.
struct Question<'a> {
    /// The terms the index has, with their weights.
    terms: Vec<(&'a Postings, f32)>,
    /// What a message with all terms, also those the index has not, could reach.
    most: f32,
    named: Vec<Named>,
    dates: Vec<Span>,
    asks_when: bool,
}

pub(super) fn search(
    index: &LexicalIndex,
    question: &str,
    cosines: Option<Cosines<'_>>,
    weights: &Weights,
    k: usize,
    filter: &dyn Fn(u32) -> bool,
) -> Vec<Hit> {
    let question = read(index, question);
    let words = words(index, &question.terms);
    let m = matches(index, &words, cosines, weights);
    let most_signs = weights.speaker + weights.time;
    let mut first = First::new(k);
    for sitting in sittings(index) {
        let best = m[sitting.clone()].iter().copied().fold(0.0, f32::max);
        let share = weights.sitting * best;
        if question.dates.is_empty() && (best <= 0.0 || !first.admits(best + share + most_signs)) {
            continue;
        }
        for at in sitting {
            let entry = &index.entries[at];
            let date = entry.at.map_or(0.0, |at| dates::value(&question.dates, at));
            let sure = m[at] + share + weights.date * date;
            if entry.is_withdrawn || sure <= 0.0 || !first.admits(sure + most_signs) {
                continue;
            }
            first.offer(at, sure + signs(entry, &question, weights), filter);
        }
    }
    first.into_hits(|place| overlap(&question, &words, place))
}

/// The places of each sitting.
fn sittings(index: &LexicalIndex) -> impl Iterator<Item = Range<usize>> {
    let starts = index.sittings.iter().map(|start| *start as usize);
    let ends = starts.clone().skip(1).chain([index.entries.len()]);
    starts.zip(ends).map(|(start, end)| start..end)
}

fn overlap(question: &Question<'_>, words: &[f32], place: u32) -> f32 {
    match question.most {
        most if most > 0.0 => (words[place as usize] / most).min(1.0),
        _ => 0.0,
    }
}

fn read<'a>(index: &'a LexicalIndex, question: &str) -> Question<'a> {
    let mut asked = BTreeSet::new();
    terms(&index.lists, question, Purpose::Ask, |term| {
        if !asked.contains(term) {
            asked.insert(term.to_owned());
        }
    });
    let mut found = Vec::new();
    let mut most = 0.0;
    for term in &asked {
        let postings = index.terms.get(term.as_str());
        let weight = rarity(index.n_messages, postings.map_or(0, Postings::messages));
        most += weight * (K + 1.0);
        found.extend(postings.map(|postings| (postings, weight)));
    }
    let asks_when = index.lists.asks_when.as_ref();
    Question {
        terms: found,
        most,
        named: names::named(&index.lists, &index.speakers, question),
        dates: spans(index, question),
        asks_when: asks_when.is_some_and(|pattern| pattern.is_match(question)),
    }
}

fn spans(index: &LexicalIndex, question: &str) -> Vec<Span> {
    let Some((earliest, latest)) = index.times else {
        return Vec::new();
    };
    dates::spans(&dates::dates(&index.lists, question), earliest, latest)
}

/// How much it tells that a message has a term: the logarithm of how few have it.
#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more")]
fn rarity(n_messages: u32, with: u32) -> f32 {
    let (all, with) = (f64::from(n_messages), f64::from(with));
    ((all - with + 0.5) / (with + 0.5)).ln_1p() as f32
}

/// The words of the question in each message and around it.
#[expect(clippy::cast_possible_truncation, reason = "a mean needs no more")]
fn words(index: &LexicalIndex, terms: &[(&Postings, f32)]) -> Vec<f32> {
    let mean = (index.length / f64::from(index.n_messages.max(1))).max(1e-3) as f32;
    let (constant, slope) = (K * (1.0 - B), K * B / mean);
    let mut sums = vec![0.0; index.entries.len()];
    for (postings, weight) in terms {
        let most = weight * (K + 1.0);
        spread(postings, &index.reaches, |at, count| {
            sums[at] += most * count / (count + constant + slope * index.windows[at]);
        });
    }
    sums
}

/// Hands over each place that a term counts for and how much it does, in order: a posting counts for its neighbours,
/// and a place is done when no later posting can reach it.
fn spread(postings: &Postings, reaches: &[Reach], mut take: impl FnMut(usize, f32)) {
    /// At least the places one posting reaches, and a power of two.
    const RING: usize = 8;
    let mut ring = [0.0; RING];
    let mut open = 0..0;
    for (place, count) in postings.iter() {
        let place = place as usize;
        let around = reaches[place].around(place);
        while open.start < open.end.min(*around.start()) {
            take(open.start, std::mem::take(&mut ring[open.start % RING]));
            open.start += 1;
        }
        open = *around.start()..around.end() + 1;
        for at in around {
            ring[at % RING] += SPREAD[at + REACH - place] * count;
        }
    }
    for at in open {
        take(at, ring[at % RING]);
    }
}

/// Words and meaning of each message, each scaled; 0 of those withdrawn.
fn matches(
    index: &LexicalIndex,
    words: &[f32],
    cosines: Option<Cosines<'_>>,
    weights: &Weights,
) -> Vec<f32> {
    let live = |(entry, words): (&Entry, &f32)| if entry.is_withdrawn { 0.0 } else { *words };
    let mut m: Vec<f32> = index.entries.iter().zip(words).map(live).collect();
    let best = m.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for words in &mut m {
        *words /= best;
    }
    for (place, scaled) in cosines.map_or_else(Vec::new, |cosines| scaled(index, cosines)) {
        m[place as usize] += weights.meaning * scaled;
    }
    m
}

/// The cosines of messages not withdrawn, from 0 for the least to 1 for the greatest.
fn scaled(index: &LexicalIndex, cosines: Cosines<'_>) -> Vec<(u32, f32)> {
    let mut known: Vec<(u32, f32)> = match cosines {
        Cosines::Nearest(nearest) => nearest.to_vec(),
        Cosines::Every(of) => (0..index.len())
            .filter_map(|place| Some((place, of(place)?)))
            .collect(),
    };
    known.retain(|(place, cosine)| {
        let entry = index.entries.get(*place as usize);
        cosine.is_finite() && entry.is_some_and(|entry| !entry.is_withdrawn)
    });
    let cosines = known.iter().map(|(_, cosine)| *cosine);
    let least = cosines.clone().fold(f32::INFINITY, f32::min);
    let range = (cosines.fold(f32::NEG_INFINITY, f32::max) - least).max(LEAST_RANGE);
    for (_, cosine) in &mut known {
        *cosine = (*cosine - least) / range;
    }
    known
}

/// What speaks for or against a message apart from words, meaning and date.
fn signs(entry: &Entry, question: &Question<'_>, weights: &Weights) -> f32 {
    let named = match entry.speaker {
        0 => Named::Nobody,
        speaker => question.named[speaker as usize - 1],
    };
    let speaker = match named {
        Named::This => weights.speaker,
        Named::Other => -weights.speaker,
        Named::Nobody => 0.0,
    };
    let time = if question.asks_when && entry.says_when {
        weights.time
    } else {
        0.0
    };
    let asks = if entry.is_question {
        -weights.question
    } else {
        0.0
    };
    speaker + time + asks
}

/// The first `k` so far, the worst on top.
struct First {
    k: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

/// Better is greater: the higher score, then the earlier message.
#[derive(Clone, Copy, PartialEq)]
struct Ranked {
    score: f32,
    place: u32,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then(other.place.cmp(&self.place))
    }
}

impl First {
    fn new(k: usize) -> Self {
        Self {
            k,
            heap: BinaryHeap::new(),
        }
    }

    /// Whether a message after those offered would be among the first with this score.
    fn admits(&self, score: f32) -> bool {
        self.heap.len() < self.k || self.heap.peek().is_some_and(|worst| score > worst.0.score)
    }

    /// Takes a message after those offered, if it is among the first; only then the filter is asked.
    fn offer(&mut self, at: usize, score: f32, filter: &dyn Fn(u32) -> bool) {
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        if !self.admits(score) || !filter(place) {
            return;
        }
        if self.heap.len() == self.k {
            self.heap.pop();
        }
        self.heap.push(Reverse(Ranked { score, place }));
    }

    fn into_hits(self, overlap: impl Fn(u32) -> f32) -> Vec<Hit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse(Ranked { score, place })| Hit {
                place,
                score,
                overlap: overlap(place),
            })
            .collect()
    }
}
