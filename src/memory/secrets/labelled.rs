//! Secrets that are called by their name: `password is …`, `API_KEY=…`, `parolim: …`.

use std::ops::Range;

/// Ends of names whose values are passwords …
const PASSWORDS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "parol",
    "parolim",
    "пароль",
    "пароли",
];

/// … and of others, which are words of talk as well.
const KEYS: [&str; 8] = [
    "token",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "secretaccesskey",
];

/// Make a `key` or a `code` a secret one.
const BEFORE_KEY: [&str; 7] = [
    "api", "access", "secret", "private", "auth", "licence", "license",
];

/// What is said of passwords that is none.
const NO_VALUES: [&str; 64] = [
    "a",
    "an",
    "the",
    "not",
    "no",
    "in",
    "on",
    "at",
    "of",
    "to",
    "too",
    "so",
    "very",
    "that",
    "this",
    "what",
    "wrong",
    "right",
    "correct",
    "incorrect",
    "invalid",
    "valid",
    "missing",
    "empty",
    "required",
    "optional",
    "expired",
    "needed",
    "stored",
    "saved",
    "set",
    "sent",
    "passed",
    "hashed",
    "encrypted",
    "hidden",
    "weak",
    "strong",
    "long",
    "short",
    "safe",
    "secure",
    "unsafe",
    "same",
    "still",
    "now",
    "changed",
    "reset",
    "forgotten",
    "lost",
    "default",
    "unknown",
    "known",
    "being",
    "never",
    "always",
    "only",
    "already",
    "string",
    "str",
    "null",
    "none",
    "true",
    "false",
];

/// Words between a name and its `is`: `my password for the box is …`.
const BETWEEN: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Password,
    Key,
    Pin,
}

/// How a value is joined to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `:`, `=`
    Sign,
    /// `is`
    Is,
    /// `for the box is`
    Far,
    Nothing,
}

/// Where values of names stand.
pub(super) fn values(text: &str) -> Vec<Range<usize>> {
    let words = words(text);
    let mut values = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| words.get(place));
        let before = before.map(|before| &text[before.clone()]);
        if let Some(label) = label(&text[word.clone()], before) {
            values.extend(value(text, word, label));
        }
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

fn label(word: &str, before: Option<&str>) -> Option<Label> {
    // No name is longer, and most words are not worth folding.
    if word.len() > 64 {
        return None;
    }
    let plain: String = word
        .chars()
        .filter(|c| !"_-".contains(*c))
        .flat_map(char::to_lowercase)
        .collect();
    let ends = |labels: &[&str]| labels.iter().any(|label| plain.ends_with(label));
    let is_key = || {
        let before = before.unwrap_or_default().to_lowercase();
        matches!(plain.as_str(), "key" | "code") && BEFORE_KEY.contains(&before.as_str())
    };
    match plain.as_str() {
        "pin" | "pincode" => Some(Label::Pin),
        _ if ends(&PASSWORDS) => Some(Label::Password),
        _ if ends(&KEYS) || is_key() => Some(Label::Key),
        _ => None,
    }
}

fn value(text: &str, word: &Range<usize>, label: Label) -> Option<Range<usize>> {
    let (joint, start) = joint(text, word.end)?;
    let value = bounds(text, start);
    let value = match text[..word.start].chars().next_back() {
        // Of the query of an address.
        Some('?' | '&') => {
            let end = text[value.clone()]
                .find('&')
                .map_or(value.end, |at| value.start + at);
            value.start..end
        }
        _ => value,
    };
    is_secret(&text[value.clone()], label, joint).then_some(value)
}

/// How the value is joined, and where it begins.
fn joint(text: &str, end: usize) -> Option<(Joint, usize)> {
    let rest = &text[end..];
    let bare = rest.trim_start_matches(['"', '\'', '`', '*']);
    let bare = bare.trim_start_matches([' ', '\t']);
    let at = |rest: &str| text.len() - rest.len();
    if let Some(after) = bare.strip_prefix([':', '=', '—', '–']) {
        let after = after.trim_start_matches(['=', ':', '>', ' ', '\t']);
        return Some((Joint::Sign, at(after)));
    }
    if let Some(after) = after_is(bare) {
        return Some((Joint::Is, at(after)));
    }
    // A sentence that goes on, as far as its own `is`.
    let mut far = bare;
    for _ in 0..BETWEEN {
        let Some(length) = far.find(char::is_whitespace) else {
            break;
        };
        if far[..length].ends_with(['.', ',', ';', '?', '!', ':']) {
            break;
        }
        far = far[length..].trim_start_matches([' ', '\t']);
        if let Some(after) = after_is(far) {
            return Some((Joint::Far, at(after)));
        }
    }
    (bare.len() < rest.len()).then(|| (Joint::Nothing, at(bare)))
}

/// What stands after `is`, `was` or `bu`.
fn after_is(text: &str) -> Option<&str> {
    ["is", "was", "bu", "esa"].into_iter().find_map(|verb| {
        let head = text.get(..verb.len())?;
        let after = text.get(verb.len()..)?;
        let is_verb = head.eq_ignore_ascii_case(verb) && after.starts_with([' ', ':', '\t']);
        is_verb.then(|| after.trim_start_matches([' ', ':', '\t']))
    })
}

/// The value that begins here: what is between quotes, or one word.
fn bounds(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start..];
    let quote = rest.chars().next().filter(|c| "\"'`".contains(*c));
    if let Some(quote) = quote
        && let Some(length) = rest[1..].find([quote, '\n'])
    {
        return start + 1..start + 1 + length;
    }
    let is_end = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let word = word.trim_end_matches(['.', ',', ';', ':', '?', ')', ']', '}', '>']);
    start..start + word.len()
}

fn is_secret(value: &str, label: Label, joint: Joint) -> bool {
    let length = value.chars().count();
    let has_digit = value.contains(|c: char| c.is_ascii_digit());
    let has_letter = value.contains(char::is_alphabetic);
    if label == Label::Pin {
        let is_number = value.bytes().all(|b| b.is_ascii_digit());
        return is_number && (4..=12).contains(&length) && joint != Joint::Far;
    }
    let says = NO_VALUES.contains(&value.to_lowercase().as_str());
    let is_strange = has_digit && (has_letter || length >= 6);
    match (label, joint) {
        _ if says || length < 3 => false,
        (_, Joint::Sign) => length >= 4,
        (Label::Password, Joint::Is) => true,
        (Label::Key | Label::Pin, Joint::Is) => has_digit,
        (_, Joint::Far) => is_strange,
        (Label::Password, Joint::Nothing) => is_strange && has_letter,
        (Label::Key | Label::Pin, Joint::Nothing) => false,
    }
}
