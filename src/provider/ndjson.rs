//! Newline-delimited JSON: bytes in, lines out. Pure. Invariant: a line is cut at `\n` as bytes and only then read as
//! UTF-8, so that a character split between two reads is whole again; no more than [`LONGEST`] bytes are ever held.

/// A line longer than this is no frame of any protocol.
pub(super) const LONGEST: usize = 8 << 20;

/// Why bytes are no lines.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum BadLine {
    #[error("a line longer than {} MiB", LONGEST >> 20)]
    TooLong,
}

/// The line begun but not ended.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
}

impl Lines {
    /// The lines that `bytes` complete, up to the first that is none; blank ones are left out.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Result<String, BadLine>> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            if self.held.len() + piece.len() > LONGEST {
                lines.push(Err(BadLine::TooLong));
            } else {
                self.held.extend_from_slice(piece);
                if pieces.peek().is_some() {
                    lines.extend(self.end());
                }
            }
            if let Some(Err(_)) = lines.last() {
                break;
            }
        }
        lines
    }

    /// The last line, if it came without a line break.
    pub(super) fn end(&mut self) -> Option<Result<String, BadLine>> {
        let line = std::mem::take(&mut self.held);
        let line = String::from_utf8_lossy(&line);
        (!line.trim().is_empty()).then(|| Ok(line.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cut_at_any_byte_are_the_same_lines() {
        let whole = "{\"a\":\"é😀\"}\r\n\n{\"b\":1}\n{\"c\":2}";
        for cut in 0..=whole.len() {
            let mut lines = Lines::default();
            let mut got = lines.push(&whole.as_bytes()[..cut]);
            got.extend(lines.push(&whole.as_bytes()[cut..]));
            got.extend(lines.end());
            let expected = ["{\"a\":\"é😀\"}\r", "{\"b\":1}", "{\"c\":2}"];
            assert_eq!(got, expected.map(|line| Ok(line.to_owned())), "{cut}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut lines = Lines::default();
        let mebibyte = vec![b'x'; 1 << 20];
        let refused = (0..=LONGEST >> 20).find_map(|_| lines.push(&mebibyte).pop());
        assert_eq!(refused, Some(Err(BadLine::TooLong)));
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        let lines = Lines::default().push(b"{}\n{\"a\":\"b\xff\"}\n");
        assert_eq!(lines[1].as_deref(), Ok("{\"a\":\"b\u{fffd}\"}"));
    }
}
