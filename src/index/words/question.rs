//! A question, read with an index at hand: which of its terms the index has and what they weigh.
//!
//! A question rarely says it in the words of the answer. So terms that the lists relate to its own count too, and
//! terms that begin alike, which takes care of much that a stemmer does not know: names, typing errors, languages
//! without one. Both at a discount, and never as rarer than the word asked for.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::dates::{self, Span};
use super::index::LexicalIndex;
use super::names::{self, Named};
use super::postings::Postings;
use super::terms::{Purpose, Stems, is_spaceless, terms};
use crate::index::words::Voice;

/// What a related term counts of the one asked for.
const RELATED: f32 = 0.25;
/// What a term that begins alike counts of the one asked for.
const BEGINS_ALIKE: f32 = 0.5;
/// So many terms that begin alike are looked at, in the order of their letters.
const LOOKED_AT: usize = 300;
/// Of a longer question only so many bytes at each end are read.
const END: usize = 8 * 1024;
/// What a pair of characters that the index has not counts of one that it has.
const UNKNOWN_PAIR: f32 = 0.35;
/// And a word.
const UNKNOWN_WORD: f32 = 0.5;
/// Of a question with more terms the rarest that the index has are asked for.
const MAX_TERMS: usize = 32;

/// What a question asks, as far as the index can tell.
pub(super) struct Question<'a> {
    /// The terms the index has.
    pub(super) terms: Vec<Term<'a>>,
    /// Those of its own words, how many of them there are in all.
    pub(super) own: Vec<&'a Postings>,
    pub(super) n_asked: usize,
    /// The weights of the question's own terms, also of those the index has not, as far as they can be expected.
    pub(super) max: f32,
    /// Of each speaker.
    pub(super) named: Vec<Named>,
    pub(super) voice: Option<Voice>,
    pub(super) dates: Vec<Span>,
    pub(super) asks_when: bool,
}

/// A term of a question, or one that may stand for it.
pub(super) struct Term<'a> {
    pub(super) postings: &'a Postings,
    pub(super) weight: f32,
    /// The weight as a share of what the rarity of the term alone would give.
    pub(super) share: f32,
}

impl<'a> Question<'a> {
    /// As one of several indexes has it: what is rare is judged over all.
    pub(super) fn read(index: &'a LexicalIndex, all: &Rarity<'_>, question: &str) -> Self {
        let question = &ends(question);
        let asked = asked(index, all, question);
        Self {
            own: asked
                .keys()
                .filter_map(|term| index.terms.get(term.as_str()))
                .collect(),
            n_asked: asked.len(),
            terms: widened(index, all, &asked)
                .into_iter()
                .filter_map(|(term, weight)| {
                    Some(Term {
                        postings: index.terms.get(term)?,
                        weight,
                        share: weight / all.of(term),
                    })
                })
                .collect(),
            max: asked
                .iter()
                .map(|(term, weight)| weight * expected(all, term))
                .sum(),
            named: names::named(&index.lists, &index.speakers, question),
            voice: names::voice(&index.lists, question),
            dates: dates::spans(&dates::dates(&index.lists, question), &index.years),
            asks_when: index.lists.asks_when.is_match(question),
        }
    }
}

/// How far a good answer can be expected to have a term. Of what is written without spaces every pair of neighbours is
/// a term; those that nobody wrote before are mostly the end of one word and the beginning of another.
/// Words that nobody ever wrote do not count against a hit as one that is merely not in it does.
fn expected(all: &Rarity<'_>, term: &str) -> f32 {
    let is_pair = term.chars().next().is_some_and(is_spaceless);
    match (all.has(term), is_pair) {
        (true, _) => 1.0,
        (false, true) => UNKNOWN_PAIR,
        (false, false) => UNKNOWN_WORD,
    }
}

/// The beginning and the end of what is too long to be a question all through: where people ask about what they paste.
fn ends(question: &str) -> Cow<'_, str> {
    if question.len() <= 2 * END {
        return Cow::Borrowed(question);
    }
    let head = &question[..question.floor_char_boundary(END)];
    let tail = &question[question.ceil_char_boundary(question.len() - END)..];
    Cow::Owned(format!("{head}\n{tail}"))
}

/// The question's terms with their weights, the rarest if there are too many.
pub(super) fn asked(
    index: &LexicalIndex,
    all: &Rarity<'_>,
    question: &str,
) -> BTreeMap<String, f32> {
    let mut asked = BTreeMap::new();
    let lists = (&*index.lists, &mut Stems::default());
    terms(lists, question, Purpose::Ask, |term| {
        if !asked.contains_key(term) {
            asked.insert(term.to_owned(), all.of(term));
        }
    });
    if asked.len() <= MAX_TERMS {
        return asked;
    }
    let known = |(term, _): &(String, f32)| all.has(term);
    let mut known: Vec<_> = asked.into_iter().filter(known).collect();
    known.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    known.truncate(MAX_TERMS);
    known.into_iter().collect()
}

/// The terms asked for and those that may stand for them, each with its greatest weight.
fn widened<'a>(
    index: &'a LexicalIndex,
    rarity: &Rarity<'_>,
    asked: &'a BTreeMap<String, f32>,
) -> BTreeMap<&'a str, f32> {
    let mut all: BTreeMap<&str, f32> = BTreeMap::new();
    for (term, weight) in asked {
        let own = (term.as_str(), *weight);
        let discounted =
            |other: &'a str, discount: f32| (other, discount * rarity.of(other).min(*weight));
        let related = index.lists.related(term);
        let related = related.map(|other| discounted(other, RELATED));
        let alike = beginning_alike(index, term).map(|other| discounted(other, BEGINS_ALIKE));
        for (term, weight) in related.chain(alike).chain([own]) {
            let greatest = all.entry(term).or_default();
            *greatest = greatest.max(weight);
        }
    }
    all
}

/// Terms of the index that share most of their beginning with this one.
fn beginning_alike<'a>(index: &'a LexicalIndex, term: &'a str) -> impl Iterator<Item = &'a str> {
    let alike = Alike::of(term);
    let from = alike.map(|alike| &term[..alike.bytes]);
    from.into_iter().flat_map(move |from| {
        let range = (Bound::Included(from), Bound::Unbounded);
        index
            .terms
            .range::<str, _>(range)
            .map(|(other, _)| &**other)
            .take(LOOKED_AT)
            .take_while(move |other| other.starts_with(from))
            .filter(move |other| alike.is_some_and(|alike| alike.admits(term, other)))
    })
}

/// How much of its beginning a term must share to be taken for another.
#[derive(Clone, Copy)]
struct Alike {
    /// The bytes that all who do share.
    bytes: usize,
    /// The share of the longer term, in quarters.
    quarters: usize,
}

impl Alike {
    /// `None` where the beginning tells nothing: of short words, numbers, pairs of characters.
    fn of(term: &str) -> Option<Self> {
        if !term.chars().all(char::is_alphabetic) {
            return None;
        }
        // Words without a stemmer keep their endings and so share less.
        let (min, quarters) = if term.is_ascii() { (4, 3) } else { (3, 2) };
        let length = term.chars().count();
        let cut = min.max(length * quarters / 4);
        let (bytes, _) = term.char_indices().nth(cut).unwrap_or((term.len(), ' '));
        (length >= min).then_some(Self { bytes, quarters })
    }

    fn admits(self, term: &str, other: &str) -> bool {
        let shared = term.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        shared.count() * 4 >= other.chars().count() * self.quarters
    }
}

/// How much it tells that a message has a term, over all indexes that are searched.
pub(super) struct Rarity<'a> {
    indexes: Vec<&'a LexicalIndex>,
    /// Messages in them, with those that are thought to be there.
    messages: f64,
    /// Each term is asked for often.
    known: RefCell<HashMap<Box<str>, (u32, f32)>>,
}

impl<'a> Rarity<'a> {
    pub(super) fn over(indexes: Vec<&'a LexicalIndex>) -> Self {
        let count = |index: &&LexicalIndex| f64::from(index.n_messages) + f64::from(index.others);
        Self {
            messages: indexes.iter().map(count).sum(),
            indexes,
            known: RefCell::default(),
        }
    }

    pub(super) fn of(&self, term: &str) -> f32 {
        self.look_up(term).1
    }

    fn has(&self, term: &str) -> bool {
        self.look_up(term).0 > 0
    }

    fn look_up(&self, term: &str) -> (u32, f32) {
        if let Some(known) = self.known.borrow().get(term) {
            return *known;
        }
        let postings = self.indexes.iter().filter_map(|it| it.terms.get(term));
        let with: u32 = postings.map(Postings::messages).sum();
        let rarity = rarity_of(f64::from(with), self.messages);
        self.known.borrow_mut().insert(term.into(), (with, rarity));
        (with, rarity)
    }
}

/// The logarithm of how few of all have it.
#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more")]
pub(super) fn rarity_of(with: f64, all: f64) -> f32 {
    ((all - with + 0.5) / (with + 0.5)).ln_1p() as f32
}
