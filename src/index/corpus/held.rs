//! What is known of a source that was read, so that it is not read again while it is as it was.
//!
//! Unit: a source. Invariant: one that was refused is known too, and has no places.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use super::Digested;
use super::sources::{Found, Kind};
use crate::chat::Timestamp;

/// A file that was changed so short a while ago may be changed again within one tick of the clock of the file system.
const UNSETTLED: Duration = Duration::from_secs(2);

/// A source that was read.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) stamp: Stamp,
    pub(super) standing: Standing,
    pub(super) kind: Kind,
    pub(super) hash: Digested,
    pub(super) bytes: usize,
    pub(super) places: Range<u32>,
    pub(super) chunks: Range<usize>,
}

/// What became of a source when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Searched,
    NoText,
    /// It is read again when there is.
    NoRoom,
}

/// What tells without reading that a file is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// `false`: it says nothing yet.
    pub(super) settled: bool,
}

impl Held {
    /// Read, and not searched.
    pub(super) fn refused(
        standing: Standing,
        kind: Kind,
        (stamp, hash): (Stamp, Digested),
    ) -> Self {
        Self {
            stamp,
            standing,
            kind,
            hash,
            bytes: 0,
            places: 0..0,
            chunks: 0..0,
        }
    }
}

impl Stamp {
    pub(super) fn of(file: &Found, now: Timestamp) -> Self {
        let age = file
            .modified
            .and_then(timestamp)
            .map(|modified| now.unix().saturating_sub(modified.unix()));
        Self {
            size: file.size,
            modified: file.modified,
            settled: age.is_some_and(|age| age > UNSETTLED.as_secs().cast_signed()),
        }
    }

    /// Whether a file with the other stamp is the one that was read.
    pub(super) fn vouches(self, now: Self) -> bool {
        self.settled && (self.size, self.modified) == (now.size, now.modified)
    }
}

pub(super) fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_unix(i64::try_from(since.as_secs()).ok()?)
}
