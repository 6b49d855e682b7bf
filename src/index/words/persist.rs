//! An index as bytes.
//!
//! ```text
//!  "cogtrix lexical\n"   version u32   fingerprint of the lists [8]
//!  speakers:  number, then each as length + UTF-8
//!  entries:   number, then each as flags, time after the last one where known, length, speaker, persons
//!  terms:     number, then each as letters shared with the last, length + rest, length + postings
//!  SHA-256 of all before [32]
//! ```
//!
//! Numbers without a size are varints. Windows follow from the rest and are not written.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::index::{Entry, LexicalIndex, Persons};
use super::lists::Lists;
use super::postings::Postings;
use super::varint::{self, fold, unfold};
use crate::index::words::Voice;

const MAGIC: &[u8] = b"cogtrix lexical\n";
/// Of the form of the bytes and of how terms are made.
const VERSION: u32 = 3;
const CHECKSUM: usize = 32;

const SAYS_WHEN: u8 = 1;
const IS_QUESTION: u8 = 2;
const IS_WITHDRAWN: u8 = 4;
const HAS_TIME: u8 = 8;
const BY_USER: u8 = 16;
const BY_ASSISTANT: u8 = 32;
const NO_ANSWER: u8 = 64;
const BEGINS_SITTING: u8 = 128;

/// Why bytes are no index that can be used; it is built anew from the messages then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBytes {
    /// Something else, or cut short before the version.
    #[error("not a lexical index")]
    Foreign,
    /// Of another version of the program.
    #[error("a lexical index of version {found}, not {VERSION}")]
    Version {
        /// The version it has.
        found: u32,
    },
    /// The checksum or a value is wrong.
    #[error("a damaged lexical index")]
    Damaged,
    /// Sound, but made with other word lists.
    #[error("a lexical index made with other word lists")]
    OtherLists,
}

impl LexicalIndex {
    /// The index as bytes; the same messages give the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.lists.fingerprint);
        write_number(&mut bytes, self.speakers.len());
        for speaker in &self.speakers {
            write_piece(&mut bytes, speaker.as_bytes());
        }
        write_number(&mut bytes, self.entries.len());
        let mut last_at = 0;
        let mut sittings = self.sittings.iter().peekable();
        for (entry, place) in self.entries.iter().zip(0..) {
            let begins = sittings.next_if_eq(&&place).is_some();
            write_entry(&mut bytes, (entry, begins), &mut last_at);
        }
        write_number(&mut bytes, self.terms.len());
        let mut last = "";
        for (term, postings) in &self.terms {
            let shared = shared(last.as_bytes(), term.as_bytes());
            write_number(&mut bytes, shared);
            write_piece(&mut bytes, &term.as_bytes()[shared..]);
            write_piece(&mut bytes, postings.bytes());
            last = term;
        }
        let checksum = Sha256::digest(&bytes);
        bytes.extend(checksum);
        bytes
    }

    /// The index that was made into these bytes with these lists.
    pub fn from_bytes(lists: impl Into<Arc<Lists>>, bytes: &[u8]) -> Result<Self, BadBytes> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadBytes::Foreign)?;
        let (version, _) = rest.split_first_chunk().ok_or(BadBytes::Foreign)?;
        match u32::from_le_bytes(*version) {
            VERSION => {}
            found => return Err(BadBytes::Version { found }),
        }
        let (body, checksum) = bytes
            .split_last_chunk::<CHECKSUM>()
            .ok_or(BadBytes::Damaged)?;
        if Sha256::digest(body).as_slice() != checksum {
            return Err(BadBytes::Damaged);
        }
        let mut rest = body.get(MAGIC.len() + 4..).ok_or(BadBytes::Damaged)?;
        let fingerprint = rest.split_off(..8).ok_or(BadBytes::Damaged)?;
        let lists = lists.into();
        if fingerprint != lists.fingerprint {
            return Err(BadBytes::OtherLists);
        }
        read_body(Self::new(lists), rest).ok_or(BadBytes::Damaged)
    }
}

/// What a body without its checksum reads as.
#[cfg(test)]
pub(super) fn read_sealed(lists: &Arc<Lists>, body: &[u8]) -> Option<LexicalIndex> {
    read_body(LexicalIndex::new(lists.clone()), body)
}

fn read_body(mut index: LexicalIndex, mut rest: &[u8]) -> Option<LexicalIndex> {
    let rest = &mut rest;
    for _ in 0..read_number(rest)? {
        index.speakers.push(read_text(rest)?.to_owned());
    }
    let mut last_at = 0;
    for _ in 0..read_number(rest)? {
        if rest.first()? & BEGINS_SITTING != 0 {
            index.part();
        }
        let entry = read_entry(rest, &mut last_at)?;
        if entry.speaker as usize > index.speakers.len() {
            return None;
        }
        index.enter(entry);
    }
    let mut last = Vec::new();
    let mut terms = Vec::new();
    for _ in 0..read_number(rest)? {
        last.truncate(read_number(rest)?);
        last.extend_from_slice(read_piece(rest)?);
        let term = std::str::from_utf8(&last).ok()?;
        let postings = Postings::from_bytes(read_piece(rest)?, index.len())?;
        terms.push((Box::from(term), postings));
    }
    index.terms = terms.into_iter().collect();
    rest.is_empty().then_some(index)
}

fn write_entry(bytes: &mut Vec<u8>, (entry, begins): (&Entry, bool), last_at: &mut i64) {
    let flag = |is: bool, flag| if is { flag } else { 0 };
    bytes.push(
        flag(entry.says_when, SAYS_WHEN)
            | flag(entry.is_question, IS_QUESTION)
            | flag(entry.is_no_answer, NO_ANSWER)
            | flag(begins, BEGINS_SITTING)
            | flag(entry.is_withdrawn, IS_WITHDRAWN)
            | flag(entry.at.is_some(), HAS_TIME)
            | flag(entry.voice == Some(Voice::User), BY_USER)
            | flag(entry.voice == Some(Voice::Assistant), BY_ASSISTANT),
    );
    if let Some(at) = entry.at {
        varint::write(bytes, fold(at.wrapping_sub(*last_at)));
        *last_at = at;
    }
    varint::write(bytes, entry.length.into());
    varint::write(bytes, entry.speaker.into());
    bytes.push(entry.persons.first << 4 | entry.persons.second);
}

fn read_entry(rest: &mut &[u8], last_at: &mut i64) -> Option<Entry> {
    let flags = *rest.split_off_first()?;
    let at = if flags & HAS_TIME == 0 {
        None
    } else {
        *last_at = last_at.wrapping_add(unfold(varint::read(rest)?));
        Some(*last_at)
    };
    Some(Entry {
        at,
        length: varint::read(rest)?.try_into().ok()?,
        speaker: varint::read(rest)?.try_into().ok()?,
        voice: match (flags & BY_USER, flags & BY_ASSISTANT) {
            (0, 0) => None,
            (_, 0) => Some(Voice::User),
            (0, _) => Some(Voice::Assistant),
            (_, _) => return None,
        },
        says_when: flags & SAYS_WHEN != 0,
        is_question: flags & IS_QUESTION != 0,
        is_no_answer: flags & NO_ANSWER != 0,
        is_withdrawn: flags & IS_WITHDRAWN != 0,
        persons: read_persons(rest)?,
    })
}

fn read_persons(rest: &mut &[u8]) -> Option<Persons> {
    let byte = *rest.split_off_first()?;
    let persons = Persons {
        first: byte >> 4,
        second: byte & 0xF,
    };
    (persons.first.max(persons.second) <= Persons::MAX).then_some(persons)
}

/// How many bytes the two begin with alike.
fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn write_number(bytes: &mut Vec<u8>, number: usize) {
    varint::write(bytes, number as u64);
}

fn write_piece(bytes: &mut Vec<u8>, piece: &[u8]) {
    write_number(bytes, piece.len());
    bytes.extend_from_slice(piece);
}

fn read_number(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(varint::read(rest)?).ok()
}

fn read_piece<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = read_number(rest)?;
    rest.split_off(..length)
}

fn read_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(read_piece(rest)?).ok()
}
