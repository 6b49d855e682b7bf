//! `exchanges.jsonl` and `meta.json` beside a session's index of words: which of its exchanges have vectors, and what
//! made them (C17, C23, C27). For people and other programs; no search reads them. Invariant: a line is there once its
//! exchange has all its vectors, in the order in which they were said.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::Exchange;
use crate::chat::{Session, Timestamp, Turn, TurnId};
use crate::files::{Disk, if_there};
use crate::index::vectors::Made;
use crate::text::secrets::Known;

const LINES: &str = "exchanges.jsonl";
const META: &str = "meta.json";
/// What an older version kept here instead of in the one store.
const OUTDATED: [&str; 2] = ["vectors.f32", "vectors.rows"];

#[derive(Serialize)]
struct Line {
    turn: u32,
    messages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// Without secrets.
    text: String,
    /// Of the text as it was said.
    print: u64,
}

/// What is read of a line.
#[derive(Deserialize)]
struct Listed {
    turn: u32,
    messages: Vec<IgnoredAny>,
    print: u64,
}

/// `meta.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub model: String,
    pub dimension: usize,
    /// Messages that have vectors.
    pub count: usize,
}

/// The files, as far as they agree with the session.
#[derive(Debug)]
pub(super) struct Catalogue {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    lines: Vec<(TurnId, usize)>,
    meta: Option<Meta>,
}

/// What `meta.json` of a session says.
pub fn meta(disk: &dyn Disk, folder: &Path) -> Option<Meta> {
    serde_json::from_slice(&disk.read(&folder.join(META)).ok()?).ok()
}

/// Lines of the file, without reading what they say.
pub fn exchanges(disk: &dyn Disk, folder: &Path) -> usize {
    let bytes = disk.read(&folder.join(LINES)).unwrap_or_default();
    bytes.split_inclusive(|byte| *byte == b'\n').count()
}

impl Catalogue {
    pub(super) fn is_there(disk: &dyn Disk, folder: &Path) -> bool {
        disk.size(&folder.join(LINES)).is_ok()
    }

    /// Reads the files, and cuts off what does not speak of this session.
    pub(super) fn open(disk: Arc<dyn Disk>, folder: &Path, session: &Session) -> io::Result<Self> {
        for name in OUTDATED {
            let path = folder.join(name);
            if disk.size(&path).is_ok() {
                disk.remove(&path)?;
            }
        }
        let path = folder.join(LINES);
        let bytes = if_there(disk.read(&path))?.unwrap_or_default();
        let mut good = 0;
        let mut lines = Vec::new();
        let mut turns = session
            .turns()
            .iter()
            .filter(|turn| is_wanted(session, turn));
        for bytes in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line: Option<Listed> = serde_json::from_slice(bytes).ok();
            let line = line.zip(turns.next()).filter(|(line, turn)| {
                let said = Exchange::of(session, turn).text();
                bytes.ends_with(b"\n") && line.turn == turn.id.0 && line.print == print(&said)
            });
            let Some((line, turn)) = line else {
                break;
            };
            good += bytes.len();
            lines.push((turn.id, line.messages.len()));
        }
        if good < bytes.len() {
            disk.truncate(&path, good as u64)?;
        }
        let meta = meta(disk.as_ref(), folder);
        Ok(Self {
            disk,
            folder: folder.to_owned(),
            lines,
            meta,
        })
    }

    /// Exchanges that are listed.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Lists the exchanges before a message, all of them anew where another model makes the vectors by now.
    pub(super) fn bring_up_to(
        &mut self,
        session: &Session,
        before: usize,
        known: impl FnOnce() -> Known,
        made: &Made,
    ) -> io::Result<()> {
        let is_same = |meta: &Meta| meta.model == made.model && meta.dimension == made.dimension;
        if self.meta.as_ref().is_some_and(|meta| !is_same(meta)) && !self.lines.is_empty() {
            self.disk.truncate(&self.folder.join(LINES), 0)?;
            self.lines.clear();
        }
        let turns = session.turns();
        let last = self.lines.last().map(|(turn, _)| *turn);
        let first = last.map_or(0, |last| turns.partition_point(|turn| turn.id <= last));
        let finished = turns[first..]
            .iter()
            .take_while(|turn| turn.messages.end <= before && turn.outcome.is_some());
        let wanted = finished.filter(|turn| is_wanted(session, turn));
        let exchanges: Vec<_> = wanted
            .map(|turn| (turn.id, Exchange::of(session, turn)))
            .collect();
        let mut known = if exchanges.is_empty() {
            Known::default()
        } else {
            known()
        };
        self.append(&exchanges, &mut known, made)
    }

    /// Adds a line for each exchange, and brings `meta.json` up to them; on disk when it returns.
    fn append(
        &mut self,
        exchanges: &[(TurnId, Exchange<'_>)],
        known: &mut Known,
        made: &Made,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (turn, exchange) in exchanges {
            let said = exchange.text();
            let line = Line {
                turn: turn.0,
                messages: exchange.ids().map(ToString::to_string).collect(),
                at: exchange.at().map(Timestamp::iso),
                text: known.masked_after("", &said).into_owned(),
                print: print(&said),
            };
            serde_json::to_writer(&mut bytes, &line)?;
            bytes.push(b'\n');
        }
        if !bytes.is_empty() {
            self.disk.append_synced(&self.folder.join(LINES), &bytes)?;
        }
        let listed = exchanges
            .iter()
            .map(|(turn, exchange)| (*turn, exchange.ids().count()));
        self.lines.extend(listed);
        let count = self.lines.iter().map(|(_, messages)| messages).sum();
        let meta = Meta {
            model: made.model.clone(),
            dimension: made.dimension,
            count,
        };
        if self.meta.as_ref() != Some(&meta) {
            let mut bytes = serde_json::to_vec_pretty(&meta)?;
            bytes.push(b'\n');
            self.disk.replace(&self.folder.join(META), &bytes)?;
            self.meta = Some(meta);
        }
        Ok(())
    }
}

/// Whether a turn should have a line.
fn is_wanted(session: &Session, turn: &Turn) -> bool {
    turn.withdrawn.is_none() && !Exchange::of(session, turn).is_empty()
}

/// Tells texts apart. Where another version of the program counts differently, the lines are written again.
fn print(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
