//! Secrets in what is said: keys, tokens, passwords. Unit: a text, masked before it is kept for long (Q10).
//!
//! ```text
//!  shapes, numbers, ids, commands   rules: what has an exact form, wherever it stands
//!  tagger, tokens, labels           a small learned model: what language tells, in any wording
//!  json                             what of that is a name or an ordinary value in the output of tools
//! ```
//! Invariant: what is masked once is not changed by masking it again; everything but the secret stays as it was.
//! Linear in the length of the text. A guess: it errs on the side of masking, but leaves hashes, ids, paths and
//! words alone.

mod commands;
mod ids;
mod json;
mod known;
#[rustfmt::skip] // lists, not one word a line
mod labels;
mod numbers;
mod shapes;
mod tagger;
mod tokens;

use std::borrow::Cow;
use std::ops::Range;

pub use known::Known;
pub use tagger::Learned;
#[cfg(feature = "testing")]
pub use tagger::training;

use crate::declare::named;
use crate::text::ranges;

/// Stands where a secret was.
pub const MASK: &str = "[secret]";
/// Characters before a text that are read with it: the name of a secret may stand in the message before.
pub const CONTEXT: usize = 200;
/// Bytes of a word that is left out whole; longer ones are scripts without blanks.
const LONGEST_WORD: usize = 1_000;
/// Times a masked text is looked at again.
const ROUNDS: usize = 8;
/// Bytes read at once, and bytes before and behind them that are read with them: a bound on every search within.
const WINDOW: usize = 4_096;
const BEFORE: usize = 1_024;
const BEHIND: usize = 1_024;

named! {
    /// The kind of a secret, as a receipt names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Class {
        Password = "password",
        ApiKey = "key",
        Token = "token",
        Cookie = "cookie",
        OneTimeCode = "one-time code",
        Pin = "PIN",
        AccessCode = "access code",
        NationalId = "national id",
        Card = "card number",
        Account = "account number",
        PrivateKey = "private key",
        ConnectionString = "connection string",
        RecoveryPhrase = "recovery phrase",
        RecoveryCode = "recovery codes",
        Login = "login",
    }
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub place: Range<usize>,
    pub class: Class,
}

/// The text with each secret replaced by [`MASK`].
pub fn masked(text: &str) -> Cow<'_, str> {
    masked_after("", text)
}

/// The same for a text that stands behind another one.
pub fn masked_after<'t>(context: &str, text: &'t str) -> Cow<'t, str> {
    masked_by(&tagger::LEARNED, context, text)
}

/// The same with what else was learned.
pub fn masked_by<'t>(learned: &Learned<'_>, context: &str, text: &'t str) -> Cow<'t, str> {
    let mut found = found_by(learned, context, text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = replaced(text, &found);
    // What stands before a mask is another sentence without what stood there.
    for _ in 0..ROUNDS {
        found = found_by(learned, context, &masked);
        if found.is_empty() {
            break;
        }
        masked = replaced(&masked, &found);
    }
    Cow::Owned(masked)
}

/// Whether [`masked`] would change it.
pub fn holds_secret(text: &str) -> bool {
    !found("", text).is_empty()
}

/// The same by rules alone, for what nobody says in a sentence: the value of a variable.
pub fn has_form_of_secret(text: &str) -> bool {
    !shapes::private_keys(text).is_empty() || !exact(text).is_empty()
}

fn replaced(text: &str, found: &[Found]) -> String {
    ranges::replaced(text, found.iter().map(|it| it.place.clone()), MASK)
}

/// The beginning of a text, masked: for whoever keeps no more than so many characters of it.
pub fn masked_beginning(text: &str, max: usize) -> Cow<'_, str> {
    masked(beginning(text, max))
}

/// At most so many characters. The word that the cut goes through is left out, since half a secret is not known as one.
pub fn beginning(text: &str, max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(max) else {
        return text;
    };
    let words = text[..end].rfind(char::is_whitespace);
    let words = words.filter(|words| end - words <= LONGEST_WORD);
    &text[..words.unwrap_or(end)]
}

/// The last [`CONTEXT`] characters of a text.
pub fn context(text: &str) -> &str {
    let at = text.char_indices().rev().nth(CONTEXT - 1);
    &text[at.map_or(0, |(at, _)| at)..]
}

/// The secrets in a text that stands behind another one, in order, none over another.
pub fn found(before: &str, text: &str) -> Vec<Found> {
    found_by(&tagger::LEARNED, before, text)
}

fn found_by(learned: &Learned<'_>, before: &str, text: &str) -> Vec<Found> {
    let before = context(before);
    let (joined, offset) = if before.trim().is_empty() {
        (Cow::Borrowed(text), 0)
    } else {
        // A sentence of its own, whatever it ends with.
        (Cow::Owned(format!("{before}\n{text}")), before.len() + 1)
    };
    let mut all = shapes::private_keys(&joined);
    let mut start = offset;
    while start < joined.len() {
        let end = joined.floor_char_boundary((start + WINDOW).min(joined.len()));
        let from = joined.floor_char_boundary(start.saturating_sub(BEFORE));
        let upto = joined.floor_char_boundary((end + BEHIND).min(joined.len()));
        let found = in_window(learned, &joined[from..upto])
            .into_iter()
            .map(|mut it| {
                it.place = it.place.start + from..it.place.end + from;
                it
            });
        // What begins in the next window is found there.
        all.extend(found.filter(|it| it.place.end > start && it.place.start < end));
        start = end;
    }
    for it in &mut all {
        it.place.start = it.place.start.max(offset);
    }
    all.retain(|it| it.place.start < it.place.end);
    let mut apart = apart(all);
    for it in &mut apart {
        it.place = it.place.start - offset..it.place.end - offset;
    }
    apart
}

/// In order; those that overlap or touch as one.
fn apart(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|it| (it.place.start, it.place.end));
    let mut apart: Vec<Found> = Vec::with_capacity(found.len());
    for it in found {
        match apart.last_mut() {
            Some(last) if it.place.start < last.place.end => {
                // The longer one tells what it is.
                if it.place.len() > last.place.len() {
                    last.class = it.class;
                }
                last.place.end = last.place.end.max(it.place.end);
            }
            _ => apart.push(it),
        }
    }
    apart
}

fn in_window(learned: &Learned<'_>, text: &str) -> Vec<Found> {
    let mut found = exact(text);
    found.extend(half_masked(text));
    // A rule knows which part of a word is the secret.
    let is_exact = |it: &Found| found.iter().any(|exact| overlap(&exact.place, &it.place));
    let told = tagger::found(text, learned).into_iter();
    let told: Vec<Found> = told
        .filter(|it| text[it.place.clone()].contains(char::is_whitespace) || !is_exact(it))
        .filter(|it| !json::is_harmless(text, &it.place))
        .filter(|it| it.class == Class::Password || !is_plain_name(&text[it.place.clone()]))
        .filter(|it| !text[it.place.clone()].split_whitespace().all(is_public))
        .collect();
    found.extend(told);
    if found.is_empty() {
        return found;
    }
    // A mask is neither a name nor a value.
    let masks: Vec<Range<usize>> = text
        .match_indices(MASK)
        .map(|(at, _)| at..at + MASK.len())
        .collect();
    found.retain(|it| !it.place.is_empty() && !masks.iter().any(|mask| overlap(mask, &it.place)));
    found
}

/// Returns the secrets that are known by their form.
fn exact(text: &str) -> Vec<Found> {
    let mut found = shapes::found(text);
    found.extend(commands::passwords(text));
    found.extend(numbers::found(text));
    found.extend(ids::found(text));
    found
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Endings of files that people speak of.
const ENDINGS: [&str; 31] = [
    "c", "cfg", "conf", "cpp", "css", "csv", "docx", "go", "h", "html", "ini", "java", "js",
    "json", "lock", "log", "md", "pdf", "php", "png", "py", "rb", "rs", "sh", "sql", "toml", "ts",
    "txt", "xml", "yaml", "yml",
];

/// Returns whether a value names a file (`Cargo.lock`), or a language or a layout of keys (`de-CH`, `US-intl`).
fn is_plain_name(value: &str) -> bool {
    let are = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(is);
    let is_part = |part: &str| are(part, |b| b.is_ascii_alphabetic() || b"-_".contains(b));
    if let Some((stem, ending)) = value.rsplit_once('.') {
        return ENDINGS.contains(&ending) && stem.split('.').all(is_part);
    }
    let Some((language, variant)) = value.split_once('-').filter(|(it, _)| it.len() == 2) else {
        return false;
    };
    let [upper, lower] = [u8::is_ascii_uppercase, u8::is_ascii_lowercase];
    are(language, lower) && variant.len() == 2 && are(variant, upper)
        || are(language, upper) && (2..=6).contains(&variant.len()) && are(variant, lower)
}

/// Returns whether a value is by its form an address of memory or an error (`0x80070643`), a digest that says which it is
/// (`sha256-…`) or the id of something in a cloud (`ami-0a1b…`).
fn is_public(value: &str) -> bool {
    const IDS: [&str; 9] = [
        "ami", "eni", "i", "igw", "rtb", "sg", "snap", "subnet", "vpc",
    ];
    let is_hex = |text: &str, sizes: &[usize]| {
        sizes.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    if let Some(number) = value.strip_prefix("0x") {
        return (1..=16).contains(&number.len()) && is_hex(number, &[number.len()]);
    }
    let Some((kind, rest)) = value.split_once(['-', ':']) else {
        return false;
    };
    match kind {
        "md5" | "sha1" | "sha256" | "sha384" | "sha512" => {
            rest.len() >= 20
                && rest
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
        }
        _ => IDS.contains(&kind) && is_hex(rest, &[8, 17]),
    }
}

/// What a mask covers the beginning of only: `[secret]ter2`, and `[secret walrus`.
fn half_masked(text: &str) -> Vec<Found> {
    if !text.contains('[') {
        return Vec::new();
    }
    let with = |place| Found {
        place,
        class: Class::Password,
    };
    let rests = text.match_indices(MASK).filter_map(|(at, _)| {
        let start = at + MASK.len();
        rest_of_mask(&text[start..]).map(|length| with(start..start + length))
    });
    let open = &MASK[..MASK.len() - 1];
    let cut = text
        .match_indices(open)
        .filter(|(at, _)| !text[at + open.len()..].starts_with(']'))
        .map(|(at, _)| {
            let behind = &text[at + open.len()..];
            let blanks = behind.len() - behind.trim_start_matches(' ').len();
            let word = behind[blanks..]
                .find(|c: char| c.is_whitespace() || ",;\"]".contains(c))
                .unwrap_or(behind.len() - blanks);
            with(at..at + open.len() + if word > 0 { blanks + word } else { 0 })
        });
    rests.chain(cut).collect()
}

/// The length of what goes on with the value behind a mask.
fn rest_of_mask(part: &str) -> Option<usize> {
    let end = part.find(|c: char| !c.is_alphanumeric() && !"!@#$%^&*+=_-".contains(c));
    let rest = &part[..end.unwrap_or(part.len())];
    let letters = rest.chars().filter(|c| c.is_alphanumeric()).count();
    (letters >= 3 && rest.starts_with(char::is_alphanumeric)).then_some(rest.len())
}

#[cfg(test)]
mod tests;
