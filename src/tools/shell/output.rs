//! What a command prints, kept within bounds: its beginning and its end. Unit: one run. Pure.
//! Invariant: never more than [`HEAD`] + [`TAIL`] bytes are held, however much is printed.

use std::collections::VecDeque;

use anstream::adapter::strip_str;

const HEAD: usize = 256 * 1024;
const TAIL: usize = 768 * 1024;

/// Shown while a command runs; whoever listens may be slow, and what waits for them is held in memory.
const SHOWN: usize = 256 * 1024;

/// The beginning and the end of what was printed.
#[derive(Debug, Default)]
pub(super) struct Collected {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Collected {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// As a model can read it: without colours, with a line where bytes are missing.
    pub(super) fn into_text(self) -> String {
        let (one, two) = self.tail.as_slices();
        let tail = [one, two].concat();
        let whole = self.head.len() as u64 + self.dropped + tail.len() as u64;
        if self.dropped == 0 {
            let all = [self.head, tail].concat();
            return readable(&all).unwrap_or_else(|| binary(whole));
        }
        let (head, tail) = (without_cut_end(&self.head), without_cut_start(&tail));
        let dropped = whole - (head.len() + tail.len()) as u64;
        match (readable(head), readable(tail)) {
            (Some(head), Some(tail)) => {
                format!("{head}\n[... {dropped} bytes left out ...]\n{tail}")
            }
            _ => binary(whole),
        }
    }
}

/// Bytes as text, unless they are none: zeros, and not UTF-8 either.
fn readable(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    if bytes.contains(&0) {
        let is_text = matches!(text, std::borrow::Cow::Borrowed(_));
        return is_text.then(|| strip_str(&text.replace('\0', "\u{2400}")).to_string());
    }
    Some(strip_str(&text).to_string())
}

fn binary(length: u64) -> String {
    format!("[{length} bytes of binary data]")
}

/// Bytes up to the last whole character.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - cut_end(bytes)]
}

/// Bytes from the first whole character on.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let is_inside = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    &bytes[bytes.iter().take(3).take_while(is_inside).count()..]
}

/// Returns how many bytes at the end begin a character that is not all there.
fn cut_end(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let rest = last.map(|chunk| chunk.invalid()).unwrap_or_default();
    match std::str::from_utf8(rest) {
        Err(error) if error.error_len().is_none() => rest.len(),
        Ok(_) | Err(_) => 0,
    }
}

/// Bytes as they come -> text in whole characters, up to a bound.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pending: Vec<u8>,
    length: usize,
}

impl Shown {
    /// Returns what can be shown of all that came and was not shown yet.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<String> {
        if self.length >= SHOWN {
            return None;
        }
        self.pending.extend_from_slice(bytes);
        let rest = self
            .pending
            .split_off(self.pending.len() - cut_end(&self.pending));
        let whole = std::mem::replace(&mut self.pending, rest);
        self.length += whole.len();
        let mut text = String::from_utf8_lossy(&whole).into_owned();
        if self.length >= SHOWN {
            text.push_str("\n[... more output not shown ...]\n");
        }
        Some(text).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_of(bytes: &[u8]) -> String {
        let mut collected = Collected::default();
        bytes.chunks(1000).for_each(|chunk| collected.push(chunk));
        collected.into_text()
    }

    #[test]
    fn output_is_text_without_colours_or_a_count_of_bytes() {
        for (bytes, expected) in [
            (&b""[..], ""),
            (b"a\nb\n", "a\nb\n"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"caf\xe9", "caf\u{fffd}"),
            (b"one\0two\0", "one\u{2400}two\u{2400}"),
            (b"\x7fELF\0\xff\xfe", "[7 bytes of binary data]"),
        ] {
            assert_eq!(text_of(bytes), expected);
        }
    }

    #[test]
    fn the_beginning_and_the_end_are_kept_and_the_rest_is_counted() {
        let n = 2_000_000;
        let text = text_of(&[b"first ".as_slice(), &vec![b'x'; n], b" last"].concat());
        assert!(text.starts_with("first xx") && text.ends_with("xx last"));
        let left_out = n + 11 - HEAD - TAIL;
        assert!(text.contains(&format!("\n[... {left_out} bytes left out ...]\n")));
    }

    #[test]
    fn no_more_than_the_bound_is_held() {
        let mut collected = Collected::default();
        let piece = vec![b'x'; 64 * 1024];
        for _ in 0..1600 {
            collected.push(&piece);
            assert!(collected.head.len() + collected.tail.len() <= HEAD + TAIL);
        }
        assert_eq!(collected.dropped, 1600 * 65_536 - (HEAD + TAIL) as u64);
    }

    #[test]
    fn a_cut_leaves_no_half_characters() {
        let text = text_of("ä€𝄞".repeat(200_000).as_bytes());
        assert!(!text.contains('\u{fffd}'));
    }

    #[test]
    fn what_is_shown_ends_with_a_word_about_the_rest() {
        let mut shown = Shown::default();
        let last = std::iter::repeat_with(|| shown.push(&[b'x'; 4096]))
            .map_while(|text| text)
            .last();
        assert!(last.unwrap().ends_with("not shown ...]\n"));
    }

    proptest! {
        #[test]
        fn characters_are_shown_whole_however_they_arrive(text in "\\PC{0,40}", size in 1_usize..7) {
            let mut shown = Shown::default();
            let pieces = text.as_bytes().chunks(size).filter_map(|chunk| shown.push(chunk));
            prop_assert_eq!(pieces.collect::<String>(), text);
        }
    }
}
