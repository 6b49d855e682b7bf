//! How long a summary is, and how to cut one at a sentence.

/// Words of a summary (C14).
pub const MAX_WORDS: usize = 400;

/// Words of a text: what stands between blanks, and half the characters of scripts that put none.
pub(super) fn words(text: &str) -> usize {
    let spaced = text.split_whitespace().count();
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    spaced + unspaced / 2
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0x20000..=0x323AF)
}

/// The beginning of a text of at most `max` words, up to the end of a sentence or line where there is one.
pub(super) fn cut(text: &str, max: usize) -> &str {
    if words(text) <= max {
        return text;
    }
    let mut end = 0;
    let mut last_word = 0;
    let (mut spaced, mut unspaced, mut in_word) = (0, 0, false);
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        if c.is_whitespace() {
            in_word = false;
        } else {
            spaced += usize::from(!in_word);
            in_word = true;
            unspaced += usize::from(is_unspaced(c));
        }
        if spaced + unspaced / 2 > max {
            break;
        }
        last_word = if c.is_whitespace() { at } else { last_word };
        let next = text[after..].chars().next();
        let stops = matches!(c, '.' | '!' | '?' | ';') && next.is_none_or(char::is_whitespace);
        if c == '\n' || stops || matches!(c, '。' | '！' | '？') {
            end = after;
        }
    }
    let end = if end == 0 { last_word } else { end };
    text[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_ends_with_a_sentence_or_a_line() {
        for (text, max, expected) in [
            ("One two. Three four five.", 4, "One two."),
            ("- one two\n- three four five", 5, "- one two"),
            ("one two three", 2, "one two"),
            ("short.", 9, "short."),
            ("Version 1.2 is out. It is good", 5, "Version 1.2 is out."),
        ] {
            assert_eq!(cut(text, max), expected, "{text:?}");
        }
    }

    #[test]
    fn scripts_without_blanks_have_words_too() {
        assert_eq!(words("我们决定使用数据库"), 1 + 4);
        let long = "我们决定使用数据库。".repeat(200);
        let short = cut(&long, 400);
        assert!(words(short) <= 400 && short.ends_with('。'));
    }

    proptest! {
        #[test]
        fn what_is_cut_is_a_beginning_and_short_enough(text in "[a-c .\n。数]{0,200}", max in 1..20_usize) {
            let short = cut(&text, max);
            prop_assert!(text.starts_with(short));
            prop_assert!(words(short) <= max);
        }
    }
}
