//! The words that patterns need, in one automaton: a text -> the few patterns that may match it. Unit: a list of patterns.
//!
//! Invariant: a pattern that matches is among those that may.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use fst::Map;
use serde::{Deserialize, Serialize};

use super::fold::Fold;
use super::{Case, needed};

/// Tells by their words which patterns may match.
#[derive(Debug)]
pub(super) struct Sieve {
    pub(super) table: Table,
    /// Word -> number of its row in `Table::needed_by`. Of the program's own patterns it is read where it stands.
    pub(super) words: Map<Cow<'static, [u8]>>,
    beginnings: Beginnings,
}

/// What a sieve knows beside its words.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    fold: Fold,
    /// Patterns that need no word.
    always: Vec<u16>,
    /// Patterns that need one of the words with this row's number.
    needed_by: Vec<Vec<u16>>,
}

impl Sieve {
    pub(super) fn new<'p>(case: Case, patterns: impl Iterator<Item = &'p str>) -> Self {
        let needed: Vec<_> = patterns.map(needed::by).collect();
        let words = needed.iter().flatten().flatten();
        let fold = Fold::of(case, words.map(String::as_str));
        let mut always = Vec::new();
        let mut needed_by: BTreeMap<String, Vec<u16>> = BTreeMap::new();
        for (place, words) in (0..).zip(needed) {
            match words {
                None => always.push(place),
                Some(words) => {
                    for word in words {
                        let places = needed_by.entry(fold.fold(&word).into_owned());
                        let places = places.or_default();
                        if places.last() != Some(&place) {
                            places.push(place);
                        }
                    }
                }
            }
        }
        let mut rows: HashMap<Vec<u16>, u64> = HashMap::new();
        let numbered = needed_by.into_iter().map(|(word, places)| {
            let next = rows.len() as u64;
            (word, *rows.entry(places).or_insert(next))
        });
        let words = Map::from_iter(numbered).expect("the words are in order");
        let mut ordered: Vec<_> = rows.into_iter().collect();
        ordered.sort_unstable_by_key(|(_, number)| *number);
        let table = Table {
            fold,
            always,
            needed_by: ordered.into_iter().map(|(places, _)| places).collect(),
        };
        let words = words.map_data(Cow::Owned);
        Self::with(table, words.expect("the data stays as it is"))
    }

    pub(super) fn with(table: Table, words: Map<Cow<'static, [u8]>>) -> Self {
        Self {
            beginnings: Beginnings::of(&words),
            table,
            words,
        }
    }

    /// Patterns that may match, in their order.
    pub(super) fn places(&self, text: &str) -> Vec<usize> {
        let text = self.table.fold.fold(text);
        let text = text.as_bytes();
        let mut is_row_met = vec![false; self.table.needed_by.len()];
        let words = self.words.as_fst();
        let root = words.root();
        for start in 0..text.len() {
            if !self.beginnings.may_begin(&text[start..]) {
                continue;
            }
            let (mut node, mut row) = (root, fst::raw::Output::zero());
            for &byte in &text[start..] {
                let Some(transition) = node.find_input(byte) else {
                    break;
                };
                let transition = node.transition(transition);
                row = row.cat(transition.out);
                node = words.node(transition.addr);
                if node.is_final() {
                    let row = row.cat(node.final_output()).value();
                    is_row_met[usize::try_from(row).unwrap_or_default()] = true;
                }
            }
        }
        let rows = self.table.needed_by.iter().zip(is_row_met);
        let met = rows.filter_map(|(places, is_met)| is_met.then_some(places));
        let places = self.table.always.iter().chain(met.flatten());
        let mut places: Vec<usize> = places.map(|place| usize::from(*place)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The first two bytes of words, hashed: few places of a text begin with those of any.
#[derive(Debug)]
struct Beginnings([u64; BITS / 64]);

const BITS: usize = 4_096;

impl Beginnings {
    fn of(words: &Map<Cow<'static, [u8]>>) -> Self {
        let mut beginnings = Self([0; BITS / 64]);
        let words = words.as_fst();
        for first in words.root().transitions() {
            let node = words.node(first.addr);
            // A word of one byte stands before any other.
            let any = node.is_final().then_some(0..=u8::MAX);
            let behind = node.transitions().map(|second| second.inp);
            for second in behind.chain(any.into_iter().flatten()) {
                let bit = Self::bit(first.inp, second);
                beginnings.0[bit / 64] |= 1 << (bit % 64);
            }
        }
        beginnings
    }

    fn may_begin(&self, text: &[u8]) -> bool {
        let (first, second) = (text[0], text.get(1).copied().unwrap_or_default());
        let bit = Self::bit(first, second);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn bit(first: u8, second: u8) -> usize {
        (usize::from(first) * 67 + usize::from(second)) % BITS
    }
}
