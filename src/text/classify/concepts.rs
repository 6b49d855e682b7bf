//! What words mean, in seven languages: one number for all words that say the same. Unit: one message.
//!
//! What is learned in one language holds in the others by it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::tokens::{Form, Tokens};

/// A concept, or a kind of sign, and the token that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) what: u8,
    pub(super) token: usize,
    /// Tokens that say it.
    length: usize,
}

/// Numbers from here on are signs.
pub(super) const SIGNS: u8 = 200;
pub(super) const QUESTION: u8 = SIGNS;
const CALL: u8 = SIGNS + 1;
const COLON: u8 = SIGNS + 2;
const QUOTE: u8 = SIGNS + 3;
const STOP: u8 = SIGNS + 4;
const COMMA: u8 = SIGNS + 5;
const NUMBER: u8 = SIGNS + 6;

/// Tokens of a phrase, at most.
const PHRASE: usize = 6;
/// Characters that a word has at least whose ending is free.
const STEM: usize = 3;

/// Words that a sentence may have that announces something, and what it says of that …
const ANNOUNCED: usize = 9;
const ANNOUNCING: &[&str] = &["remember", "note", "actually", "wrong", "meant", "save"];
/// … beside it, …
const BESIDE: &[&str] = &[
    "i", "me", "my", "you", "your", "here", "please", "not", "no", "but", "ok", "forget", "lets",
    "can_you", "should", "want", "need", "today", "must",
];
/// … and words that say nothing.
const EMPTY: [&str; 62] = [
    "the",
    "a",
    "an",
    "following",
    "that",
    "things",
    "thing",
    "these",
    "those",
    "it",
    "to",
    "all",
    "also",
    "is",
    "for",
    "one",
    "very",
    "important",
    "down",
    "about",
    "and",
    "so",
    "in",
    "of",
    "something",
    "das",
    "folgendes",
    "es",
    "alles",
    "auch",
    "den",
    "die",
    "punkt",
    "le",
    "la",
    "ca",
    "cela",
    "ceci",
    "suivant",
    "ce",
    "qui",
    "suit",
    "lo",
    "siguiente",
    "eso",
    "todo",
    "следующее",
    "вот",
    "что",
    "и",
    "quyidagi",
    "quyidagilarni",
    "buni",
    "shuni",
    "下",
    "面",
    "以",
    "几",
    "点",
    "件",
    "事",
    "的",
];

/// Words, phrases and beginnings of words, each with its concept.
#[derive(Debug, Default)]
pub(super) struct Concepts {
    names: Vec<&'static str>,
    whole: HashMap<Cow<'static, str>, u8>,
    stems: HashMap<Cow<'static, str>, u8>,
}

impl Concepts {
    /// Reads the list that comes with the program.
    pub(super) fn embedded() -> Self {
        Self::of(include_str!("concepts.txt"))
    }

    /// Reads the list of what leads to something that a board keeps.
    pub(super) fn leads() -> Self {
        Self::of(include_str!("leads.txt"))
    }

    fn of(list: &'static str) -> Self {
        let mut concepts = Self::default();
        let lines = list.lines();
        let lines = lines.filter_map(|line| {
            line.split_once(": ")
                .filter(|(name, _)| !name.starts_with('#'))
        });
        for (number, (name, forms)) in (0..SIGNS).zip(lines) {
            concepts.names.push(name);
            for form in forms.split(' ') {
                let (form, all) = match form.strip_suffix('*') {
                    Some(stem) => (stem, &mut concepts.stems),
                    None => (form, &mut concepts.whole),
                };
                all.entry(spaced(form)).or_insert(number);
            }
        }
        concepts
    }

    /// Returns what tokens say, in their order.
    pub(super) fn said(&self, tokens: &Tokens) -> Vec<Said> {
        let mut said = Vec::with_capacity(tokens.all.len());
        let mut i = 0;
        while i < tokens.all.len() {
            let (what, length) = self.at(tokens, i);
            said.extend(what.map(|what| Said {
                what,
                token: i,
                length,
            }));
            i += length;
        }
        said
    }

    /// Returns what each of the first `n` tokens says; 255 for nothing.
    pub(super) fn each(&self, tokens: &Tokens, n: usize) -> Vec<u8> {
        let mut each = vec![u8::MAX; n];
        for it in self.said(tokens) {
            let end = n.min(it.token + it.length);
            each[it.token.min(end)..end].fill(it.what);
        }
        each
    }

    /// Whether tokens say that something is to be kept, and not what.
    pub(super) fn announces(&self, tokens: &Tokens) -> bool {
        let said = self.said(tokens);
        let name = |it: &Said| {
            self.names
                .get(usize::from(it.what))
                .copied()
                .unwrap_or_default()
        };
        let is_said = |i: usize| {
            let mut covering = said
                .iter()
                .filter(|it| (it.token..it.token + it.length).contains(&i));
            covering.any(|it| [ANNOUNCING, BESIDE].concat().contains(&name(it)))
        };
        let words = tokens
            .all
            .iter()
            .enumerate()
            .filter(|(_, it)| !matches!(it.form, Form::Sign | Form::Break));
        let words: Vec<usize> = words.map(|(i, _)| i).collect();
        words.len() <= ANNOUNCED
            && said.iter().any(|it| ANNOUNCING.contains(&name(it)))
            && words
                .into_iter()
                .all(|i| is_said(i) || EMPTY.contains(&tokens.folded(i..i + 1)))
    }

    /// What begins at a token, and how many tokens it has.
    fn at(&self, tokens: &Tokens, i: usize) -> (Option<u8>, usize) {
        let token = tokens.folded(i..i + 1);
        match tokens.all[i].form {
            Form::Break => return (Some(STOP), 1),
            Form::Sign => return (sign(token), 1),
            Form::Word | Form::Number | Form::Han => {}
        }
        let room = PHRASE.min(tokens.all.len() - i);
        for length in (1..=room).rev() {
            if let Some(what) = self.whole.get(tokens.folded(i..i + length)) {
                return (Some(*what), length);
            }
        }
        let mut ends = token
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .skip(STEM - 1)
            .collect::<Vec<_>>();
        ends.reverse();
        let stem = ends
            .into_iter()
            .find_map(|end| self.stems.get(&token[..end]).copied());
        let number = (tokens.all[i].form == Form::Number).then_some(NUMBER);
        (stem.or(number), 1)
    }
}

/// Returns a form as tokens of a message have it, with a blank between two.
fn spaced(form: &'static str) -> Cow<'static, str> {
    if form.contains('_') {
        return Cow::Owned(form.replace('_', " "));
    }
    Cow::Borrowed(form)
}

fn sign(token: &str) -> Option<u8> {
    Some(match token {
        "?" | "？" => QUESTION,
        "!" | "！" => CALL,
        ":" | "：" => COLON,
        "\"" | "“" | "”" | "„" | "«" | "»" | "「" | "」" | "『" | "』" => QUOTE,
        "." | "。" | ";" | "；" => STOP,
        "," | "，" | "、" => COMMA,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<u8> {
        let said = Concepts::embedded().said(&Tokens::of(text));
        said.into_iter().map(|it| it.what).collect()
    }

    #[test]
    fn what_is_said_is_the_same_in_every_language() {
        let always = said("always");
        assert_eq!(always.len(), 1);
        for word in ["immer", "всегда", "siempre", "toujours", "doim", "总是"] {
            assert_eq!(said(word), always, "{word}");
        }
        assert_eq!(said("From now on"), said("从现在起"));
        assert_eq!(said("décidé"), said("решили"));
    }

    #[test]
    fn forms_are_written_as_messages_are_read() {
        let lines = include_str!("concepts.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        let lines = lines.filter_map(|line| line.split_once(": "));
        for form in lines.flat_map(|(_, forms)| forms.split(' ')) {
            let form = spaced(form.trim_end_matches('*'));
            let tokens = Tokens::of(&form);
            assert_eq!(tokens.folded(0..tokens.all.len()), form);
        }
    }

    #[test]
    fn every_concept_has_its_own_number() {
        let concepts = include_str!("concepts.txt")
            .lines()
            .filter(|it| !it.starts_with('#'));
        assert!(concepts.count() < usize::from(SIGNS));
    }
}
