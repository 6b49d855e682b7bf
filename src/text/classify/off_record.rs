//! Messages that are said to be kept nowhere: `don't save this`, `off the record`. Unit: a message.
//!
//! A linear model over words, runs of words, parts of words and what they mean (`off_record.txt`), learned from `benches/corpus/off_record` by
//! `cargo bench --bench train_off_record`. Each sentence is read by itself: a wish stands in one of them. Pure.

use super::concepts::Concepts;
use super::tokens::Tokens;
use crate::text::linear::{Feature, Model, hash_of};

/// Whether a person wants nothing of a message to be kept beyond history.
pub fn is_off_record(text: &str) -> bool {
    const MODEL: Model<'static> = Model::new(include_bytes!("off_record.weights"));
    is_off_record_by(&MODEL, text)
}

/// The same by other weights.
pub fn is_off_record_by(model: &Model<'_>, text: &str) -> bool {
    sentences(text).any(|sentence| {
        let mut sum = 0;
        features(sentence, |feature| sum += model.weight(feature));
        sum > 0
    })
}

/// Returns the sentences in which a wish may stand, and their clauses: what is wanted so is short, or stands at one end
/// of what is long.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let is_long = text.len() > 2 * READ;
    let head = text.floor_char_boundary(if is_long { READ } else { text.len() });
    let tail = text
        .ceil_char_boundary(text.len().saturating_sub(READ))
        .max(head);
    [&text[..head], &text[tail..]]
        .into_iter()
        .flat_map(|part| part.split_inclusive(ENDS))
        .flat_map(|sentence| {
            let clauses = sentence.split_inclusive(BREAKS);
            let clauses = clauses.filter(move |clause| clause.len() < sentence.len());
            std::iter::once(sentence).chain(clauses)
        })
        .map(str::trim)
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

/// Bytes at each end that are read.
const READ: usize = 4_000;
/// Ends of clauses.
const BREAKS: [char; 7] = [',', ':', '(', ')', '—', '，', '：'];
/// Ends of sentences.
const ENDS: [char; 9] = ['.', '!', '?', '\n', ';', '。', '！', '？', '；'];

/// Tells the features of a sentence.
pub fn features(sentence: &str, mut tell: impl FnMut(Feature)) {
    let tokens = Tokens::of(sentence);
    tell(Feature::new(0, 0, 0));
    let words = tokens.all.iter().map(|it| it.id);
    let words: Vec<u64> = [START].into_iter().chain(words).chain([END]).collect();
    for (at, word) in words.iter().enumerate() {
        tell(Feature::new(1, *word, 0));
        if let [second, rest @ ..] = &words[at + 1..] {
            let pair = Feature::new(2, *word, *second);
            tell(pair);
            if let Some(third) = rest.first() {
                tell(pair.and(*third));
                // With a word between.
                tell(Feature::new(3, *word, *third));
            }
        }
    }
    for i in 0..tokens.all.len() {
        let letters: Vec<char> = format!("<{}>", tokens.folded(i..i + 1)).chars().collect();
        for part in letters.windows(PART) {
            tell(Feature::new(
                4,
                hash_of(part.iter().map(|c| u64::from(*c))),
                0,
            ));
        }
    }
    let said = Concepts::off_record().said(&tokens);
    let said: Vec<u64> = said.iter().map(|it| u64::from(it.what)).collect();
    for (at, concept) in said.iter().enumerate() {
        tell(Feature::new(5, *concept, 0));
        let rest = &said[at + 1..];
        for later in rest.iter().take(NEAR) {
            tell(Feature::new(6, *concept, *later));
        }
        if let [second, rest @ ..] = rest {
            let pair = Feature::new(7, *concept, *second);
            tell(pair);
            if let Some(third) = rest.first() {
                tell(pair.and(*third));
            }
        }
    }
}

/// Both ends of a sentence stand for words.
const START: u64 = 1;
const END: u64 = 2;
/// Letters of a part of a word.
const PART: usize = 4;
/// Concepts behind one that go with it.
const NEAR: usize = 4;

#[cfg(test)]
mod tests {
    use super::is_off_record;

    #[test]
    fn who_wants_nothing_kept_is_heard_in_seven_languages() {
        for text in [
            "Don't save this: I am thinking of leaving the company",
            "I'm looking for another job. Please don't remember.",
            "Off the record, the launch slips to May",
            "No need to remember: I prefer green tea",
            "Forget what I say next: I am leaving in May",
            "You don't have to keep this, I am leaving in May",
            "Please don't keep it: I am leaving in May",
            "Don't log this, I am leaving in May",
            "please don’t save that",
            "My name is Ana. Please don't store that.",
            "do not write that down",
            "Do not store the following: I am leaving in May",
            "Keep this between us: I am leaving in May",
            "This should stay out of your notes: I am leaving in May",
            "Speichere Folgendes nicht: ich kündige im Mai",
            "Это останется между нами: я ухожу в мае",
            "No guardes lo siguiente: me voy en mayo",
            "N'enregistre pas ce qui suit : je pars en mai",
            "别写进你的笔记：我五月要离职",
            "Quyidagini saqlama: may oyida ketaman",
            "Ich kündige im Mai, merk dir das bitte nicht",
            "Я ухожу в мае, не запоминай это",
            "Me voy en mayo, no guardes esto",
            "Je pars en mai, ne retiens pas ça",
            "我五月要离职，别记住",
            "May oyida ketaman, buni eslab qolma",
        ] {
            assert!(is_off_record(text), "{text}");
            for words in [1, 780, 790, 800, 1_590, 1_600, 2_000] {
                let long = format!("{}. {text}", "word ".repeat(words));
                assert!(is_off_record(&long), "{words} {text}");
            }
        }
    }

    #[test]
    fn talk_about_saving_and_remembering_is_no_wish() {
        for text in [
            "I don't remember this function at all",
            "please don't save this file, I am still editing it",
            "Remember this: the deadline is Friday",
            "Why do we not store passwords?",
            "We do not store the following fields",
            "do not store it in the fridge",
            "Please do not store the session token in localStorage.",
            "don't store the token in git",
            "no need to store the intermediate results",
            "Please don't write that to disk, keep it in memory.",
            "don't commit this",
            "never forget this",
            "Mein Chef heißt Anton. Vergiss das nicht.",
            "Mi jefa es Clara, no lo olvides.",
            "не сохраняй файл",
            "save this",
            "",
        ] {
            assert!(!is_off_record(text), "{text}");
        }
    }

    /// Messages of two writers of whom nothing was learned: every second one asks for it, the others look alike.
    #[test]
    fn strangers_are_heard_as_measured() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/off_record/unread.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        let (mut heard, mut wrong) = (0, 0);
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let is_off = is_off_record(row["text"].as_str().unwrap());
            if row["off"].as_bool().unwrap() {
                heard += usize::from(is_off);
            } else {
                wrong += usize::from(is_off);
            }
        }
        assert!(
            heard >= 131 && wrong <= 12,
            "{heard} of 155, {wrong} of 155"
        );
    }
}
