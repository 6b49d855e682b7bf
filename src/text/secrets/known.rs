//! The secrets of a conversation: one that was named once is known again where it stands without its name, on a
//! scratchpad or in a summary. Unit: one session. Invariant: in memory only, and never shown.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use super::{Class, Found, MASK, beginning, context, found, masked_after};

/// Values that are known again; the oldest leave first.
const MAX: usize = 256;
/// Shorter values, or short plain words, stand in too many places where they are none.
const MIN_CHARS: usize = 4;
const MIN_CHARS_OF_WORD: usize = 7;
/// Part of a value that is known by itself.
const MIN_CHARS_OF_STRANGE: usize = 6;

/// What was said to be a secret, and what was said last.
#[derive(Clone, Default)]
pub struct Known {
    values: VecDeque<String>,
    context: String,
    /// Of the secrets in what was said last.
    classes: Vec<Class>,
}

/// Without the values.
impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} values)", self.values.len())
    }
}

impl Known {
    /// Reads what is said next.
    pub fn hear(&mut self, text: &str) {
        self.take_in(text);
    }

    /// The classes of the secrets in what was said last.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    pub(super) fn learn(&mut self, value: &str) {
        // `admin / hunter2`: the second is the secret.
        let secret = value.rsplit([' ', '/', ':']).next().unwrap_or(value);
        let pair = (value.contains([':', '/']) && secret.len() < value.len()).then_some(secret);
        // `hT7-k2Qz4313 TODO`: words around a value may have been taken for a part of it.
        let strange = value.split_whitespace().filter(|it| is_strange(it));
        for value in [Some(value), pair].into_iter().flatten().chain(strange) {
            let value = value.trim();
            let chars = value.chars().count();
            let is_word = value.chars().all(char::is_alphabetic);
            let min = if is_word {
                MIN_CHARS_OF_WORD
            } else {
                MIN_CHARS
            };
            if chars >= min && !value.contains(MASK) && !self.values.iter().any(|it| it == value) {
                self.values.push_back(value.to_owned());
            }
        }
        while self.values.len() > MAX {
            self.values.pop_front();
        }
    }

    /// Reads what is said next; returns it without its secrets.
    pub fn take_in<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let before = std::mem::take(&mut self.context);
        let found = found(&before, text);
        for Found { place, .. } in &found {
            self.learn(&text[place.clone()]);
        }
        let said = format!("{before}\n{}", context(text));
        context(&said).clone_into(&mut self.context);
        self.classes = found.iter().map(|it| it.class).collect();
        self.classes.sort_unstable();
        self.classes.dedup();
        if found.is_empty() {
            self.without_values(Cow::Borrowed(text))
        } else {
            self.masked_after(&before, text)
        }
    }

    /// A text that is kept under a name, which may tell what it is.
    pub fn masked_value(&self, name: &str, text: &str) -> String {
        let named = format!("{name}: {text}");
        let masked = self.masked_after("", &named);
        let value = masked
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(": "));
        value.map_or_else(|| self.masked(text).into_owned(), str::to_owned)
    }

    /// The text without its secrets, read behind what was said last, and without those that are known.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked_after(&self.context, text)
    }

    /// The same behind another text.
    pub fn masked_after<'t>(&self, context: &str, text: &'t str) -> Cow<'t, str> {
        self.without_values(masked_after(context, text))
    }

    /// The same of the beginning of a text, whose own words tell what is secret in it.
    pub fn masked_beginning<'t>(&self, text: &'t str, max: usize) -> Cow<'t, str> {
        self.masked_after("", beginning(text, max))
    }

    fn without_values<'t>(&self, masked: Cow<'t, str>) -> Cow<'t, str> {
        let mut masked = masked;
        for value in &self.values {
            if let Some(without) = without(&masked, value) {
                masked = Cow::Owned(without);
            }
        }
        masked
    }
}

/// Returns whether a word of letters has other signs as well, so that it stands nowhere else by chance.
fn is_strange(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.chars().count() >= MIN_CHARS_OF_STRANGE
        && word.contains(char::is_alphabetic)
        && word.contains(|c: char| !c.is_alphabetic())
}

/// The text with the mask for each place where the value stands as a word; `None` where it stands nowhere.
fn without(text: &str, value: &str) -> Option<String> {
    let joins = |c: char| c.is_alphanumeric();
    let stands_alone = |at: usize| {
        let before = text[..at].chars().next_back().filter(|c| joins(*c));
        let behind = text[at + value.len()..]
            .chars()
            .next()
            .filter(|c| joins(*c));
        let first = value.chars().next().is_some_and(joins);
        let last = value.chars().next_back().is_some_and(joins);
        !(first && before.is_some() || last && behind.is_some())
    };
    let mut masked = String::new();
    let mut from = 0;
    for (at, _) in text
        .match_indices(value)
        .filter(|(at, _)| stands_alone(*at))
    {
        masked.push_str(&text[from..at]);
        masked.push_str(MASK);
        from = at + value.len();
    }
    (from > 0).then(|| masked + &text[from..])
}
