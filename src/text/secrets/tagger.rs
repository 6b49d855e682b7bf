//! Secrets that only language tells: a value near its name in any wording, and scenes without a name. Unit: a window.
//!
//! A linear chain: each token has a score for being secret, and another one for going on with the secret before it.
//! The weights are learned from `benches/corpus/secrets` by `cargo bench --bench train_secrets`.

use std::ops::Range;

use super::labels::Label;
use super::tokens::{Gap, Kind, Token, tokens};
use super::{Class, Found};
use crate::text::linear::{Feature, Model, hash_of};

/// What was learned.
pub(super) const LEARNED: Learned<'static> = Learned::new(
    include_bytes!("tagger.weights"),
    include_bytes!("tagger.words"),
);

/// Weights of features, and the words that people use often: a password that is a word is a rare one.
#[derive(Clone, Copy, Debug)]
pub struct Learned<'w> {
    model: Model<'w>,
    /// Upper halves of their hashes, little endian, sorted.
    common: &'w [[u8; 4]],
}

impl<'w> Learned<'w> {
    /// Reads the two files that the trainer writes.
    pub const fn new(weights: &'w [u8], words: &'w [u8]) -> Self {
        Self {
            model: Model::new(weights),
            common: words.as_chunks().0,
        }
    }

    /// Returns whether a token is a rarely used word.
    fn is_rare(&self, token: &Token<'_>) -> bool {
        token.kind.is_spaced_word()
            && self
                .common
                .binary_search_by_key(&upper_half(token.id), |it| u32::from_le_bytes(*it))
                .is_err()
    }
}

/// Returns what a word is known by in the file of common words.
const fn upper_half(id: u64) -> u32 {
    (id >> 32) as u32
}

/// Odds from which a token is secret, from which an ordinary word is, and from which either goes on with one.
const ODDS: f32 = 0.55;
const ODDS_OF_WORD: f32 = 1.2;
const ODDS_BESIDE: f32 = 0.25;
/// Tokens before and behind one in which a name of it is looked for.
const BEFORE: usize = 40;
const BEHIND: usize = 16;
/// Tokens beside a strange word that are looked at where there is no name.
const BESIDE: usize = 6;
/// The score of a token that is not looked at.
const NEVER: f32 = -20.0;
/// Words around a token that are features of it.
const AROUND: usize = 10;
/// Tokens between a name and its value that count as a wording.
const WORDING: usize = 6;

/// Returns the secrets in a text.
pub(super) fn found(text: &str, learned: &Learned<'_>) -> Vec<Found> {
    let Some(sentence) = Read::new(text, learned) else {
        return Vec::new();
    };
    let odds = sentence.odds(&learned.model);
    sentence.found(&odds)
}

/// What the features of a text are made of.
pub(super) struct Read<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    learned: Learned<'t>,
    /// Of each token: the last word before it and the next one behind it, its sentence, its line, and commas before it.
    before: Vec<usize>,
    behind: Vec<usize>,
    counts: Vec<Counts>,
    /// Places of the tokens that have a label.
    labels: Vec<usize>,
    lines: Vec<Line>,
    asks: Vec<bool>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sentence: usize,
    line: usize,
    paragraph: usize,
    comma: usize,
    /// Names up to it and with it.
    labels: usize,
    /// First token of its line.
    first: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Prose,
    Code,
    Setting,
    Listed,
    Command,
}

/// No token.
const NONE: usize = usize::MAX;

impl<'t> Read<'t> {
    /// Returns nothing where nothing can be secret: no name of one and no strange word.
    pub(super) fn new(text: &'t str, learned: &Learned<'t>) -> Option<Self> {
        let tokens = tokens(text);
        if !tokens
            .iter()
            .any(|it| it.label != Label::Plain || it.kind.is_strange())
        {
            return None;
        }
        let mut read = Self {
            learned: *learned,
            before: vec![NONE; tokens.len()],
            behind: vec![NONE; tokens.len()],
            counts: Vec::with_capacity(tokens.len()),
            labels: Vec::new(),
            lines: text.lines().map(line).collect(),
            asks: vec![false],
            tokens,
        };
        let mut counts = Counts::default();
        let mut last_word = NONE;
        let mut stops = false;
        for (i, token) in read.tokens.iter().enumerate() {
            let is_new = i > 0 && (stops && token.gap != Gap::Glued || token.gap >= Gap::Line);
            if i > 0 && token.gap >= Gap::Line {
                // Blank lines are lines as well.
                counts.line += text[read.tokens[i - 1].place().end..token.start]
                    .matches('\n')
                    .count();
                counts.first = i;
            } else if i == 0 {
                counts.line = text[..token.start].matches('\n').count();
            }
            if is_new {
                counts.sentence += 1;
                read.asks.push(false);
            }
            counts.paragraph += usize::from(i > 0 && token.gap == Gap::Paragraph);
            counts.comma += usize::from(token.kind == Kind::Comma);
            if token.kind == Kind::Stop && token.text.contains(['?', '？']) {
                read.asks[counts.sentence] = true;
            }
            stops = token.kind == Kind::Stop
                || stops && matches!(token.kind, Kind::Quote | Kind::Bracket)
                || token.text == "。";
            if token.label != Label::Plain {
                read.labels.push(i);
                counts.labels += 1;
            }
            read.counts.push(counts);
            read.before[i] = last_word;
            if !token.kind.is_punctuation() {
                last_word = i;
            }
        }
        let mut next = NONE;
        for i in (0..read.tokens.len()).rev() {
            read.behind[i] = next;
            if !read.tokens[i].kind.is_punctuation() {
                next = i;
            }
        }
        Some(read)
    }

    fn id(&self, i: usize) -> u64 {
        self.tokens.get(i).map_or(1, |it| it.id)
    }

    fn kind(&self, i: usize) -> Kind {
        self.tokens.get(i).map_or(Kind::Edge, |it| it.kind)
    }

    fn word_before(&self, i: usize) -> usize {
        self.before.get(i).copied().unwrap_or(NONE)
    }

    fn word_behind(&self, i: usize) -> usize {
        self.behind.get(i).copied().unwrap_or(NONE)
    }

    /// What lies between two tokens, the first of which stands before the other.
    fn border(&self, one: usize, other: usize) -> u64 {
        let (one, other) = (&self.counts[one], &self.counts[other]);
        match () {
            () if one.paragraph != other.paragraph => 5,
            () if one.sentence != other.sentence => {
                2 + ((other.sentence - one.sentence).min(3) - 1) as u64 * 8
                    + u64::from(one.line != other.line)
            }
            () if one.comma != other.comma => 1,
            () => 0,
        }
    }

    /// The names nearest to a token: two before it, one behind it.
    fn labels(&self, i: usize) -> ([usize; 2], usize) {
        let own = self.tokens[i].label != Label::Plain;
        let before = self.counts[i].labels - usize::from(own);
        let near = |index: Option<usize>| {
            index
                .map(|index| self.labels[index])
                .filter(|at| i - at <= BEFORE)
        };
        let last = near(before.checked_sub(1));
        let other = last.and_then(|last| {
            let mut earlier = (0..before - 1).rev().take(6);
            let label = self.tokens[last].label;
            near(earlier.find(|index| self.tokens[self.labels[*index]].label != label))
        });
        let behind = self
            .labels
            .get(self.counts[i].labels)
            .copied()
            .filter(|at| at - i <= BEHIND);
        (
            [last.unwrap_or(NONE), other.unwrap_or(NONE)],
            behind.unwrap_or(NONE),
        )
    }

    fn label(&self, i: usize) -> u64 {
        self.tokens.get(i).map_or(0, |it| it.label as u64)
    }

    /// The words between two tokens, as one hash, where they are few.
    fn wording(&self, one: usize, other: usize) -> Option<u64> {
        (other > one && other - one <= WORDING + 1)
            .then(|| hash_of((one + 1..other).map(|i| self.id(i))))
    }

    /// Features of a token being secret.
    pub(super) fn of_token(&self, i: usize, mut add: impl FnMut(Feature)) {
        let token = &self.tokens[i];
        let rare = u64::from(self.learned.is_rare(token));
        let kind = token.kind as u64 | rare << 6;
        let group = group(token.kind) | rare << 5;
        let mut number = 0;
        let mut put = |one: u64, other: u64| {
            number += 1;
            add(Feature::new(number, one, other));
        };
        let length = token.text.chars().count();
        let size = match length {
            0..=12 => length as u64,
            13..=16 => 13,
            17..=24 => 14,
            25..=40 => 15,
            _ => 16,
        };
        // The token.
        put(0, 0);
        put(kind, 0);
        put(token.shape, 0);
        put(token.id, 0);
        put(kind, size);
        put(u64::from(token.is_quoted), kind);
        let (begin, end) = affixes(token.text);
        put(begin, group);
        put(end, group);
        put(varied(token.text), size);
        // Its neighbours.
        let (id_before, id_behind) = (self.id(i.wrapping_sub(1)), self.id(i + 1));
        put(id_before, kind);
        put(id_behind, kind);
        put(self.id(i.wrapping_sub(2)), id_before);
        put(id_behind, self.id(i + 2));
        put(id_before.rotate_left(7) ^ id_behind, kind);
        let (one, two) = (self.word_before(i), self.word_before(self.word_before(i)));
        let three = self.word_before(two);
        let (next, second) = (self.word_behind(i), self.word_behind(self.word_behind(i)));
        put(self.id(one), group);
        put(self.id(two), group);
        put(self.id(three), group);
        put(self.id(next), group);
        put(self.id(second), group);
        put(self.id(one), token.id);
        put(token.id, self.id(next));
        put(self.id(two), self.id(one));
        put(self.id(two) ^ kind, self.id(one));
        put(self.id(three) ^ self.id(two).rotate_left(9), self.id(one));
        put(self.id(next), self.id(second));
        let kinds =
            |one: usize, other: usize| (self.kind(one) as u64) << 8 | self.kind(other) as u64;
        put(kinds(i.wrapping_sub(1), i + 1), kind);
        put(kinds(i.wrapping_sub(2), i.wrapping_sub(1)), kind);
        put(kinds(i + 1, i + 2), kind);
        put(kinds(one, next), kind);
        // The names near it.
        let ([last, other], behind) = self.labels(i);
        let label = self.label(last);
        put(token.label as u64, kind);
        put(token.label as u64, label);
        put(label, kind);
        put(label, token.shape);
        put(label, size << 8 | group);
        put(label << 8 | self.label(other), group);
        put(label << 8 | self.label(behind), group);
        put(label, token.id);
        if last == NONE {
            put(kind, 1 << 32);
        } else {
            let border = self.border(last, i);
            let far = distance(i - last);
            put(label << 8 | border, kind);
            put(label << 8 | border, far << 8 | group);
            put(border, far << 8 | kind);
            put(far, kind);
            put(label << 8 | group, self.id(one));
            put(label << 8 | border, self.id(one));
            put(label << 8 | group, id_before);
            put(label, self.id(two) ^ self.id(one).rotate_left(9));
            put(label, kinds(i.wrapping_sub(1), i + 1) << 8 | group);
            let (of, after) = (self.tokens[last].id, self.word_behind(last));
            put(of, border << 8 | kind);
            put(of, far << 8 | group);
            put(self.id(last + 1), label << 8 | group);
            put(self.id(last.wrapping_sub(1)), label << 8 | group);
            put(self.id(self.word_before(last)), label << 8 | kind);
            if after != i {
                put(self.id(after), label << 8 | kind);
                put(self.id(after), self.id(self.word_behind(after)) ^ group);
            }
            if let Some(wording) = self.wording(last, i) {
                put(wording, label);
                put(wording, kind);
                put(wording, 0);
            }
            let asks = self.asks[self.counts[last].sentence];
            put(u64::from(asks) << 8 | border, label << 8 | group);
        }
        number = 80;
        let mut put = |one: u64, other: u64| {
            number += 1;
            add(Feature::new(number, one, other));
        };
        if behind != NONE {
            let label = self.label(behind);
            let border = self.border(i, behind);
            let far = distance(behind - i);
            put(label << 8 | border, kind);
            put(label << 8 | border, far << 8 | group);
            put(far << 8 | border, kind);
            put(label << 8 | group, self.id(next));
            put(label << 8 | group, id_behind);
            put(self.id(behind + 1), label << 8 | group);
            put(self.id(behind), far << 8 | group);
            if let Some(wording) = self.wording(i, behind) {
                put(wording, label);
                put(wording, kind);
            }
        }
        // Where it stands.
        number = 100;
        let mut put = |one: u64, other: u64| {
            number += 1;
            add(Feature::new(number, one, other));
        };
        let counts = &self.counts[i];
        let line = self.lines.get(counts.line).map_or(0, |it| *it as u64);
        put(line, kind);
        put(line << 8 | label, group);
        put(((i - counts.first).min(6) as u64) << 8 | line, group);
        put(self.id(counts.first), kind);
        put((self.tokens.len().min(60) / 6) as u64, kind);
        put(u64::from(self.asks[counts.sentence]), kind);
        put(
            u64::from(counts.sentence > 0 && self.asks[counts.sentence - 1]),
            kind,
        );
        put(token.gap as u64, kind);
        // What is spoken of around it.
        let (mut left, mut right) = (one, next);
        for _ in 0..AROUND {
            if left != NONE {
                add(Feature::new(120, self.id(left), group));
                if self.tokens[left].label != Label::Plain {
                    add(Feature::new(121, self.label(left), kind));
                }
                left = self.before[left];
            }
            if right != NONE {
                add(Feature::new(122, self.id(right), group));
                right = self.behind[right];
            }
        }
    }

    /// Features of a token going on with the secret before it.
    pub(super) fn of_pair(&self, i: usize, mut add: impl FnMut(Feature)) {
        let token = &self.tokens[i];
        let mut number = 160;
        let mut put = |one: u64, other: u64| {
            number += 1;
            add(Feature::new(number, one, other));
        };
        let kind = token.kind as u64;
        let before = self.kind(i.wrapping_sub(1)) as u64;
        let ([last, _], _) = self.labels(i);
        let label = self.label(last);
        put(0, 0);
        put(token.gap as u64, kind);
        put(token.gap as u64, before << 8 | kind);
        put(token.id, token.gap as u64);
        put(token.id, self.id(i + 1));
        put(self.id(i.wrapping_sub(1)), token.gap as u64);
        put(label, before << 8 | kind);
        put(label, token.gap as u64);
        put(token.shape, self.tokens[i.saturating_sub(1)].shape);
        put(u64::from(token.is_quoted) << 8 | kind, before);
        put(self.kind(i + 1) as u64, before << 8 | kind);
        put(token.label as u64, kind);
    }

    /// The odds of each token being secret, given all of the text.
    fn odds(&self, model: &Model<'_>) -> Vec<f32> {
        let (scores, pairs) = self.scores(|feature| model.weight(feature), |sum| model.scaled(sum));
        odds(&scores, &pairs)
    }

    /// The tokens that may be secret: near a name of one or near a strange word. Talk is long, and these are few.
    fn looked_at(&self) -> Vec<bool> {
        let mut looked_at = vec![false; self.tokens.len()];
        for (i, token) in self.tokens.iter().enumerate() {
            let (behind, before) = match (token.label, token.kind.is_strange()) {
                (Label::Plain, false) => continue,
                (Label::Plain, true) => (BESIDE, BESIDE),
                (_, _) => (BEFORE, BEHIND),
            };
            let end = (i + behind + 1).min(looked_at.len());
            looked_at[i.saturating_sub(before)..end].fill(true);
        }
        looked_at
    }

    fn scores(
        &self,
        weight: impl Fn(Feature) -> i32,
        scaled: impl Fn(i32) -> f32,
    ) -> (Vec<f32>, Vec<f32>) {
        let looked_at = self.looked_at();
        let of = |i: usize| {
            if !looked_at[i] {
                return (NEVER, 0.0);
            }
            let (mut token, mut pair) = (0, 0);
            self.of_token(i, |feature| token += weight(feature));
            if i > 0 {
                self.of_pair(i, |feature| pair += weight(feature));
            }
            (scaled(token), scaled(pair))
        };
        (0..self.tokens.len()).map(of).unzip()
    }

    fn found(&self, odds: &[f32]) -> Vec<Found> {
        let mut found = Vec::new();
        let mut i = 0;
        while i < odds.len() {
            if odds[i] < ODDS_BESIDE || self.kind(i) == Kind::Mask {
                i += 1;
                continue;
            }
            let start = i;
            while i < odds.len() && odds[i] >= ODDS_BESIDE && self.kind(i) != Kind::Mask {
                i += 1;
            }
            let is_secret = |i: usize| {
                let min = if self.kind(i).is_spaced_word() {
                    ODDS_OF_WORD
                } else {
                    ODDS
                };
                odds[i] >= min
            };
            if (start..i).any(is_secret) {
                found.extend(self.secret(start..i));
            }
        }
        found
    }

    /// The tokens without the signs at their edges.
    fn secret(&self, run: Range<usize>) -> Option<Found> {
        let counts = |i: &usize| !self.kind(*i).is_punctuation();
        let first = run.clone().find(counts)?;
        let last = run.clone().rfind(counts)?;
        // `hunter2!`
        let ends = |i: &usize| self.tokens[*i].gap == Gap::Glued && self.tokens[*i].text == "!";
        let end = (last + 1..run.end).take_while(ends).last().unwrap_or(last);
        Some(Found {
            place: self.tokens[first].start..self.tokens[end].place().end,
            class: self.class(first..last + 1),
        })
    }

    /// The class of the name nearest to it, or what it looks like.
    fn class(&self, run: Range<usize>) -> Class {
        let ([last, other], behind) = self.labels(run.start);
        let mut near = [last, behind, other]
            .into_iter()
            .filter(|at| *at != NONE)
            .map(|at| self.tokens[at].label);
        let kind = self.kind(run.start);
        let is_number = matches!(kind, Kind::Digits | Kind::Number);
        let class = near.find_map(|label| match label {
            Label::Password | Label::Wifi => Some(Class::Password),
            Label::Login => Some(Class::Password).filter(|_| !is_number),
            Label::Token => Some(Class::Token),
            Label::Cookie => Some(Class::Cookie),
            Label::Pin => Some(Class::Pin),
            Label::Otp => Some(Class::OneTimeCode),
            // `verification code`
            Label::Code | Label::Key if self.label(other) == Label::Otp as u64 => {
                Some(Class::OneTimeCode)
            }
            Label::Code | Label::Key if self.label(other) == Label::Recovery as u64 => {
                Some(Class::RecoveryCode)
            }
            Label::Key | Label::Licence => Some(Class::ApiKey),
            Label::Code | Label::Door => Some(Class::AccessCode),
            Label::Recovery => Some(Class::RecoveryCode),
            Label::Seed | Label::Phrase => Some(Class::RecoveryPhrase),
            Label::Card => Some(Class::Card),
            Label::Account => Some(Class::Account),
            Label::Id => Some(Class::NationalId),
            Label::Answer | Label::Access | Label::Plain => None,
        });
        class.unwrap_or(if is_number {
            Class::AccessCode
        } else {
            Class::Password
        })
    }
}

/// Odds of each place of a chain, whose scores are those of a place and of two neighbours.
pub(super) fn odds(scores: &[f32], pairs: &[f32]) -> Vec<f32> {
    let (mut odds, behind) = (ahead(scores, pairs), back(scores, pairs));
    for (odds, behind) in odds.iter_mut().zip(behind) {
        *odds *= behind;
    }
    odds
}

/// The odds given what stands before …
fn ahead(scores: &[f32], pairs: &[f32]) -> Vec<f32> {
    let mut before = 0.0_f32;
    let odds = scores.iter().zip(pairs).map(|(score, pair)| {
        before = bounded(score.exp() * (1.0 + before * pair.exp()) / (1.0 + before));
        before
    });
    odds.collect()
}

/// … and what they are multiplied by for what stands behind.
fn back(scores: &[f32], pairs: &[f32]) -> Vec<f32> {
    let mut all = vec![1.0_f32; scores.len()];
    for i in (1..scores.len()).rev() {
        let ahead = scores[i].exp() * all[i];
        all[i - 1] = bounded((1.0 + ahead * pairs[i].exp()) / (1.0 + ahead));
    }
    all
}

fn bounded(odds: f32) -> f32 {
    odds.clamp(1e-12, 1e12)
}

fn distance(tokens: usize) -> u64 {
    match tokens {
        0..=5 => tokens as u64,
        6..=8 => 6,
        9..=13 => 7,
        14..=22 => 8,
        _ => 9,
    }
}

/// Kinds that are alike, so that what is learned of one counts for all.
fn group(kind: Kind) -> u64 {
    match kind {
        Kind::Edge | Kind::Mask | Kind::Placeholder | Kind::Code => 0,
        Kind::Stop | Kind::Comma | Kind::Colon | Kind::Quote | Kind::Bracket | Kind::Sign => 1,
        Kind::Letter => 2,
        Kind::Lower | Kind::Unspaced => 3,
        Kind::Capital => 4,
        Kind::Upper | Kind::Camel => 5,
        Kind::Digits | Kind::Number => 6,
        Kind::Named | Kind::Mixed | Kind::Signed | Kind::JoinedMixed => 7,
        Kind::Joined => 8,
        Kind::Hex | Kind::Uuid => 9,
        Kind::Path | Kind::Mail => 10,
    }
}

/// Hashes of the first and the last three characters.
fn affixes(text: &str) -> (u64, u64) {
    let small = |c: char| u64::from(c.to_ascii_lowercase());
    let begin = hash_of(text.chars().take(3).map(small));
    (begin, hash_of(text.chars().rev().take(3).map(small)))
}

/// How many kinds of characters a text has, and how often they change.
fn varied(text: &str) -> u64 {
    let class = |c: char| match c {
        '0'..='9' => 1_u64,
        c if c.is_lowercase() => 2,
        c if c.is_uppercase() => 4,
        c if c.is_alphabetic() => 8,
        _ => 16,
    };
    let (mut seen, mut changes, mut last) = (0, 0, 0);
    for c in text.chars().take(64) {
        let class = class(c);
        seen |= class;
        changes += u64::from(class != last);
        last = class;
    }
    seen << 8 | changes.min(12)
}

/// What a line looks like.
fn line(line: &str) -> Line {
    let line = line.trim();
    let first = line.split_whitespace().next().unwrap_or_default();
    let name_ends = line.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)));
    let after_name = name_ends.map_or("", |at| &line[at..]);
    if [
        "$", "sudo", "curl", "docker", "git", "ssh", "export", "npm", "kubectl",
    ]
    .contains(&first)
    {
        Line::Command
    } else if line.ends_with(['{', ';', '}'])
        || line.contains("()")
        || line.contains(" => ")
        || line.contains("==")
        || line.starts_with("//")
    {
        Line::Code
    } else if name_ends > Some(1)
        && (after_name.starts_with('=')
            || after_name.starts_with(": ")
            || after_name.starts_with(" = "))
    {
        Line::Setting
    } else if line.starts_with(['-', '*', '|', '•'])
        || first.ends_with(['.', ')']) && first.starts_with(|c: char| c.is_ascii_digit())
    {
        Line::Listed
    } else {
        Line::Prose
    }
}

/// What the trainer needs.
#[cfg(feature = "testing")]
pub mod training {
    use std::collections::BTreeMap;

    use super::{Feature, Learned, Range, Read, Token, ahead, back, tokens, upper_half};

    /// Messages of which so many have a word that is common.
    const COMMON: usize = 8;

    /// Returns the file of the words that stand in many of these texts, but within the secrets of each.
    pub fn common_words<'t>(texts: impl Iterator<Item = (&'t str, Vec<Range<usize>>)>) -> Vec<u8> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for (text, secrets) in texts {
            let is_secret = |place: Range<usize>| {
                let mut secrets = secrets.iter();
                secrets.any(|it| it.start < place.end && place.start < it.end)
            };
            let words = tokens(text)
                .into_iter()
                .filter(|it| it.kind.is_spaced_word() && !is_secret(it.place()));
            let mut words: Vec<u32> = words.map(|it| upper_half(it.id)).collect();
            words.sort_unstable();
            words.dedup();
            for word in words {
                *counts.entry(word).or_default() += 1;
            }
        }
        let common = counts.into_iter().filter(|(_, count)| *count >= COMMON);
        common.flat_map(|(word, _)| word.to_le_bytes()).collect()
    }

    /// The tokens of a text and their features.
    #[derive(Debug)]
    pub struct Example {
        pub places: Vec<Range<usize>>,
        pub of_token: Vec<Vec<Feature>>,
        pub of_pair: Vec<Vec<Feature>>,
    }

    /// Reads a text; `None` where the tagger does not look at it.
    pub fn example(text: &str, learned: &Learned<'_>) -> Option<Example> {
        let read = Read::new(text, learned)?;
        let all = 0..read.tokens.len();
        let features = |of: &dyn Fn(usize, &mut Vec<Feature>)| {
            let of = |i| {
                let mut features = Vec::new();
                of(i, &mut features);
                features
            };
            all.clone().map(of).collect()
        };
        Some(Example {
            places: read.tokens.iter().map(Token::place).collect(),
            of_token: features(&|i, to| read.of_token(i, |it| to.push(it))),
            of_pair: features(&|i, to| {
                if i > 0 {
                    read.of_pair(i, |it| to.push(it));
                }
            }),
        })
    }

    /// Returns the odds of each place of a chain, and the share of it and the one before it being secret both.
    pub fn odds_of(scores: &[f32], pairs: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (before, behind) = (ahead(scores, pairs), back(scores, pairs));
        let odds = before
            .iter()
            .zip(&behind)
            .map(|(one, other)| one * other)
            .collect();
        let both = |i: usize| {
            let Some(i) = i.checked_sub(1) else {
                return 0.0;
            };
            let (score, pair) = (scores[i + 1].exp(), pairs[i + 1].exp());
            let both = before[i] * score * pair * behind[i + 1];
            both / (1.0 + before[i] + score * behind[i + 1] + both)
        };
        (odds, (0..scores.len()).map(both).collect())
    }
}
