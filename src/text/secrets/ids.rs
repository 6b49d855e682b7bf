//! Numbers that a state gives to a person. Unit: one number. Without a name only those with a form of their own or a
//! checksum count: other rows of digits are orders, phones and amounts.

use std::ops::Range;

use super::{Class, Found};

/// Groups of digits and capitals with blanks between them.
fn spaced(text: &str) -> Vec<Found> {
    const FORMS: [&str; 7] = [
        "999999-999999-999999-999999-999999-999999-999999-999999",
        "AA 99 99 99 A",
        "9 99 99 99 999 999",
        "9 99 99 99 999 999 99",
        "9 99 99 9A 999 999 99",
        "999-999-999 99",
        "999 99 9999",
    ];
    let form = form(text);
    let found = FORMS.iter().flat_map(|wanted| {
        form.match_indices(wanted).filter_map(|(at, _)| {
            let end = at + wanted.len();
            // Other characters may be longer than their signs.
            let number = text
                .get(at..end)
                .filter(|number| self::form(number) == *wanted)?;
            let starts = !text[..at].ends_with(|c: char| c.is_alphanumeric() || "-+.,".contains(c))
                && !ends_in_group(&text[..at]);
            let ends = !text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '-')
                && !begins_with_group(&text[end..]);
            let is_french = !wanted.starts_with("9 ") || number.starts_with(['1', '2']);
            (starts && ends && is_french).then_some(Found {
                place: at..end,
                class: Class::NationalId,
            })
        })
    });
    found.collect()
}

fn ends_in_group(before: &str) -> bool {
    before.ends_with(' ') && before.trim_end().ends_with(|c: char| c.is_ascii_digit())
}

fn begins_with_group(behind: &str) -> bool {
    behind.starts_with(' ')
        && behind
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit())
}

/// Ids that are known by their looks.
pub(super) fn found(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return found;
    }
    for place in tokens(text) {
        let token = &text[place.clone()];
        let starts = !text[..place.start].ends_with(|c: char| "-_/.#=@".contains(c));
        let ends = !text[place.end..].starts_with(|c: char| "-_/@".contains(c));
        if starts
            && ends
            && (is_us(token)
                || is_chinese(token)
                || is_italian(token)
                || is_mexican(token)
                || is_brazilian(token)
                || is_russian(token))
        {
            found.push(Found {
                place,
                class: Class::NationalId,
            });
        }
    }
    found.extend(spaced(text));
    found
}

/// Stretches of letters, digits, dashes and dots, without the dots at their end.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut from = None;
    let mut push = |from: usize, end: usize| {
        let token = &text[from..end];
        let trimmed = token.trim_end_matches(['.', '-']);
        if trimmed.len() >= 11 {
            tokens.push(from..from + trimmed.len());
        }
    };
    for (at, c) in text.char_indices() {
        match (c.is_ascii_alphanumeric() || c == '-' || c == '.', from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                push(start, at);
                from = None;
            }
            _ => {}
        }
    }
    if let Some(from) = from {
        push(from, text.len());
    }
    tokens
}

/// The form of a token: `9` for digits, `A` for capitals, `a` for small letters.
fn form(token: &str) -> String {
    let kind = |c: char| match c {
        '0'..='9' => '9',
        'A'..='Z' => 'A',
        'a'..='z' => 'a',
        other => other,
    };
    if token.is_ascii() {
        return token.chars().map(kind).collect();
    }
    // As many bytes as the token.
    let signs = token.bytes().map(|b| {
        if b.is_ascii() {
            kind(char::from(b))
        } else {
            '?'
        }
    });
    signs.collect()
}

/// `219-09-9999`.
fn is_us(token: &str) -> bool {
    token.len() == 11
        && form(token) == "999-99-9999"
        && !["000", "666"].contains(&&token[..3])
        && !token.starts_with('9')
        && &token[4..6] != "00"
        && &token[7..] != "0000"
}

/// Eighteen signs, of which the last checks the others.
fn is_chinese(token: &str) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    if token.len() != 18 || !token.as_bytes()[..17].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let digits = token.chars().filter_map(|c| c.to_digit(10));
    let sum: u32 = digits
        .zip(WEIGHTS)
        .map(|(digit, weight)| digit * weight)
        .sum();
    let year = &token[6..10];
    let last = token.as_bytes()[17].to_ascii_uppercase();
    ("1900".."2030").contains(&year) && b"10X98765432"[(sum % 11) as usize] == last
}

/// `RSSMRA85T10A562S`.
fn is_italian(token: &str) -> bool {
    token.len() == 16 && form(token) == "AAAAAA99A99A999A"
}

/// `GODE561231HDFRRN09`.
fn is_mexican(token: &str) -> bool {
    token.len() == 18 && form(token).starts_with("AAAA999999AAAAAA")
}

/// `529.982.247-25`.
fn is_brazilian(token: &str) -> bool {
    token.len() == 14 && form(token) == "999.999.999-99"
}

/// `112-233-445 95`, without what stands behind the blank; with a dash there as well.
fn is_russian(token: &str) -> bool {
    token.len() == 14 && form(token) == "999-999-999-99"
}
