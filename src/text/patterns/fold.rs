//! Letters -> the one that stands for all which a pattern takes for the same where case is ignored. Unit: a text. Pure.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use serde::{Deserialize, Serialize};

use super::Case;

/// How texts are made equal.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fold {
    #[default]
    Nothing,
    /// Letters beyond ASCII that patterns have, in any case, with the one that stands for them; all others are left
    /// alone.
    Case(BTreeMap<char, char>),
}

impl Fold {
    /// For the words that are looked for.
    pub(super) fn of<'w>(case: Case, words: impl Iterator<Item = &'w str>) -> Self {
        if case == Case::Counts {
            return Self::Nothing;
        }
        let letters: HashSet<char> = words.flat_map(str::chars).collect();
        let mut same = BTreeMap::new();
        for c in letters {
            let alike = alike(c);
            // ASCII letters are folded without looking them up, but for the few others that stand for them.
            let stands = alike.iter().find(|c| c.is_ascii_lowercase());
            let stands = *stands.or(alike.first()).unwrap_or(&c);
            same.extend(
                alike
                    .into_iter()
                    .filter(|c| !c.is_ascii())
                    .map(|c| (c, stands)),
            );
        }
        Self::Case(same)
    }

    pub(super) fn fold<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Self::Case(same) = self else {
            return Cow::Borrowed(text);
        };
        if text.is_ascii() {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        let folded = |c: char| match c {
            c if c.is_ascii() => c.to_ascii_lowercase(),
            c => same.get(&c).copied().unwrap_or(c),
        };
        Cow::Owned(text.chars().map(folded).collect())
    }
}

/// A letter in every case.
fn alike(c: char) -> Vec<char> {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    match class.try_case_fold_simple() {
        Ok(()) => class
            .ranges()
            .iter()
            .flat_map(|range| range.start()..=range.end())
            .collect(),
        Err(_) => vec![c],
    }
}
