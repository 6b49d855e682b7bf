//! The sieves of the program's own patterns, made ahead: `cargo bench --bench patterns` writes both files, a test holds
//! them against the cue files. A list of patterns that is not there is worked out when it is first used.
//!
//! ```text
//!  stored.jsonl   a line a list: digest of its patterns, where its words are, its table
//!  stored.fst     the words, one map behind another, read where they stand
//! ```

use std::borrow::Cow;
use std::ops::Range;

use fst::Map;
use serde::{Deserialize, Serialize};

use super::sieve::{Sieve, Table};
use super::{Case, Patterns};
use crate::text::linear::hash_of;

const TABLES: &str = include_str!("stored.jsonl");
static WORDS: &[u8] = include_bytes!("stored.fst");

/// A line of `stored.jsonl`. The digest comes first.
#[derive(Serialize, Deserialize)]
struct Stored {
    digest: String,
    /// Bytes of `stored.fst`.
    words: Range<usize>,
    table: Table,
}

/// What is stored for exactly these patterns.
pub(super) fn sieve(patterns: &Patterns) -> Option<Sieve> {
    let beginning = format!("{{\"digest\":\"{}\"", digest(patterns));
    let line = TABLES.lines().find(|line| line.starts_with(&beginning))?;
    let stored: Stored = serde_json::from_str(line).ok()?;
    let words = Cow::Borrowed(WORDS.get(stored.words)?);
    Some(Sieve::with(stored.table, Map::new(words).ok()?))
}

fn digest(patterns: &Patterns) -> String {
    let case = u64::from(patterns.case == Case::Counts);
    let texts = patterns.texts().flat_map(|text| text.bytes().chain([0]));
    format!(
        "{:016x}",
        hash_of([case].into_iter().chain(texts.map(u64::from)))
    )
}

#[cfg(any(test, feature = "testing"))]
pub(super) use making::note;
#[cfg(any(test, feature = "testing"))]
pub use making::{Files, files};

#[cfg(any(test, feature = "testing"))]
mod making {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::{Patterns, Sieve, Stored, digest};

    thread_local! {
        /// The sieves of all lists of patterns that this thread makes, while [`files`] runs.
        static NOTED: RefCell<Option<BTreeMap<String, Sieve>>> = const { RefCell::new(None) };
    }

    /// What the two files are to hold.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Files {
        pub tables: String,
        pub words: Vec<u8>,
    }

    /// The files for all lists of patterns that `read` makes.
    pub fn files(read: impl FnOnce()) -> Files {
        NOTED.set(Some(BTreeMap::new()));
        read();
        let mut files = Files {
            tables: String::new(),
            words: Vec::new(),
        };
        for (digest, sieve) in NOTED.take().unwrap_or_default() {
            let start = files.words.len();
            files.words.extend(sieve.words.as_fst().as_bytes());
            let stored = Stored {
                digest,
                words: start..files.words.len(),
                table: sieve.table,
            };
            let line = serde_json::to_string(&stored).expect("a table of numbers and letters");
            files.tables += &line;
            files.tables.push('\n');
        }
        files
    }

    pub(in super::super) fn note(patterns: &Patterns) {
        NOTED.with_borrow_mut(|noted| {
            if let Some(noted) = noted
                && !patterns.is_empty()
            {
                let sieve = || Sieve::new(patterns.case, patterns.texts());
                noted.entry(digest(patterns)).or_insert_with(sieve);
            }
        });
    }
}
