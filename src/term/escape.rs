//! Foreign text (of models, tools, sessions, servers) made harmless before a terminal sees it.
//!
//! Unit: the character. Every control character but newline and tab, and every bidi control, becomes a
//! visible sign, so nothing is left that could begin an escape sequence, move the cursor, rewrite what
//! stands on the screen or turn its order around. Because each character is judged alone, a sequence cut
//! across deltas is as harmless as a whole one. Only a carriage return waits for its successor: `\r\n`
//! is a newline.

/// Stands for what has no sign of its own.
const REPLACEMENT: char = '\u{FFFD}';

/// Makes a stream of text harmless, delta by delta.
#[derive(Debug, Default)]
pub struct Harmless {
    /// The last character was a carriage return whose successor is not known yet.
    held_return: bool,
}

impl Harmless {
    /// The next delta as it may be shown; a carriage return at its end is held back.
    pub fn delta(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            if std::mem::take(&mut self.held_return) && character != '\n' {
                shown.push(sign('\r'));
            }
            match character {
                '\r' => self.held_return = true,
                '\n' | '\t' => shown.push(character),
                _ => shown.push(sign(character)),
            }
        }
        shown
    }

    /// What is still held at the end of the stream.
    pub fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.held_return) {
            "␍"
        } else {
            ""
        }
    }
}

/// A whole text made harmless.
pub fn harmless(text: &str) -> String {
    let mut filter = Harmless::default();
    let mut shown = filter.delta(text);
    shown.push_str(filter.end());
    shown
}

/// What stands on the screen for a character.
fn sign(character: char) -> char {
    match character {
        // The pictures of the control characters stand in their order from U+2400 on.
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or(REPLACEMENT),
        '\u{7F}' => '\u{2421}',
        // The eight-bit forms of the same, and what reorders the text read: embeddings, overrides,
        // isolates. Marks (U+200E, U+200F, U+061C) belong to honest text.
        '\u{80}'..='\u{9F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => REPLACEMENT,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_harmless(character: char) -> bool {
        matches!(character, '\n' | '\t')
            || !(character.is_control()
                || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'))
    }

    #[test]
    fn sequences_lose_what_makes_them_work_and_words_stay() {
        for (name, text, expected) in [
            ("color", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
            ("title", "\x1b]0;mine\x07", "␛]0;mine␇"),
            ("eight-bit", "a\u{9b}2Jb", "a\u{FFFD}2Jb"),
            ("overwriting", "safe\rEVIL", "safe␍EVIL"),
            ("backspace", "a\x08b", "a␈b"),
            ("windows lines", "a\r\nb\r\n", "a\nb\n"),
            ("lone return at the end", "a\r", "a␍"),
            ("turned around", "\u{202E}txt.exe", "\u{FFFD}txt.exe"),
            ("plain", "naïve 日本 👩‍👧 \tok\n", "naïve 日本 👩‍👧 \tok\n"),
        ] {
            assert_eq!(harmless(text), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_acts_comes_out_and_cuts_change_nothing(
            deltas in prop::collection::vec("(?s)[\u{0}-\u{9f}\u{202a}-\u{2069}a-z😀\r\n]{0,12}", 0..8)
        ) {
            let mut filter = Harmless::default();
            let mut shown: String = deltas.iter().map(|delta| filter.delta(delta)).collect();
            shown.push_str(filter.end());
            prop_assert!(shown.chars().all(is_harmless), "{shown:?}");
            prop_assert_eq!(&shown, &harmless(&deltas.concat()));
        }

        #[test]
        fn harmless_text_is_left_alone(text in "[^\\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]{0,64}") {
            prop_assert_eq!(harmless(&text), text);
        }
    }
}
