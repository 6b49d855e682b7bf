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
        Self {
            table: Table {
                fold,
                always,
                needed_by: ordered.into_iter().map(|(places, _)| places).collect(),
            },
            words: words.map_data(Cow::Owned).expect("the data stays as it is"),
        }
    }

    /// Patterns that may match, in their order.
    pub(super) fn places(&self, text: &str) -> Vec<usize> {
        let text = self.table.fold.fold(text);
        let mut is_row_met = vec![false; self.table.needed_by.len()];
        let words = self.words.as_fst();
        let root = words.root();
        for (start, _) in text.char_indices() {
            let (mut node, mut row) = (root, fst::raw::Output::zero());
            for &byte in &text.as_bytes()[start..] {
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
