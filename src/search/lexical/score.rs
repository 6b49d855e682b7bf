//! A question -> hits: BM25 on counts that take in the neighbours' words, meaning, and what else speaks for a message.
//!
//! ```text
//!  words(i)   = sum over terms of  idf * tf' * (K + 1) / (tf' + K * (1 - B + B * window / mean window))
//!  w(i)       = words(i) / best words
//!  c(i)       = the cosine of i, from 0 for the hundredth nearest to 1 for the nearest
//!  S          = BM25 of its whole sitting / that of the best sitting
//!  score(i)   = w + best w of the sitting + S + c + best c of the sitting + c(i-1) + c(i+1)
//!               +- speaker + date + time - question + substance + first person - second person, each times its weight
//! ```
//!
//! `tf'` counts a term in the message and, at the discounts of [`Reach::share`], in those around: the
//! answer often shares no word with the question, but the message before it does. The weights with meaning were fitted on
//! the development half of the evidence data, leaving out one conversation at a time (docs/RECALL.md).

use std::ops::Range;

use super::dates;
use super::first::First;
use super::index::{Entry, LexicalIndex, Persons, Reach, approximate};
use super::names::Named;
use super::postings::Postings;
use super::question::{Question, Term, rarity_of};
use crate::search::Hit;

const K: f32 = 0.6;
const B: f32 = 0.2;
/// Of whole sittings.
const SITTING_K: f32 = 1.2;
const SITTING_B: f32 = 0.75;
/// A message of so many terms has substance.
const SUBSTANCE: f32 = 10.0;
/// The scale of cosines begins at the one that is the so-manieth from the nearest.
const NEAREST: usize = 100;
/// Where fewer are known, the scale begins no higher than here: the least of a few is no background.
const BACKGROUND: f32 = 0.1;

/// What each sign that a message is the one asked for adds to its score, where the words of the best message count 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weights {
    /// Nearness by meaning: its own, that of the best message of its sitting, of the messages before and after it.
    meaning: f32,
    sitting_meaning: f32,
    before: f32,
    after: f32,
    /// Words of the best message of its sitting.
    sitting: f32,
    /// Words of its sitting as one text.
    sitting_words: f32,
    /// The question names who said it, or says "I" of a message of the user or "you" of the assistant's; taken away
    /// where it names somebody else.
    speaker: f32,
    /// It was said at the date in the question.
    date: f32,
    /// The question wants a time and the message tells one.
    time: f32,
    /// The message is itself a question; taken away.
    question: f32,
    /// It has enough words of its own to say something.
    substance: f32,
    /// It speaks of who says it.
    first: f32,
    /// It speaks of who is spoken to; taken away.
    second: f32,
}

impl Weights {
    /// For words alone.
    const WORDS: Self = Self {
        meaning: 0.0,
        sitting_meaning: 0.0,
        before: 0.0,
        after: 0.0,
        sitting: 0.4,
        sitting_words: 0.0,
        speaker: 0.3,
        date: 0.5,
        time: 0.3,
        question: 0.2,
        substance: 0.2,
        first: 0.0,
        second: 0.0,
    };
    /// For words and meaning.
    const FUSED: Self = Self {
        meaning: 0.615,
        sitting_meaning: 0.358,
        before: 0.123,
        after: 0.177,
        sitting: 0.0,
        sitting_words: 0.197,
        speaker: 0.349,
        date: 0.911,
        time: 0.436,
        question: 0.247,
        substance: 0.248,
        first: 0.156,
        second: 0.109,
    };
    /// The same where nobody's name is known: a person and an assistant.
    const FUSED_UNNAMED: Self = Self {
        meaning: 0.668,
        sitting_meaning: 0.347,
        before: 0.039,
        after: 0.112,
        sitting: 0.0,
        sitting_words: 0.197,
        speaker: 0.0,
        date: 0.950,
        time: 0.457,
        question: 0.332,
        substance: 0.281,
        first: 0.162,
        second: 0.156,
    };

    fn of(index: &LexicalIndex, has_meaning: bool) -> &'static Self {
        match (has_meaning, index.speakers.is_empty()) {
            (false, _) => &Self::WORDS,
            (true, false) => &Self::FUSED,
            (true, true) => &Self::FUSED_UNNAMED,
        }
    }

    /// What [`signs`] adds at most.
    fn most_signs(&self) -> f32 {
        self.speaker + self.time + self.substance + self.first
    }
}

pub(super) fn search(
    index: &LexicalIndex,
    question: &str,
    nearest: &[(u32, f32)],
    k: usize,
    filter: &dyn Fn(u32) -> bool,
) -> Vec<Hit> {
    let question = Question::read(index, question);
    let words = words(index, &question.terms);
    let scaled = scaled(index, &words);
    let closeness = closeness(index, nearest);
    let weights = Weights::of(index, !closeness.is_empty());
    let sitting_words = if weights.sitting_words > 0.0 {
        sittings_by_words(index, &question.terms)
    } else {
        Vec::new()
    };
    let close = |at: usize| closeness.get(at).copied().unwrap_or(0.0);
    let mut first = First::new(k);
    for (number, sitting) in sittings(index).enumerate() {
        let best_of = |values: &[f32]| values.iter().copied().fold(0.0, f32::max);
        let best_words = best_of(&scaled[sitting.clone()]);
        let best_close = best_of(closeness.get(sitting.clone()).unwrap_or_default());
        let share = weights.sitting * best_words
            + weights.sitting_words * sitting_words.get(number).copied().unwrap_or(0.0)
            + weights.sitting_meaning * best_close;
        let most =
            best_words + share + (weights.meaning + weights.before + weights.after) * best_close;
        if question.dates.is_empty() && (most <= 0.0 || !first.admits(most + weights.most_signs()))
        {
            continue;
        }
        for at in sitting.clone() {
            let entry = &index.entries[at];
            let neighbour =
                |at: Option<usize>| at.filter(|at| sitting.contains(at)).map_or(0.0, close);
            let date = entry.at.map_or(0.0, |at| dates::value(&question.dates, at));
            let sure = scaled[at]
                + share
                + weights.meaning * close(at)
                + weights.before * neighbour(at.checked_sub(1))
                + weights.after * neighbour(at.checked_add(1))
                + weights.date * date;
            if entry.is_withdrawn || sure <= 0.0 || !first.admits(sure + weights.most_signs()) {
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
fn words(index: &LexicalIndex, terms: &[Term<'_>]) -> Vec<f32> {
    let mean = (index.length / f64::from(index.n_messages.max(1))).max(1e-3) as f32;
    let (constant, slope) = (K * (1.0 - B), K * B / mean);
    let mut sums = vec![0.0; index.entries.len()];
    for Term {
        postings, weight, ..
    } in terms
    {
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

/// The words of each message from 0 to 1 for the best; 0 of those withdrawn.
fn scaled(index: &LexicalIndex, words: &[f32]) -> Vec<f32> {
    let live = |(entry, words): (&Entry, &f32)| if entry.is_withdrawn { 0.0 } else { *words };
    let mut scaled: Vec<f32> = index.entries.iter().zip(words).map(live).collect();
    scale(&mut scaled);
    scaled
}

/// From 0 to 1 for the best.
fn scale(values: &mut [f32]) {
    let best = values.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for value in values {
        *value /= best;
    }
}

/// The words of each sitting as one text, from 0 to 1 for the best.
fn sittings_by_words(index: &LexicalIndex, terms: &[Term<'_>]) -> Vec<f32> {
    let lengths: Vec<f32> = sittings(index)
        .map(|sitting| {
            let entries = index.entries[sitting].iter();
            entries.map(|entry| approximate(entry.length)).sum()
        })
        .collect();
    let count = u32::try_from(lengths.len()).unwrap_or(u32::MAX);
    let mean = (lengths.iter().sum::<f32>() / approximate(count).max(1.0)).max(1e-3);
    let mut sums = vec![0.0; lengths.len()];
    for term in terms {
        let counts = counts_of_sittings(index, term);
        let with = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        let weight = term.share * rarity_of(f64::from(with), f64::from(count));
        for (sitting, count) in counts {
            let length = 1.0 - SITTING_B + SITTING_B * lengths[sitting] / mean;
            sums[sitting] += weight * count * (SITTING_K + 1.0) / (count + SITTING_K * length);
        }
    }
    scale(&mut sums);
    sums
}

/// The sittings that have a term, in order, and how often.
fn counts_of_sittings(index: &LexicalIndex, term: &Term<'_>) -> Vec<(usize, f32)> {
    let mut counts: Vec<(usize, f32)> = Vec::new();
    for (place, count) in term.postings.iter() {
        let from = counts.last().map_or(0, |(sitting, _)| *sitting);
        let further = index.sittings[from..].partition_point(|start| *start <= place);
        let sitting = from + further.saturating_sub(1);
        match counts.last_mut() {
            Some((last, sum)) if *last == sitting => *sum += count,
            _ => counts.push((sitting, count)),
        }
    }
    counts
}

/// How near each message is by meaning, from 0 to 1 for the nearest; empty where nothing is known of that.
fn closeness(index: &LexicalIndex, nearest: &[(u32, f32)]) -> Vec<f32> {
    let is_live = |place: u32| {
        let entry = index.entries.get(place as usize);
        entry.is_some_and(|entry| !entry.is_withdrawn)
    };
    let mut known: Vec<(u32, f32)> = nearest
        .iter()
        .copied()
        .filter(|(place, cosine)| cosine.is_finite() && is_live(*place))
        .collect();
    known.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let (Some((_, greatest)), Some((_, least))) = (known.first(), known.last()) else {
        return Vec::new();
    };
    let least = match known.get(NEAREST - 1) {
        Some((_, hundredth)) => *hundredth,
        None => least.min(BACKGROUND),
    };
    let range = (greatest - least).max(f32::EPSILON);
    let mut closeness = vec![0.0; index.entries.len()];
    for (place, cosine) in known {
        closeness[place as usize] = ((cosine - least) / range).max(0.0);
    }
    closeness
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
    let person = |count: u8| f32::from(count) / f32::from(Persons::MAX);
    let persons =
        weights.first * person(entry.persons.first) - weights.second * person(entry.persons.second);
    speaker + time + asks + substance + persons
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
            let term = |(term, weight): (&&str, &f32)| {
                let postings = index.terms.get(*term)?;
                Some(Term { postings, weight: *weight, share: 1.0 })
            };
            let terms: Vec<_> = weights.iter().filter_map(term).collect();
            let plain = plainly(&said, withdrawn, &weights);
            for (found, expected) in words(&index, &terms).iter().zip(plain) {
                prop_assert!((found - expected).abs() < 1e-3, "{found} {expected}");
            }
        }
    }
}
