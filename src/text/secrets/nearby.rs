//! Secrets that stand further from their name: behind a comma, in the next sentence (`The password? It's …`), before
//! the name, or beside the name of a user. Unit: one name.
//!
//! Invariant: the further from its name, the less a value may look like a word.

use std::ops::Range;

use super::labelled::{self, Label};
use super::phrase::{self, Kind};
use super::words::{
    ANSWERS, FUNCTION, NEIGHBOURS, NOT_TOLD, PASSWORDS, PROVIDERS, SIGN_IN, UNITS, USERS,
};
use super::{ids, numbers, scenes};

/// Bytes behind a name in which its value may stand, and sentences behind its own.
const NEAR: usize = 240;
const SENTENCES: usize = 4;
/// Bytes before a name.
const BEFORE: usize = 120;
/// Words of a value that is said in plain words.
const MAX_WORDS: usize = 5;

/// Values of a name that has none in its own clause.
pub(super) fn values(text: &str, name: &Range<usize>, label: Label) -> Option<Range<usize>> {
    let rest = &text[name.end..];
    let next = rest
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let next = next.trim_matches(|c: char| !c.is_alphanumeric());
    if NEIGHBOURS.contains(&next) {
        return None;
    }
    before(text, name, label).or_else(|| behind(text, name, label))
}

/// Where a sentence or a clause begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Sentence,
    Clause,
    Within,
}

fn behind(text: &str, name: &Range<usize>, label: Label) -> Option<Range<usize>> {
    let upto = text.floor_char_boundary((name.end + NEAR).min(text.len()));
    let in_parts = label == Label::Password && is_in_parts(&text[name.end..upto]);
    let is_told = is_told(text, name);
    let mut sentences = 0;
    for (start, token) in tokens(text, name.end, upto) {
        let at = at(&text[name.end..start]);
        if at == At::Sentence {
            sentences += 1;
            if sentences > SENTENCES {
                return None;
            }
        }
        if at != At::Within {
            let (value, has_lead) = without_lead(text, start);
            if let Some(value) = answer(text, value, label, has_lead && is_told) {
                return Some(value);
            }
        }
        let value = match label {
            Label::Pin | Label::OneTime => (sentences == 0 || token.len() == 6)
                .then(|| number(text, start))
                .flatten()
                .filter(|it| !is_year(&text[it.clone()])),
            Label::Code if sentences == 0 || !labelled::is_placed(text, name) => None,
            Label::Code => number(text, start),
            Label::Id => ids::value(text, start).filter(|it| it.start == start),
            Label::Card => numbers::card_number(text, start).filter(|it| it.start == start),
            Label::Account => numbers::account_number(text, start).filter(|it| it.start == start),
            Label::Login if is_strong_pair(trimmed(token)) => phrase::login(text, start),
            Label::Key | Label::SomeKey | Label::Token | Label::Cookie => key(text, start, token),
            _ => (is_strong(token)
                || in_parts && phrase::is_strange(token)
                || sentences > 0 && is_said_briefly(text, start, token))
            .then(|| phrase::word(text, start)),
        };
        if let Some(value) = value {
            return Some(value);
        }
    }
    None
}

/// `2025`
fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}

/// Whether a strange word ends a sentence of at most four words.
fn is_said_briefly(text: &str, start: usize, token: &str) -> bool {
    let from = text[..start]
        .rfind(['.', '?', '!', '\n', '。'])
        .map_or(0, |at| at + 1);
    phrase::is_strange(token)
        && !is_name_with_number(token)
        && text
            .get(from..start)
            .is_some_and(|before| before.split_whitespace().count() <= 3)
        && ends_sentence(text, start + trimmed(token).len())
}

/// What a clause says that holds nothing but the value: `It's hunter2.`
fn answer(text: &str, start: usize, label: Label, in_words: bool) -> Option<Range<usize>> {
    let token = text[start..].split_whitespace().next()?;
    match label {
        Label::OneTime => number(text, start).or_else(|| {
            let place = phrase::word(text, start);
            scenes::is_short_code(&text[place.clone()]).then_some(place)
        }),
        Label::Pin => number(text, start),
        Label::Code => number(text, start).filter(|_| in_words),
        Label::Id | Label::Card | Label::Account => None,
        Label::Recovery => phrase::codes(text, start)
            .filter(|it| text[it.clone()].bytes().any(|b| b.is_ascii_digit())),
        // A path is no login.
        Label::Login
            if token.contains('/') && token.len() > 2 && !is_strong_pair(trimmed(token)) =>
        {
            None
        }
        Label::Login => phrase::login(text, start),
        Label::Key | Label::SomeKey | Label::Token | Label::Cookie => key(text, start, token)
            .or_else(|| labelled::strange(text, start).filter(|it| in_words && it.len() >= 6)),
        Label::Phrase => {
            let clause = phrase::clause(text, start);
            let n_words = text[clause.clone()].split_whitespace().count();
            (n_words >= 3 && in_words || n_words >= 11 && !talks(&text[clause.clone()]))
                .then_some(clause)
        }
        Label::Password | Label::Pass | Label::Mine => {
            if phrase::is_strange(token) && !is_name_with_number(token) {
                return Some(phrase::word(text, start)).filter(|it| it.len() >= 4);
            }
            let long = || phrase::digits(text, start, 11..=20);
            if let Some(digits) = number(text, start)
                .or_else(long)
                .filter(|it| ends_sentence(text, it.end))
            {
                return Some(digits);
            }
            let clause = phrase::clause(text, start);
            let said = &text[clause.clone()];
            let is_value = in_words
                && said.chars().count() >= 3
                && said.split_whitespace().count() <= MAX_WORDS
                && ends_sentence(text, clause.end)
                && !talks(said)
                && !phrase::is_talk(said, Kind::Password)
                && !phrase::is_code(said);
            is_value.then_some(clause)
        }
    }
}

/// Whether a person talks here, and does not tell a value.
pub(super) fn talks(said: &str) -> bool {
    let mut words = said.split_whitespace();
    words.any(|word| {
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        FUNCTION.contains(&word.as_str()) && word != "no"
    })
}

fn ends_sentence(text: &str, end: usize) -> bool {
    let rest = text[end..].trim_start_matches(['"', '\'', '`', '”', '»', ')']);
    rest.is_empty() || rest.starts_with(['.', '!', '\n', ',', ';', '(', '?', '—'])
}

/// Words between a value and the name behind it.
const POINTING: [&str; 24] = [
    "that's", "that’s", "that", "this", "is", "was", "it's", "as", "für", "ist", "das", "это",
    "es", "c'est", "est", "mein", "my", "the", "our", "your", "мой", "mi", "mon", "als",
];

/// Before the name: `4821 — that's my PIN`.
fn before(text: &str, name: &Range<usize>, label: Label) -> Option<Range<usize>> {
    if let Some(value) = used_as(text, name, label) {
        return Some(value);
    }
    let from = text.ceil_char_boundary(name.start.saturating_sub(BEFORE));
    let mut points = false;
    let before: Vec<(usize, &str)> = tokens(text, from, name.start).collect();
    let of_sentence = before
        .iter()
        .rev()
        .take_while(|(_, token)| !token.ends_with(['.', '?', '!']));
    let strong = of_sentence.clone().find(|(_, token)| is_strong(token));
    if let (Label::Password, Some((start, _))) = (label, strong) {
        return Some(word(text, *start));
    }
    // `type hunter2 when it asks for the password`
    let typed = before.windows(2).find(|pair| {
        ["type", "enter", "use", "try", "put", "typing", "entering"]
            .contains(&pair[0].1.to_lowercase().as_str())
            && phrase::is_strange(pair[1].1)
            && !is_name_with_number(pair[1].1)
    });
    if let (Label::Password | Label::Pass, Some(typed)) = (label, typed) {
        return Some(word(text, typed[1].0));
    }
    for (start, token) in before.into_iter().rev().take(7) {
        let plain = trimmed(token).to_lowercase();
        if POINTING.contains(&plain.as_str()) {
            points |=
                !["my", "the", "our", "your", "mein", "мой", "mi", "mon"].contains(&plain.as_str());
            continue;
        }
        let is_what_it_opens = points && start > from && plain.chars().all(char::is_alphabetic);
        let value = match label {
            _ if !points => None,
            Label::Pin | Label::OneTime => number(text, start),
            Label::Code if labelled::is_placed(text, name) => number(text, start),
            Label::Code | Label::Id | Label::Card | Label::Account => None,
            Label::Key | Label::SomeKey | Label::Token | Label::Cookie => key(text, start, token),
            _ if phrase::is_strange(token) => Some(phrase::word(text, start)),
            _ => None,
        };
        if value.is_some() {
            return value;
        }
        if !(plain.is_empty()
            || is_what_it_opens
            || !points && plain.chars().all(char::is_alphabetic))
        {
            return None;
        }
        if points
            && ![
                "root", "wifi", "wi-fi", "admin", "new", "current", "old", "—", "-", "–",
            ]
            .contains(&plain.as_str())
        {
            return None;
        }
    }
    None
}

/// `I use purple monkeys as the passphrase`.
fn used_as(text: &str, name: &Range<usize>, label: Label) -> Option<Range<usize>> {
    const VERBS: [&str; 24] = [
        "use",
        "used",
        "uses",
        "using",
        "type",
        "typed",
        "enter",
        "entered",
        "have",
        "put",
        "set",
        "pick",
        "picked",
        "chose",
        "with",
        "nehme",
        "verwende",
        "uso",
        "puse",
        "utilise",
        "mis",
        "использую",
        "keep",
        "kept",
    ];
    if !matches!(label, Label::Password | Label::Phrase | Label::Pin) {
        return None;
    }
    let from = text.ceil_char_boundary(name.start.saturating_sub(BEFORE));
    let before: Vec<(usize, &str)> = tokens(text, from, name.start).collect();
    let small = |at: usize| before[at].1.to_lowercase();
    let as_at = (before.len().saturating_sub(4)..before.len())
        .rev()
        .find(|at| ["as", "als", "como", "comme", "как"].contains(&small(*at).as_str()))?;
    let verb = (as_at.saturating_sub(7)..as_at)
        .rev()
        .find(|at| VERBS.contains(&small(*at).as_str()))?;
    let (first, last) = (before.get(verb + 1)?, before[as_at - 1]);
    if verb + 1 >= as_at {
        return None;
    }
    let value = first.0..last.0 + trimmed(last.1).len();
    let said = text.get(value.clone())?;
    (!talks(said) && !phrase::is_talk(said, Kind::Password) && said.len() >= 3).then_some(value)
}

/// A number of four to ten digits that counts nothing.
pub(super) fn number(text: &str, start: usize) -> Option<Range<usize>> {
    let digits = phrase::digits(text, start, 4..=10)?;
    let rest = &text[digits.end..];
    let unit = rest
        .trim_start_matches([' ', '-'])
        .split_whitespace()
        .next();
    let unit = unit.unwrap_or_default().to_lowercase();
    let unit = unit.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
    let is_counted = UNITS.contains(&unit) || rest.starts_with(['%', ':', '/', '€', '$']);
    let is_amount = text[..start].ends_with(['$', '€', '£', '#', ':', '.', '+', '/']);
    (!is_counted && !is_amount && !ids::is_date(&text[digits.clone()])).then_some(digits)
}

/// What is between quotes, or one word; a `!` at its end belongs to it where the sentence goes on.
pub(super) fn word(text: &str, start: usize) -> Range<usize> {
    let word = phrase::word(text, start);
    let rest = &text[word.end..];
    let after = rest.trim_start_matches(['!', '?']);
    let goes_on = after
        .strip_prefix(' ')
        .is_some_and(|after| after.starts_with(char::is_lowercase));
    if rest.len() > after.len() && goes_on {
        return word.start..text.len() - after.len();
    }
    word
}

/// A key or a token: no row of digits, and no name with a number.
fn key(text: &str, start: usize, token: &str) -> Option<Range<usize>> {
    let token = trimmed(token);
    let is_hex = token.len() >= 16
        && token.bytes().all(|b| b.is_ascii_hexdigit())
        && token.bytes().any(|b| b.is_ascii_digit())
        && !is_digest_before(text, start);
    let value = token.rsplit_once('=').map_or(token, |(_, value)| value);
    if is_digest_before(text, start)
        || ["SHA256:", "MD5:", "sha256:"]
            .iter()
            .any(|it| token.starts_with(it))
    {
        return None;
    }
    (is_hex || is_grouped(value) || is_strong(value) && value.len() >= 8).then(|| {
        let at = start + token.len() - value.len();
        phrase::word(text, at)
    })
}

/// `JWWQ-Q6J8-8DIH-GDOX`, a licence or a code for emergencies.
fn is_grouped(token: &str) -> bool {
    let is_group = |group: &str| {
        (4..=7).contains(&group.len())
            && group
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    };
    token.split('-').count() >= 3
        && token.split('-').all(is_group)
        && token.bytes().any(|b| b.is_ascii_digit())
        && token.bytes().any(|b| b.is_ascii_uppercase())
}

/// Whether the words before name a digest.
fn is_digest_before(text: &str, start: usize) -> bool {
    let from = text.ceil_char_boundary(start.saturating_sub(40));
    let before = text[from..start].to_lowercase();
    [
        "commit",
        "sha",
        "hash",
        "digest",
        "checksum",
        "md5",
        "revision",
        "etag",
        "blob",
        "tree",
        "image",
        "head",
        "uuid",
        "build",
        "fingerprint",
    ]
    .iter()
    .any(|word| before.contains(word))
}

/// Letters and digits, or signs, in an order that no name of a thing has: `Tr0ub4dor&3`, not `sha256`, `es2022`, `build-42`,
/// `auth.rs` or `getUser2`.
pub(super) fn is_strong(token: &str) -> bool {
    let token = trimmed(token).trim_start_matches(['"', '\'', '`', '(', '“', '«', '„']);
    let chars = token.chars().count();
    if !(7..=256).contains(&chars) || token.contains(['/', '\\', '(', '{', '<', '>', '|', '[', ';'])
    {
        return false;
    }
    // An address of mail, a variable, a field.
    if token
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
        || token.starts_with(['@', '#', '$', '-', '+'])
            && !token.contains(|c: char| c.is_ascii_digit())
    {
        return false;
    }
    let is_uuid = token.len() == 36 && token.bytes().filter(|b| *b == b'-').count() == 4;
    let is_hex = token.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if is_uuid
        || is_hex
        || token.contains("://")
        || token.contains("::")
        || token.contains("()")
        || token.contains("${")
    {
        return false;
    }
    if is_name_with_number(token) && chars < 16 || token.starts_with(['^', '~']) {
        return false;
    }
    token
        .split(['-', '_', '.', ':', ',', '\'', '=', '+', '~'])
        .any(is_mixed)
        || has_sign(token)
}

/// Signs among letters and digits.
fn has_sign(token: &str) -> bool {
    let inside = token.contains(['!', '$', '%', '^', '&', '*', '#', '@', '?', '+']);
    let digits = token.chars().filter(char::is_ascii_digit).count();
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    inside
        && digits > 0
        && letters >= 2
        && !token.contains(['=', '.'])
        && token.chars().count() >= 6
        && !token.starts_with(['#', '$', '@', '%'])
}

/// Digits between letters, or letters between digits, not only at the end of a word.
fn is_mixed(part: &str) -> bool {
    let kinds: Vec<u8> = part
        .chars()
        .map(|c| match c {
            c if c.is_ascii_digit() => 1,
            c if c.is_uppercase() => 2,
            c if c.is_alphabetic() => 3,
            _ => 4,
        })
        .collect();
    let has_digit = kinds.contains(&1);
    let changes = kinds
        .windows(2)
        .filter(|pair| (pair[0] == 1) != (pair[1] == 1))
        .count();
    let cases = kinds.windows(2).filter(|pair| pair == &[3, 2]).count();
    has_digit
        && kinds.len() >= 7
        && (changes >= 3 || changes == 2 && kinds[0] != 1 || cases >= 2 && changes >= 1)
}

/// `python3.11`, `utf-8`, `sha256`, `ES2022`: names that have a number, as they stand in talk about passwords.
pub(super) fn is_name_with_number(token: &str) -> bool {
    const NAMES: [&str; 50] = [
        "iphone", "ipad", "pixel", "galaxy", "android", "ios", "macos", "usb", "vscode", "argon2",
        "jdk", "wpa", "ps", "mp", "sha", "md", "utf", "base", "python", "argon", "pbkdf", "oauth",
        "http", "es", "aes", "rsa", "ed", "tls", "ssl", "ipv", "x", "v", "rfc", "iso", "i", "k",
        "s", "ec", "h", "log", "neo", "win", "windows", "ubuntu", "debian", "php", "java", "node",
        "bcrypt", "totp",
    ];
    let token = trimmed(token).to_lowercase();
    let letters = token
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    NAMES.contains(&letters)
        || token.contains(['/', '\\'])
        || token.contains('.') && !token.contains(['!', '@', '#', '$', '%'])
}

/// Whether the sentence of the name may tell the value: not where it was forgotten, or is a field of a form.
fn is_told(text: &str, name: &Range<usize>) -> bool {
    let from = text.ceil_char_boundary(name.start.saturating_sub(BEFORE));
    let sentence = text[from..name.start]
        .rfind(['.', '!', '?', '\n'])
        .map_or(from, |at| from + at + 1);
    let words = text[sentence..name.start].split_whitespace();
    let mut words = words.chain(text[name.end..].split_whitespace().take(1));
    let is_not_told = words.any(|word| {
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric() && c != '\'')
            .to_lowercase();
        NOT_TOLD.contains(&word.as_str())
    });
    let end = &text[name.end..];
    let end = &end[..end
        .find(['.', '?', '!', '\n', ':', ',', '—', '–'])
        .unwrap_or(end.len())];
    !is_not_told && end.split_whitespace().count() <= 6
}

/// Where the word behind stands.
fn at(between: &str) -> At {
    let between =
        between.trim_end_matches([' ', '\t', '"', '\'', '`', '*', '(', '“', '«', '„', '-', '>']);
    match between.chars().next_back() {
        Some('.' | '!' | '?' | '\n' | '…' | '。' | '？' | '！') => At::Sentence,
        Some(',' | ':' | '—' | '–' | ';' | '=' | '，' | '：') => At::Clause,
        _ => At::Within,
    }
}

/// Behind what only says that the value comes: `It's`, `Here it is:`.
fn without_lead(text: &str, start: usize) -> (usize, bool) {
    let rest = text[start..].trim_start_matches(['"', '\'', '`', '*', '(', '“', '«']);
    let start = text.len() - rest.len();
    let head = text.floor_char_boundary((start + 48).min(text.len()));
    let head = text[start..head].to_lowercase();
    let leads = ANSWERS.iter().filter(|lead| {
        head.strip_prefix(**lead)
            .is_some_and(|after| after.starts_with([' ', ':', ',', '\n']))
    });
    let Some(lead) = leads.max_by_key(|lead| lead.len()) else {
        return (start, false);
    };
    // Lower case may be longer than what it is made of, in scripts that have no leads.
    let Some(rest) = text.get(start + lead.len()..) else {
        return (start, false);
    };
    let rest = rest.trim_start_matches([' ', ':', ',', '\n', '"', '`', '\'', '*']);
    let mut value = text.len() - rest.len();
    for adverb in [
        "just ",
        "still ",
        "now ",
        "simply ",
        "actually ",
        "probably ",
        "like ",
        "code ",
        "the following: ",
    ] {
        if text[value..]
            .get(..adverb.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(adverb))
        {
            value += adverb.len();
        }
    }
    (value, true)
}

fn tokens(text: &str, from: usize, upto: usize) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr().addr();
    let range = text.get(from..upto).unwrap_or_default();
    range
        .split_whitespace()
        .map(move |token| {
            let token = token.trim_start_matches(['"', '\'', '`', '(', '*', '“', '«', '„']);
            (token.as_ptr().addr() - base, token)
        })
        .filter(|(_, token)| !token.is_empty())
}

fn trimmed(token: &str) -> &str {
    token.trim_end_matches(['.', ',', ';', ':', '?', ')', '"', '\'', '`', '*', '”', '»'])
}

/// Users with their passwords, and what one signs in with.
pub(super) fn logins(text: &str, places: &[Range<usize>], plain: &[String]) -> Vec<Range<usize>> {
    let mut found = beside_mails(text);
    for (n, word) in plain.iter().enumerate() {
        if USERS.contains(&word.as_str()) {
            found.extend(password_of_user(text, places, plain, n));
        }
        if SIGN_IN.contains(&word.as_str()) {
            found.extend(signed_in_with(text, &places[n]));
        }
    }
    found
}

/// `ana@example.org / Tulip_22`: a mail address, what joins, and a strange word.
fn beside_mails(text: &str) -> Vec<Range<usize>> {
    const JOINS: [&str; 12] = [
        "/", "//", "|", "and", "plus", "then", ":", "-", "–", "+", "und", "y",
    ];
    let mails = text.match_indices('@').filter_map(|(at, _)| {
        let upto = text.floor_char_boundary((at + BEFORE).min(text.len()));
        let mut words = tokens(text, at, upto);
        let (_, host) = words.next()?;
        let is_host = host.contains('.') && text[..at].ends_with(|c: char| c.is_alphanumeric());
        let (_, joint) = words
            .next()
            .filter(|(_, joint)| is_host && JOINS.contains(joint))?;
        let (start, token) =
            words.find(|(_, token)| *token != "then" && *token != "and" && *token != joint)?;
        let is_value = is_generated(token)
            && !token.contains(['/', '.'])
            && (!token.contains('@') || has_sign(token))
            && !is_name_with_number(token);
        is_value.then(|| word(text, start))
    });
    let mut values: Vec<Range<usize>> = mails.collect();
    // `admin / q7Jm2Xc9`
    for (at, sign) in text.match_indices(" / ") {
        let name = text[..at]
            .split_whitespace()
            .next_back()
            .unwrap_or_default();
        let start = at + sign.len();
        let token = text[start..].split_whitespace().next().unwrap_or_default();
        let is_user = name.len() >= 3
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "._-@".contains(c));
        if is_user
            && is_generated(token)
            && !token.contains(['/', '.'])
            && !is_name_with_number(token)
        {
            values.push(word(text, start));
        }
    }
    values
}

/// `user bob, password letmein`.
fn password_of_user(
    text: &str,
    places: &[Range<usize>],
    plain: &[String],
    user: usize,
) -> Option<Range<usize>> {
    let name = plain.get(user + 1)?;
    if FUNCTION.contains(&name.as_str())
        || NOT_TOLD.contains(&name.as_str())
        || name.ends_with("ed")
    {
        return None;
    }
    let is_name = |word: &str| PASSWORDS.contains(&word) || ["pass", "pw", "pwd"].contains(&word);
    let found = (user + 2..=user + 4).find(|n| plain.get(*n).is_some_and(|it| is_name(it)))?;
    // What stands between is `and my`.
    let joins = plain[user + 2..found].iter().all(|word| {
        [
            "and", "the", "with", "my", "und", "mit", "y", "et", "и", "va", "is", "its", "con",
            "avec",
        ]
        .contains(&word.as_str())
    });
    let rest = text.get(places[found].end..)?;
    let bare = rest.trim_start_matches([' ', ':', '=', '"', '\'', '`']);
    let bare = bare.strip_prefix("is ").unwrap_or(bare);
    let start = text.len() - bare.len();
    let value = phrase::word(text, start);
    let said = &text[value.clone()];
    let counts = joins
        && !rest.starts_with(['.', '?', '!', '\n', ',', ')', '/'])
        && said.chars().count() >= 3
        && !phrase::is_talk(said, Kind::Password)
        && !phrase::is_code(said)
        && !NEIGHBOURS.contains(&said.to_lowercase().as_str())
        && !["change", "changes", "update", "updates", "event"].contains(&said);
    counts.then_some(value)
}

/// `log in as bob with hunter2`, `ssh as root, toor99`.
fn signed_in_with(text: &str, verb: &Range<usize>) -> Option<Range<usize>> {
    let upto = text.floor_char_boundary((verb.end + BEFORE).min(text.len()));
    let line = text[verb.end..upto]
        .split(['\n', '?', '!'])
        .next()
        .unwrap_or_default();
    let end = verb.end + line.len();
    let tokens: Vec<(usize, &str)> = tokens(text, verb.end, end).collect();
    let mut is_with = false;
    let mut has_user = false;
    for (n, (start, token)) in tokens.iter().enumerate() {
        let plain = trimmed(token).to_lowercase();
        let joins = [
            "with", "using", "mit", "con", "avec", "с", "and", "/", "+", "password", "pass", "und",
            "y", "et",
        ]
        .contains(&plain.as_str());
        let ends = token.ends_with(['.', ';']) && !phrase::is_strange(token);
        if is_with && !joins {
            let said = trimmed(token);
            let may_be = if has_user {
                phrase::is_strange(said)
            } else {
                is_strong(said)
            };
            if may_be && !said.contains(['/', '@']) | has_sign(said) && !is_name_with_number(said) {
                return Some(phrase::word(text, *start));
            }
            if said.contains([':', '/']) && !said.contains("://") && is_strong_pair(said) {
                return phrase::login(text, *start);
            }
        }
        if is_with
            && plain != "with"
            && ["with", "using", "mit", "con", "avec"].contains(
                &n.checked_sub(1)
                    .map(|n| trimmed(tokens[n].1).to_lowercase())
                    .unwrap_or_default()
                    .as_str(),
            )
        {
            let clause = phrase::clause(text, *start);
            let said = &text[clause.clone()];
            let n_words = said.split_whitespace().count();
            let is_plain = said
                .chars()
                .all(|c| c.is_lowercase() || c == ' ' || c == '-');
            let is_way = said
                .split_whitespace()
                .any(|word| PROVIDERS.contains(&word));
            if (2..=MAX_WORDS).contains(&n_words)
                && is_plain
                && !is_way
                && !talks(said)
                && ends_sentence(text, clause.end)
            {
                return Some(clause);
            }
        }
        has_user |= n > 0
            && ["as", "als", "como", "как"]
                .contains(&trimmed(tokens[n - 1].1).to_lowercase().as_str());
        has_user |= token.contains('@');
        is_with |= joins || has_user;
        if ends {
            return None;
        }
    }
    None
}

/// `bob:hunter2`, no `host:port` and no `and/or`.
fn is_strong_pair(said: &str) -> bool {
    let Some((name, password)) = said.split_once([':', '/']) else {
        return false;
    };
    name.chars().all(char::is_alphanumeric) && name.len() >= 2 && phrase::is_strange(password)
}

/// The other parts of a value that is told in parts: lines of one word each, and strange words that follow.
pub(super) fn other_parts(
    text: &str,
    name: &Range<usize>,
    value: &Range<usize>,
) -> Vec<Range<usize>> {
    let from = text.ceil_char_boundary(name.start.saturating_sub(BEFORE));
    let upto = text.floor_char_boundary((value.end + NEAR).min(text.len()));
    if !is_in_parts(&text[from..upto]) {
        return Vec::new();
    }
    let mut parts = Vec::new();
    for (start, token) in tokens(text, value.end, upto) {
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let begins_line = line >= value.end && text[line..start].trim().is_empty();
        let is_alone = begins_line
            && text[start + token.len()..]
                .lines()
                .next()
                .is_none_or(|rest| rest.trim().is_empty());
        if is_alone || phrase::is_strange(token) || has_sign(token) {
            parts.push(start..start + trimmed(token).len());
        }
    }
    parts
}

fn is_in_parts(text: &str) -> bool {
    const PARTS: [&str; 14] = [
        "half",
        "halves",
        "part",
        "parts",
        "piece",
        "pieces",
        "split",
        "hälfte",
        "hälften",
        "teile",
        "mitades",
        "moitiés",
        "partes",
        "части",
    ];
    let mut words = text.split(|c: char| !c.is_alphabetic());
    words.any(|word| PARTS.contains(&word.to_lowercase().as_str()))
}

/// Letters, digits and signs as people and programs make passwords of them: no `8-digit` and no `mp3s`.
fn is_generated(token: &str) -> bool {
    let has = |is: fn(&char) -> bool| token.chars().any(|c| is(&c));
    let is_varied =
        has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit);
    is_strong(token) || has_sign(token) || token.len() >= 8 && is_varied
}
