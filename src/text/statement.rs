//! What somebody wants forgotten, and where a text says it. Unit: a sentence.
//!
//! ```text
//!  phrase    the same words in the same order: only they are taken, whatever stands around them
//!  sentence  all words that carry the meaning, in any order or form
//!  derived   in what a program or a model made of it: a name that the person said nowhere else tells it, too
//! ```
//! Invariant: a range begins and ends between characters; a sentence that merely shares a word is not found. Linear in
//! the text.

use std::ops::Range;

use super::function_words::{is_function_word, is_weak};
use super::ranges::{merged, replaced};

/// Stands where something was forgotten.
pub const FORGOTTEN: &str = "[forgotten]";

/// Whose words a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The person: each sentence counts for itself.
    Person,
    /// A model or the program, which may have put it in other words.
    Derived,
}

/// One thing to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Every word, in order.
    phrase: Vec<String>,
    /// Those that carry the meaning, each once.
    words: Vec<String>,
    /// Of these, without verbs such as "like" that any sentence may have.
    strong: Vec<String>,
    /// Names and numbers.
    names: Vec<String>,
    /// What the person called it by.
    asked: Vec<String>,
}

/// Several, looked for together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements(Vec<Statement>);

/// A word of a text.
#[derive(Clone, Debug)]
struct Token {
    folded: String,
    at: Range<usize>,
    is_capital: bool,
}

/// Digits from which on a number is as good as a name.
const NAME_DIGITS: usize = 4;

impl Statement {
    /// `None` of a text without words.
    pub fn of(text: &str) -> Option<Self> {
        let tokens = tokens(text);
        if tokens.is_empty() {
            return None;
        }
        let mut words: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let starts: Vec<usize> = sentences(text).map(|it| it.start).collect();
        for token in &tokens {
            if is_function_word(&token.folded) {
                continue;
            }
            let is_first = starts.contains(&token.at.start);
            let is_number =
                token.folded.chars().filter(char::is_ascii_digit).count() >= NAME_DIGITS;
            let is_name = token.is_capital && (!is_first || !is_weak(&token.folded));
            if (is_name || is_number) && !names.contains(&token.folded) {
                names.push(token.folded.clone());
            }
            if !words.contains(&token.folded) {
                words.push(token.folded.clone());
            }
        }
        let strong: Vec<String> = words
            .iter()
            .filter(|word| !is_weak(word))
            .cloned()
            .collect();
        Some(Self {
            phrase: tokens.into_iter().map(|it| it.folded).collect(),
            words,
            strong,
            names,
            asked: Vec::new(),
        })
    }

    /// Whether it has so few words that many a sentence may have them.
    pub fn is_vague(&self) -> bool {
        self.words.len() < 2
    }

    /// Whether two say the same, in any order or form of their words.
    pub fn is_same(&self, other: &Self) -> bool {
        if self.words.is_empty() || other.words.is_empty() {
            return self.phrase == other.phrase;
        }
        covers(&self.words, &other.words) && covers(&other.words, &self.words)
    }

    /// The same for all that have the same words, in any order.
    pub fn key(&self) -> String {
        if self.words.is_empty() {
            return self.phrase.join(" ");
        }
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        words.sort_unstable();
        words.join(" ")
    }

    /// Whether it has all of these words; a beginning of three letters is enough.
    pub fn has_words(&self, asked: &str) -> bool {
        let asked = tokens(asked);
        let has = |word: &str| {
            self.phrase.iter().any(|own| {
                is_same_word(own, word) || (word.chars().count() >= 3 && own.starts_with(word))
            })
        };
        !asked.is_empty() && asked.iter().all(|token| has(&token.folded))
    }

    /// Whether it has every word of another.
    pub fn has_all_of(&self, other: &Self) -> bool {
        other.phrase.iter().all(|word| self.phrase.contains(word))
    }

    /// Whether it has every word of another in some form of it.
    pub fn has_forms_of(&self, other: &Self) -> bool {
        let has = |word: &String| self.phrase.iter().any(|own| is_same_word(own, word));
        other.phrase.iter().all(has)
    }

    /// Lets go of names that the person said in other sentences, too: by them alone nothing is told.
    pub fn without_names_of(&mut self, others: &str) {
        if self.names.is_empty() && self.asked.is_empty() {
            return;
        }
        let said = tokens(others);
        let is_said = |name: &String| said.iter().any(|token| is_same_word(&token.folded, name));
        self.names.retain(|name| !is_said(name));
        if self.asked.iter().all(is_said) {
            self.asked.clear();
        }
    }

    /// Takes the words that it was asked for by as a name where it has them: what was made of it and has them goes,
    /// too.
    fn ask_as(&mut self, words: &str) {
        if self.has_words(words) {
            let asked = tokens(words).into_iter().map(|token| token.folded);
            self.asked = asked.filter(|word| !is_function_word(word)).collect();
        }
    }

    /// Where the words stand in the same order.
    fn phrases(&self, tokens: &[Token]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        // One word alone is no statement.
        if self.phrase.len() < 2 || (self.words.is_empty() && self.phrase.len() < 3) {
            return found;
        }
        let mut at = 0;
        while at + self.phrase.len() <= tokens.len() {
            let here = &tokens[at..at + self.phrase.len()];
            if here
                .iter()
                .zip(&self.phrase)
                .all(|(token, word)| token.folded == *word)
            {
                found.push(here[0].at.start..here[here.len() - 1].at.end);
                at += self.phrase.len();
            } else {
                at += 1;
            }
        }
        found
    }

    /// Where its beginning stands at the end of a text that was cut, within a word or behind one.
    fn cut_off(&self, tokens: &[Token], cut: usize) -> Option<Range<usize>> {
        let upto = tokens.partition_point(|token| token.at.end <= cut);
        let last = tokens[..upto]
            .last()
            .filter(|last| cut - last.at.end <= 1)?;
        let begins = |words: usize| {
            let (whole, part) = self.phrase[..words].split_at(words - 1);
            let from = upto.checked_sub(words)?;
            let here = tokens[from..upto - 1].iter().map(|token| &token.folded);
            (here.eq(whole.iter()) && part[0].starts_with(&last.folded))
                .then(|| tokens[from].at.start..cut + '…'.len_utf8())
        };
        let is_telling = |words: &usize| {
            let content = self.phrase[..*words].iter();
            content.filter(|word| !is_function_word(word)).count() >= 2
        };
        let lengths = (1..=self.phrase.len()).rev();
        lengths.filter(is_telling).find_map(begins)
    }

    /// Whether a sentence says it, whatever its words are like.
    fn is_told_by(&self, tokens: &[Token], author: Author) -> bool {
        let content: Vec<&str> = tokens
            .iter()
            .map(|token| token.folded.as_str())
            .filter(|word| !is_function_word(word))
            .collect();
        if content.is_empty() || self.words.is_empty() {
            return false;
        }
        let has = |word: &String| content.iter().any(|own| is_same_word(own, word));
        let is_own = |word: &&str| self.words.iter().any(|own| is_same_word(own, word));
        // Of one telling word and "I like" many another sentence is made.
        let says_little = self.strong.len() < 2;
        let is_more = |word: &&str| !is_own(word) && !is_weak(word);
        if !self.is_vague()
            && self.words.iter().all(has)
            && !(says_little && content.iter().any(is_more))
        {
            return true;
        }
        if author == Author::Person {
            return false;
        }
        let says_no_more = content.len() >= 2 && content.iter().all(is_own);
        let is_strong = self.strong.len() >= 2 && self.strong.iter().all(has);
        let is_asked = !self.asked.is_empty() && self.asked.iter().all(has);
        is_strong || says_no_more || is_asked || self.names.iter().any(has)
    }
}

impl Statements {
    pub fn push(&mut self, statement: Statement) {
        if !self.0.contains(&statement) {
            self.0.push(statement);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Statement> {
        self.0.iter()
    }

    /// Lets go of names that the person said in other sentences, too.
    pub fn without_names_of(&mut self, others: &str) {
        for statement in &mut self.0 {
            statement.without_names_of(others);
        }
    }

    /// Remembers the words that all of it was asked for by.
    pub fn ask_as(&mut self, words: &str) {
        self.0.iter_mut().for_each(|it| it.ask_as(words));
    }

    /// Where a text says one of them, in order, none over another.
    pub fn found(&self, text: &str, author: Author) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.0.is_empty() || text.is_empty() {
            return found;
        }
        let all = tokens(text);
        // A phrase may go over the end of a sentence: "Dr. Adler is my dentist".
        for statement in &self.0 {
            found.extend(statement.phrases(&all));
            let cuts = text.match_indices('…').map(|(at, _)| at);
            found.extend(cuts.filter_map(|at| statement.cut_off(&all, at)));
        }
        let phrases = merged(found);
        let mut found = Vec::new();
        for sentence in sentences(text) {
            let from = all.partition_point(|token| token.at.start < sentence.start);
            let upto = all.partition_point(|token| token.at.start < sentence.end);
            let inside = &all[from..upto];
            let is_taken = |token: &Token| {
                let upto = phrases.partition_point(|it| it.start <= token.at.start);
                upto > 0 && phrases[upto - 1].contains(&token.at.start)
            };
            let left: Vec<Token> = inside.iter().filter(|it| !is_taken(it)).cloned().collect();
            if left.is_empty() {
                // Its mark goes with it.
                if !inside.is_empty() {
                    found.push(sentence);
                }
                continue;
            }
            if self.0.iter().any(|it| it.is_told_by(&left, author)) {
                found.push(sentence);
            }
        }
        found.extend(phrases);
        merged(found)
    }

    /// Whether a text says one of them.
    pub fn are_in(&self, text: &str, author: Author) -> bool {
        !self.found(text, author).is_empty()
    }

    /// The text with [`FORGOTTEN`] in the place of each; `None` where it says none of them.
    pub fn masked(&self, text: &str, author: Author) -> Option<String> {
        let found = self.found(text, author);
        (!found.is_empty()).then(|| replaced(text, found, FORGOTTEN))
    }

    /// The text without them, and without what is empty then; `None` where it says none of them.
    pub fn without(&self, text: &str, author: Author) -> Option<String> {
        let found = self.found(text, author);
        if found.is_empty() {
            return None;
        }
        let mut left = String::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let mut kept = String::new();
            let mut from = range.start;
            let mut is_hit = false;
            for hit in found
                .iter()
                .filter(|hit| hit.start < range.end && hit.end > range.start)
            {
                is_hit = true;
                kept.push_str(&text[from..hit.start.max(from)]);
                from = hit.end.clamp(from, range.end);
                // A clause leaves no blank before what follows.
                if kept.ends_with(' ') && text[from..range.end].starts_with(' ') {
                    from += 1;
                }
            }
            kept.push_str(&text[from..range.end]);
            if is_hit && tokens(without_label(&kept)).is_empty() {
                continue;
            }
            left.push_str(&kept);
        }
        Some(left.trim_end().to_owned())
    }

    /// Whether nothing is left of a line but marks and a label when it is taken out.
    pub fn are_all_of(&self, line: &str, author: Author) -> bool {
        let found = self.found(line, author);
        if found.is_empty() {
            return false;
        }
        let left = replaced(line, found, " ");
        tokens(without_label(&left)).is_empty()
    }
}

impl FromIterator<Statement> for Statements {
    fn from_iter<I: IntoIterator<Item = Statement>>(statements: I) -> Self {
        let mut all = Self::default();
        for statement in statements {
            all.push(statement);
        }
        all
    }
}

/// A line of a list without its mark and what names it: `- **preference**: `, `- User request: `, `[2026-02-14T…] `.
pub fn without_label(line: &str) -> &str {
    const LONGEST_LABEL: usize = 60;
    let mut rest = line.trim_start_matches(is_mark);
    if let Some((stamp, behind)) = rest.strip_prefix('[').and_then(|it| it.split_once(']'))
        && stamp.starts_with(|c: char| c.is_ascii_digit())
    {
        rest = behind.trim_start();
    }
    match rest.split_once(':') {
        Some((label, behind))
            if label.len() <= LONGEST_LABEL && !label.contains(['.', '!', '?']) =>
        {
            behind
        }
        Some(_) | None => rest,
    }
}

fn is_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>' | '#' | '•')
}

/// Words behind which a full stop ends no sentence.
const ABBREVIATIONS: [&str; 24] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "vs", "no", "nr", "ca", "bzw", "usw", "etc",
    "e.g", "i.e", "z.b", "d.h", "ул", "им", "г", "д", "sra",
];

/// The sentences of a text, without the blanks and marks of lists around them.
pub fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let end = at + end_of_sentence(&text[at..]);
            let raw = &text[at..end];
            let start = at + (raw.len() - raw.trim_start_matches(is_mark).len());
            let stop = at + raw.trim_end().len();
            at = end;
            if start < stop {
                return Some(start..stop);
            }
        }
        None
    })
}

fn end_of_sentence(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let behind = at + c.len_utf8();
        match c {
            '\n' | '。' | '！' | '？' => return behind,
            '.' | '!' | '?' | '…' => {
                let next = characters.peek().map(|(_, next)| *next);
                let is_end = next.is_none_or(|next| {
                    next.is_whitespace() || matches!(next, '"' | '»' | '”' | ')' | '*')
                });
                if is_end && !(c == '.' && is_abbreviated(&text[..at])) {
                    return behind;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Whether a text ends in what a full stop belongs to: "Dr. Adler", "J. Bach".
fn is_abbreviated(text: &str) -> bool {
    const LONGEST: usize = 8;
    let before = text
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric() || *c == '.');
    let mut before: Vec<char> = before.take(LONGEST).collect();
    before.reverse();
    let is_short = matches!(before[..], [only] if only.is_alphabetic());
    let before: String = before.into_iter().flat_map(char::to_lowercase).collect();
    is_short || ABBREVIATIONS.contains(&before.as_str())
}

/// Words of a text, as they are compared.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut word: Option<Token> = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let end = at + c.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        if is_ideograph(c) {
            tokens.extend(word.take());
            tokens.push(Token {
                folded: c.to_string(),
                at: at..end,
                is_capital: false,
            });
        } else if c.is_alphanumeric() || is_combining(c) {
            let token = word.get_or_insert_with(|| Token {
                folded: String::new(),
                at: at..at,
                is_capital: c.is_uppercase(),
            });
            fold(c, &mut token.folded);
            token.at.end = end;
        } else if let Some(token) = &mut word {
            let is_inside = next.is_some_and(|next| next.is_alphanumeric() && !is_ideograph(next));
            let is_number = || {
                token.folded.ends_with(|c: char| c.is_ascii_digit())
                    && next.is_some_and(|next| next.is_ascii_digit())
            };
            if is_inside && is_apostrophe(c) {
                token.at.end = end;
            } else if matches!(c, '.' | ',' | ':') && is_number() {
                token.folded.push(c);
                token.at.end = end;
            } else {
                tokens.extend(word.take());
            }
        }
    }
    tokens.extend(word);
    tokens
}

fn fold(c: char, word: &mut String) {
    for lower in c.to_lowercase() {
        match lower {
            'ё' => word.push('е'),
            'ß' => word.push_str("ss"),
            _ => word.push(lower),
        }
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | 'ʻ' | '`')
}

fn is_combining(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F)
}

/// A script that puts no blanks between words: each character is looked at by itself.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3040..=0x30FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
        && c.is_alphanumeric()
}

/// Whether two words are the same but for an ending.
fn is_same_word(one: &str, other: &str) -> bool {
    const ENDING: usize = 3;
    if one == other {
        return true;
    }
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    if has_digit(one) || has_digit(other) {
        return false;
    }
    let shared = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let (left, right) = (one.chars().count() - shared, other.chars().count() - shared);
    if one.is_ascii() && other.is_ascii() {
        return shared >= 4 && left.min(right) == 0 && left.max(right) <= ENDING;
    }
    // Languages that change the end of a word in each case.
    shared >= 3 && shared > left.max(right) && left.max(right) <= ENDING
}

/// Whether the first words are all among the others.
fn covers(words: &[String], others: &[String]) -> bool {
    words
        .iter()
        .all(|word| others.iter().any(|other| is_same_word(word, other)))
}

#[cfg(test)]
mod tests;
