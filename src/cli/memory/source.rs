//! Where the lines of an import come from, one at a time: a file or stdin. Its unit is the line, as bytes without
//! its line break; what a line holds is the part of `line`.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::line;
use crate::cli::report::CliError;
use crate::files::open_regular;
use crate::term::{bar, thousands};

const BAR_COLUMNS: usize = 20;

/// A line that goes on behind this is no end of a line worth looking for.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// Some editors put it in front of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Where the lines come from.
#[derive(Debug)]
pub(super) enum Source {
    Stdin,
    File(PathBuf),
}

impl Source {
    /// `-` is stdin.
    pub(super) fn named(file: &Path) -> Self {
        if file.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(file.to_owned())
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// What is read, and its size where that is known.
    fn reader(&self) -> Result<(Box<dyn Read>, Option<u64>), CliError> {
        Ok(match self {
            Self::Stdin => (Box::new(io::stdin()), None),
            Self::File(path) => {
                let file = open_regular(path).map_err(|error| self.cannot_read(error))?;
                let size = file.metadata().ok().map(|meta| meta.len());
                (Box::new(file), size)
            }
        })
    }

    pub(super) fn open(&self) -> Result<Input, CliError> {
        let (reader, size) = self.reader()?;
        Ok(Input {
            reader: BufReader::with_capacity(1 << 16, reader),
            size: size.filter(|size| *size > 0),
            read: 0,
            line: 0,
        })
    }

    /// All of it, if that is not more than `most` bytes.
    pub(super) fn whole(&self, most: u64) -> Result<Vec<u8>, CliError> {
        let (reader, _) = self.reader()?;
        let mut bytes = Vec::new();
        let read = reader.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.cannot_read(error))?;
        if bytes.len() as u64 > most {
            let problem = format!("it is larger than {} MB", most >> 20);
            return Err(self.cannot_read(io::Error::other(problem)));
        }
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(bytes)
    }

    pub(super) fn cannot_read(&self, source: io::Error) -> CliError {
        CliError::File {
            action: "read",
            path: self.name().into(),
            source,
        }
    }
}

/// Lines as they are read.
pub(super) struct Input {
    reader: BufReader<Box<dyn Read>>,
    /// In bytes, where it is known.
    size: Option<u64>,
    /// Bytes read.
    read: u64,
    /// Lines read.
    line: usize,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("read", &self.read)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

impl Input {
    /// Reads a line without its line break; of one that is too long only enough to see that. One without an end is an
    /// error. Tells whether there was one.
    pub(super) fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let most = line::MAX_BYTES as u64 + 1;
        let mut read = (&mut self.reader).take(most).read_until(b'\n', line)? as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read == most {
            let skipped = (&mut self.reader).take(MAX_LINE).skip_until(b'\n')? as u64;
            if skipped == MAX_LINE {
                let problem = format!(
                    "line {} is longer than {} MB",
                    self.line + 1,
                    MAX_LINE >> 20
                );
                return Err(io::Error::other(problem));
            }
            read += skipped;
        }
        if self.line == 0 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        self.read += read;
        self.line += usize::from(read > 0);
        Ok(read > 0)
    }

    /// The number of the line read last, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// `reading talk.jsonl ████░░░░ 40,000 lines`.
    pub(super) fn progress(&self, from: &Source) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
        let share = self.size.map(|size| self.read as f64 / size as f64);
        let bar = share.map_or(String::new(), |share| bar(share, BAR_COLUMNS) + " ");
        format!(
            "reading {} {bar}{} lines",
            from.name(),
            thousands(self.line)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: Vec<u8>) -> Input {
        Input {
            size: Some(bytes.len() as u64),
            reader: BufReader::with_capacity(7, Box::new(io::Cursor::new(bytes))),
            read: 0,
            line: 0,
        }
    }

    #[test]
    fn lines_are_counted_from_one_and_the_last_needs_no_end() {
        let mut input = input(b"one\n\nthree".to_vec());
        let mut line = Vec::new();
        let mut seen = Vec::new();
        while input.next_line(&mut line).unwrap() {
            seen.push((input.line, String::from_utf8(line.clone()).unwrap()));
        }
        let expected = [(1, "one"), (2, ""), (3, "three")];
        assert_eq!(seen, expected.map(|(n, text)| (n, text.to_owned())));
        assert_eq!(Some(input.read), input.size);
    }

    #[test]
    fn of_a_line_that_is_too_long_the_rest_is_skipped() {
        let mut bytes = vec![b'x'; 2 * line::MAX_BYTES];
        bytes.extend_from_slice(b"\nnext\n");
        let mut input = input(bytes);
        let mut line = Vec::new();
        assert!(input.next_line(&mut line).unwrap());
        assert_eq!(line.len(), line::MAX_BYTES + 1);
        assert_eq!(line::parse(&line), Err(line::Flaw::TooLong));
        assert!(input.next_line(&mut line).unwrap());
        assert_eq!((input.line, &line[..]), (2, &b"next"[..]));
    }

    #[test]
    fn a_line_without_an_end_is_an_error_that_names_it() {
        let mut input = Input {
            size: None,
            reader: BufReader::new(Box::new((&b"one\n"[..]).chain(io::repeat(b'x')))),
            read: 0,
            line: 0,
        };
        let mut line = Vec::new();
        assert!(input.next_line(&mut line).unwrap());
        let error = input.next_line(&mut line).unwrap_err();
        assert_eq!(error.to_string(), "line 2 is longer than 32 MB");
        assert!(line.capacity() <= 2 * (line::MAX_BYTES + 1));
    }

    #[test]
    fn the_longest_line_that_is_allowed_is_read_whole_and_the_next_one_is_its_own() {
        let mut bytes = vec![b' '; line::MAX_BYTES];
        bytes.extend_from_slice(b"\nnext\n");
        let mut input = input(bytes);
        let mut line = Vec::new();
        assert!(input.next_line(&mut line).unwrap());
        assert_eq!(line::parse(&line), Ok(None));
        assert!(input.next_line(&mut line).unwrap());
        assert_eq!((input.line, &line[..]), (2, &b"next"[..]));
    }
}
