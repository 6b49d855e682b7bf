//! A text as one line.

/// Returns the words of a text with one space between them.
pub fn single_spaced(text: &str) -> String {
    joined(text.split_whitespace())
}

/// Returns the first characters of a text, with `…` behind them where there are more.
pub fn clipped(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the words of a text with one space between them; control characters part words too.
pub fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    joined(words.filter(|word| !word.is_empty()))
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}
