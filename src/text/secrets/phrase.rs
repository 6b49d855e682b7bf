//! What is said to be a secret: how far it reaches, and whether it is one or talk about one.

use std::ops::{Range, RangeInclusive};

use super::words::{ARTICLES, COMMON, FUNCTION, JOINING, NOUNS, STARTS, STATES};

/// Words of a phrase that are looked at.
const LONGEST: usize = 30;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Password,
    /// A phrase may begin with any word.
    Phrase,
}

/// What is between quotes, or one word.
pub(super) fn word(text: &str, start: usize) -> Range<usize> {
    if let Some(quoted) = quoted(text, start) {
        return quoted;
    }
    let rest = &text[start..];
    let is_end = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    start..start + trimmed(word).len()
}

/// The clause, or its first word if that is one that nobody would write as a word, and talk goes on after it.
pub(super) fn value(text: &str, start: usize, kind: Kind) -> Range<usize> {
    let clause = clause(text, start);
    let mut words = text[clause.clone()].split_whitespace();
    let first = words.next().unwrap_or_default();
    let goes_on = words
        .next()
        .is_some_and(|word| FUNCTION.contains(&plain(word).as_str()));
    if kind == Kind::Password && is_strange(first) && goes_on {
        return word(text, start);
    }
    clause
}

/// What is between quotes, or the words as far as the clause goes.
pub(super) fn clause(text: &str, start: usize) -> Range<usize> {
    if let Some(quoted) = quoted(text, start) {
        return quoted;
    }
    let line = text[start..].lines().next().unwrap_or_default();
    let tokens: Vec<&str> = line.split_whitespace().take(LONGEST).collect();
    let mut end = start;
    for (place, token) in tokens.iter().enumerate() {
        let next = tokens.get(place + 1).copied();
        if place > 0 && begins_clause(token, next) {
            break;
        }
        let at = token.as_ptr().addr() - text.as_ptr().addr();
        end = at + trimmed(token).len();
        let listed = token.ends_with(',')
            && next.is_some_and(|next| {
                next.ends_with(',') || place + 2 == tokens.len() || next.ends_with(['.', ';'])
            });
        if token.ends_with(['.', ';', '?', ')', '"']) || (token.ends_with(',') && !listed) {
            break;
        }
    }
    start..end
}

fn begins_clause(token: &str, next: Option<&str>) -> bool {
    let is_label = token.ends_with(':') || token.find('=').is_some_and(|at| at > 1);
    let next = next.map(plain).unwrap_or_default();
    let joins = JOINING.contains(&token.to_lowercase().as_str()) && STARTS.contains(&next.as_str());
    is_label || joins || token.starts_with('(')
}

fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let quote = rest.chars().next()?;
    let close = match quote {
        '"' | '\'' | '`' => quote,
        '“' | '„' => '”',
        '«' => '»',
        _ => return None,
    };
    let from = quote.len_utf8();
    let length = rest[from..].find([close, '\n'])?;
    Some(start + from..start + from + length)
}

fn trimmed(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', ':', '?', ')', ']', '}', '>', '"', '\'', '`'])
}

fn plain(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.replace(['’', '‘', 'ʻ', 'ʼ'], "'").to_lowercase()
}

/// Letters with digits or signs in them, or many digits: no word of talk.
pub(super) fn is_strange(word: &str) -> bool {
    let word = trimmed(word);
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    let has_letter = word.contains(char::is_alphabetic);
    let inside = word.trim_matches(|c: char| !c.is_alphanumeric());
    let has_sign =
        inside.contains(['@', '#', '$', '%', '^', '&', '*', '!']) && !inside.contains('.');
    word.chars().count() >= 4 && has_letter && (has_digit || has_sign)
}

/// A value in a program, or one that stands for a value.
pub(super) fn is_code(value: &str) -> bool {
    let is_call = value.contains('(')
        && value.split('(').next().is_some_and(|name| {
            let name = name.rsplit(' ').next().unwrap_or(name);
            name.len() > 2
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_.:".contains(c))
        });
    let is_type = value.starts_with('&')
        || value.contains('<') && value.contains('>')
        || value.starts_with('<');
    is_call
        || is_type
        || [
            "${",
            "{{",
            "$(",
            "process.env",
            "os.environ",
            "std::env",
            "env.",
            "^",
            "your_",
            "YOUR_",
            "Field(",
            "changeme",
            "CHANGEME",
        ]
        .iter()
        .any(|sign| value.starts_with(sign))
        || value.chars().all(|c| "*.•xX…".contains(c))
}

/// Whether what is said of a password is talk about it.
pub(super) fn is_talk(said: &str, kind: Kind) -> bool {
    let words: Vec<String> = said
        .split_whitespace()
        .map(plain)
        .filter(|word| !word.is_empty())
        .collect();
    let Some(first) = words.first().map(String::as_str) else {
        return true;
    };
    if said.split_whitespace().next().is_some_and(is_strange) {
        return false;
    }
    let is_function = |word: &str| FUNCTION.contains(&word) || ARTICLES.contains(&word);
    let is_state = |word: &str| STATES.contains(&word);
    if words.iter().all(|word| is_function(word) || is_state(word)) {
        return true;
    }
    let second = words.get(1).map(String::as_str);
    let goes_on = second.is_some_and(|word| is_function(word) || word.ends_with("ly"));
    let is_formed = ["ed", "ing", "able", "ible"]
        .iter()
        .any(|end| first.len() > 5 && first.ends_with(end));
    // `parolim esimda yo'q`
    let is_done = words.len() > 1 && words.last().is_some_and(|word| is_uzbek_verb(word));
    if (is_state(first) || is_formed) && goes_on || is_done {
        return true;
    }
    if kind == Kind::Phrase {
        return ["not", "too", "very", "never", "being", "stored", "in"].contains(&first);
    }
    if ARTICLES.contains(&first) {
        let rest = &words[1..];
        let is_common = second.is_some_and(|word| COMMON.contains(&word) || is_state(word));
        let is_of_thing = words
            .last()
            .is_some_and(|word| NOUNS.contains(&word.as_str()));
        return rest.len() < 3
            || is_common
            || is_of_thing
            || rest.iter().any(|word| is_function(word));
    }
    FUNCTION.contains(&first)
}

fn is_uzbek_verb(word: &str) -> bool {
    let ends = [
        "yapti", "yapman", "ladim", "tdim", "ldim", "rdim", "ydim", "tirdim", "moqda", "maydi",
        "mayapti", "tildi", "rildi",
    ];
    ends.iter()
        .any(|end| word.len() > end.len() + 1 && word.ends_with(end))
        || ["yo'q", "emas", "kerak", "bor", "shart", "lozim"].contains(&word)
}

/// A number in one piece or in groups: `4821`, `48-21`, `12 34 56`.
pub(super) fn digits(
    text: &str,
    start: usize,
    lengths: RangeInclusive<usize>,
) -> Option<Range<usize>> {
    let start = quoted(text, start).map_or(start, |quoted| quoted.start);
    let skipped = text[start..].len() - text[start..].trim_start_matches(['#', '*']).len();
    let start = start + skipped;
    let (mut count, mut end) = (0, start);
    let mut last = None;
    for (at, c) in text[start..].char_indices() {
        match c {
            '0'..='9' => {
                count += 1;
                end = start + at + 1;
            }
            ' ' | '-' if last.is_some_and(|last: char| last.is_ascii_digit()) => {}
            '#' | '*' if last.is_some_and(|last: char| last.is_ascii_digit()) => {
                end = start + at + 1;
            }
            c if c.is_alphanumeric() || c == '_' => {
                if last.is_some_and(|last| last.is_ascii_digit()) {
                    return None;
                }
                break;
            }
            _ => break,
        }
        last = Some(c);
    }
    let is_part =
        text[end..].starts_with('.') && text[end + 1..].starts_with(|c: char| c.is_ascii_digit());
    (lengths.contains(&count) && !is_part).then_some(start..end)
}

/// A word, and the groups of four that go on with it: `JBSW Y3DP EHPK 3PXP`.
pub(super) fn groups(text: &str, start: usize) -> Range<usize> {
    let first = word(text, start);
    let is_group =
        |token: &str| token.len() == 4 && token.bytes().all(|b| b.is_ascii_alphanumeric());
    if !is_group(&text[first.clone()]) {
        return first;
    }
    let line = text[start..].lines().next().unwrap_or_default();
    let tokens = line
        .split(' ')
        .map(trimmed)
        .take(16)
        .take_while(|token| is_group(token));
    let tokens: Vec<&str> = tokens.collect();
    let all: String = tokens.concat();
    let is_seed = tokens.len() >= 3 && all.bytes().any(|b| b.is_ascii_digit());
    if !is_seed {
        return first;
    }
    first.start..first.start + all.len() + tokens.len() - 1
}

/// Codes that are used once, all of a list: whatever holds a digit or a dash, over the lines.
pub(super) fn codes(text: &str, start: usize) -> Option<Range<usize>> {
    let mut end = start;
    for token in text[start..].split_whitespace() {
        let at = token.as_ptr().addr() - text.as_ptr().addr();
        let code = trimmed(token);
        let is_code = code.len() >= 4
            && (code.bytes().any(|b| b.is_ascii_digit())
                || (end == start || text[start..end].contains('-')) && code.contains('-'));
        let is_between = ["and", "or", "-", "*", ","].contains(&token)
            || code.bytes().all(|b| b.is_ascii_digit()) && code.len() < 3;
        if is_code {
            end = at + code.len();
        } else if !is_between {
            break;
        }
    }
    (end > start).then_some(start..end)
}

/// `admin / hunter2`, `admin:hunter2`.
pub(super) fn login(text: &str, start: usize) -> Option<Range<usize>> {
    let value = clause(text, start);
    let tokens: Vec<&str> = text[value.clone()].split_whitespace().take(3).collect();
    let (name, password, end) = match tokens[..] {
        [name, "/" | "|" | ":" | "//", password] => (name, password, password),
        [both, ..] => {
            let sign = both.find(['/', ':', '|'])?;
            (&both[..sign], &both[sign + 1..], both)
        }
        [] => return None,
    };
    let is_word = |word: &str| {
        NOUNS.contains(&plain(word).as_str()) || FUNCTION.contains(&plain(word).as_str())
    };
    let is_address = name.is_empty()
        || name.contains('.') && !name.contains('@')
        || password.starts_with('/')
        || name.starts_with("http");
    let is_port = !password.contains(|c: char| !c.is_ascii_digit()) && name == "localhost";
    let counts = password.len() >= 3
        && !is_address
        && !is_port
        && !is_word(name) | !is_word(password)
        && !(is_word(name) && is_word(password));
    let end = end.as_ptr().addr() - text.as_ptr().addr() + trimmed(end).len();
    counts.then_some(value.start..end)
}
