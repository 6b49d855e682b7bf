//! What the program that learns the weights needs: features with what each counts.

use std::ops::Range;

use super::concepts::Concepts;
use super::features::{GROUPS, Read, share};
use super::{Classifier, PROJECT, TRAP, labelled};
use crate::text::linear::{Feature, Model};

/// Features of a group, and what each of them counts.
pub type Weighed = (f32, Vec<Feature>);

/// How many groups, from the first on, are words and their parts.
pub const WORDING: usize = 2;

/// A message, taken apart.
#[derive(Debug)]
pub struct Example {
    pub message: Vec<Weighed>,
    /// Each sentence: its place, and its features.
    pub sentences: Vec<(Range<usize>, Vec<Weighed>)>,
    /// For telling kinds apart: of the message, and of each sentence.
    pub kind: Vec<Weighed>,
    pub kinds: Vec<Vec<Weighed>>,
}

/// Takes messages apart.
#[derive(Debug)]
pub struct Reader(Concepts);

impl Default for Reader {
    fn default() -> Self {
        Self(Concepts::general())
    }
}

impl Reader {
    /// Returns where the clauses of a text stand.
    pub fn clauses(&self, text: &str) -> Vec<Range<usize>> {
        let read = Read::new(text, "", &self.0);
        let sentences = read.sentences.iter();
        sentences.flat_map(|it| read.clauses(it)).collect()
    }

    pub fn example(&self, text: &str, before: &str) -> Example {
        let read = Read::new(text, before, &self.0);
        let numbers = 0..read.sentences.len();
        let of_sentence = |number: usize| {
            let features = weighed(|add| read.of_sentence(number, add));
            (read.sentences[number].clone(), features)
        };
        Example {
            message: weighed(|add| read.of_message(add)),
            sentences: numbers.clone().map(of_sentence).collect(),
            kind: weighed(|add| read.of_kind(None, add)),
            kinds: numbers
                .map(|number| weighed(|add| read.of_kind(Some(number), add)))
                .collect(),
        }
    }
}

fn weighed(features: impl FnOnce(&mut dyn FnMut(super::features::Group, Feature))) -> Vec<Weighed> {
    let mut groups: [Vec<Feature>; GROUPS] = Default::default();
    features(&mut |group, feature| groups[group as usize].push(feature));
    let counts =
        |group: usize, of: &Vec<Feature>| share(group, u16::try_from(of.len()).unwrap_or(u16::MAX));
    groups
        .into_iter()
        .enumerate()
        .map(|(group, of)| (counts(group, &of), of))
        .collect()
}

/// Labels of the second model beside the kinds: that something is of a project, and that a message is a trap.
pub const OF_PROJECT: usize = PROJECT;
pub const OF_TRAP: usize = TRAP;

/// Returns the feature for a label of the second model.
pub fn of_label(feature: Feature, label: usize) -> Feature {
    labelled(feature, label)
}

/// Returns a classifier with other weights.
pub fn classifier(keep: Vec<u8>, kinds: Vec<u8>) -> Classifier {
    Classifier::with(Model::new(keep.leak()), Model::new(kinds.leak()))
}
