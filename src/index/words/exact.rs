//! The words of a question as they were written, with where they stand: what names and dates are looked for in.

use std::ops::Range;

/// A run of letters and digits with apostrophes inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) at: usize,
    pub(super) text: &'a str,
}

/// All words of the text, in order.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut before = ' ';
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let inner = is_apostrophe(c) && !is_apostrophe(before);
        match start {
            None if c.is_alphanumeric() => start = Some(at),
            Some(from) if !c.is_alphanumeric() && !inner => {
                let text = text[from..at].trim_end_matches(is_apostrophe);
                found.push(Word { at: from, text });
                start = None;
            }
            _ => {}
        }
        before = c;
    }
    found
}

impl<'a> Word<'a> {
    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// Without a final `'s`.
    pub(super) fn stem(&self) -> &'a str {
        let Some((stem, 's' | 'S')) = split_last(self.text) else {
            return self.text;
        };
        stem.strip_suffix(is_apostrophe).unwrap_or(self.text)
    }

    /// Up to the first apostrophe.
    pub(super) fn beginning(&self) -> &'a str {
        self.text.split(is_apostrophe).next().unwrap_or_default()
    }

    /// Whether it ends with `'s`.
    pub(super) fn is_possessive(&self) -> bool {
        self.stem().len() < self.text.len()
    }

    pub(super) fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// The number it is, with or without an English ordinal's ending.
    pub(super) fn number(&self) -> Option<i32> {
        let digits = self
            .text
            .trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ending = self.text[digits.len()..].to_ascii_lowercase();
        matches!(ending.as_str(), "" | "st" | "nd" | "rd" | "th")
            .then(|| digits.parse().ok())
            .flatten()
    }
}

fn split_last(text: &str) -> Option<(&str, char)> {
    let last = text.chars().next_back()?;
    Some((&text[..text.len() - last.len_utf8()], last))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_inner_apostrophes_only() {
        let found = words("'Tis John’s dogs' toy, it''s 2nd—");
        let texts: Vec<_> = found.iter().map(|word| word.text).collect();
        assert_eq!(texts, ["Tis", "John’s", "dogs", "toy", "it", "s", "2nd"]);
        assert_eq!(found[1].stem(), "John");
        assert!(found[1].is_possessive() && !found[2].is_possessive());
        assert_eq!(found[6].number(), Some(2));
    }

    #[test]
    fn a_word_stands_where_it_says() {
        let text = "Где Анна’s 猫?";
        for word in words(text) {
            assert_eq!(&text[word.range()], word.text);
        }
    }
}
