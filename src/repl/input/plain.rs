//! Lines from a pipe or a file (`--lines`), as if typed: the same rules for inputs of several lines, no
//! prompt, no history. Loses nothing: a last line without a line break counts, bytes that are no UTF-8
//! come as U+FFFD with a warning. The end is remembered, so that asking on does not spin.

use std::io::{self, BufRead};

use super::continuation::Continuation;
use super::{InputError, LONGEST_INPUT, Line, Purpose, Reply, Request, Source};

pub(super) struct PlainSource<R> {
    lines: R,
    n_lines: u64,
    is_at_end: bool,
    continuation: Continuation,
    warnings: Vec<String>,
}

impl<R: BufRead> PlainSource<R> {
    pub(super) fn new(lines: R) -> Self {
        Self {
            lines,
            n_lines: 0,
            is_at_end: false,
            continuation: Continuation::default(),
            warnings: Vec::new(),
        }
    }

    fn input(&mut self) -> Result<Line, InputError> {
        while let Some(line) = self.line()? {
            if let Some(input) = self.continuation.push(&line) {
                return Ok(Line::Text(input));
            }
        }
        let Some(begun) = self.continuation.take() else {
            return Ok(Line::Eof);
        };
        self.warnings
            .push("the input ended inside a multi-line message; sent as is".to_owned());
        Ok(Line::Text(begun.trim_end_matches('\n').to_owned()))
    }

    /// The next line without its line break; `None` at the end, again and again.
    fn line(&mut self) -> Result<Option<String>, InputError> {
        if self.is_at_end {
            return Ok(None);
        }
        let room = LONGEST_INPUT.saturating_sub(self.continuation.len());
        let read = read_line(&mut self.lines, room).map_err(|error| {
            self.is_at_end = true;
            InputError::Io(error)
        })?;
        self.n_lines += 1;
        match read {
            Read::End => {
                self.is_at_end = true;
                Ok(None)
            }
            Read::TooLong => {
                self.continuation = Continuation::default();
                Err(InputError::TooLong { line: self.n_lines })
            }
            Read::Line(bytes) => Ok(Some(self.decode(bytes))),
        }
    }

    fn decode(&mut self, bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap_or_else(|error| {
            self.warnings.push(format!(
                "line {} of the input is not UTF-8; invalid bytes are shown as \u{FFFD}",
                self.n_lines
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        })
    }
}

impl<R: BufRead> Source for PlainSource<R> {
    fn read(&mut self, request: &Request) -> Reply {
        let line = match request.purpose {
            Purpose::Input => self.input(),
            Purpose::Verbatim | Purpose::Answer => {
                self.line().map(|line| line.map_or(Line::Eof, Line::Text))
            }
        };
        Reply {
            warnings: std::mem::take(&mut self.warnings),
            ..Reply::new(line)
        }
    }
}

enum Read {
    /// Without its line break.
    Line(Vec<u8>),
    /// Read to its end and thrown away.
    TooLong,
    End,
}

/// Reads a line of at most `room` bytes.
fn read_line(lines: &mut impl BufRead, room: usize) -> io::Result<Read> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    let mut is_end = true;
    loop {
        let available = match lines.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        is_end = false;
        let line_break = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..line_break.unwrap_or(available.len())];
        is_too_long |= line.len() + piece.len() > room;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(line_break.is_some());
        lines.consume(used);
        if line_break.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(match (is_end, is_too_long) {
        (true, _) => Read::End,
        (false, true) => Read::TooLong,
        (false, false) => Read::Line(line),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;

    use super::*;

    fn source(bytes: &[u8]) -> PlainSource<BufReader<Cursor<Vec<u8>>>> {
        // A tiny buffer, so that every line is cut somewhere.
        PlainSource::new(BufReader::with_capacity(3, Cursor::new(bytes.to_vec())))
    }

    fn read(source: &mut impl Source, purpose: Purpose) -> Reply {
        source.read(&Request {
            is_held: false,
            purpose,
            prompt: String::new(),
            initial: String::new(),
        })
    }

    fn inputs(bytes: &[u8]) -> (Vec<String>, usize) {
        let mut source = source(bytes);
        let (mut inputs, mut n_warnings) = (Vec::new(), 0);
        loop {
            let reply = read(&mut source, Purpose::Input);
            n_warnings += reply.warnings.len();
            match reply.line.unwrap() {
                Line::Text(text) => inputs.push(text),
                Line::Eof => break,
                other => panic!("{other:?} from a pipe"),
            }
        }
        (inputs, n_warnings)
    }

    #[test]
    fn lines_come_as_they_are() {
        for (name, bytes, expected, n_warnings) in [
            ("nothing", &b""[..], &[][..], 0),
            ("no line break at the end", b"one\ntwo", &["one", "two"], 0),
            ("empty lines", b"\n\na\n", &["", "", "a"], 0),
            ("windows", b"one\r\ntwo\r\n", &["one", "two"], 0),
            ("a zero byte", b"a\0b\n", &["a\0b"], 0),
            ("no UTF-8", b"caf\xe9\nok\n", &["caf\u{FFFD}", "ok"], 1),
            (
                "continued",
                b"a\\\nb\n\"\"\"\nc\n\nd\n\"\"\"\n",
                &["a\nb", "c\n\nd"],
                0,
            ),
            ("never closed", b"\"\"\"\nc\n", &["\"\"\"\nc"], 1),
        ] {
            let expected = expected.iter().map(|&line| line.to_owned()).collect();
            assert_eq!(inputs(bytes), (expected, n_warnings), "{name}");
        }
    }

    #[test]
    fn a_line_beyond_all_bounds_is_refused_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; LONGEST_INPUT + 1];
        bytes.extend_from_slice(b"\nnext\n");
        let mut source = PlainSource::new(BufReader::new(Cursor::new(bytes)));
        let refused = read(&mut source, Purpose::Input).line.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "line 1 of the input is longer than 16 MB"
        );
        let next = read(&mut source, Purpose::Input).line.unwrap();
        assert_eq!(next, Line::Text("next".to_owned()));
    }

    #[test]
    fn pasted_lines_and_answers_are_taken_without_marks() {
        let mut source = source(b"a\\\n\"\"\"\nyes\n");
        let lines: Vec<Line> = [
            Purpose::Verbatim,
            Purpose::Verbatim,
            Purpose::Answer,
            Purpose::Answer,
        ]
        .map(|purpose| read(&mut source, purpose).line.unwrap())
        .into();
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(lines, [text("a\\"), text("\"\"\""), text("yes"), Line::Eof]);
    }

    proptest! {
        #[test]
        fn no_byte_of_plain_lines_is_lost(lines in prop::collection::vec("[^\\\\\"\r\n]{0,9}", 0..6)) {
            let mut text = lines.join("\n");
            text.extend((!lines.is_empty()).then_some('\n'));
            prop_assert_eq!(inputs(text.as_bytes()).0, lines);
        }
    }
}
