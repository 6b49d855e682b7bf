//! What was captured, when, from which message, into which files: `memory/receipts.jsonl` in the data folder.
//!
//! Invariant: a number is given once. A line that cannot be read is passed over: the files themselves hold what was
//! captured, a receipt only tells where it came from.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::chat::Timestamp;
use crate::files::{Disk, Lock, LockError, if_there};

/// The receipts of a data folder.
#[derive(Clone, Debug)]
pub struct Receipts {
    disk: Arc<dyn Disk>,
    file: PathBuf,
}

/// One capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub number: u64,
    pub at: Option<Timestamp>,
    pub what: Captured,
    /// Taken back since.
    pub forgotten: bool,
}

/// What was captured, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Captured {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(rename = "kind", skip_serializing_if = "String::is_empty")]
    pub category: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The files of the workspace that hold it: `MEMORY.md`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Lines of MEMORY.md that it took the place of, as they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
    /// The id of the entry that stands for it, where it is one of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// A session that has another name since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    pub at: Option<Timestamp>,
    pub before: String,
    pub after: String,
}

/// Why receipts cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptsError {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {}", path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is being written by another process", path.display())]
    Busy { path: PathBuf },
}

/// A line of the file: a capture, that one was taken back, or that a session has another name.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Line {
    n: u64,
    at: String,
    #[serde(flatten)]
    what: Captured,
    /// The name that its session has since.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    renamed: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forgotten: bool,
}

/// A longer file loses the older half of its lines, but for those that something hangs on.
const MAX_BYTES: usize = 1 << 20;
/// So much of the end is read for the number that was given last.
const END: u64 = 16 << 10;
/// Of the older half so much stays.
const MAX_KEPT: usize = MAX_BYTES / 4;
/// How long another process may take that writes one line.
const WAIT: Duration = Duration::from_secs(2);

impl Receipts {
    pub fn new(disk: Arc<dyn Disk>, file: PathBuf) -> Self {
        Self { disk, file }
    }

    pub fn path(&self) -> &Path {
        &self.file
    }

    /// All of them, oldest first, each with the name that its session has now.
    pub fn all(&self) -> Result<Vec<Receipt>, ReceiptsError> {
        Ok(read(&self.bytes()?).0.into_values().collect())
    }

    /// Sessions that have another name since, oldest first.
    pub fn renamed(&self) -> Result<Vec<Renamed>, ReceiptsError> {
        Ok(read(&self.bytes()?).1)
    }

    /// Gives each capture its number and writes it down.
    pub fn add(
        &self,
        captured: Vec<Captured>,
        at: Timestamp,
    ) -> Result<Vec<Receipt>, ReceiptsError> {
        let _held = self.lock()?;
        let last = self.last_number()?;
        let receipts: Vec<Receipt> = (last + 1..)
            .zip(captured)
            .map(|(number, what)| Receipt {
                number,
                at: Some(at),
                what,
                forgotten: false,
            })
            .collect();
        let lines = receipts.iter().map(Line::of);
        self.append(lines.map(|line| line.written()).collect())?;
        Ok(receipts)
    }

    /// Notes that a capture was taken back.
    pub fn forget(&self, number: u64, at: Timestamp) -> Result<(), ReceiptsError> {
        let _held = self.lock()?;
        let line = Line {
            n: number,
            at: at.iso(),
            forgotten: true,
            ..Line::default()
        };
        self.append(line.written())
    }

    /// Leaves nothing of these but their numbers, and notes that they were taken back. `before`: what had stood in the
    /// place of a line that one of them wrote, for those that took its place.
    pub fn redact(
        &self,
        numbers: &[u64],
        before: &dyn Fn(&str) -> Option<Vec<String>>,
        at: Timestamp,
    ) -> Result<(), ReceiptsError> {
        let _held = self.lock()?;
        let bytes = self.bytes()?;
        let mut redacted = Vec::with_capacity(bytes.len());
        for raw in bytes
            .split(|byte| *byte == b'\n')
            .filter(|raw| !raw.is_empty())
        {
            let Ok(line) = serde_json::from_slice::<Line>(raw) else {
                // What is torn may hold the words.
                continue;
            };
            let line = line.redacted(numbers, before, at);
            redacted.extend(line.written().into_bytes());
        }
        let written = self.disk.replace(&self.file, &redacted);
        written.map_err(|source| self.unwritable(source))
    }

    /// Notes that a session has another name.
    pub fn rename(&self, before: &str, after: &str, at: Timestamp) -> Result<(), ReceiptsError> {
        let _held = self.lock()?;
        let mut line = Line {
            at: at.iso(),
            renamed: after.to_owned(),
            ..Line::default()
        };
        before.clone_into(&mut line.what.session);
        self.append(line.written())
    }

    /// The number that was given last. Numbers rise: the end of the file tells it.
    fn last_number(&self) -> Result<u64, ReceiptsError> {
        let size = self.size()?;
        let from = size.saturating_sub(END);
        let end = self.at(from, END)?;
        let mut lines = end.split(|byte| *byte == b'\n');
        if from > 0 {
            // It begins somewhere in a line.
            lines.next();
        }
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let lines: Vec<Line> = lines.collect();
        // Marks of what was taken back name older ones.
        if from > 0 && lines.iter().all(|line| line.forgotten || line.n == 0) {
            let all = read(&self.bytes()?).0;
            return Ok(all.last_key_value().map_or(0, |(number, _)| *number));
        }
        Ok(lines.iter().map(|line| line.n).max().unwrap_or(0))
    }

    fn size(&self) -> Result<u64, ReceiptsError> {
        let size = if_there(self.disk.size(&self.file));
        Ok(size.map_err(|source| self.unreadable(source))?.unwrap_or(0))
    }

    fn at(&self, from: u64, bytes: u64) -> Result<Vec<u8>, ReceiptsError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let read = if_there(self.disk.read_at(&self.file, from, bytes));
        let read = read.map_err(|source| self.unreadable(source))?;
        Ok(read.unwrap_or_default())
    }

    fn append(&self, lines: String) -> Result<(), ReceiptsError> {
        let size = self.size()?;
        // A line torn by a kill must not swallow the next one.
        let torn = size > 0 && self.at(size - 1, 1)? != b"\n";
        let lines = if torn { format!("\n{lines}") } else { lines };
        let written = if size + lines.len() as u64 > MAX_BYTES as u64 {
            let shorter = [&shortened(&self.bytes()?)[..], lines.as_bytes()].concat();
            self.disk.replace(&self.file, &shorter)
        } else {
            self.disk.append_synced(&self.file, lines.as_bytes())
        };
        written.map_err(|source| self.unwritable(source))
    }

    fn bytes(&self) -> Result<Vec<u8>, ReceiptsError> {
        let read = if_there(self.disk.read(&self.file));
        let read = read.map_err(|source| self.unreadable(source))?;
        Ok(read.unwrap_or_default())
    }

    fn unreadable(&self, source: io::Error) -> ReceiptsError {
        ReceiptsError::Unreadable {
            path: self.file.clone(),
            source,
        }
    }

    fn lock(&self) -> Result<Lock, ReceiptsError> {
        let lock = self.file.with_extension("lock");
        self.disk.lock(&lock, WAIT).map_err(|error| match error {
            LockError::Held { .. } => ReceiptsError::Busy {
                path: self.file.clone(),
            },
            LockError::Io(source) => self.unwritable(source),
        })
    }

    fn unwritable(&self, source: io::Error) -> ReceiptsError {
        ReceiptsError::Unwritable {
            path: self.file.clone(),
            source,
        }
    }
}

/// The newer half of the lines, and of the older one those that tie a line of MEMORY.md to its entry, name a session
/// anew or are of what was taken back: without them it would stay, or come back.
fn shortened(bytes: &[u8]) -> Vec<u8> {
    let half = bytes.len() / 2;
    let cut = bytes[half..].iter().position(|byte| *byte == b'\n');
    let (older, newer) = bytes.split_at(cut.map_or(bytes.len(), |at| half + at + 1));
    let parsed = |line: &[u8]| serde_json::from_slice::<Line>(line).ok();
    let marks = bytes.split(|byte| *byte == b'\n').filter_map(parsed);
    let forgotten: HashSet<u64> = marks.filter(|it| it.forgotten).map(|it| it.n).collect();
    let is_needed = |line: &&[u8]| {
        parsed(line).is_some_and(|it| {
            it.what.entry.is_some() || !it.renamed.is_empty() || forgotten.contains(&it.n)
        })
    };
    let mut room = MAX_KEPT;
    let fits = |line: &&[u8]| {
        let left = room.checked_sub(line.len());
        room = left.unwrap_or(room);
        left.is_some()
    };
    let newest_first = older.split_inclusive(|byte| *byte == b'\n').rev();
    let mut kept: Vec<&[u8]> = newest_first.filter(is_needed).take_while(fits).collect();
    kept.reverse();
    kept.push(newer);
    kept.concat()
}

/// What the lines come to, by number; and which sessions have another name.
fn read(bytes: &[u8]) -> (BTreeMap<u64, Receipt>, Vec<Renamed>) {
    let mut receipts: BTreeMap<u64, Receipt> = BTreeMap::new();
    let mut renamed = Vec::new();
    let lines = bytes.split(|byte| *byte == b'\n');
    for line in lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok()) {
        if !line.renamed.is_empty() {
            let before = receipts.values_mut();
            for receipt in before.filter(|it| it.what.session == line.what.session) {
                receipt.what.rename(&line.renamed);
            }
            renamed.push(Renamed {
                at: Timestamp::parse(&line.at),
                before: line.what.session,
                after: line.renamed,
            });
        } else if line.forgotten && line.what.text.is_empty() {
            if let Some(receipt) = receipts.get_mut(&line.n) {
                receipt.forgotten = true;
            } else if !line.what.category.is_empty() {
                // Nothing else is left of it.
                receipts.insert(line.n, line.receipt());
            }
        } else {
            receipts.insert(line.n, line.receipt());
        }
    }
    (receipts, renamed)
}

impl Captured {
    /// The category of what was noted at the end of a turn: a label, and the words of a message.
    pub const FACT: &str = "fact";
    /// That of what a model was told to keep.
    pub const MEMORIZED: &str = "memorized";
    /// That of a secret, which history alone has: the kind of it, and in which message it stands.
    pub const MASKED: &str = "masked";

    /// Whether its line has no category in front.
    pub fn is_bare(&self) -> bool {
        [Self::FACT, Self::MEMORIZED].contains(&self.category.as_str())
    }

    /// What was said of it, without a label.
    pub fn words(&self) -> &str {
        let text = self.text.as_str();
        if self.category == Self::FACT {
            text.split_once(": ").map_or(text, |(_, words)| words)
        } else {
            text
        }
    }

    /// Its session has another name, and so has the folder of its notes.
    fn rename(&mut self, name: &str) {
        let folder = format!("sessions/{}/", self.session);
        for file in &mut self.files {
            if let Some(rest) = file.strip_prefix(&folder) {
                *file = format!("sessions/{name}/{rest}");
            }
        }
        name.clone_into(&mut self.session);
    }
}

impl Line {
    fn of(receipt: &Receipt) -> Self {
        Self {
            n: receipt.number,
            at: receipt.at.map_or_else(String::new, Timestamp::iso),
            what: receipt.what.clone(),
            renamed: String::new(),
            forgotten: receipt.forgotten,
        }
    }

    fn receipt(self) -> Receipt {
        Receipt {
            number: self.n,
            at: Timestamp::parse(&self.at),
            what: self.what,
            forgotten: self.forgotten,
        }
    }

    fn redacted(
        mut self,
        numbers: &[u64],
        before: &dyn Fn(&str) -> Option<Vec<String>>,
        at: Timestamp,
    ) -> Self {
        let superseded = std::mem::take(&mut self.what.superseded).into_iter();
        if self.renamed.is_empty() && numbers.contains(&self.n) {
            self.at = at.iso();
            let what = std::mem::take(&mut self.what);
            self.what = Captured {
                session: what.session,
                message: what.message,
                category: what.category,
                files: what.files,
                ..Captured::default()
            };
            self.forgotten = true;
        } else {
            let superseded =
                superseded.flat_map(|line| before(&line).unwrap_or_else(|| vec![line]));
            self.what.superseded = superseded.collect();
        }
        self
    }

    fn written(&self) -> String {
        // Strings and numbers always become JSON.
        serde_json::to_string(self).map_or_else(|_| String::new(), |line| line + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    fn captured(text: &str) -> Captured {
        Captured {
            session: "work".into(),
            message: "m5".into(),
            category: "preference".into(),
            text: text.into(),
            files: vec!["MEMORY.md".into()],
            superseded: vec!["- **preference**: jam".into()],
            entry: None,
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix(1_800_000_000 + seconds).unwrap()
    }

    fn on(disk: &MemoryDisk) -> Receipts {
        Receipts::new(Arc::new(disk.clone()), PathBuf::from("/d/receipts.jsonl"))
    }

    #[test]
    fn each_capture_gets_a_number_of_its_own_that_outlives_the_process() {
        let disk = MemoryDisk::default();
        let first = on(&disk).add(vec![captured("tea"), captured("dark mode")], at(0));
        let numbers: Vec<u64> = first.unwrap().iter().map(|one| one.number).collect();
        assert_eq!(numbers, [1, 2]);
        let next = on(&disk.after_kill())
            .add(vec![captured("x")], at(9))
            .unwrap();
        assert_eq!((next[0].number, next[0].at), (3, Some(at(9))));
    }

    #[test]
    fn what_was_taken_back_says_so() {
        let disk = MemoryDisk::default();
        on(&disk)
            .add(vec![captured("a"), captured("b")], at(0))
            .unwrap();
        on(&disk).forget(1, at(1)).unwrap();
        on(&disk).forget(77, at(1)).unwrap();
        let all = on(&disk).all().unwrap();
        let told: Vec<_> = all.iter().map(|one| (one.number, one.forgotten)).collect();
        assert_eq!(told, [(1, true), (2, false)]);
        assert_eq!(all[0].what, captured("a"));
    }

    #[test]
    fn a_session_with_another_name_has_it_in_what_was_captured_before() {
        let disk = MemoryDisk::default();
        on(&disk).add(vec![captured("a")], at(0)).unwrap();
        on(&disk).rename("work", "trip", at(1)).unwrap();
        on(&disk).add(vec![captured("b")], at(2)).unwrap();
        let all = on(&disk).all().unwrap();
        let of = |place: usize| (all[place].number, all[place].what.session.as_str());
        assert_eq!((of(0), of(1)), ((1, "trip"), (2, "work")));
        let renamed = on(&disk).renamed().unwrap();
        assert_eq!(
            (renamed[0].after.as_str(), renamed[0].at),
            ("trip", Some(at(1)))
        );
    }

    #[test]
    fn a_torn_line_costs_itself_alone() {
        let disk = MemoryDisk::default();
        on(&disk).add(vec![captured("a")], at(0)).unwrap();
        disk.append_synced(&on(&disk).file, b"{\"n\":2,\"at\"")
            .unwrap();
        on(&disk).add(vec![captured("b")], at(1)).unwrap();
        let texts: Vec<String> = on(&disk)
            .all()
            .unwrap()
            .into_iter()
            .map(|one| one.what.text)
            .collect();
        assert_eq!(texts, ["a", "b"]);
    }

    #[test]
    fn a_long_file_loses_its_older_half() {
        let disk = MemoryDisk::default();
        let long = "x".repeat(100_000);
        for n in 0..30 {
            on(&disk).add(vec![captured(&long)], at(n)).unwrap();
        }
        let all = on(&disk).all().unwrap();
        assert_eq!(all.last().unwrap().number, 30);
        let size = disk.size(&on(&disk).file).unwrap();
        assert!(size < 1_200_000, "{size}");
        assert!(all.len() >= 5, "{}", all.len());
    }

    /// What was taken back could come back, and the line of an entry stayed when that went.
    #[test]
    fn a_long_file_keeps_what_was_taken_back_ties_and_names() {
        let disk = MemoryDisk::default();
        let tied = Captured {
            entry: Some("mem_1".into()),
            ..captured("sea")
        };
        let early = vec![captured("tea"), tied, captured("rum")];
        on(&disk).add(early, at(0)).unwrap();
        on(&disk).rename("work", "trip", at(1)).unwrap();
        on(&disk).forget(1, at(2)).unwrap();
        let long = "x".repeat(100_000);
        for n in 0..30 {
            on(&disk).add(vec![captured(&long)], at(n)).unwrap();
        }
        let all = on(&disk).all().unwrap();
        let early: Vec<(u64, bool, &str)> = all
            .iter()
            .filter(|it| it.number < 4)
            .map(|it| (it.number, it.forgotten, it.what.session.as_str()))
            .collect();
        assert_eq!(early, [(1, true, "trip"), (2, false, "trip")]);
        assert_eq!(on(&disk).renamed().unwrap().len(), 1);
        // Also where there is much of it.
        let long = "x".repeat(40_000);
        for n in 0..200 {
            let [one] = &on(&disk).add(vec![captured(&long)], at(n)).unwrap()[..] else {
                panic!("one was added");
            };
            on(&disk).forget(one.number, at(n)).unwrap();
        }
        let size = disk.size(&on(&disk).file).unwrap();
        assert!(size < 1_200_000, "{size}");
    }
}
