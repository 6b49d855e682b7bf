//! Where in a long text a question is answered, as far as its words tell.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::index::LexicalIndex;
use super::lists::Lists;
use super::question::{Rarity, asked};
use super::terms::{Purpose, Stems, terms};

/// A longer line or sentence is taken in pieces of so many characters.
const LONGEST_PIECE: usize = 200;

/// Words that two questions have in common that ask the same, at least; and they are three fifths of each.
const FEWEST_SAME: usize = 3;
/// How a question ends.
const MARKS: [char; 3] = ['?', '？', '؟'];
/// Words of a question without its mark.
const MAX_UNMARKED: usize = 12;
/// Bytes of a message that merely asks; a longer one says more than its questions.
const MAX_ECHO: usize = 600;

/// A stretch of the text that goes or stays as one.
struct Piece {
    bytes: Range<usize>,
    chars: usize,
    /// The question's terms in it, by their number.
    terms: Vec<usize>,
}

/// The words of a question, weighed by how rare an index finds them, to be looked for in texts.
#[derive(Debug)]
pub struct Asked<'a> {
    lists: &'a Lists,
    stems: Stems,
    terms: BTreeMap<String, f32>,
}

impl LexicalIndex {
    /// The words of a question.
    pub fn asked(&self, question: &str) -> Asked<'_> {
        Asked {
            lists: &self.lists,
            stems: Stems::default(),
            terms: asked(self, &Rarity::over(vec![self]), question),
        }
    }
}

impl Asked<'_> {
    /// The share of the question that a text has in its own words, the rare ones counting more: 0 to 1.
    pub fn coverage(&mut self, text: &str) -> f32 {
        let max: f32 = self.terms.values().sum();
        let mut missing: BTreeMap<&str, f32> = BTreeMap::new();
        missing.extend(
            self.terms
                .iter()
                .map(|(term, weight)| (term.as_str(), *weight)),
        );
        let lists = (self.lists, &mut self.stems);
        terms(lists, text, Purpose::Index, |term| {
            missing.remove(term);
        });
        let missing: f32 = missing.values().sum();
        if max > 0.0 { 1.0 - missing / max } else { 0.0 }
    }

    /// Whether one of the questions in a text asks the same: it answers nothing, however much of the question it has.
    pub fn is_echo(&self, text: &str) -> bool {
        text.len() <= MAX_ECHO
            && text.contains(MARKS)
            && pieces(text).any(|bytes| self.is_same(text[bytes].trim_end()))
    }

    /// Whether all sentences of a text are questions.
    pub fn merely_asks(&self, text: &str) -> bool {
        let mut sentences = pieces(text).map(|bytes| text[bytes].trim());
        text.len() <= MAX_ECHO && sentences.all(|it| it.is_empty() || self.asks(it))
    }

    /// Whether a sentence is a question, by its mark or its first word. A long one begins so for other reasons.
    fn asks(&self, sentence: &str) -> bool {
        sentence.ends_with(MARKS)
            || sentence.split_whitespace().nth(MAX_UNMARKED).is_none()
                && !sentence.contains(',')
                && self.lists.asks.is_match(sentence)
    }

    fn is_same(&self, sentence: &str) -> bool {
        if !sentence.ends_with(MARKS) {
            return false;
        }
        let mut own = BTreeSet::new();
        let lists = (self.lists, &mut Stems::default());
        terms(lists, sentence, Purpose::Index, |term| {
            own.insert(term.to_owned());
        });
        let same = own
            .iter()
            .filter(|term| self.terms.contains_key(*term))
            .count();
        let of_both = self.terms.len().max(own.len());
        same >= FEWEST_SAME && 5 * same >= 3 * of_both
    }

    /// The part of `text` of at most `chars` characters, whole sentences where they are not too long, that has the
    /// most of the question's words, the rare ones counting more; `None` where it has none of them.
    pub fn passage(&self, text: &str, chars: usize) -> Option<Range<usize>> {
        let asked = &self.terms;
        let weights: Vec<f32> = asked.values().copied().collect();
        let mut stems = Stems::default();
        let numbers: BTreeMap<&str, usize> = asked.keys().map(String::as_str).zip(0..).collect();
        let pieces: Vec<Piece> = pieces(text)
            .map(|bytes| {
                let piece = &text[bytes.clone()];
                let mut found = Vec::new();
                terms((self.lists, &mut stems), piece, Purpose::Index, |term| {
                    found.extend(numbers.get(term));
                });
                Piece {
                    chars: piece.chars().count(),
                    bytes,
                    terms: found,
                }
            })
            .collect();
        let run = best_run(&pieces, &weights, chars)?;
        let around = widen(&pieces, run, chars);
        Some(pieces[around.start].bytes.start..pieces[around.end - 1].bytes.end)
    }
}

/// The shortest run of pieces within `chars` that has the most of what was asked.
fn best_run(pieces: &[Piece], weights: &[f32], chars: usize) -> Option<Range<usize>> {
    let mut best: Option<(f32, usize, Range<usize>)> = None;
    let mut held = vec![0_usize; weights.len()];
    let (mut start, mut length) = (0, 0);
    for (end, piece) in pieces.iter().enumerate() {
        length += piece.chars;
        piece.terms.iter().for_each(|term| held[*term] += 1);
        let leaves = |start: usize, length: usize, held: &[usize]| {
            let first: &Piece = &pieces[start];
            start < end && (length > chars || first.terms.iter().all(|term| held[*term] > 1))
        };
        while leaves(start, length, &held) {
            length -= pieces[start].chars;
            pieces[start].terms.iter().for_each(|term| held[*term] -= 1);
            start += 1;
        }
        let there = weights.iter().zip(&held).filter(|(_, held)| **held > 0);
        let weight: f32 = there.map(|(weight, _)| weight).sum();
        let is_better = best.as_ref().is_none_or(|(max, shortest, _)| {
            weight > *max || (weight.total_cmp(max).is_eq() && length < *shortest)
        });
        if weight > 0.0 && is_better {
            best = Some((weight, length, start..end + 1));
        }
    }
    best.map(|(_, _, run)| run)
}

/// The run with what stands around it, before and after by turns, while there is room.
fn widen(pieces: &[Piece], mut run: Range<usize>, chars: usize) -> Range<usize> {
    let mut length: usize = pieces[run.clone()].iter().map(|piece| piece.chars).sum();
    loop {
        let before = run.start.checked_sub(1);
        let fits = |at: usize, length: usize| length + pieces[at].chars <= chars;
        let mut grew = false;
        if let Some(at) = before.filter(|at| fits(*at, length)) {
            length += pieces[at].chars;
            run.start = at;
            grew = true;
        }
        if run.end < pieces.len() && fits(run.end, length) {
            length += pieces[run.end].chars;
            run.end += 1;
            grew = true;
        }
        if !grew {
            return run;
        }
    }
}

/// Sentences and lines of a text, which they tile.
fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let mut ended = false;
        let mut length = rest.len();
        for (count, (at, c)) in rest.char_indices().enumerate() {
            let is_over = ended && !c.is_whitespace() || count == LONGEST_PIECE;
            if is_over {
                length = at;
                break;
            }
            ended = match c {
                '\n' | '。' | '！' | '？' => true,
                '.' | '!' | '?' => rest[at + c.len_utf8()..].starts_with(char::is_whitespace),
                _ => ended && c.is_whitespace(),
            };
        }
        let piece = start..start + length;
        start = piece.end;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::words::{Document, Lists};

    fn index(text: &str) -> LexicalIndex {
        let mut index = LexicalIndex::new(Lists::embedded());
        index.push(Document {
            text,
            ..Document::default()
        });
        index
    }

    fn long() -> String {
        let filler = "The weather stayed mild and nobody minded. ".repeat(40);
        format!("{filler}The vault code is 7731.\nIt changes in May. {filler}")
    }

    #[test]
    fn the_sentences_that_answer_are_found_in_the_middle_of_a_long_text() {
        let text = long();
        let range = index(&text)
            .asked("what is the code of the vault?")
            .passage(&text, 300);
        let passage = &text[range.unwrap()];
        assert!(passage.contains("vault code is 7731"), "{passage}");
        assert!(passage.chars().count() <= 300);
        assert!(passage.chars().count() > 200, "{passage}");
    }

    #[test]
    fn words_that_stand_apart_are_not_torn_from_each_other_while_there_is_room() {
        let text = "Berlin it is. Some say so. The hotel is the Adlon. Else nothing.";
        let range = index(text)
            .asked("hotel in Berlin")
            .passage(text, 60)
            .unwrap();
        assert!(text[range.clone()].contains("Berlin") && text[range].contains("Adlon"));
    }

    #[test]
    fn a_question_among_other_sentences_is_the_same_question_and_an_answer_is_none() {
        let index = index("The code of the allotment gate is 2968 now.");
        let asked = index.asked("whats the code for the allotment gate now");
        for (text, is_echo) in [
            (
                "Stood in the hail. What is the code of the allotment gate? Nobody was there.",
                true,
            ),
            ("whats the allotment gate code?", true),
            ("The code of the allotment gate is 2968 now.", false),
            (
                "Have you been to the allotment? The gate has a code, 2968.",
                false,
            ),
        ] {
            assert_eq!(asked.is_echo(text), is_echo, "{text}");
        }
        assert!(
            !index.asked("the gate").is_echo("the gate?"),
            "too little to tell"
        );
    }

    #[test]
    fn a_text_with_none_of_the_words_has_no_passage() {
        let text = long();
        assert_eq!(index(&text).asked("submarine").passage(&text, 300), None);
    }

    proptest! {
        #[test]
        fn pieces_tile_any_text(text in "\\PC{0,400}|[a. \n。!]{0,300}") {
            let mut at = 0;
            for piece in pieces(&text) {
                prop_assert_eq!(piece.start, at);
                prop_assert!(piece.end > piece.start);
                at = piece.end;
            }
            prop_assert_eq!(at, text.len());
            let range = index(&text).asked(&text).passage(&text, 50);
            if let Some(range) = range {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
