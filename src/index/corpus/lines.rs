//! Bytes -> a text, and its lines -> the parts that stand at places of the index. Unit: one text. Pure.
//!
//! Invariant: the parts of a line tile it, and none is cut within a letter.

use std::ops::Range;

use crate::text::lines::single_spaced;

/// A longer line stands at several places.
const LONG_LINE: usize = 900;
const PART: usize = 600;

/// A text, whole or cut at a letter; `None` of what is none.
pub(super) fn text_of(mut bytes: Vec<u8>, size: u64) -> Option<String> {
    if size > bytes.len() as u64
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// The parts of a line, which they tile.
pub(super) fn parts(line: &str) -> impl Iterator<Item = Range<usize>> {
    let part = if line.len() > LONG_LINE {
        PART
    } else {
        LONG_LINE
    };
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = line.get(start..).filter(|rest| !rest.is_empty())?;
        let end = if rest.len() <= part {
            rest.len()
        } else {
            let max = rest.ceil_char_boundary(part);
            let blank = rest[..max].rfind(char::is_whitespace);
            blank.filter(|blank| *blank > 0).unwrap_or(max)
        };
        let range = start..start + end;
        start += end;
        Some(range)
    })
}

/// A text as exact words are compared: in lower case, every run of blanks one space.
pub fn folded(text: &str) -> String {
    let mut folded = single_spaced(text);
    if folded.is_ascii() {
        folded.make_ascii_lowercase();
        return folded;
    }
    folded.to_lowercase()
}
