//! Texts as a BERT encoder reads them: lower case, without marks, words cut into the longest pieces that the vocabulary
//! has. Invariant: ids are rows of the vocabulary; the first is `[CLS]`, the last `[SEP]`, and there are at most as
//! many as asked for.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A longer word is unknown as a whole.
const LONGEST_WORD: usize = 100;

/// The pieces of words that a model knows.
#[derive(Debug)]
pub(super) struct Vocabulary {
    ids: HashMap<Box<str>, u32>,
    cls: u32,
    sep: u32,
    unknown: u32,
}

/// Chinese characters, each a word of its own.
const IDEOGRAPHS: [(char, char); 8] = [
    ('\u{4E00}', '\u{9FFF}'),
    ('\u{3400}', '\u{4DBF}'),
    ('\u{20000}', '\u{2A6DF}'),
    ('\u{2A700}', '\u{2B73F}'),
    ('\u{2B740}', '\u{2B81F}'),
    ('\u{2B820}', '\u{2CEAF}'),
    ('\u{F900}', '\u{FAFF}'),
    ('\u{2F800}', '\u{2FA1F}'),
];

impl Vocabulary {
    /// Reads `vocab.txt`, a piece a line; the error says what is missing.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut ids = HashMap::new();
        for (line, id) in text.lines().zip(0_u32..) {
            ids.insert(Box::from(line.trim_end()), id);
        }
        let id = |name: &str| {
            let id = ids.get(name).copied();
            id.ok_or_else(|| format!("the vocabulary lacks {name}"))
        };
        Ok(Self {
            cls: id("[CLS]")?,
            sep: id("[SEP]")?,
            unknown: id("[UNK]")?,
            ids,
        })
    }

    /// Rows that a table of word vectors must have.
    pub(super) fn len(&self) -> usize {
        self.ids.values().max().map_or(0, |last| *last as usize + 1)
    }

    /// The ids of a text, `longest` at most; the rest of it is dropped.
    pub(super) fn encode(&self, text: &str, longest: usize) -> Vec<u32> {
        let longest = longest.max(2);
        let mut ids = vec![self.cls];
        for word in words(text, longest) {
            self.cut(&word, &mut ids);
            if ids.len() >= longest {
                break;
            }
        }
        ids.truncate(longest - 1);
        ids.push(self.sep);
        ids
    }

    /// The longest known piece from the left, again and again.
    fn cut(&self, word: &str, ids: &mut Vec<u32>) {
        let first = ids.len();
        if word.chars().count() > LONGEST_WORD {
            ids.push(self.unknown);
            return;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let mark = if ids.len() == first { "" } else { "##" };
            let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let piece = ends.find_map(|end| {
                let id = self.ids.get(format!("{mark}{}", &rest[..end]).as_str());
                Some((*id?, end))
            });
            let Some((id, end)) = piece else {
                ids.truncate(first);
                ids.push(self.unknown);
                return;
            };
            ids.push(id);
            rest = &rest[end..];
        }
    }
}

/// Words and single marks of punctuation; no more than `max`, since each is at least one piece.
fn words(text: &str, max: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    for c in text.chars().filter(|c| !is_dropped(*c)) {
        if words.len() > max {
            break;
        }
        if c.is_whitespace() {
            end(&mut word, &mut words);
            continue;
        }
        let is_ideograph = is_ideograph(c);
        if is_ideograph {
            end(&mut word, &mut words);
        }
        let plain = std::iter::once(c).nfd().filter(|c| !is_mark(*c));
        for c in plain.flat_map(char::to_lowercase) {
            if is_punctuation(c) {
                end(&mut word, &mut words);
                words.push(c.to_string());
            } else {
                word.push(c);
            }
        }
        if is_ideograph {
            end(&mut word, &mut words);
        }
    }
    end(&mut word, &mut words);
    words
}

fn is_ideograph(c: char) -> bool {
    IDEOGRAPHS
        .iter()
        .any(|(from, to)| (*from..=*to).contains(&c))
}

fn is_mark(c: char) -> bool {
    c.general_category() == GeneralCategory::NonspacingMark
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Control characters, but for those that are white space.
fn is_dropped(c: char) -> bool {
    let is_other = c.general_category_group() == GeneralCategoryGroup::Other;
    c == '\u{FFFD}' || (is_other && !matches!(c, '\t' | '\n' | '\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let pieces = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##believ\n##able\ncafe\n!\n学\nis\n'\na";
        Vocabulary::read(pieces).unwrap()
    }

    #[test]
    fn words_are_cut_into_the_longest_known_pieces() {
        for (text, expected) in [
            ("unbelievable", &[4, 5, 6][..]),
            ("  UNbelievable!\n", &[4, 5, 6, 8]),
            ("Café", &[7]),
            ("Cafe\u{301}!!", &[7, 8, 8]),
            ("学学is", &[9, 9, 10]),
            ("is\u{200B}\u{0}is", &[1]),
            ("is'a", &[10, 11, 12]),
            ("unknown", &[1]),
            ("is unx is", &[10, 1, 10]),
            ("", &[]),
        ] {
            let ids = vocabulary().encode(text, 99);
            assert_eq!(ids[1..ids.len() - 1], *expected, "{text:?}");
            assert_eq!((ids[0], ids[ids.len() - 1]), (2, 3));
        }
        let long = "a".repeat(101);
        assert_eq!(vocabulary().encode(&long, 9), [2, 1, 3]);
    }

    #[test]
    fn a_long_text_is_cut_and_keeps_its_end_mark() {
        assert_eq!(
            vocabulary().encode(&"a ".repeat(1000), 5),
            [2, 12, 12, 12, 3]
        );
        assert_eq!(vocabulary().encode("unbelievable a", 4), [2, 4, 5, 3]);
        assert_eq!(vocabulary().encode("a", 0), [2, 3]);
    }

    #[test]
    fn a_vocabulary_without_its_marks_is_refused() {
        assert!(Vocabulary::read("a\nb\n").unwrap_err().contains("[CLS]"));
    }
}
