//! Secrets that are numbers with a checksum: cards of banks and accounts.

use std::ops::Range;

use super::{Class, Found};

/// Groups of digits of a card.
const GROUPS_MAX: usize = 5;

/// Lengths of account numbers, by country.
const ACCOUNTS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BR", 29),
    ("CH", 21),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DK", 18),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GR", 27),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IS", 26),
    ("IT", 27),
    ("KZ", 20),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("MC", 27),
    ("MD", 24),
    ("MT", 31),
    ("NL", 18),
    ("NO", 15),
    ("PL", 28),
    ("PT", 25),
    ("RO", 24),
    ("RS", 22),
    ("SA", 24),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("TR", 26),
];

pub(super) fn found(text: &str) -> Vec<Found> {
    let with = |class| move |place| Found { place, class };
    let cards = cards(text).into_iter().map(with(Class::Card));
    let accounts = accounts(text).into_iter().map(with(Class::Account));
    cards.chain(accounts).collect()
}

/// Numbers of cards, in one piece or in groups.
pub(super) fn cards(text: &str) -> Vec<Range<usize>> {
    let mut cards = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..]
        .find(|c: char| c.is_ascii_digit())
        .map(|at| from + at)
    {
        let run = numbers(text, start);
        from = run.end;
        let starts = !text[..start].ends_with(|c: char| c.is_alphanumeric() || "-_./+".contains(c));
        let ends = !text[run.end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if starts && ends {
            // The date of expiry may stand right behind it.
            let whole = &text[run.clone()];
            let is_number =
                |end: &usize| is_card(&whole[..*end]) || is_written_as_card(&whole[..*end]);
            let end = ends_of_groups(whole).into_iter().rfind(is_number);
            cards.extend(end.map(|end| run.start..run.start + end));
        }
    }
    cards
}

/// Where a card may end in digits with joints between them: behind its groups, of which no card has many.
fn ends_of_groups(digits: &str) -> Vec<usize> {
    let joints = digits.match_indices([' ', '-']).map(|(at, _)| at);
    joints.chain([digits.len()]).take(GROUPS_MAX).collect()
}

/// Digits, with single blanks or dashes between them.
fn numbers(text: &str, start: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let mut end = start;
    while end < bytes.len() {
        let is_joint =
            matches!(bytes[end], b' ' | b'-') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !bytes[end].is_ascii_digit() && !is_joint {
            break;
        }
        end += 1;
    }
    start..end
}

fn is_card(number: &str) -> bool {
    let groups: Vec<usize> = number.split([' ', '-']).map(str::len).collect();
    let digits: Vec<u32> = number.chars().filter_map(|c| c.to_digit(10)).collect();
    let is_grouped = groups.len() == 1
        || groups[0] == 4
            && groups.iter().all(|length| (1..=6).contains(length))
            && groups.len() <= GROUPS_MAX;
    let is_long = match digits.first() {
        Some(4) => (13..=19).contains(&digits.len()),
        Some(2 | 3 | 5 | 6 | 8 | 9) => (14..=19).contains(&digits.len()),
        _ => false,
    };
    is_grouped && is_long && digits.iter().any(|digit| *digit != digits[0]) && is_checked(&digits)
}

/// Four groups of four digits, as on the card.
fn is_written_as_card(number: &str) -> bool {
    let mut groups = number.split([' ', '-']);
    number.starts_with(['3', '4', '5', '6'])
        && number.split([' ', '-']).count() == 4
        && groups.all(|group| group.len() == 4)
}

/// Every second digit from the end is doubled; the sum is a multiple of ten.
fn is_checked(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, twice) if twice > 9 => twice - 9,
            (_, twice) => twice,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Numbers of accounts, in one piece or in groups.
fn accounts(text: &str) -> Vec<Range<usize>> {
    let mut accounts = Vec::new();
    let bytes = text.as_bytes();
    let is_country = |at: usize| bytes[at..at + 2].iter().all(u8::is_ascii_alphabetic);
    let is_check = |at: usize| bytes[at + 2..at + 4].iter().all(u8::is_ascii_digit);
    for start in 0..bytes.len().saturating_sub(3) {
        if !is_country(start) || !is_check(start) {
            continue;
        }
        if text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        accounts.extend(account(text, start));
    }
    accounts
}

fn account(text: &str, start: usize) -> Option<Range<usize>> {
    let country = text.get(start..start + 2)?.to_ascii_uppercase();
    let (_, length) = ACCOUNTS.iter().find(|(name, _)| *name == country)?;
    let mut taken = String::new();
    let mut end = start;
    for (at, c) in text[start..].char_indices() {
        match c {
            _ if taken.len() == *length => break,
            c if c.is_ascii_alphanumeric() => taken.push(c.to_ascii_uppercase()),
            ' ' | '-' if !taken.is_empty() && !text[..start + at].ends_with([' ', '-']) => continue,
            _ => return None,
        }
        end = start + at + 1;
    }
    let is_whole = taken.len() == *length && !text[end..].starts_with(char::is_alphanumeric);
    (is_whole && remainder(&taken) == 1).then_some(start..end)
}

/// Of the number with its first four signs at its end, letters counted from ten, divided by 97.
fn remainder(account: &str) -> u32 {
    let turned = account[4..].chars().chain(account[..4].chars());
    turned
        .filter_map(|c| c.to_digit(36))
        .fold(0, |rest, value| {
            let shift = if value > 9 { 100 } else { 10 };
            (rest * shift + value) % 97
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_groups_of_digits_a_bounded_number_is_looked_at() {
        let digits = "1234 ".repeat(200_000);
        assert_eq!(ends_of_groups(digits.trim()), [4, 9, 14, 19, 24]);
        assert!(cards(&digits).is_empty());
        let card = format!("4111 1111 1111 1111 {digits}");
        assert_eq!(cards(&card).first(), Some(&(0..19)));
    }
}
