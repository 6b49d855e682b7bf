//! A question -> hits: BM25 on counts that take in the neighbours' words, meaning, and what else speaks for a message.
//!
//! ```text
//!  words(i)   = sum over terms of  idf * tf' * (K + 1) / (tf' + K * (1 - B + B * window / mean window))
//!  w(i)       = words(i) / best words, with meaning times 0.2 to 1 by the share of the question that the best has
//!  c(i)       = the cosine of i, from 0 for the hundredth nearest to 1 for the nearest
//!  S          = BM25 of its whole sitting / that of the best sitting
//!  score(i)   = w + best w of the sitting + S + c + best c of the sitting + c(i-1) + c(i+1)
//!               +- speaker + date + time - question + substance + first person - second person, each times its weight
//! ```
//!
//! `tf'` counts a term in the message and, at the discounts of [`Reach::share`], in those around: the
//! answer often shares no word with the question, but the message before it does. The weights with meaning were fitted
//! on the development half of the evidence data, leaving out one conversation at a time (docs/RECALL.md).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::dates;
use super::first::First;
use super::index::{Entry, LexicalIndex, Persons, Reach, approximate};
use super::names::Named;
use super::question::{Question, Rarity, Term, rarity_of};
use crate::index::words::{Match, Segment};

const K: f32 = 0.6;
const B: f32 = 0.2;
/// Of whole sittings.
const SITTING_K: f32 = 1.2;
const SITTING_B: f32 = 0.75;
/// A message of so many terms has substance.
const SUBSTANCE: f32 = 10.0;
/// The scale of cosines begins at the hundredth from the nearest.
const NEAREST: usize = 100;
/// Where fewer are known, the scale begins no higher than here: the least of a few is no background.
const BACKGROUND: f32 = 0.1;
/// What words count at least beside meaning, and the share of the question from which on they count in full.
const MIN_TRUST: f32 = 0.2;
const FULL_TRUST_FROM: f32 = 0.6;
/// What a message scores that asks the same: it is found behind everything else.
pub const ECHO_SCORE: f32 = -1.0;

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
    /// The same where nobody's name is known: a person and an assistant, or what was kept.
    const WORDS_UNNAMED: Self = Self {
        sitting: 0.3,
        sitting_words: 0.3,
        speaker: 0.1,
        date: 0.7,
        time: 0.4,
        question: 0.3,
        first: 0.15,
        second: 0.15,
        ..Self::WORDS
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
    /// The same where nobody's name is known.
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
            (false, false) => &Self::WORDS,
            (false, true) => &Self::WORDS_UNNAMED,
            (true, false) => &Self::FUSED,
            (true, true) => &Self::FUSED_UNNAMED,
        }
    }

    /// What [`signs`] adds at most.
    fn max_signs(&self) -> f32 {
        self.speaker + self.time + self.substance + self.first
    }
}

pub fn search(
    segments: &[Segment<'_>],
    question: &str,
    k: usize,
    filter: &dyn Fn(usize, u32) -> bool,
) -> Vec<Match> {
    let rarity = Rarity::over(segments.iter().map(|segment| segment.index).collect());
    let mut read: Vec<Read<'_>> = segments
        .iter()
        .map(|segment| Read::of(segment, &rarity, question))
        .collect();
    settle(&mut read);
    let mut first = First::new(k);
    for (number, read) in read.iter().enumerate() {
        read.offer(number, &mut first, filter);
    }
    first.into_hits(|segment, place| read[segment].overlap(place))
}

/// A segment as a question reads it.
struct Read<'a> {
    index: &'a LexicalIndex,
    question: Question<'a>,
    weights: &'static Weights,
    /// The words of the question in each message and around it.
    words: Vec<f32>,
    /// The same from 0 to 1 for the best of all; 0 of those withdrawn and of echoes.
    scaled: Vec<f32>,
    /// Of each sitting, from 0 to 1 for the best of all; empty where it counts for nothing.
    sittings: Vec<f32>,
    /// Cosines, first as they are, then from 0 to 1 for the nearest of all; empty where nothing is known.
    near: Vec<(u32, f32)>,
    closeness: Vec<f32>,
    echoes: HashSet<u32>,
}

/// Brings the scores of all segments to one scale.
fn settle(read: &mut [Read<'_>]) {
    let trust = trust_in_words(read);
    scale(read.iter_mut().map(|read| &mut read.scaled));
    for read in &mut *read {
        read.scaled.iter_mut().for_each(|words| *words *= trust);
    }
    scale(read.iter_mut().map(|read| &mut read.sittings));
    let mut cosines: Vec<f32> = read
        .iter()
        .flat_map(|read| read.near.iter().map(|(_, cosine)| *cosine))
        .collect();
    cosines.sort_by(|a, b| b.total_cmp(a));
    let (Some(greatest), Some(min)) = (cosines.first(), cosines.last()) else {
        return;
    };
    let min = match cosines.get(NEAREST - 1) {
        Some(hundredth) => *hundredth,
        None => min.min(BACKGROUND),
    };
    let range = (greatest - min).max(f32::EPSILON);
    for read in read {
        if read.near.is_empty() {
            continue;
        }
        read.closeness = vec![0.0; read.index.entries.len()];
        for (place, cosine) in &read.near {
            read.closeness[*place as usize] = ((cosine - min) / range).max(0.0);
        }
    }
}

/// How much words count beside meaning: all where the best message has most of the question's, little where none has.
fn trust_in_words(read: &[Read<'_>]) -> f32 {
    if read.iter().all(|read| read.near.is_empty()) {
        return 1.0;
    }
    let best = read.iter().map(|read| {
        let best = read.scaled.iter().copied().fold(0.0, f32::max);
        read.question.share_of(best)
    });
    let best = best.fold(0.0, f32::max);
    MIN_TRUST + (1.0 - MIN_TRUST) * (best / FULL_TRUST_FROM).min(1.0)
}

/// From 0 to 1 for the best of all.
fn scale<'a>(all: impl Iterator<Item = &'a mut Vec<f32>>) {
    let all: Vec<_> = all.collect();
    let values = all.iter().flat_map(|values| values.iter().copied());
    let best = values.fold(f32::MIN_POSITIVE, f32::max);
    for value in all.into_iter().flatten() {
        *value /= best;
    }
}

impl<'a> Read<'a> {
    fn of(segment: &Segment<'a>, rarity: &Rarity<'_>, question: &str) -> Self {
        let index = segment.index;
        let question = Question::read(index, rarity, question);
        let echoes = echoes(index, &question);
        let words = words(index, &question.terms, &echoes);
        let can_answer = |place: usize| can_answer(index, &echoes, place);
        let counts = |(place, words): (usize, &f32)| if can_answer(place) { *words } else { 0.0 };
        let scaled = words.iter().enumerate().map(counts).collect();
        let near: Vec<(u32, f32)> = segment
            .nearest
            .iter()
            .copied()
            .filter(|(place, cosine)| cosine.is_finite() && can_answer(*place as usize))
            .collect();
        let weights = Weights::of(index, !near.is_empty());
        let sittings = if weights.sitting_words > 0.0 {
            sittings_by_words(index, &question.terms)
        } else {
            Vec::new()
        };
        Self {
            index,
            question,
            weights,
            words,
            scaled,
            sittings,
            near,
            closeness: Vec::new(),
            echoes,
        }
    }

    /// Offers what speaks of the question.
    fn offer(&self, segment: usize, first: &mut First, filter: &dyn Fn(usize, u32) -> bool) {
        let Self {
            index,
            question,
            weights,
            ..
        } = self;
        let close = |at: usize| self.closeness.get(at).copied().unwrap_or(0.0);
        for (number, sitting) in sittings(index).enumerate() {
            let best_of = |values: &[f32]| values.iter().copied().fold(0.0, f32::max);
            let best_words = best_of(&self.scaled[sitting.clone()]);
            let best_close = best_of(self.closeness.get(sitting.clone()).unwrap_or_default());
            let share = weights.sitting * best_words
                + weights.sitting_words * self.sittings.get(number).copied().unwrap_or(0.0)
                + weights.sitting_meaning * best_close;
            let of_meaning = (weights.meaning + weights.before + weights.after) * best_close;
            let max = best_words + share + of_meaning;
            let is_hopeless = max <= 0.0 || !first.admits(max + weights.max_signs());
            if question.dates.is_empty() && is_hopeless {
                continue;
            }
            for at in sitting.clone() {
                let entry = &index.entries[at];
                let neighbour =
                    |at: Option<usize>| at.filter(|at| sitting.contains(at)).map_or(0.0, close);
                let date = entry.at.map_or(0.0, |at| dates::value(&question.dates, at));
                let sure = self.scaled[at]
                    + share
                    + weights.meaning * close(at)
                    + weights.before * neighbour(at.checked_sub(1))
                    + weights.after * neighbour(at.checked_add(1))
                    + weights.date * date;
                if !can_answer(index, &self.echoes, at)
                    || sure <= 0.0
                    || !first.admits(sure + weights.max_signs())
                {
                    continue;
                }
                let score = sure + signs(entry, question, weights);
                first.offer((segment, at), score, filter);
            }
        }
        for place in &self.echoes {
            first.offer((segment, *place as usize), ECHO_SCORE, filter);
        }
    }

    fn overlap(&self, place: u32) -> f32 {
        self.question.share_of(self.words[place as usize])
    }
}

impl Question<'_> {
    /// The share of the question that such a sum over its words is of, 0 to 1.
    fn share_of(&self, words: f32) -> f32 {
        let max = self.max * (K + 1.0);
        if max > 0.0 {
            (words / max).min(1.0)
        } else {
            0.0
        }
    }
}

/// Whether a message is there, was not taken out, and does not merely ask the same.
fn can_answer(index: &LexicalIndex, echoes: &HashSet<u32>, place: usize) -> bool {
    let is_echo = u32::try_from(place).is_ok_and(|place| echoes.contains(&place));
    let entry = index.entries.get(place);
    entry.is_some_and(|entry| !entry.is_withdrawn && !is_echo)
}

/// The questions among the messages that ask the same, and the replies to the question that do not know: they answer
/// nothing, nor does what stands next to them for their sake.
fn echoes(index: &LexicalIndex, question: &Question<'_>) -> HashSet<u32> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    // Few messages can be one, and a word may stand in most of all.
    let may_be = |place: &u32| {
        let entry = &index.entries[*place as usize];
        entry.is_question || entry.is_no_answer
    };
    for postings in &question.own {
        let places = postings.iter().map(|(place, _)| place);
        for place in places.filter(may_be) {
            *counts.entry(place).or_default() += 1;
        }
    }
    let is_echo = |(place, count): &(u32, usize)| {
        let entry = &index.entries[*place as usize];
        let length = usize::try_from(entry.length).unwrap_or(usize::MAX);
        let asks_all = entry.is_question && 5 * count >= 4 * question.n_asked;
        entry.is_no_answer || asks_all && 5 * count >= 4 * length.max(1)
    };
    counts
        .into_iter()
        .filter(is_echo)
        .map(|(place, _)| place)
        .collect()
}

/// The places of each sitting.
fn sittings(index: &LexicalIndex) -> impl Iterator<Item = Range<usize>> {
    let starts = index.sittings.iter().map(|start| *start as usize);
    let ends = starts.clone().skip(1).chain([index.entries.len()]);
    starts.zip(ends).map(|(start, end)| start..end)
}

/// The words of the question in each message and around it.
#[expect(clippy::cast_possible_truncation, reason = "a mean needs no more")]
fn words(index: &LexicalIndex, terms: &[Term<'_>], without: &HashSet<u32>) -> Vec<f32> {
    let mean = (index.length / f64::from(index.n_messages.max(1))).max(1e-3) as f32;
    let (constant, slope) = (K * (1.0 - B), K * B / mean);
    let mut sums = vec![0.0; index.entries.len()];
    for Term {
        postings, weight, ..
    } in terms
    {
        let max = weight * (K + 1.0);
        let postings = postings
            .iter()
            .filter(|(place, _)| !without.contains(place));
        spread(postings, &index.reaches, |at, count| {
            sums[at] += max * count / (count + constant + slope * index.windows[at]);
        });
    }
    sums
}

/// Hands over each place that a term counts for and how much it does, in order: a posting counts for its neighbours,
/// and a place is done when no later posting can reach it.
fn spread(
    postings: impl Iterator<Item = (u32, f32)>,
    reaches: &[Reach],
    mut take: impl FnMut(usize, f32),
) {
    /// At least the places one posting reaches, and a power of two.
    const RING: usize = 8;
    let mut ring = [0.0; RING];
    let mut open = 0..0;
    for (place, count) in postings {
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

/// The words of each sitting as one text.
fn sittings_by_words(index: &LexicalIndex, terms: &[Term<'_>]) -> Vec<f32> {
    let lengths = &index.sitting_lengths;
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
    sums
}

/// The sittings that have a term, in order, and how often.
fn counts_of_sittings(index: &LexicalIndex, term: &Term<'_>) -> Vec<(usize, f32)> {
    let mut counts: Vec<(usize, f32)> = Vec::new();
    let mut sitting = 0;
    for (place, count) in term.postings.iter() {
        while index
            .sittings
            .get(sitting + 1)
            .is_some_and(|next| *next <= place)
        {
            sitting += 1;
        }
        match counts.last_mut() {
            Some((last, sum)) if *last == sitting => *sum += count,
            _ => counts.push((sitting, count)),
        }
    }
    counts
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
    use crate::index::words::{Document, Lists};
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
            for (found, expected) in words(&index, &terms, &HashSet::new()).iter().zip(plain) {
                prop_assert!((found - expected).abs() < 1e-3, "{found} {expected}");
            }
        }
    }
}
