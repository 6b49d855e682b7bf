//! Of a long file the beginning and the end: what is added comes last, and what counts most often stands first.
//!
//! Invariant: each end is of whole lines where it has any, and the end knows where its lines stand.

use std::io;

use super::MAX_OF_FILE;
use super::sources::Found;
use crate::files::Disk;

/// Bytes of each end.
pub(super) const OF_END: usize = MAX_OF_FILE / 2;
/// Of a file whose middle is longer the beginning alone is read: its lines would have to be counted.
const MAX_BETWEEN: u64 = 64 << 20;
/// What may stand in front of a text, and is none of it.
const MARK: &[u8] = "\u{feff}".as_bytes();
/// Bytes counted at a time.
const AT_ONCE: usize = 1 << 20;

/// What is read of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) bytes: Vec<u8>,
    pub(super) tail: Option<Tail>,
}

/// The end, behind the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// Where it begins in what was read.
    pub(super) at: usize,
    /// The number of its first line in the file, counted from 1.
    pub(super) line: usize,
}

/// Whether both ends of a file are read, and not all of it or its beginning.
pub(super) fn are_read(size: u64) -> bool {
    let size = size.saturating_sub(MAX_OF_FILE as u64);
    (1..=MAX_BETWEEN).contains(&size)
}

impl Ends {
    /// What there is room for of a file.
    pub(super) fn of(disk: &dyn Disk, file: &Found) -> io::Result<Self> {
        let mut bytes = disk.read_head(&file.path, MAX_OF_FILE)?;
        if !are_read(file.size) {
            strip_mark(&mut bytes);
            return Ok(Self { bytes, tail: None });
        }
        bytes.truncate(OF_END);
        bytes.truncate(whole_lines_at_start(&bytes));
        let from = file.size - OF_END as u64;
        let end = disk.read_at(&file.path, from, OF_END)?;
        let begins = whole_lines_at_end(&end);
        let before = bytes.len() as u64..from + begins as u64;
        let line = 1 + lines(&bytes) + counted(disk, file, before)?;
        strip_mark(&mut bytes);
        let at = bytes.len();
        bytes.extend_from_slice(&end[begins..]);
        let tail = Some(Tail { at, line });
        Ok(Self { bytes, tail })
    }
}

fn strip_mark(bytes: &mut Vec<u8>) {
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
}

/// Where the last whole line ends, or else the last whole letter.
fn whole_lines_at_start(bytes: &[u8]) -> usize {
    let line = bytes.iter().rposition(|byte| *byte == b'\n');
    line.map_or_else(
        || match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        },
        |at| at + 1,
    )
}

/// Where the first whole line begins, or else the first whole letter.
fn whole_lines_at_end(bytes: &[u8]) -> usize {
    let line = bytes.iter().position(|byte| *byte == b'\n');
    let line = line.filter(|at| at + 1 < bytes.len());
    line.map_or_else(
        || {
            bytes
                .iter()
                .take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000)
                .count()
        },
        |at| at + 1,
    )
}

fn lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// Lines that end between two places of a file.
fn counted(disk: &dyn Disk, file: &Found, between: std::ops::Range<u64>) -> io::Result<usize> {
    let mut number = 0;
    let mut at = between.start;
    while at < between.end {
        let left = usize::try_from(between.end - at).unwrap_or(AT_ONCE);
        let bytes = disk.read_at(&file.path, at, left.min(AT_ONCE))?;
        if bytes.is_empty() {
            break;
        }
        number += lines(&bytes);
        at += bytes.len() as u64;
    }
    Ok(number)
}
