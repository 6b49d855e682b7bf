//! What tells notes of a kind apart.

use super::kind::Same;
use super::note::{Kind, Note};

/// Equal for notes that are about the same thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn kept(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// What is remembered of a note that a person took off: another value under the same label is another
    /// thing.
    pub(super) fn of_dropped(kind: Kind, note: &Note) -> Self {
        match (kind.row().same, &note.label) {
            (Same::Label, Some(label)) => Self(folded(&format!("{label}: {}", note.text))),
            (Same::Label | Same::Text | Same::Exact | Same::Message, _) => key(kind, note),
        }
    }
}

pub(super) fn key(kind: Kind, note: &Note) -> Key {
    Key(match kind.row().same {
        Same::Exact => note.text.clone(),
        Same::Text => folded(&note.text),
        Same::Label => folded(note.label.as_ref().unwrap_or(&note.text)),
        Same::Message => without_addresses(&folded(&note.text)),
    })
}

/// Case, quotes and final punctuation apart.
fn folded(text: &str) -> String {
    let is_edge =
        |c: char| c.is_whitespace() || matches!(c, '.' | '!' | '`' | '"' | '\'' | ':' | ',');
    text.trim_matches(is_edge).to_lowercase()
}

/// Numbers that differ from run to run as one sign: addresses, those behind a colon, and those of four
/// digits and more. A status or an exit code tells errors apart.
fn without_addresses(text: &str) -> String {
    let mut without = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        without.push_str(before);
        let is_digit: fn(char) -> bool = if from.starts_with("0x") {
            |c| c.is_ascii_hexdigit() || c == 'x'
        } else {
            |c| c.is_ascii_digit()
        };
        let end = from.find(|c| !is_digit(c)).unwrap_or(from.len());
        let differs = end >= 4 || from.starts_with("0x") || before.ends_with(':');
        without.push_str(if differs { "#" } else { &from[..end] });
        rest = &from[end..];
    }
    without.push_str(rest);
    without
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_two_runs_are_alike_and_two_codes_are_not() {
        let key = |text: &str| key(Kind::Error, &Note::new(text));
        for (one, other, alike) in [
            ("KeyError: 'a'", "keyerror: 'a'.", true),
            ("at 0x7ffa", "at 0x7FFB", true),
            ("pid 12345 died", "pid 54321 died", true),
            ("main.c:10 failed", "main.c:12 failed", true),
            ("status 404", "status 500", false),
            ("exit code 1", "exit code 2", false),
        ] {
            assert_eq!(key(one) == key(other), alike, "{one} | {other}");
        }
    }

    #[test]
    fn files_differ_in_case() {
        let key = |text: &str| key(Kind::File, &Note::new(text));
        assert_ne!(key("README.md"), key("readme.md"));
    }
}
