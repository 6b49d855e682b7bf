//! Secrets that are called by their name: `password is …`, `API_KEY=…`, `parolim: …`, `door code is …`.
//!
//! Invariant: a value stands after its name in the same line (`… is my password` apart), and talk about a secret is none.

use std::ops::Range;

use super::joint::{Joint, joint};
use super::phrase::{self, Kind};
use super::words::{
    BEFORE_CODE, BEFORE_KEY, BEFORE_PHRASE, BEFORE_SEED, KEYS, LOGINS, PASSWORDS, PHRASES,
    PLACED_CODES, RECOVERY, UNSPACED, UNSPACED_TALK, WAYS_IN,
};

/// Words before a name that are looked at, for what it opens and for a value that stands there.
const BACK: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Password,
    Phrase,
    /// `pass`, which is a verb as well.
    Pass,
    Key,
    Pin,
    Code,
    Recovery,
    Login,
    /// `parolim`: a name that needs no verb.
    Mine,
}

/// Where values of names stand.
pub(super) fn values(text: &str) -> Vec<Range<usize>> {
    let words = words(text);
    let mut values = unspaced(text);
    for (place, word) in words.iter().enumerate() {
        let from = place.saturating_sub(BACK);
        let back: Vec<String> = words[from..place]
            .iter()
            .map(|range| plain(&text[range.clone()]))
            .collect();
        let Some(label) = label(&text[word.clone()], &back) else {
            continue;
        };
        let value = value(text, word, label).filter(|value| !value.is_empty());
        values.extend(value.or_else(|| said_before(text, word, label)));
    }
    values
}

fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices() {
        match (c.is_alphanumeric() || c == '_' || c == '-', from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                words.push(start..at);
                from = None;
            }
            _ => {}
        }
    }
    words.extend(from.map(|start| start..text.len()));
    words
}

/// A name without the signs that join its parts. No name is longer than so, and most words are not worth folding.
fn plain(word: &str) -> String {
    if word.len() > 64 {
        return String::new();
    }
    let letters = word.chars().filter(|c| !"_-".contains(*c));
    letters.flat_map(char::to_lowercase).collect()
}

fn label(word: &str, back: &[String]) -> Option<Label> {
    let plain = plain(word);
    let ends = |labels: &[&str]| labels.iter().any(|label| plain.ends_with(label));
    let before = back.last().map_or("", String::as_str);
    let is_after = |words: &[&str]| words.contains(&before);
    let part = |part: &str| plain == part || word.to_lowercase().ends_with(&format!("_{part}"));
    match plain.as_str() {
        "" => None,
        "pin" | "pincode" | "пин" | "пинкод" | "cvv" | "cvc" => Some(Label::Pin),
        "parolim" | "parolimiz" => Some(Label::Mine),
        "passe" if before == "de" && back.iter().rev().nth(1).is_some_and(|word| word == "mot") => {
            Some(Label::Password)
        }
        "phrase" | "words" if is_after(BEFORE_PHRASE) => Some(Label::Phrase),
        "seed" | "totp" if is_after(BEFORE_SEED) || plain == "totp" => Some(Label::Key),
        "code" | "codes" | "key" | "keys" if is_after(RECOVERY) => Some(Label::Recovery),
        "code" | "codes" | "combination" | "combo" if is_after(BEFORE_CODE) => Some(Label::Code),
        "number" if before == "pin" => Some(Label::Pin),
        "key" | "code" if is_after(BEFORE_KEY) => Some(Label::Key),
        "code" | "combination" | "código" | "codigo" | "код" => Some(Label::Code),
        _ if ends(PHRASES) => Some(Label::Phrase),
        _ if ends(PASSWORDS) || part("pw") => Some(Label::Password),
        _ if part("pass") && word != "PASS" => Some(Label::Pass),
        _ if ends(PLACED_CODES) => Some(Label::Code),
        _ if ends(KEYS) => Some(Label::Key),
        _ if LOGINS.contains(&plain.as_str()) => Some(Label::Login),
        _ => None,
    }
}

fn value(text: &str, word: &Range<usize>, label: Label) -> Option<Range<usize>> {
    let (joint, start) = joint(text, word)?;
    if joint == Joint::Sign || joint == Joint::Tight {
        // Of the query of an address.
        if text[..word.start].ends_with(['?', '&']) {
            let value = phrase::word(text, start);
            let end = text[value.clone()]
                .find('&')
                .map_or(value.end, |at| value.start + at);
            return Some(value.start..end).filter(|value| value.len() >= 4);
        }
    }
    match label {
        Label::Pin => phrase::digits(text, start, 3..=12).filter(|it| {
            joint != Joint::Far
                && (it.len() > 3 || text[word.clone()].len() == 3 && joint.is_said())
        }),
        Label::Code => code(text, word, joint, start),
        Label::Recovery => joint
            .is_said()
            .then(|| phrase::codes(text, start))
            .flatten(),
        Label::Login => joint
            .is_said()
            .then(|| phrase::login(text, start))
            .flatten(),
        Label::Key => key(text, joint, start),
        Label::Phrase => password(text, joint, start, Kind::Phrase),
        Label::Pass => match joint {
            Joint::Sign | Joint::Tight => password(text, joint, start, Kind::Password),
            Joint::Is => strange(text, start),
            _ => None,
        },
        Label::Mine if joint == Joint::Nothing => password(text, Joint::Is, start, Kind::Password),
        Label::Password | Label::Mine => password(text, joint, start, Kind::Password),
    }
}

fn password(text: &str, joint: Joint, start: usize, kind: Kind) -> Option<Range<usize>> {
    match joint {
        Joint::Tight => {
            let value = phrase::word(text, start);
            let said = &text[value.clone()];
            (said.chars().count() >= 4 && !phrase::is_code(said) && !phrase::is_talk(said, kind))
                .then_some(value)
        }
        Joint::Sign | Joint::Is | Joint::Near => {
            let value = phrase::value(text, start, kind);
            let said = &text[value.clone()];
            let least = if joint == Joint::Sign { 4 } else { 3 };
            let is_code = joint == Joint::Sign && phrase::is_code(said);
            (said.chars().count() >= least && !is_code && !phrase::is_talk(said, kind))
                .then_some(value)
        }
        Joint::Option => Some(phrase::word(text, start)).filter(|value| value.len() >= 3),
        Joint::Far | Joint::Nothing => strange(text, start),
    }
}

/// One word that no person would write as a word.
fn strange(text: &str, start: usize) -> Option<Range<usize>> {
    let value = phrase::word(text, start);
    phrase::is_strange(&text[value.clone()]).then_some(value)
}

fn key(text: &str, joint: Joint, start: usize) -> Option<Range<usize>> {
    let value = phrase::groups(text, start);
    let said = &text[value.clone()];
    let has_digit = said.contains(|c: char| c.is_ascii_digit());
    let length = said.chars().count();
    let counts = match joint {
        _ if length < 3 || phrase::is_talk(said, Kind::Password) => false,
        Joint::Sign | Joint::Tight => length >= 4 && !phrase::is_code(said),
        Joint::Is => has_digit,
        Joint::Near => has_digit && (said.contains(char::is_alphabetic) || length >= 6),
        Joint::Far => phrase::is_strange(said),
        Joint::Option => true,
        Joint::Nothing => false,
    };
    counts.then_some(value)
}

/// The number that opens a door: what it opens stands before `code` or between it and its `is`.
fn code(text: &str, word: &Range<usize>, joint: Joint, start: usize) -> Option<Range<usize>> {
    let name = &text[word.clone()];
    let opens = |said: &str| {
        said.split_whitespace().any(|word| {
            let word = plain(word.trim_matches(|c: char| !c.is_alphanumeric()));
            WAYS_IN.contains(&word.as_str())
        })
    };
    let line = text[..word.start].rfind('\n').map_or(0, |at| at + 1);
    let before = text[line..word.start]
        .split_whitespace()
        .next_back()
        .unwrap_or_default();
    let is_placed = PLACED_CODES.iter().any(|end| plain(name).ends_with(end))
        || BEFORE_CODE.contains(&plain(before).as_str());
    let between = text.get(word.end..start).unwrap_or_default();
    if !is_placed && (joint == Joint::Nothing || !opens(between)) {
        return None;
    }
    let digits = phrase::digits(text, start, 3..=12);
    match joint {
        Joint::Far if !opens(between) => None,
        Joint::Nothing => digits.filter(|digits| digits.len() > 3),
        _ => digits.or_else(|| strange(text, start)),
    }
}

/// `hunter2 is my password`, `use hunter2 as the password`.
fn said_before(text: &str, word: &Range<usize>, label: Label) -> Option<Range<usize>> {
    if !matches!(
        label,
        Label::Password | Label::Phrase | Label::Pin | Label::Code
    ) {
        return None;
    }
    let after = text[word.end..].trim_start_matches(['"', '\'', '`', ' ']);
    let next = after.split_whitespace().next().unwrap_or_default();
    let ends = !after.starts_with(char::is_alphanumeric)
        || ["for", "to", "of", "on", "at", "in", "and", "now"].contains(&next);
    let line = text[..word.start].rfind('\n').map_or(0, |at| at + 1);
    let mut verb = None;
    for token in text[line..word.start].split_whitespace().rev().take(BACK) {
        let at = token.as_ptr().addr() - text.as_ptr().addr();
        if verb.is_some() {
            let value = phrase::word(text, at);
            let said = &text[value.clone()];
            let is_pin = matches!(label, Label::Pin | Label::Code)
                && phrase::digits(text, at, 4..=12).is_some();
            return (ends && (phrase::is_strange(said) || is_pin)).then_some(value);
        }
        if token.ends_with(['.', ',', ';', ':', '?', '!']) {
            return None;
        }
        verb = ["is", "as", "was", "ist", "als", "es", "est"]
            .contains(&token)
            .then_some(at);
    }
    None
}

/// Names in scripts that have no blanks: `密码是…`.
fn unspaced(text: &str) -> Vec<Range<usize>> {
    let names = UNSPACED.iter().flat_map(|name| text.match_indices(name));
    let values = names.filter_map(|(at, name)| {
        let rest = text[at + name.len()..].trim_start_matches([' ', '"', '\'', '`', '“', '「']);
        let after = [
            "是", "为", "為", "就是", "改成", "改为", "设为", "は", "：", ":", "=", "는", "은",
        ]
        .iter()
        .find_map(|joint| rest.strip_prefix(joint));
        let bare = after
            .unwrap_or(rest)
            .trim_start_matches([' ', '：', ':', '"', '\'', '`', '“', '”', '「']);
        let start = text.len() - bare.len();
        let is_end = |c: char| "，。！？；、\n\"'`”」".contains(c);
        let clause = &bare[..bare.find(is_end).unwrap_or(bare.len())];
        let ascii = clause
            .find(|c: char| !c.is_ascii_graphic())
            .unwrap_or(clause.len());
        let ascii = clause[..ascii].trim_end_matches(['.', ',', ';', ')']);
        if ascii.len() >= 3 && (after.is_some() || phrase::is_strange(ascii)) {
            let is_said = phrase::is_talk(ascii, Kind::Password) || phrase::is_code(ascii);
            return (!is_said).then(|| start..start + ascii.len());
        }
        let is_talk = UNSPACED_TALK.iter().any(|talk| clause.starts_with(talk));
        let clause = clause.trim_end();
        let is_said = after.is_some()
            && ascii.is_empty()
            && (2..=24).contains(&clause.chars().count())
            && !is_talk;
        is_said.then(|| start..start + clause.len())
    });
    values.collect()
}
