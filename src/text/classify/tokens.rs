//! The words and signs of a message, in one form however they are typed. Unit: one message.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::linear::hash_of;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Word,
    /// Has a digit; all digits are the same.
    Number,
    /// One character of Chinese.
    Han,
    Sign,
    Break,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) form: Form,
    /// Hash of its folded form.
    pub(super) id: u64,
    /// Byte in the text where it begins.
    pub(super) at: usize,
    start: usize,
    end: usize,
}

/// Tokens of a text: in small letters, without accents and apostrophes.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) all: Vec<Token>,
    /// Folded forms, with a blank between two.
    folded: String,
}

/// French words that an apostrophe ends.
const ELIDED: [&str; 9] = ["j", "l", "d", "n", "s", "c", "m", "t", "qu"];

/// Words that begin a clause, and signs that begin none.
const BEGINNING: [&str; 22] = [
    "and", "but", "und", "aber", "и", "но", "а", "y", "pero", "et", "mais", "va", "lekin",
    "because", "cos", "bc", "since", "as", "weil", "denn", "so", "which",
];
const INNER: &str = "'’€$£%#@/_.&+*";

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        let mut tokens = Self {
            all: Vec::with_capacity(text.len() / 4),
            folded: String::with_capacity(text.len() + text.len() / 4),
        };
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            if c == '\n' {
                if tokens.all.last().is_some_and(|it| it.form != Form::Break) {
                    tokens.push(at, Form::Break, |folded| folded.push('\n'));
                }
            } else if c.is_whitespace() {
            } else if is_han(c) {
                tokens.push(at, Form::Han, |folded| folded.push(c));
            } else if c.is_alphanumeric() {
                let (mut start, mut word) = (at, String::new());
                fold(c, &mut word);
                while let Some((next_at, next)) = characters.peek().copied() {
                    if is_inner(next) {
                        let behind = text[next_at + next.len_utf8()..].chars().next();
                        if !behind.is_some_and(|it| it.is_alphanumeric() && !is_han(it)) {
                            break;
                        }
                        if next == '-' {
                            word.push('-');
                        } else if ELIDED.contains(&word.as_str()) {
                            tokens.push_word(start, &word);
                            word.clear();
                            start = next_at + next.len_utf8();
                        }
                    } else if next.is_alphanumeric() && !is_han(next) || is_combining_mark(next) {
                        fold(next, &mut word);
                    } else {
                        break;
                    }
                    characters.next();
                }
                tokens.push_word(start, &word);
            } else {
                tokens.push(at, Form::Sign, |folded| folded.push(c));
            }
        }
        tokens
    }

    fn push_word(&mut self, at: usize, word: &str) {
        let form = if word.contains('0') {
            Form::Number
        } else {
            Form::Word
        };
        self.push(at, form, |folded| folded.push_str(word));
    }

    fn push(&mut self, at: usize, form: Form, write: impl FnOnce(&mut String)) {
        if !self.folded.is_empty() {
            self.folded.push(' ');
        }
        let start = self.folded.len();
        write(&mut self.folded);
        let end = self.folded.len();
        let id = hash_of(self.folded[start..].bytes().map(u64::from));
        self.all.push(Token {
            form,
            id,
            at,
            start,
            end,
        });
    }

    /// Returns the folded forms of tokens, with a blank between two.
    pub(super) fn folded(&self, range: Range<usize>) -> &str {
        match (
            self.all.get(range.start),
            self.all.get(range.end.wrapping_sub(1)),
        ) {
            (Some(first), Some(last)) if range.start < range.end => {
                &self.folded[first.start..last.end]
            }
            _ => "",
        }
    }

    /// Returns the clauses of a row of tokens, each with the sign or the word that begins it.
    pub(super) fn clauses(&self, tokens: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut start = tokens.start;
        tokens.clone().filter_map(move |i| {
            let end = i + 1;
            (end == tokens.end || self.begins_clause(end))
                .then(|| std::mem::replace(&mut start, end)..end)
        })
    }

    /// Returns a clause without what begins it.
    pub(super) fn without_break(&self, clause: Range<usize>) -> Range<usize> {
        let first = clause.clone().find(|i| !self.begins_clause(*i));
        first.unwrap_or(clause.end)..clause.end
    }

    /// Counts the words; two characters of Chinese are one.
    pub(super) fn words(&self, tokens: Range<usize>) -> usize {
        let count = |is: fn(Form) -> bool| {
            let all = self.all[tokens.clone()].iter();
            all.filter(|it| is(it.form)).count()
        };
        count(|it| matches!(it, Form::Word | Form::Number)) + count(|it| it == Form::Han) / 2
    }

    /// Returns where tokens of the text stand, at least one.
    pub(super) fn place(&self, text: &str, tokens: Range<usize>) -> Range<usize> {
        let at = self.all[tokens.start].at;
        let next = self.all.get(tokens.end).map_or(text.len(), |it| it.at);
        at..at + text[at..next].trim_end().len()
    }

    fn begins_clause(&self, i: usize) -> bool {
        let token = self.folded(i..i + 1);
        let is_sign = matches!(self.all[i].form, Form::Sign | Form::Break);
        is_sign && !INNER.contains(token) || BEGINNING.contains(&token)
    }

    /// Returns which tokens stand between two places of the text.
    pub(super) fn between(&self, place: &Range<usize>) -> Range<usize> {
        let before = |at: usize| self.all.partition_point(|it| it.at < at);
        before(place.start)..before(place.end)
    }
}

fn is_han(c: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&c)
}

/// Stands inside a word.
fn is_inner(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | 'ʻ' | '`' | '´' | '-')
}

fn fold(c: char, word: &mut String) {
    if c.is_ascii_digit() {
        word.push('0');
    } else if c.is_ascii() {
        word.push(c.to_ascii_lowercase());
    } else if c == 'ß' {
        word.push_str("ss");
    } else {
        let plain = c.to_lowercase().nfd().filter(|it| !is_combining_mark(*it));
        word.extend(plain);
    }
}

/// Returns where the sentences of a text stand, each with the sign that ends it.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    let mut put = |from: usize, to: usize| {
        let sentence = &text[from..to];
        let begin = from + (sentence.len() - sentence.trim_start().len());
        if begin < to {
            sentences.push(begin..begin + sentence.trim().len());
        }
    };
    while let Some((at, c)) = characters.next() {
        let end = match c {
            '\n' => at,
            '。' | '！' | '？' | '；' => at + c.len_utf8(),
            '.' | '!' | '?' | ';' | '…' => {
                let mut end = at + c.len_utf8();
                while let Some((next_at, next)) = characters.peek().copied() {
                    if !matches!(next, '"' | '\'' | '”' | '»' | ')' | '.' | '!' | '?' | '…') {
                        break;
                    }
                    end = next_at + next.len_utf8();
                    characters.next();
                }
                if characters
                    .peek()
                    .is_some_and(|(_, next)| !next.is_whitespace())
                {
                    continue;
                }
                end
            }
            _ => continue,
        };
        put(start, end);
        start = end;
    }
    put(start, text.len());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        let tokens = Tokens::of(text);
        (0..tokens.all.len())
            .map(|i| tokens.folded(i..i + 1).to_owned())
            .collect()
    }

    #[test]
    fn a_word_is_the_same_however_it_is_typed() {
        assert_eq!(folded("Don’t"), folded("dont"));
        assert_eq!(folded("J’ai RÉPONSE"), ["j", "ai", "reponse"]);
        assert_eq!(folded("oʻqituvchi"), folded("o'qituvchi"));
        assert_eq!(
            folded("Straße 17:30, v2"),
            ["strasse", "00", ":", "00", ",", "v0"]
        );
        assert_eq!(folded("我住在 Wien。"), ["我", "住", "在", "wien", "。"]);
        assert_eq!(folded("ещё"), ["еще"]);
    }

    #[test]
    fn sentences_end_with_their_signs_and_at_lines() {
        let text = "See v1.2 now. \"Really?\" Yes!!\n- one\n\n我住在。好吗？ok";
        let found: Vec<&str> = sentences(text).into_iter().map(|it| &text[it]).collect();
        assert_eq!(
            found,
            [
                "See v1.2 now.",
                "\"Really?\"",
                "Yes!!",
                "- one",
                "我住在。",
                "好吗？",
                "ok"
            ]
        );
    }

    #[test]
    fn tokens_of_a_sentence_are_found_by_its_place() {
        let text = "One two. Three four";
        let tokens = Tokens::of(text);
        let second = tokens.between(&sentences(text)[1]);
        assert_eq!(tokens.folded(second), "three four");
    }
}
