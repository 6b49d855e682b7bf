//! What words mean, in seven languages: one number for all words that say the same. Unit: one message.
//!
//! What is learned in one language holds in the others by it.

use fst::Map;
use fst::raw::Output;

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
#[derive(Clone, Debug)]
pub(super) struct Concepts {
    /// The list as it is written: `NAME: FORM …`.
    list: &'static str,
    /// The forms in it with the numbers of their concepts.
    forms: Map<&'static [u8]>,
}

macro_rules! embedded {
    ($name:literal) => {
        Concepts {
            list: include_str!(concat!($name, ".txt")),
            forms: Map::new(
                include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".fst")).as_slice(),
            )
            .expect("build.rs writes maps"),
        }
    };
}

impl Concepts {
    /// Returns the concepts that people speak of.
    pub(super) fn general() -> Self {
        embedded!("concepts")
    }

    /// Returns what leads to something that a board keeps.
    pub(super) fn leads() -> Self {
        embedded!("leads")
    }

    /// Returns what a wish is made of that nothing be kept.
    pub(super) fn off_record() -> Self {
        embedded!("off_record")
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.list.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once(": ").map(|(name, _)| name))
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
        let words = tokens.all.iter().enumerate();
        let words: Vec<usize> = words
            .filter(|(_, it)| !matches!(it.form, Form::Sign | Form::Break))
            .map(|(i, _)| i)
            .collect();
        if words.len() > ANNOUNCED {
            return false;
        }
        let said = self.said(tokens);
        let names: Vec<&str> = self.names().collect();
        let name = |it: &Said| names.get(usize::from(it.what)).copied().unwrap_or_default();
        let is_said = |i: usize| {
            let mut covering = said
                .iter()
                .filter(|it| (it.token..it.token + it.length).contains(&i));
            covering.any(|it| ANNOUNCING.contains(&name(it)) || BESIDE.contains(&name(it)))
        };
        said.iter().any(|it| ANNOUNCING.contains(&name(it)))
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
        let (phrase, stem) = self.find(tokens, i);
        let number = (tokens.all[i].form == Form::Number).then_some(NUMBER);
        match phrase {
            Some((what, length)) => (Some(what), length),
            None => (stem.or(number), 1),
        }
    }

    /// Returns the longest phrase that begins at a token, with its tokens, and what the longest beginning of the token says.
    fn find(&self, tokens: &Tokens, i: usize) -> (Option<(u8, usize)>, Option<u8>) {
        let (mut phrase, mut stem) = (None, None);
        let forms = self.forms.as_fst();
        let ends: Vec<usize> = (i + 1..=tokens.all.len().min(i + PHRASE))
            .map(|end| tokens.folded(i..end).len())
            .collect();
        let text = tokens.folded(i..i + ends.len());
        let stems = text.char_indices().map(|(at, _)| at).nth(STEM);
        let stems = stems.unwrap_or(text.len())..=ends[0];
        let (mut node, mut output) = (forms.root(), Output::zero());
        for at in 0..=text.len() {
            if stems.contains(&at)
                && let Some(any) = node.find_input(b'*')
            {
                let any = node.transition(any);
                let end = forms.node(any.addr);
                if end.is_final() {
                    stem = concept(output.cat(any.out).cat(end.final_output()));
                }
            }
            if node.is_final()
                && let Ok(token) = ends.binary_search(&at)
            {
                phrase = concept(output.cat(node.final_output())).map(|it| (it, token + 1));
            }
            let next = text.as_bytes().get(at);
            let Some(next) = next.and_then(|byte| node.find_input(*byte)) else {
                break;
            };
            let next = node.transition(next);
            output = output.cat(next.out);
            node = forms.node(next.addr);
        }
        (phrase, stem)
    }
}

fn concept(output: Output) -> Option<u8> {
    u8::try_from(output.value()).ok()
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
        let said = Concepts::general().said(&Tokens::of(text));
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
        let all = [Concepts::general(), Concepts::off_record()];
        let lines = all.iter().flat_map(|it| it.list.lines());
        let lines = lines.filter(|line| !line.starts_with('#'));
        let lines = lines.filter_map(|line| line.split_once(": "));
        for form in lines.flat_map(|(_, forms)| forms.split(' ')) {
            let form = form.trim_end_matches('*').replace('_', " ");
            let tokens = Tokens::of(&form);
            assert_eq!(tokens.folded(0..tokens.all.len()), form);
        }
    }

    #[test]
    fn every_concept_has_its_own_number() {
        for concepts in [
            Concepts::general(),
            Concepts::leads(),
            Concepts::off_record(),
        ] {
            assert!(!concepts.forms.is_empty());
            assert!(concepts.names().count() < usize::from(SIGNS));
        }
    }
}
