//! The words that patterns need, in one automaton: a text -> the few patterns that may match it. Unit: a list of
//! patterns.
//!
//! Invariant: a pattern that matches is among those that may.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use fst::Map;
use fst::raw::{Fst, Node, Output};
use serde::{Deserialize, Serialize};

use super::fold::Fold;
use super::{Case, needed};

/// Tells by their words which patterns may match.
#[derive(Debug)]
pub(super) struct Sieve {
    pub(super) table: Table,
    /// Word -> number of its row in `Table::needed_by`. Of the program's own patterns it is read where it stands.
    pub(super) words: Map<Cow<'static, [u8]>>,
    beginnings: OnceLock<Beginnings>,
    n_read: AtomicUsize,
}

/// Bytes read from which it pays to know how words begin.
const MANY: usize = 4_096;

/// What a sieve knows beside its words.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    fold: Fold,
    /// Patterns that need no word.
    always: Vec<usize>,
    /// Patterns that need one of the words with this row's number.
    needed_by: Vec<Vec<usize>>,
}

impl Sieve {
    pub(super) fn new<'p>(case: Case, patterns: impl Iterator<Item = &'p str>) -> Self {
        let needed: Vec<_> = patterns.map(needed::by).collect();
        let words = needed.iter().flatten().flatten();
        let fold = Fold::of(case, words.map(String::as_str));
        let mut always = Vec::new();
        let mut needed_by: BTreeMap<String, Vec<usize>> = BTreeMap::new();
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
        let mut rows: HashMap<Vec<usize>, u64> = HashMap::new();
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
            beginnings: OnceLock::new(),
            n_read: AtomicUsize::new(0),
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
        let beginnings = || Beginnings::of(&self.words);
        let n_read = self.n_read.fetch_add(text.len(), Ordering::Relaxed);
        let beginnings =
            (n_read + text.len() >= MANY).then(|| self.beginnings.get_or_init(beginnings));
        for start in 0..text.len() {
            if beginnings.is_some_and(|it| !it.may_begin(&text[start..])) {
                continue;
            }
            let (mut node, mut row) = (root, Output::zero());
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
        let mut places: Vec<usize> = places.copied().collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The first three bytes of words, hashed: few places of a text begin with those of any.
#[derive(Debug)]
struct Beginnings([u64; BITS / 64]);

const BITS: usize = 8_192;

impl Beginnings {
    fn of(words: &Map<Cow<'static, [u8]>>) -> Self {
        let mut beginnings = Self([0; BITS / 64]);
        beginnings.add(words.as_fst(), words.as_fst().root(), &mut Vec::new());
        beginnings
    }

    fn add<D: AsRef<[u8]>>(&mut self, words: &Fst<D>, node: Node<'_>, read: &mut Vec<u8>) {
        if let Ok(read) = <[u8; 3]>::try_from(read.as_slice()) {
            return self.mark(read);
        }
        for next in node.transitions() {
            read.push(next.inp);
            self.add(words, words.node(next.addr), read);
            read.pop();
        }
        // Behind a short word there may be anything.
        match (node.is_final(), read.as_slice()) {
            (true, &[first, second]) => self.mark_all(first, second..=second),
            (true, &[first]) => self.mark_all(first, 0..=u8::MAX),
            _ => {}
        }
    }

    fn mark_all(&mut self, first: u8, second: RangeInclusive<u8>) {
        for second in second {
            (0..=u8::MAX).for_each(|third| self.mark([first, second, third]));
        }
    }

    fn mark(&mut self, bytes: [u8; 3]) {
        let bit = Self::bit(bytes);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn may_begin(&self, text: &[u8]) -> bool {
        let byte = |at: usize| text.get(at).copied().unwrap_or_default();
        let bit = Self::bit([byte(0), byte(1), byte(2)]);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn bit([first, second, third]: [u8; 3]) -> usize {
        (usize::from(first) * 2_027 + usize::from(second) * 67 + usize::from(third)) % BITS
    }
}
