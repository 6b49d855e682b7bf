//! Secrets that are called by their name: `password is …`, `API_KEY=…`, `parolim: …`, `door code is …`.
//!
//! Invariant: a value stands after its name in the same line (`… is my password` apart), and talk about a secret is none.

use std::ops::Range;

use super::joint::{Joint, joint};
use super::phrase::{self, Kind};
use super::words::{
    BEFORE_CODE, BEFORE_KEY, BEFORE_PHRASE, BEFORE_SEED, COOKIES, FUZZY, IDS, KEYS, LOGINS,
    MANAGERS, NOT_CODES, NUMBERS, ONE_TIME, ONE_TIME_NAMES, PASSWORDS, PHRASES, PLACED_CODES,
    REAL_WORDS, RECOVERY, TOKENS, UNSPACED, UNSPACED_JOINTS, UNSPACED_TALK, USERS, WAYS_IN, WIFI,
};
use super::{Class, Found, ids, nearby, numbers};

/// Words before a name that are looked at, for what it opens and for a value that stands there.
const BACK: usize = 8;
/// Names of a window that are searched further from: more of them are a list, not talk.
const MAX_NEARBY: usize = 24;

/// A name of a secret; how its value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Password,
    Phrase,
    /// `pass`, which is a verb as well.
    Pass,
    Key,
    /// A key of which nothing says what it opens.
    SomeKey,
    Token,
    Cookie,
    Pin,
    Code,
    OneTime,
    Recovery,
    Login,
    /// `parolim`: a name that needs no verb.
    Mine,
    /// Numbers that a state gives to a person.
    Id,
    Card,
    Account,
}

impl Label {
    fn class(self) -> Class {
        match self {
            Self::Password | Self::Pass | Self::Mine => Class::Password,
            Self::Phrase => Class::RecoveryPhrase,
            Self::Key | Self::SomeKey => Class::ApiKey,
            Self::Token => Class::Token,
            Self::Cookie => Class::Cookie,
            Self::Pin => Class::Pin,
            Self::Code => Class::AccessCode,
            Self::OneTime => Class::OneTimeCode,
            Self::Recovery => Class::RecoveryCode,
            Self::Login => Class::Login,
            Self::Id => Class::NationalId,
            Self::Card => Class::Card,
            Self::Account => Class::Account,
        }
    }
}

/// Values of names.
pub(super) fn values(text: &str) -> Vec<Found> {
    let places = words(text);
    let plain: Vec<String> = places.iter().map(|it| plain(&text[it.clone()])).collect();
    let found = |place, label: Label| Found {
        place,
        class: label.class(),
    };
    let mut values = if text.is_ascii() {
        Vec::new()
    } else {
        unspaced(text)
    };
    let mut n_nearby = 0;
    for (n, word) in places.iter().enumerate() {
        let back = &plain[n.saturating_sub(BACK)..n];
        let Some(label) = label(&text[word.clone()], &plain[n], back) else {
            continue;
        };
        let value = value(text, word, label).filter(|value| !value.is_empty());
        let value = value.or_else(|| said_before(text, word, label));
        let value = value.or_else(|| {
            n_nearby += 1;
            (n_nearby <= MAX_NEARBY)
                .then(|| nearby::values(text, word, label))
                .flatten()
        });
        let Some(value) = value else {
            continue;
        };
        values.extend(
            nearby::other_parts(text, word, &value)
                .into_iter()
                .map(|it| found(it, label)),
        );
        values.push(found(value, label));
    }
    let logins = nearby::logins(text, &places, &plain);
    values.extend(logins.into_iter().map(|it| found(it, Label::Login)));
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
pub(super) fn plain(word: &str) -> String {
    if word.len() > 64 {
        return String::new();
    }
    if word.is_ascii() {
        let letters = word.bytes().filter(|b| *b != b'_' && *b != b'-');
        return letters
            .map(|b| char::from(b.to_ascii_lowercase()))
            .collect();
    }
    let letters = word.chars().filter(|c| !"_-".contains(*c));
    letters.flat_map(char::to_lowercase).collect()
}

fn label(word: &str, plain: &str, back: &[String]) -> Option<Label> {
    if plain.len() < 2
        || back
            .iter()
            .rev()
            .take(5)
            .any(|it| MANAGERS.contains(&it.as_str()))
    {
        return None;
    }
    let ends = |labels: &[&str]| labels.iter().any(|label| plain.ends_with(label));
    let is = |labels: &[&str]| labels.contains(&plain);
    let before = back.last().map_or("", String::as_str);
    let second = back.iter().rev().nth(1).map_or("", String::as_str);
    let is_after = |words: &[&str]| words.contains(&before);
    let part = |part: &str| {
        plain == part
            || word.len() > part.len()
                && word.is_char_boundary(word.len() - part.len() - 1)
                && word[word.len() - part.len() - 1..].starts_with('_')
                && word[word.len() - part.len()..].eq_ignore_ascii_case(part)
    };
    match plain {
        "geheimzahl" | "geheimnummer" | "pinnummer" | "pin" | "pincode" | "пин" | "пинкод"
        | "пинкода" | "cvv" | "cvc" | "cvv2" | "cvc2" => Some(Label::Pin),
        "number" | "code" if before == "pin" => Some(Label::Pin),
        "parolim" | "parolimiz" => Some(Label::Mine),
        "passe" | "passes" | "pass" if before == "de" && second.starts_with("mot") => {
            Some(Label::Password)
        }
        "psk" => Some(Label::Password),
        "key" | "keys" | "clé" | "schlüssel" | "ключ" | "clave" | "kalit" | "kaliti" | "code"
        | "code's"
            if back.iter().any(|it| WIFI.contains(&it.as_str())) =>
        {
            Some(Label::Password)
        }
        "word" if before == "pass" => Some(Label::Password),
        "phrase" | "words" | "frase" | "фраза" | "фразу" if is_after(BEFORE_PHRASE) => {
            Some(Label::Phrase)
        }
        "semilla" | "récupération" | "recuperación" | "recuperacion" | "восстановления"
            if ["frase", "phrase", "фраза", "de"].contains(&before)
                && back
                    .iter()
                    .any(|it| ["frase", "phrase", "фраза"].contains(&it.as_str())) =>
        {
            Some(Label::Phrase)
        }
        "seed" | "totp" if is_after(BEFORE_SEED) || plain == "totp" => Some(Label::Key),
        "seed" if is_after(&["wallet", "crypto", "metamask", "ledger", "trezor"]) => {
            Some(Label::Phrase)
        }
        _ if is_one_time(plain, before, second) => Some(Label::OneTime),
        "code" | "codes" | "key" | "keys" if is_after(RECOVERY) => Some(Label::Recovery),
        "code" | "codes" | "combination" | "combo" if is_after(BEFORE_CODE) => Some(Label::Code),
        "key" | "keys" | "code" if is_after(BEFORE_KEY) => Some(Label::Key),
        // What a company has is no secret of a person.
        _ if (is_id(plain, before, second) || word == "SIN")
            && !back.iter().any(|it| {
                [
                    "company",
                    "firm",
                    "business",
                    "vat",
                    "corporate",
                    "employer",
                ]
                .contains(&it.as_str())
            }) =>
        {
            Some(Label::Id)
        }
        _ if is_account(plain, before, second) => Some(Label::Account),
        "card" | "karte" | "kreditkarte" | "tarjeta" | "carte" | "карта" | "карты" | "карте"
        | "visa" | "mastercard" | "amex" | "kartam" | "karta" | "creditcard" | "cardnumber" => {
            Some(Label::Card)
        }
        _ if is(COOKIES) || ends(&["sessid", "sessionid", "sessioncookie", "sessiontoken"]) => {
            Some(Label::Cookie)
        }
        "id" if before == "session" => Some(Label::Cookie),
        "code" | "combination" | "código" | "codigo" | "код" | "kodi" | "kod" => {
            Some(Label::Code)
        }
        "key" | "clé" | "llave"
            if before != "public" && before != "primary" && before != "foreign" =>
        {
            Some(Label::SomeKey)
        }
        _ if ends(PHRASES) => Some(Label::Phrase),
        _ if ends(PASSWORDS) || part("pw") || part("psw") => Some(Label::Password),
        _ if is_misspelt(plain) => Some(Label::Password),
        _ if part("pass") && word != "PASS" => Some(Label::Pass),
        _ if ends(PLACED_CODES) => Some(Label::Code),
        _ if ends(TOKENS) => Some(Label::Token),
        _ if ends(KEYS) => Some(Label::Key),
        _ if LOGINS.contains(&plain) => Some(Label::Login),
        _ => None,
    }
}

/// A code that comes by message or from an app, and counts once.
fn is_one_time(plain: &str, before: &str, second: &str) -> bool {
    let is_code = [
        "code",
        "codes",
        "código",
        "codigo",
        "код",
        "kod",
        "kodi",
        "passcode",
        "password",
        "пароль",
        "number",
        "pin",
    ]
    .contains(&plain);
    let once = |word: &str| ONE_TIME.contains(&word);
    is_code
        && (once(before)
            || before == "time" && second == "one"
            || plain == "code" && once(second) && before == "login")
        || ONE_TIME_NAMES.contains(&plain)
        || plain == "onetimepassword"
        || plain == "onetimecode"
}

/// A number of a person that a state gives out.
fn is_id(plain: &str, before: &str, second: &str) -> bool {
    let is_number = NUMBERS.contains(&plain);
    IDS.contains(&plain)
        || plain == "security" && before == "social"
        || plain == "insurance" && before == "national"
        || ["license", "licence"].contains(&plain)
            && ["driver", "drivers", "driving", "s"].contains(&before)
        || plain == "id"
            && [
                "national",
                "tax",
                "citizen",
                "personal",
                "government",
                "state",
            ]
            .contains(&before)
        || is_number
            && ([
                "passport",
                "ssn",
                "sin",
                "insurance",
                "license",
                "licence",
                "aadhaar",
                "identity",
            ]
            .contains(&before)
                || before == "security" && second == "social"
                || before == "id" && second != "session" && second != "order"
                || [
                    "паспорта",
                    "удостоверения",
                    "d'identité",
                    "identidad",
                    "identité",
                ]
                .contains(&before))
}

/// A number of an account at a bank.
fn is_account(plain: &str, before: &str, second: &str) -> bool {
    ["iban", "kontonummer", "ibans"].contains(&plain)
        || NUMBERS.contains(&plain)
            && (["routing", "bank"].contains(&before)
                || before == "account"
                    && ["bank", "checking", "savings", "giro", "current"].contains(&second))
        || plain == "account" && ["bank", "checking", "savings"].contains(&before)
}

/// `passwrod`: a name of a password with a letter too many, too few, wrong, or two in the wrong order.
fn is_misspelt(plain: &str) -> bool {
    let length = plain.chars().count();
    if !(5..=14).contains(&length) || REAL_WORDS.contains(&plain) {
        return false;
    }
    FUZZY.iter().any(|label| {
        let of_label = label.chars().count();
        let max = if of_label >= 8 { 2 } else { 1 };
        length.abs_diff(of_label) <= max
            && plain.chars().next() == label.chars().next()
            && distance(plain, label) <= max
    })
}

/// Letters that are added, left out or changed, and neighbours that are swapped, from one word to the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let change = usize::from(one[i - 1] != other[j - 1]);
            let mut least = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

fn value(text: &str, word: &Range<usize>, label: Label) -> Option<Range<usize>> {
    // `<password>…</password>`
    if text[..word.start].ends_with('<') && text[word.end..].starts_with('>') {
        let start = word.end + 1;
        let end = start + text[start..].find(['<', '\n'])?;
        return Some(start..end).filter(|it| it.len() >= 3 && !phrase::is_code(&text[it.clone()]));
    }
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
        Label::Cookie => key(text, joint, start).and_then(|value| {
            // `Cookie: sid=…`
            let name = text[value.clone()].find('=').map_or(0, |at| at + 1);
            (name < value.len()).then(|| value.start + name..value.end)
        }),
        Label::Key | Label::Token => key(text, joint, start),
        Label::SomeKey => None,
        Label::OneTime => joint.is_said().then(|| one_time(text, start)).flatten(),
        Label::Id => (joint != Joint::Far)
            .then(|| ids::value(text, start))
            .flatten(),
        Label::Card => numbers::card_number(text, start),
        Label::Account => numbers::account_number(text, start),
        Label::Phrase => password(text, joint, start, Kind::Phrase)
            // `mnemonic for planets: my very eager …`
            .filter(|value| {
                !text[word.clone()].to_lowercase().ends_with("mnemonic")
                    || !nearby::talks(&text[value.clone()])
            }),
        Label::Pass => match joint {
            Joint::Sign | Joint::Tight => password(text, joint, start, Kind::Password),
            Joint::Is => strange(text, start).or_else(|| {
                let from = text.ceil_char_boundary(word.start.saturating_sub(60));
                let names_user = text[from..word.start]
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|it| {
                        USERS.contains(&plain(it).as_str())
                            || WIFI.contains(&plain(it).as_str())
                            || it == "root"
                    });
                names_user
                    .then(|| password(text, joint, start, Kind::Password))
                    .flatten()
            }),
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
pub(super) fn strange(text: &str, start: usize) -> Option<Range<usize>> {
    let value = phrase::word(text, start);
    (phrase::is_strange(&text[value.clone()]) && !phrase::is_code(&text[value.clone()]))
        .then_some(value)
}

/// Digits, or a short group of letters and digits.
pub(super) fn one_time(text: &str, start: usize) -> Option<Range<usize>> {
    phrase::digits(text, start, 4..=10).or_else(|| strange(text, start))
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
    let between = text.get(word.end..start).unwrap_or_default();
    let opens = opens(between);
    if !is_placed(text, word) && (joint == Joint::Nothing || !opens) {
        // `Uber code: 7731`
        return matches!(joint, Joint::Sign | Joint::Is)
            .then(|| nearby::number(text, start))
            .flatten()
            .filter(|it| it.len() <= 8 && !is_other_code(text, word));
    }
    let digits = phrase::digits(text, start, 3..=12);
    match joint {
        Joint::Far if !opens => None,
        Joint::Nothing => digits.filter(|digits| digits.len() > 3),
        _ => digits.or_else(|| strange(text, start)),
    }
}

/// Whether an `error code` or a `zip code` is named.
fn is_other_code(text: &str, word: &Range<usize>) -> bool {
    let from = text.ceil_char_boundary(word.start.saturating_sub(40));
    let before = text[from..word.start]
        .split_whitespace()
        .next_back()
        .unwrap_or_default();
    NOT_CODES.contains(&before.to_lowercase().as_str())
}

/// Whether a place that is locked is named.
fn opens(said: &str) -> bool {
    said.split_whitespace().any(|word| {
        let word = plain(word.trim_matches(|c: char| !c.is_alphanumeric()));
        WAYS_IN.contains(&word.as_str())
    })
}

/// Whether the word before a `code` says what it opens.
pub(super) fn is_placed(text: &str, word: &Range<usize>) -> bool {
    let from = text.ceil_char_boundary(word.start.saturating_sub(40));
    let before = text[from..word.start]
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    let before = before.split_whitespace().next_back().unwrap_or_default();
    let name = plain(&text[word.clone()]);
    PLACED_CODES.iter().any(|end| name.ends_with(end))
        || BEFORE_CODE.contains(&plain(before).as_str())
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
    let from = text.ceil_char_boundary(word.start.saturating_sub(200));
    let line = text[from..word.start]
        .rfind('\n')
        .map_or(from, |at| from + at + 1);
    let mut verb = None;
    for token in text[line..word.start].split_whitespace().rev().take(5) {
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

/// Names in scripts without blanks that a number or a strange word follows before the sentence ends.
fn unspaced_near(text: &str, end: usize, class: Class) -> Option<Range<usize>> {
    const NEAR: usize = 20;
    let rest = text[end..].char_indices();
    for (at, c) in rest.take(NEAR).map(|(at, c)| (end + at, c)) {
        if "。！\n；".contains(c) {
            return None;
        }
        if c.is_ascii_alphanumeric()
            && !text[..at].ends_with(|c: char| c.is_ascii_graphic() && !"#*:\"'".contains(c))
        {
            let length = text[at..]
                .find(|c: char| !c.is_ascii_graphic() || c == ',')
                .unwrap_or(text.len() - at);
            let word = text[at..at + length].trim_end_matches(['.', ',', ';', ')', '"', '\'']);
            let is_number =
                word.bytes().all(|b| b.is_ascii_digit()) && (4..=19).contains(&word.len());
            let counts = match class {
                Class::Password | Class::ApiKey | Class::Token => {
                    is_number || phrase::is_strange(word) && !nearby::is_name_with_number(word)
                }
                _ => is_number,
            };
            if counts
                && !text[at + length..]
                    .starts_with(['元', '个', '位', '天', '年', '月', '号', '次', '分'])
            {
                return Some(at..at + word.len());
            }
        }
    }
    None
}

/// Names in scripts that have no blanks: `密码是…`, `密码？是…`.
fn unspaced(text: &str) -> Vec<Found> {
    let names = UNSPACED.iter().flat_map(|(name, class)| {
        text.match_indices(name)
            .map(|(at, name)| (at + name.len(), *class))
    });
    let values = names.filter_map(|(end, class)| {
        let place = unspaced_value(text, end).or_else(|| unspaced_near(text, end, class))?;
        Some(Found { place, class })
    });
    values.collect()
}

fn unspaced_value(text: &str, end: usize) -> Option<Range<usize>> {
    let quotes = [' ', '"', '\'', '`', '“', '「', '”', '」'];
    let rest = text[end..].trim_start_matches(quotes);
    let after = UNSPACED_JOINTS
        .iter()
        .find_map(|joint| rest.strip_prefix(joint));
    // The answer to `密码？`.
    let answer = || {
        let clause = rest
            .char_indices()
            .take(8)
            .find(|(_, c)| "？?，,。！\n".contains(*c));
        let next = rest[clause.map_or(0, |(at, _)| at)..]
            .trim_start_matches(['？', '?', '，', ',', '。', '！', '\n', ' ']);
        let lead = UNSPACED_JOINTS
            .iter()
            .find_map(|joint| next.strip_prefix(joint));
        (next.len() < rest.len()).then_some(lead)?
    };
    let after = after.or_else(answer);
    let bare = after.unwrap_or(rest);
    let bare = bare
        .trim_start_matches(['：', ':'])
        .trim_start_matches(quotes);
    let start = text.len() - bare.len();
    let is_end = |c: char| "，。！？；、\n\"'`”」".contains(c);
    let clause = &bare[..bare.find(is_end).unwrap_or(bare.len())];
    let ascii = clause
        .find(|c: char| !c.is_ascii_graphic())
        .unwrap_or(clause.len());
    let ascii = clause[..ascii].trim_end_matches(['.', ',', ';', ')']);
    if ascii.len() >= 3 && (after.is_some() || phrase::is_strange(ascii)) {
        if let Some(digits) = phrase::digits(text, start, 4..=19) {
            return Some(digits);
        }
        let is_said = phrase::is_talk(ascii, Kind::Password) || phrase::is_code(ascii);
        return (!is_said).then(|| start..start + ascii.len());
    }
    let is_talk = UNSPACED_TALK.iter().any(|talk| clause.starts_with(talk));
    let clause = clause.trim_end();
    let is_said = after.is_some()
        && (ascii.is_empty() || ascii.len() < clause.len())
        && (2..=24).contains(&clause.chars().count())
        && !is_talk;
    is_said.then(|| start..start + clause.len())
}
