//! What of a file goes into a request: its beginning, its end, or both, within a number of characters. Only as many
//! bytes are read as these characters can take, whatever the size of the file.

/// Stands where something was left out.
pub const TRUNCATED: &str = "[…truncated…]";

/// Bytes of the longest character.
pub(super) const WIDEST: usize = 4;

/// A file, or what of it there was room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Relative to the workspace or the project, such as `MEMORY.md`.
    pub source: String,
    pub text: String,
    /// Whether something was left out.
    pub is_cut: bool,
}

/// Which part of a text stays when there is not room for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Start,
    End,
    /// Half of the room each: what a person put at the top, and what was added last.
    Both,
}

/// At most `room` characters, markers apart, parted at line breaks where that costs little.
pub(super) fn cut(text: &str, room: usize, keep: Keep) -> (String, bool) {
    if text.chars().count() <= room {
        return (text.to_owned(), false);
    }
    let cut = match keep {
        Keep::Start => format!("{}\n{TRUNCATED}", start(text, room)),
        Keep::End => format!("{TRUNCATED}\n{}", end(text, room)),
        Keep::Both => {
            let half = room / 2;
            format!(
                "{}\n{TRUNCATED}\n{}",
                start(text, room - half),
                end(text, half)
            )
        }
    };
    (cut, true)
}

fn start(text: &str, room: usize) -> &str {
    let end = text
        .char_indices()
        .nth(room)
        .map_or(text.len(), |(at, _)| at);
    let part = &text[..end];
    match part.rfind('\n') {
        Some(at) if at >= end / 2 => &part[..at],
        Some(_) | None => part,
    }
}

fn end(text: &str, room: usize) -> &str {
    if room == 0 {
        return "";
    }
    let start = text.char_indices().rev().nth(room - 1);
    let part = &text[start.map_or(0, |(at, _)| at)..];
    match part.find('\n') {
        Some(at) if at <= part.len() / 2 => &part[at + 1..],
        Some(_) | None => part,
    }
}

/// The bytes without a character that was cut at the end.
pub(super) fn whole_characters_at_start(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    }
}

/// The bytes without a character that was cut at the beginning.
pub(super) fn whole_characters_at_end(bytes: &[u8]) -> &[u8] {
    let is_inner = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let torn = bytes.iter().take(WIDEST - 1).take_while(is_inner).count();
    &bytes[torn..]
}

/// As a model reads it: without a mark at the beginning, lines ending in LF alone, no space around.
pub(super) fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.replace("\r\n", "\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_marked_and_lines_stay_whole() {
        let text = "one one\ntwo two\nthree three";
        for (keep, room, expected) in [
            (Keep::Start, 27, text.to_owned()),
            (Keep::Start, 12, format!("one one\n{TRUNCATED}")),
            (Keep::Start, 3, format!("one\n{TRUNCATED}")),
            (Keep::End, 12, format!("{TRUNCATED}\nthree three")),
            (Keep::End, 4, format!("{TRUNCATED}\nhree")),
            (Keep::Both, 24, format!("one one\n{TRUNCATED}\nthree three")),
            (Keep::End, 0, format!("{TRUNCATED}\n")),
        ] {
            assert_eq!(cut(text, room, keep).0, expected, "{keep:?} {room}");
        }
    }

    #[test]
    fn characters_that_were_cut_are_left_out() {
        let bytes = "é🎉".as_bytes();
        assert_eq!(whole_characters_at_start(&bytes[..4]), "é".as_bytes());
        assert_eq!(whole_characters_at_end(&bytes[1..]), "🎉".as_bytes());
        assert_eq!(whole_characters_at_start(b"\xff\xff"), b"\xff\xff");
    }
}
