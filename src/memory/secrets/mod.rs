//! Secrets in what is said: keys, tokens, passwords. Unit: a text, masked before it is kept for long (Q10).
//!
//! Invariant: what is masked once is not changed by masking it again; everything but the secret stays as it was.
//! Linear in the length of the text. A guess: it errs on the side of masking, but leaves hashes, ids, paths and
//! words alone.

mod commands;
mod joint;
mod labelled;
mod numbers;
mod phrase;
mod shapes;
#[rustfmt::skip] // lists, not one word a line
mod words;

use std::borrow::Cow;
use std::ops::Range;

/// Stands where a secret was.
pub const MASK: &str = "[secret]";
/// Bytes of a word that is left out whole; longer ones are scripts without blanks.
const LONGEST_WORD: usize = 1_000;
/// Times a masked text is looked at again.
const ROUNDS: usize = 8;

/// The text with each secret replaced by [`MASK`].
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut places = places(text);
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = replaced(text, places);
    // What stands before a mask is another sentence without what stood there.
    for _ in 0..ROUNDS {
        places = self::places(&masked);
        if places.is_empty() {
            break;
        }
        masked = replaced(&masked, places);
    }
    Cow::Owned(masked)
}

fn replaced(text: &str, places: Vec<Range<usize>>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        masked.push_str(&text[from..place.start]);
        masked.push_str(MASK);
        from = place.end;
    }
    masked.push_str(&text[from..]);
    masked
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
    places.extend(commands::passwords(text));
    places.extend(labelled::values(text));
    places.extend(numbers::cards(text));
    places.extend(numbers::accounts(text));
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
mod tests;
