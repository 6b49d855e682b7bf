//! `exchanges.jsonl`: the exchanges that have vectors, one line each, in the order in which they were said. Unit: one
//! file, append-only. Invariant: a line is there before its vector counts; what is not whole is not read.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chat::{MessageId, Session, Turn, TurnId};
use crate::files::Disk;
use crate::memory::recall::Exchange;
use crate::text::secrets::Known;

const FILE: &str = "exchanges.jsonl";

/// An exchange to be embedded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) turn: TurnId,
    ids: Vec<MessageId>,
    at: Option<String>,
    /// Without secrets.
    text: String,
    /// Of the text as it was said.
    print: u64,
    /// What is embedded: a text for each message, without secrets.
    pub(super) texts: Vec<String>,
}

impl Entry {
    /// `known`: the secrets that were said before.
    pub(super) fn of(turn: TurnId, exchange: &Exchange<'_>, known: &mut Known) -> Self {
        let text = exchange.text();
        let texts = exchange.texts();
        let texts: Vec<String> = texts
            .iter()
            .map(|text| known.take_in(text).into_owned())
            .collect();
        Self {
            turn,
            ids: exchange.ids().cloned().collect(),
            at: exchange.at().map(crate::chat::Timestamp::iso),
            text: known.masked_after("", &text).into_owned(),
            print: print(&text),
            texts,
        }
    }
}

/// What is kept of a line in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) turn: TurnId,
    first: MessageId,
    pub(super) messages: usize,
    /// Of its text, as it was said.
    print: u64,
}

impl Row {
    /// Whether a turn still is the exchange that was indexed.
    pub(super) fn is_of(&self, session: &Session, turn: &Turn) -> bool {
        let exchange = Exchange::of(session, turn);
        exchange.ids().next() == Some(&self.first) && print(&exchange.text()) == self.print
    }
}

/// Tells texts apart. Where another version of the program counts differently, vectors are made again.
fn print(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[derive(Serialize, Deserialize)]
struct Line {
    turn: u32,
    messages: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    text: String,
    /// Of the text as it was said; missing where it is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    print: Option<u64>,
}

/// The file, and what it says.
#[derive(Debug)]
pub(super) struct Catalogue {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    rows: Vec<Row>,
}

/// A line that is no line of ours.
#[derive(Debug, thiserror::Error)]
#[error("{}, line {line}: {why}", path.display())]
pub(super) struct Damaged {
    path: PathBuf,
    line: usize,
    why: String,
}

impl Catalogue {
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Reads the file; nothing where there is none. A torn last line is cut off.
    pub(super) fn open(disk: Arc<dyn Disk>, folder: &Path) -> io::Result<Result<Self, Damaged>> {
        let path = folder.join(FILE);
        let bytes = match disk.read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes?,
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        if whole < bytes.len() {
            disk.truncate(&path, whole as u64)?;
        }
        let lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let rows: Result<Vec<Row>, Damaged> = lines
            .zip(1..)
            .map(|(bytes, line)| {
                row(bytes).map_err(|why| Damaged {
                    path: path.clone(),
                    line,
                    why,
                })
            })
            .collect();
        Ok(rows.map(|rows| Self { disk, path, rows }))
    }

    /// Lines of the file, without reading what they say.
    pub(super) fn count(disk: &dyn Disk, folder: &Path) -> usize {
        let bytes = disk.read(&folder.join(FILE)).unwrap_or_default();
        bytes.split_inclusive(|byte| *byte == b'\n').count()
    }

    /// The file as it is, of which single lines are read.
    pub(super) fn lines(disk: &dyn Disk, folder: &Path) -> Lines {
        let bytes = disk.read(&folder.join(FILE)).unwrap_or_default();
        let is_end = |(at, byte): (usize, &u8)| (*byte == b'\n').then_some(at + 1);
        let ends = bytes.iter().enumerate().filter_map(is_end).collect();
        Lines { bytes, ends }
    }

    /// Begins a new, empty file.
    pub(super) fn create(disk: Arc<dyn Disk>, folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        disk.remove(&path)?;
        Ok(Self {
            disk,
            path,
            rows: Vec::new(),
        })
    }

    /// Cuts off all but the first `n` lines.
    pub(super) fn keep(&mut self, n: usize) -> io::Result<()> {
        if n >= self.rows.len() {
            return Ok(());
        }
        let bytes = self.disk.read(&self.path)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(n);
        let length: usize = lines.map(<[u8]>::len).sum();
        self.disk.truncate(&self.path, length as u64)?;
        self.rows.truncate(n);
        Ok(())
    }

    /// Appends a line for each entry; on disk when it returns.
    pub(super) fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for entry in entries {
            let line = Line {
                turn: entry.turn.0,
                messages: entry.ids.iter().map(ToString::to_string).collect(),
                at: entry.at.clone(),
                text: entry.text.clone(),
                print: (print(&entry.text) != entry.print).then_some(entry.print),
            };
            serde_json::to_writer(&mut bytes, &line)?;
            bytes.push(b'\n');
        }
        self.disk.append_synced(&self.path, &bytes)?;
        self.rows.extend(entries.iter().map(|entry| Row {
            turn: entry.turn,
            first: first(entry.ids.iter().cloned()),
            messages: entry.ids.len(),
            print: entry.print,
        }));
        Ok(())
    }
}

/// The whole lines of a file.
#[derive(Debug)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn line(&self, n: usize) -> Option<&[u8]> {
        let end = *self.ends.get(n)?;
        let start = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }
}

pub(super) fn row(bytes: &[u8]) -> Result<Row, String> {
    let line: Line = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(Row {
        turn: TurnId(line.turn),
        messages: line.messages.len(),
        first: first(line.messages.into_iter().map(MessageId::new)),
        print: line.print.unwrap_or_else(|| print(&line.text)),
    })
}

fn first(ids: impl Iterator<Item = MessageId>) -> MessageId {
    let mut ids = ids;
    ids.next().unwrap_or_else(|| MessageId::new(""))
}
