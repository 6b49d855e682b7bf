//! How something is named that is to be forgotten: by a number, a range, an id, a key, or words with a number behind them.

use crate::long_term::entries::EntryId;
use crate::repl::memory_view::name::number;

/// Numbers of one range, and digits of a number that may have been mistyped.
const MAX_RANGE: u64 = 1_000;
const MAX_DIGITS: usize = 3;

/// Which of several is meant.
#[derive(Clone, Copy)]
pub(super) enum Pick {
    None,
    Number(usize),
    All,
}

/// `my sister #2` -> `my sister`, the second.
pub(super) fn picked(asked: &str) -> (&str, Pick) {
    let Some((words, last)) = asked.rsplit_once(char::is_whitespace) else {
        return (asked, Pick::None);
    };
    match last.strip_prefix('#') {
        Some("all") => (words.trim(), Pick::All),
        Some(digits) => digits.parse().map_or((asked, Pick::None), |number| {
            (words.trim(), Pick::Number(number))
        }),
        None => (asked, Pick::None),
    }
}

/// What is named by itself.
pub(super) enum Name<'a> {
    One(&'a str),
    Range(u64, u64),
    /// An id or a key.
    Entry(&'a str),
}

impl Name<'_> {
    /// Whether it is as short as numbers of captures are.
    pub(super) fn may_be_number(&self) -> bool {
        match self {
            Self::One(digits) => digits.len() <= MAX_DIGITS,
            Self::Range(..) => true,
            Self::Entry(_) => false,
        }
    }
}

impl std::fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(name) | Self::Entry(name) => f.write_str(name),
            Self::Range(from, upto) => write!(f, "{from}-{upto}"),
        }
    }
}

/// Numbers, ranges, ids and keys, where there is nothing else.
pub(super) fn names<'a>(asked: &'a str, is_key: &dyn Fn(&str) -> bool) -> Option<Vec<Name<'a>>> {
    let words = asked.split(|c: char| c.is_whitespace() || c == ',');
    let names = words.filter(|word| !word.is_empty()).map(|word| {
        if let Some(digits) = number(word) {
            return Some(Name::One(digits));
        }
        if EntryId::parse(word).is_some() || is_key(word) {
            return Some(Name::Entry(word));
        }
        let (from, upto) = word.split_once('-')?;
        let (from, upto) = (number(from)?.parse().ok()?, number(upto)?.parse().ok()?);
        (from <= upto && upto - from <= MAX_RANGE).then_some(Name::Range(from, upto))
    });
    let names: Option<Vec<Name<'_>>> = names.collect();
    names.filter(|names| !names.is_empty())
}
