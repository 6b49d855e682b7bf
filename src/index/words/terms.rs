//! Text -> terms: the words under which a message is found.
//!
//! Words are runs of letters and digits with apostrophes inside, in lower case, without diacritics on Latin letters;
//! plain Latin ones lose their endings, stop words are dropped. Scripts written without spaces give every character
//! and every two neighbours. Invariant: total, linear in the text, no term longer than [`LONGEST`] characters.

use std::collections::HashMap;

use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::lists::Lists;

/// Longer words are cut here: keys and encoded data, which their beginning tells apart as well.
pub(super) const LONGEST: usize = 64;

/// What the terms are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A message: everything it may be found by.
    Index,
    /// A question: single characters only where there are no two neighbours to tell more.
    Ask,
}

/// Words with their stems: to look one up costs a tenth of working it out, and talk says the same words again.
#[derive(Clone, Debug, Default)]
pub(super) struct Stems(HashMap<Box<str>, Box<str>>);

/// So many words are remembered; those that are said often come early.
const REMEMBERED: usize = 4_096;

impl Stems {
    fn stem(&mut self, stemmer: &Stemmer, word: &str, emit: &mut impl FnMut(&str)) {
        if let Some(stem) = self.0.get(word) {
            return emit(stem);
        }
        let stem = stemmer.stem(word);
        emit(&stem);
        if self.0.len() < REMEMBERED {
            self.0.insert(word.into(), stem.into());
        }
    }
}

/// Hands each term of the text to `emit`, in order, repeated as often as it occurs.
pub(super) fn terms(
    (lists, stems): (&Lists, &mut Stems),
    text: &str,
    purpose: Purpose,
    mut emit: impl FnMut(&str),
) {
    let mut word = Word::default();
    let mut run = Run::default();
    let mut apostrophe = false;
    let mut step = |c: char| {
        if is_spaceless(c) {
            word.finish(lists, stems, &mut emit);
            run.push(c, purpose, &mut emit);
        } else {
            run.finish(purpose, &mut emit);
            if c.is_alphanumeric() {
                if apostrophe && word.length > 0 {
                    word.apostrophe();
                }
                word.push(c);
            } else if !(c == '\'' || is_combining_mark(c)) {
                word.finish(lists, stems, &mut emit);
            } else if c == '\'' && apostrophe {
                // Two apostrophes are quotation marks.
                word.finish(lists, stems, &mut emit);
            }
        }
        apostrophe = c == '\'';
    };
    if text.is_ascii() {
        text.chars()
            .map(|c| c.to_ascii_lowercase())
            .for_each(&mut step);
    } else {
        text.nfkc()
            .flat_map(char::to_lowercase)
            .map(|c| if c == '’' { '\'' } else { c })
            .for_each(&mut step);
    }
    step(' ');
}

/// Whether the character belongs to a script written without spaces, or to one whose words take on many endings
/// that no stemmer here knows; both are found by pairs of characters.
pub fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF     // Thai, Lao
        | 0x1000..=0x109F   // Burmese
        | 0x1100..=0x11FF   // Hangul letters
        | 0x1780..=0x17FF   // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30FF   // Hiragana, Katakana
        | 0x3100..=0x312F
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF   // Han
        | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF   // Hangul
        | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
        && (c.is_alphanumeric() || is_combining_mark(c))
}

/// A word being read.
#[derive(Default)]
struct Word {
    text: String,
    /// Characters so far; those beyond [`LONGEST`] are counted, not kept.
    length: usize,
    /// Where the text stood at the last apostrophe.
    apostrophe: Option<usize>,
}

impl Word {
    fn push(&mut self, c: char) {
        self.length += 1;
        if self.length > LONGEST {
            return;
        }
        match c {
            _ if c.is_ascii() => self.text.push(c),
            'ß' => self.text.push_str("ss"),
            'ё' => self.text.push('е'),
            'ς' => self.text.push('σ'),
            '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => {
                let mut base = None;
                decompose_canonical(c, |part| base = base.or(Some(part)));
                self.text.push(base.unwrap_or(c));
            }
            _ => self.text.push(c),
        }
    }

    fn apostrophe(&mut self) {
        self.apostrophe = Some(self.text.len());
    }

    fn finish(&mut self, lists: &Lists, stems: &mut Stems, emit: &mut impl FnMut(&str)) {
        if self.length > 0 {
            if let Some(at) = self.apostrophe
                && &self.text[at..] == "s"
            {
                self.text.truncate(at);
            }
            if let Some(term) = base(lists, &self.text).filter(|term| !term.is_empty()) {
                // A stemmer of one language has nothing to say of other alphabets.
                match lists.stemmer.as_ref().filter(|_| term.is_ascii()) {
                    Some(stemmer) => stems.stem(stemmer, term, emit),
                    None => emit(term),
                }
            }
        }
        self.text.clear();
        self.length = 0;
        self.apostrophe = None;
    }
}

/// The base form of an irregular word, or the word; `None` of a stop word.
fn base<'a>(lists: &'a Lists, word: &'a str) -> Option<&'a str> {
    let word = lists.irregular.get(word).map_or(word, String::as_str);
    (!lists.stop.contains(word)).then_some(word)
}

/// A run of characters of a script without spaces.
#[derive(Default)]
struct Run {
    last: Option<char>,
    length: usize,
}

impl Run {
    fn push(&mut self, c: char, purpose: Purpose, emit: &mut impl FnMut(&str)) {
        let mut buffer = [0; 8];
        if let Some(last) = self.last {
            let n = last.encode_utf8(&mut buffer).len();
            let all = n + c.encode_utf8(&mut buffer[n..]).len();
            emit(std::str::from_utf8(&buffer[..all]).unwrap_or_default());
        }
        if purpose == Purpose::Index {
            emit(c.encode_utf8(&mut buffer));
        }
        self.last = Some(c);
        self.length += 1;
    }

    fn finish(&mut self, purpose: Purpose, emit: &mut impl FnMut(&str)) {
        if let Some(last) = self.last.take()
            && purpose == Purpose::Ask
            && self.length == 1
        {
            emit(last.encode_utf8(&mut [0; 4]));
        }
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use proptest::prelude::*;

    static LISTS: LazyLock<Lists> = LazyLock::new(Lists::embedded);

    fn all(text: &str, purpose: Purpose) -> Vec<String> {
        let mut found = Vec::new();
        terms((&LISTS, &mut Stems::default()), text, purpose, |term| {
            found.push(term.to_owned());
        });
        found
    }

    #[test]
    fn words_become_terms() {
        let rows: [(&str, &[&str]); 14] = [
            ("", &[]),
            ("the and of", &[]),
            ("Running dogs' toys!", &["run", "dog", "toy"]),
            ("Rosalind’s books don't", &["rosalind", "book", "dont"]),
            ("rock 'n' roll it''s", &["rock", "n", "roll"]),
            ("She bought children shoes", &["buy", "child", "shoe"]),
            ("parse_token(2023)", &["pars", "token", "2023"]),
            ("Café CAFE\u{301} ﬁne", &["cafe", "cafe", "fine"]),
            ("Straße, Häuser", &["strass", "hauser"]),
            ("Ёлки и Елки", &["елки", "елки"]),
            ("ΟΔΟΣ οδος", &["οδοσ", "οδοσ"]),
            ("🎉🎉 👨‍👩‍👧", &[]),
            ("ｆｕｌｌ ①", &["full", "1"]),
            ("s 's '", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(all(text, Purpose::Index), expected, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(all("猫が好き", Purpose::Ask), ["猫が", "が好", "好き"]);
        assert_eq!(
            all("猫が好", Purpose::Index),
            ["猫", "猫が", "が", "が好", "好"]
        );
        assert_eq!(
            all("私の猫 犬 dog猫", Purpose::Ask),
            ["私の", "の猫", "犬", "dog", "猫"]
        );
        assert_eq!(all("한국어", Purpose::Ask), ["한국", "국어"]);
    }

    #[test]
    fn an_endless_word_is_cut() {
        let found = all(&"é".repeat(1000), Purpose::Index);
        assert_eq!(found, ["e".repeat(LONGEST)]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms_and_what_is_asked_is_indexed(text in any::<String>()) {
            let indexed = all(&text, Purpose::Index);
            for term in &indexed {
                prop_assert!(!term.is_empty() && term.chars().count() <= 2 * LONGEST);
            }
            for term in all(&text, Purpose::Ask) {
                prop_assert!(indexed.contains(&term));
            }
        }
    }
}
