//! Secrets in what is said: keys, tokens, passwords. Unit: a text, masked before it is kept for long (Q10).
//!
//! Invariant: what is masked once is not changed by masking it again; everything but the secret stays as it was.
//! Linear in the length of the text. A guess: it errs on the side of masking, but leaves hashes, ids, paths and
//! words alone.

mod labelled;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;

/// Stands where a secret was.
pub const MASK: &str = "[secret]";
/// Bytes of a word that is left out whole; longer ones are scripts without blanks.
const LONGEST_WORD: usize = 1_000;

/// The text with each secret replaced by [`MASK`].
pub fn masked(text: &str) -> Cow<'_, str> {
    let places = places(text);
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        masked.push_str(&text[from..place.start]);
        masked.push_str(MASK);
        from = place.end;
    }
    masked.push_str(&text[from..]);
    Cow::Owned(masked)
}

/// The beginning of a text, masked: for whoever keeps no more than so many characters of it.
pub fn masked_beginning(text: &str, most: usize) -> Cow<'_, str> {
    masked(beginning(text, most))
}

/// At most so many characters. The word that the cut goes through is left out, since half a secret is not known as one.
pub(in crate::memory) fn beginning(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let words = text[..end].rfind(char::is_whitespace);
    let words = words.filter(|words| end - words <= LONGEST_WORD);
    &text[..words.unwrap_or(end)]
}

/// Whether [`masked`] would change it.
pub fn holds_secret(text: &str) -> bool {
    !places(text).is_empty()
}

/// Where secrets stand, in order, none over another. What stands between two masks is looked at by itself, so that a mask
/// is neither a name nor a value.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut at = 0;
    for part in text.split(MASK) {
        let of_part = places_between(part).into_iter();
        places.extend(of_part.map(|place| at + place.start..at + place.end));
        at += part.len() + MASK.len();
    }
    places
}

fn places_between(text: &str) -> Vec<Range<usize>> {
    let mut places = shapes::keys(text);
    places.extend(shapes::private_keys(text));
    places.extend(shapes::logins(text));
    places.extend(labelled::values(text));
    places.retain(|place| !place.is_empty());
    places.sort_by_key(|place| (place.start, place.end));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(places.len());
    for place in places {
        match apart.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => apart.push(place),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_tokens_and_passwords_are_masked_and_the_sentence_stays() {
        for (text, expected) in [
            (
                "my key is sk-proj-abc123DEF456ghi789, ok",
                "my key is [secret], ok",
            ),
            ("sk-abcdefghijklmnopqrstuvwx", "[secret]"),
            ("ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x", "[secret]"),
            (
                "use github_pat_11ABCDEFG0abcdefghij_klmnop for it",
                "use [secret] for it",
            ),
            ("AKIAIOSFODNN7EXAMPLE.", "[secret]."),
            ("xoxb-1234567890-abcdefghij", "[secret]"),
            ("glpat-x1y2z3x1y2z3x1y2z3", "[secret]"),
            ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[secret]"),
            (
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
                "[secret]",
            ),
            (
                "Authorization: Bearer abcdefghijklmnop1234",
                "Authorization: Bearer [secret]",
            ),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[secret]\nb",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIEcut", "[secret]"),
            ("my password is hunter2.", "my password is [secret]."),
            ("my password is swordfish", "my password is [secret]"),
            ("Password: correct-horse", "Password: [secret]"),
            (
                "passphrase is \"correct horse battery\" now",
                "passphrase is \"[secret]\" now",
            ),
            ("DB_PASSWORD=s3cr3t!x", "DB_PASSWORD=[secret]"),
            (
                "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
                "aws_secret_access_key = [secret]",
            ),
            ("the api key is 12ab34cd", "the api key is [secret]"),
            (
                "my password for the staging box is Tr0ub4dor",
                "my password for the staging box is [secret]",
            ),
            ("the PIN is 4821", "the PIN is [secret]"),
            ("parolim: qwerty12", "parolim: [secret]"),
            ("parolim qwerty12", "parolim [secret]"),
            ("пароль: вода12", "пароль: [secret]"),
            (
                "postgres://ana:pa55@db.local/x",
                "postgres://[secret]@db.local/x",
            ),
            (
                "https://x.io/cb?token=abcd1234&next=1",
                "https://x.io/cb?token=[secret]&next=1",
            ),
            ("it is q7Rk2ZpX9vLm4TbN8wYc3HsD here", "it is [secret] here"),
            ("kQ3/zT9bX+4mVa7RnL2wYp8JcS5dHf1GuE6oKiB0", "[secret]"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
            assert!(holds_secret(text), "{text}");
        }
    }

    #[test]
    fn hashes_ids_paths_and_words_survive() {
        for text in [
            "commit 63d3a69e2b1c4f5a8d7e9b0c1a2d3e4f5a6b7c8d",
            "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "550e8400-e29b-41d4-a716-446655440000",
            "src/memory/tracking/readers/conversation/facts.rs",
            "/home/ana/Projects/2025/Reports/Final_Version_3/Budget.xlsx",
            "Donaudampfschifffahrtsgesellschaftskapitän",
            "pneumonoultramicroscopicsilicovolcanoconiosis",
            "getUserByIdFromDatabaseWithRetryAsync2",
            "COGTRIX_WORKSPACE_ROOT_FOLDER_2025",
            "https://docs.rs/regex/latest/regex/struct.RegexBuilder.html#method.size_limit",
            "the password is wrong",
            "the password is not hashed",
            "password is required",
            "is the token expired",
            "the token is passed in a header",
            "the secret is patience",
            "I forgot my password yesterday",
            "the password field on this page is broken",
            "the key is to listen",
            "sk-learn is fine, and so is scikit-learn",
            "a pin is a small thing",
            "bearer of good news",
            "ssh://git@github.com/a/b",
            "call +998 90 123 45 67",
            "tokens: 1500",
            "parolim noto'g'ri",
            "my-very-long-branch-name-with-2-numbers-in-2025",
            "",
        ] {
            assert_eq!(masked(text), text);
            assert!(!holds_secret(text), "{text}");
        }
    }

    #[test]
    fn a_secret_that_the_cut_goes_through_is_not_shown_by_half() {
        let text = format!("{} sk-proj-abc123DEF456ghi789", "word ".repeat(20));
        for most in 90..text.len() {
            let beginning = masked_beginning(&text, most);
            assert!(!beginning.contains("sk-"), "{most}: {beginning}");
            assert!(beginning.chars().count() <= most && beginning.len() > 80);
        }
        assert!(masked_beginning(&text, text.len()).ends_with(MASK));
        assert_eq!(masked_beginning("字字字字", 3), "字字字");
    }

    proptest! {
        #[test]
        fn masking_twice_is_masking_once(text in "\\PC{0,60}|((password|token|sk-|is|:|=|\"|[a-zA-Z0-9/+]{4,30}) ?){0,12}") {
            let once = masked(&text).into_owned();
            prop_assert_eq!(masked(&once), once.as_str());
        }
    }
}
