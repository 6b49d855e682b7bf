//! What a message and its sentences are known by: words, parts of words, concepts, signs. Unit: one message.

use std::ops::Range;

use super::concepts::{Concepts, QUESTION, SIGNS, Said};
use super::tokens::{Form, Token, Tokens, sentences};
use crate::text::linear::{Feature, Model, hash_of};

/// Features that share a weight: each group counts the same however many it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Group {
    Words,
    Parts,
    Concepts,
    Shape,
}

/// How many groups there are.
pub(super) const GROUPS: usize = 4;
/// What each group counts.
const WEIGHTS: [f32; GROUPS] = [1.0, 1.0, 1.0, 0.5];

/// What the features are of.
#[derive(Clone, Copy, Debug)]
enum Of {
    Message = 0,
    Sentence = 16,
}

/// Kinds of features above those of the groups.
const CLASS: u8 = 64;
/// Characters of a word that are looked at in parts, and of a part at most.
const WORD: usize = 24;
const PART: usize = 5;

/// Words of a clause, at least.
const CLAUSE_WORDS: usize = 2;

/// What stands around a text: how many sentences its message has, and concepts of what was said before.
#[derive(Clone, Copy, Debug)]
struct Around<'r> {
    sentences: usize,
    before: &'r [u8],
}

impl Default for Around<'_> {
    fn default() -> Self {
        Self {
            sentences: 1,
            before: &[],
        }
    }
}

/// A message, taken apart.
#[derive(Debug)]
pub(super) struct Read<'t> {
    text: &'t str,
    tokens: Tokens,
    said: Vec<Said>,
    /// Where its sentences stand.
    pub(super) sentences: Vec<Range<usize>>,
    /// What was said before it: concepts, and whether it asks.
    before: Vec<u8>,
}

impl<'t> Read<'t> {
    pub(super) fn new(text: &'t str, before: &str, concepts: &Concepts) -> Self {
        let tokens = Tokens::of(text);
        let of_before = concepts.said(&Tokens::of(before));
        Self {
            text,
            said: concepts.said(&tokens),
            tokens,
            sentences: sentences(text),
            before: of_before.into_iter().map(|it| it.what).collect(),
        }
    }

    /// Features of the whole message.
    pub(super) fn of_message(&self, add: impl FnMut(Group, Feature)) {
        self.as_message(&(0..self.text.len()), self.around(), add);
    }

    /// Features of a part of it as if it were the message.
    pub(super) fn of_part(&self, part: &Range<usize>, add: impl FnMut(Group, Feature)) {
        self.as_message(part, Around::default(), add);
    }

    fn as_message(
        &self,
        place: &Range<usize>,
        around: Around<'_>,
        mut add: impl FnMut(Group, Feature),
    ) {
        let mut put = |group: Group, one: u64, other: u64| {
            add(
                group,
                Feature::new(Of::Message as u8 + group as u8, one, other),
            );
        };
        self.wording(place, around, &mut put);
        for what in around.before {
            put(Group::Shape, 50, u64::from(*what));
        }
    }

    /// Features of one sentence among the others.
    pub(super) fn of_sentence(&self, number: usize, add: impl FnMut(Group, Feature)) {
        self.as_sentence(&self.sentences[number], Some(number), add);
    }

    /// Features of a part of it as if it were the only sentence.
    pub(super) fn of_clause(&self, clause: &Range<usize>, add: impl FnMut(Group, Feature)) {
        self.as_sentence(clause, None, add);
    }

    fn as_sentence(
        &self,
        place: &Range<usize>,
        number: Option<usize>,
        mut add: impl FnMut(Group, Feature),
    ) {
        let mut put = |group: Group, one: u64, other: u64| {
            add(
                group,
                Feature::new(Of::Sentence as u8 + group as u8, one, other),
            );
        };
        let around = number.map_or_else(Around::default, |_| self.around());
        self.wording(place, around, &mut put);
        let last = number.is_none_or(|it| it + 1 == self.sentences.len());
        put(Group::Shape, 60, number.unwrap_or(0).min(4) as u64);
        put(Group::Shape, 61, u64::from(last));
        let neighbours = [
            (62, number.and_then(|it| it.checked_sub(1))),
            (63, number.map(|it| it + 1)),
        ];
        for (side, other) in neighbours {
            let Some(other) = other.and_then(|it| self.sentences.get(it)) else {
                put(Group::Shape, side, 1 << 32);
                continue;
            };
            for said in self.said(other) {
                put(Group::Shape, side, u64::from(said.what));
            }
        }
    }

    /// Words, parts of words, concepts and signs.
    fn wording(
        &self,
        place: &Range<usize>,
        around: Around<'_>,
        put: &mut impl FnMut(Group, u64, u64),
    ) {
        let tokens = self.tokens.between(place);
        words(&self.tokens.all[tokens.clone()], put);
        self.parts(tokens, put);
        concepts(self.said(place), put);
        shape(&self.text[place.clone()], around, put);
    }

    fn around(&self) -> Around<'_> {
        Around {
            sentences: self.sentences.len(),
            before: &self.before,
        }
    }

    /// Returns where the clauses of a sentence stand, those of a word left out; at least one.
    pub(super) fn clauses(&self, sentence: &Range<usize>) -> Vec<Range<usize>> {
        let clauses = self.tokens.clauses(self.tokens.between(sentence));
        let places = clauses.filter_map(|clause| {
            let clause = self.tokens.without_break(clause);
            let is_long = self.tokens.words(clause.clone()) >= CLAUSE_WORDS;
            is_long.then(|| self.tokens.place(self.text, clause))
        });
        let mut places: Vec<_> = places.collect();
        if places.is_empty() {
            places.push(sentence.clone());
        }
        places
    }

    /// Features for telling kinds apart: of the message, or of a sentence.
    pub(super) fn of_kind(&self, sentence: Option<usize>, mut add: impl FnMut(Group, Feature)) {
        let (tokens, said) = match sentence {
            Some(number) => (
                self.tokens.between(&self.sentences[number]),
                self.said(&self.sentences[number]),
            ),
            None => (0..self.tokens.all.len(), &self.said[..]),
        };
        let mut put = |group: Group, one: u64, other: u64| {
            add(group, Feature::new(CLASS + group as u8, one, other));
        };
        let all = &self.tokens.all[tokens];
        for (i, token) in all.iter().enumerate() {
            put(Group::Words, 1, token.id);
            if let Some(next) = all.get(i + 1) {
                put(Group::Words, token.id, next.id);
            }
        }
        concepts(said, &mut put);
    }

    fn said(&self, place: &Range<usize>) -> &[Said] {
        let tokens = self.tokens.between(place);
        let before = |token: usize| self.said.partition_point(|it| it.token < token);
        &self.said[before(tokens.start)..before(tokens.end)]
    }

    /// Parts of words, with the blanks around them.
    fn parts(&self, tokens: Range<usize>, put: &mut impl FnMut(Group, u64, u64)) {
        let mut word: Vec<char> = Vec::with_capacity(WORD + 2);
        for i in tokens {
            if !matches!(self.tokens.all[i].form, Form::Word | Form::Number) {
                continue;
            }
            word.clear();
            word.push(' ');
            word.extend(self.tokens.folded(i..i + 1).chars().take(WORD));
            word.push(' ');
            for start in 0..word.len() - 1 {
                let mut hash = 0xCBF2_9CE4_8422_2325_u64;
                for (length, c) in word[start..].iter().take(PART).enumerate() {
                    hash = (hash ^ u64::from(*c)).wrapping_mul(0x0000_0100_0000_01B3);
                    if length > 0 {
                        put(Group::Parts, hash, length as u64);
                    }
                }
            }
        }
    }
}

/// Length, signs, and what was said before.
fn shape(text: &str, around: Around<'_>, put: &mut impl FnMut(Group, u64, u64)) {
    let length = u64::from((text.len() as u64 + 1).pow(2).ilog2()).min(16);
    put(Group::Shape, 1, length);
    let end = text
        .trim_end()
        .chars()
        .next_back()
        .filter(|c| !c.is_alphanumeric());
    put(Group::Shape, 2, end.map_or(0, u64::from));
    for (number, signs) in [
        (3, &['?', '？'][..]),
        (4, &['"', '“', '«', '„', '「']),
        (5, &['{', '}', '=', '<', '>', '|']),
        (6, &[':', '：']),
    ] {
        if text.contains(signs) {
            put(Group::Shape, number, 0);
        }
    }
    if text.bytes().any(|b| b.is_ascii_digit()) {
        put(Group::Shape, 7, 0);
    }
    if text.bytes().filter(|b| *b == b'\n').count() > 1 {
        put(Group::Shape, 8, 0);
    }
    if text.starts_with('>') || text.contains("\n>") {
        put(Group::Shape, 9, 0);
    }
    if text.contains("```") {
        put(Group::Shape, 10, 0);
    }
    let before = if around.before.is_empty() {
        0
    } else {
        1 + u64::from(around.before.contains(&QUESTION))
    };
    put(Group::Shape, 11, before);
    put(Group::Shape, 12, around.sentences.min(5) as u64);
}

/// The feature of one word of a message.
pub(super) fn of_word(word: u64) -> Feature {
    Feature::new(Of::Message as u8 + Group::Words as u8, 1, word)
}

/// One, two and three tokens in a row.
fn words(tokens: &[Token], put: &mut impl FnMut(Group, u64, u64)) {
    for (i, token) in tokens.iter().enumerate() {
        put(Group::Words, 1, token.id);
        if let Some(next) = tokens.get(i + 1) {
            put(Group::Words, token.id, next.id);
            if let Some(third) = tokens.get(i + 2) {
                put(
                    Group::Words,
                    hash_of([token.id, next.id].into_iter()),
                    third.id,
                );
            }
        }
    }
}

/// Concepts in a row, with signs and without, and those at the ends.
fn concepts(said: &[Said], put: &mut impl FnMut(Group, u64, u64)) {
    let all: Vec<u64> = said.iter().map(|it| u64::from(it.what)).collect();
    for (i, what) in all.iter().enumerate() {
        put(Group::Concepts, 1, *what);
        if let Some(next) = all.get(i + 1) {
            put(Group::Concepts, 2, what << 8 | next);
            if let Some(third) = all.get(i + 2) {
                put(Group::Concepts, 3, what << 16 | next << 8 | third);
            }
        }
    }
    let words: Vec<u64> = all
        .into_iter()
        .filter(|it| *it < u64::from(SIGNS))
        .collect();
    for pair in words.windows(2) {
        put(Group::Concepts, 4, pair[0] << 8 | pair[1]);
    }
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        put(Group::Concepts, 5, *first);
        put(Group::Concepts, 6, *last);
        put(
            Group::Concepts,
            7,
            first << 8 | words.get(1).unwrap_or(&255),
        );
    }
}

/// Adds up what groups of features weigh.
#[derive(Debug, Default)]
pub(super) struct Sums {
    sums: [i32; GROUPS],
    counts: [u16; GROUPS],
}

impl Sums {
    pub(super) fn add(&mut self, group: Group, weight: i32) {
        self.sums[group as usize] += weight;
        self.counts[group as usize] = self.counts[group as usize].saturating_add(1);
    }

    pub(super) fn score(&self, model: &Model<'_>) -> f32 {
        let groups = self.sums.iter().zip(&self.counts).enumerate();
        groups
            .map(|(group, (sum, count))| model.scaled(*sum) * share(group, *count))
            .sum()
    }
}

/// What one of so many features of a group counts.
pub(super) fn share(group: usize, count: u16) -> f32 {
    WEIGHTS[group] / f32::from(count.max(1)).sqrt()
}
