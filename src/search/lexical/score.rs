//! A question -> hits: BM25 on counts that take in the neighbours' words, and what else speaks for a message.
//!
//! ```text
//!  words(i)   = sum over terms of  idf * tf' * (K + 1) / (tf' + K * (1 - B + B * window / mean window))
//!  m(i)       = words(i) / best words  +  meaning * cosine, scaled to 0..1
//!  score(i)   = m(i) +- speaker + date + time - question + substance + sitting * best m of the sitting
//! ```
//!
//! `tf'` counts a term in the message and, at the discounts of [`Reach::share`], in those around: the
//! answer often shares no word with the question, but the message before it does.

use std::ops::Range;

use super::dates;
use super::first::First;
use super::index::{Entry, LexicalIndex, Reach, approximate};
use super::names::Named;
use super::postings::Postings;
use super::question::Question;
use crate::search::{Cosines, Hit, Weights};

const K: f32 = 0.6;
const B: f32 = 0.2;
/// A message of so many terms has substance.
const SUBSTANCE: f32 = 10.0;
/// Cosines closer together than this are not stretched over the whole scale.
const LEAST_RANGE: f32 = 0.3;

pub(super) fn search(
    index: &LexicalIndex,
    question: &str,
    cosines: Option<Cosines<'_>>,
    weights: &Weights,
    k: usize,
    filter: &dyn Fn(u32) -> bool,
) -> Vec<Hit> {
    let question = Question::read(index, question);
    let words = words(index, &question.terms);
    let m = matches(index, &words, cosines, weights);
    let most_signs = weights.speaker + weights.time + weights.substance;
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
    let most = question.most * (K + 1.0);
    if most > 0.0 {
        (words[place as usize] / most).min(1.0)
    } else {
        0.0
    }
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
        let reach = reaches[place];
        let around = reach.around(place);
        while open.start < open.end.min(*around.start()) {
            take(open.start, std::mem::take(&mut ring[open.start % RING]));
            open.start += 1;
        }
        open = *around.start()..around.end() + 1;
        for at in around {
            ring[at % RING] += reach.share(place, at) * count;
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
    let speaker = match spoken_of(entry, question) {
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
    let substance = weights.substance * (approximate(entry.length) / SUBSTANCE).min(1.0);
    speaker + time + asks + substance
}

/// Whether the question speaks of who said this message; a name tells more than "I" and "you", which never speak
/// against a message: who asks about "my sister" may ask for what the other said of her.
fn spoken_of(entry: &Entry, question: &Question<'_>) -> Named {
    let by_name = match entry.speaker {
        0 => Named::Nobody,
        speaker => question.named[speaker as usize - 1],
    };
    match (by_name, question.voice, entry.voice) {
        (Named::Nobody, Some(asked), Some(said)) if asked == said => Named::This,
        (by_name, ..) => by_name,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::search::{Document, Lists};
    use proptest::prelude::*;

    /// A message of single letters that are no stop words, and how many sittings were before it.
    type Said = (String, i64);

    /// The formula at the head of this file, term by term and message by message.
    fn plainly(said: &[Said], withdrawn: u32, asked: &BTreeMap<&str, f32>) -> Vec<f32> {
        let count = |at: usize, term: &str| -> f32 {
            let words = said[at].0.split(' ').filter(|word| *word == term);
            if at == withdrawn as usize {
                0.0
            } else {
                words.map(|_| 1.0).sum()
            }
        };
        let share = |from: usize, to: usize| match from.abs_diff(to) {
            _ if said[from].1 != said[to].1 => 0.0,
            0 => 1.0,
            1 if to > from && said[from].0.ends_with('?') => 0.65,
            1 if to > from => 0.5,
            1 => 0.4,
            2 => 0.2,
            _ => 0.0,
        };
        let around = |at: usize, term: &str| -> f32 {
            (0..said.len())
                .map(|from| share(from, at) * count(from, term))
                .sum()
        };
        let letters = ["b", "c", "d", "f", "g"];
        let window = |at: usize| -> f32 { letters.iter().map(|letter| around(at, letter)).sum() };
        let live: Vec<f32> = (0..said.len())
            .filter(|at| *at != withdrawn as usize)
            .map(window)
            .collect();
        let mean =
            live.iter().sum::<f32>() / approximate(u32::try_from(live.len()).unwrap()).max(1.0);
        let score = |at: usize| -> f32 {
            let one = |(term, weight): (&&str, &f32)| {
                let count = around(at, term);
                let length = 1.0 - B + B * window(at) / mean.max(1e-3);
                if count > 0.0 {
                    weight * count * (K + 1.0) / (count + K * length)
                } else {
                    0.0
                }
            };
            asked.iter().map(one).sum()
        };
        (0..said.len()).map(score).collect()
    }

    proptest! {
        #[test]
        fn words_count_as_the_formula_says(
            said in prop::collection::vec(("([bcdfg] ){0,5}[bcdfg?]", 0..2_i64), 1..20),
            withdrawn in 0..25_u32,
        ) {
            let mut sitting = 0;
            let said: Vec<Said> = said
                .into_iter()
                .map(|(text, gap)| {
                    sitting += gap;
                    (text, sitting)
                })
                .collect();
            let mut index = LexicalIndex::new(Lists::parse("{}").unwrap());
            for (text, sitting) in &said {
                index.push(Document {
                    text,
                    at: Some(sitting * 10_000),
                    ..Document::default()
                });
            }
            index.withdraw(withdrawn);
            let weights = BTreeMap::from([("b", 1.5), ("f", 0.5)]);
            let terms: Vec<_> = weights
                .iter()
                .filter_map(|(term, weight)| Some((index.terms.get(*term)?, *weight)))
                .collect();
            let plain = plainly(&said, withdrawn, &weights);
            for (found, expected) in words(&index, &terms).iter().zip(plain) {
                prop_assert!((found - expected).abs() < 1e-3, "{found} {expected}");
            }
        }
    }
}
