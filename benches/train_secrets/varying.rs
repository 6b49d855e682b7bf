//! The same message with another value, another spelling of a name, other numbers: so that the model learns the
//! wording.

use crate::learning::Random;

/// What people write for `password`.
const NAMES: &[&str] = &[
    "pw", "pwd", "pass", "passwd", "passcode", "pword", "passwrd", "pasword", "passwort",
    "Passwort", "password", "PASSWORD", "Password",
];
const LONG_NAMES: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "passcode",
    "kennwort",
    "contraseña",
    "пароль",
    "recovery",
    "security",
];
const SIGNS: &[u8] = b"!#$%&*@?^+=";

/// Another value of the same kind.
pub(crate) fn value(old: &str, words: &[String], random: &mut Random) -> String {
    let has_digit = old.contains(|c: char| c.is_ascii_digit());
    let has_letter = old.contains(char::is_alphabetic);
    let is_plain = old.chars().all(|c| c.is_alphabetic() || c == ' ');
    if !has_letter {
        return digits(old, random);
    }
    if is_plain && old.is_ascii() {
        return match random.below(10) {
            0..=6 => {
                let words = old
                    .split(' ')
                    .map(|it| like(it, &words[random.below(words.len())]));
                words.collect::<Vec<_>>().join(" ")
            }
            7 if !old.contains(' ') => made(words, random),
            _ => old.to_owned(),
        };
    }
    match random.below(10) {
        0..=3 => scrambled(old, random),
        4..=5 if has_digit && old.len() < 24 && !old.contains(' ') => made(words, random),
        6..=7 => with_words(old, words, random),
        8 if old.len() < 24 && !old.contains(' ') => random.one(words).clone(),
        _ => old.to_owned(),
    }
}

/// Other digits for those of a text.
pub(crate) fn digits(old: &str, random: &mut Random) -> String {
    let other = |c: char| {
        if c.is_ascii_digit() {
            char::from(b'0' + random.below(10) as u8)
        } else {
            c
        }
    };
    old.chars().map(other).collect()
}

/// Each character another one of its kind.
fn scrambled(old: &str, random: &mut Random) -> String {
    let is_hex = old.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let other = |c: char| match c {
        '0'..='9' => char::from(b'0' + random.below(10) as u8),
        'a'..='z' => char::from(b'a' + random.below(if is_hex { 6 } else { 26 }) as u8),
        'A'..='Z' => char::from(b'A' + random.below(if is_hex { 6 } else { 26 }) as u8),
        c if SIGNS.contains(&(c as u32).min(255).try_into().unwrap_or(0)) => {
            char::from(*random.one(SIGNS))
        }
        c => c,
    };
    old.chars().map(other).collect()
}

/// Other words for the longer rows of letters.
fn with_words(old: &str, words: &[String], random: &mut Random) -> String {
    let mut new = String::new();
    let mut row = String::new();
    let mut end = |row: &mut String, new: &mut String| {
        if row.len() >= 4 && row.is_ascii() {
            new.push_str(&like(row, &words[random.below(words.len())]));
        } else {
            new.push_str(row);
        }
        row.clear();
    };
    for c in old.chars() {
        if c.is_alphabetic() {
            row.push(c);
        } else {
            end(&mut row, &mut new);
            new.push(c);
        }
    }
    end(&mut row, &mut new);
    digits(&new, random)
}

/// As people make passwords of words.
pub(crate) fn made(words: &[String], random: &mut Random) -> String {
    let (one, other) = (random.one(words).clone(), random.one(words).clone());
    let end = *random.one(&[10, 100, 1000, 3000]);
    let number = random.below(end);
    let sign = char::from(*random.one(SIGNS));
    match random.below(8) {
        0 => format!("{one}{number}"),
        1 => format!("{}{number}{sign}", capital(&one)),
        2 => format!("{}{sign}{number}", capital(&one)),
        3 => format!("{one}-{other}-{number}"),
        4 => format!("{}{}{number}", capital(&one), capital(&other)),
        5 => format!("{one}{other}"),
        6 => format!("{}_{number}", capital(&one)),
        _ => one.replace('o', "0").replace('e', "3").replace('a', "4") + &number.to_string(),
    }
}

fn like(old: &str, word: &str) -> String {
    let mut chars = old.chars();
    let first = chars.next().is_some_and(char::is_uppercase);
    match (first, chars.next().is_some_and(char::is_uppercase)) {
        (true, true) => word.to_uppercase(),
        (true, false) => capital(word),
        _ => word.to_owned(),
    }
}

/// The text with a name spelt in another way, in small letters, or without its last stop.
pub(crate) fn wording(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    if random.chance(25) {
        for name in LONG_NAMES {
            if let Some(at) = text.find(name) {
                let new = if *name == "password" && random.chance(60) {
                    (*random.one(NAMES)).to_owned()
                } else {
                    misspelt(name, random)
                };
                let is_word = !text[at + name.len()..].starts_with(char::is_alphanumeric)
                    && !text[..at].ends_with(char::is_alphanumeric);
                if is_word {
                    text.replace_range(at..at + name.len(), &new);
                }
            }
        }
    }
    text
}

fn misspelt(word: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = word.chars().collect();
    let at = 1 + random.below(chars.len() - 2);
    match random.below(3) {
        0 => chars.swap(at, at + 1),
        1 => drop(chars.remove(at)),
        _ => chars.insert(at, chars[at]),
    }
    chars.into_iter().collect()
}

pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().unwrap_or(' ');
    first.to_uppercase().collect::<String>() + chars.as_str()
}
