//! The sessions that are not open, ready to be searched by their own indexes of words and by the vectors of their
//! messages.
//!
//! Invariant: nothing of a session is written, one that did not change is not read again while there is room for it, no
//! search reads more than [`MAX_READ`], and no text of a session is given to an embedder.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use super::Past;
use super::find::Talk;
use super::meaning::Asked;
use super::session::{self, MessageKeys, Words};
use super::words::Lists;
use crate::chat::{Session, SessionName};
use crate::files::{Disk, Surveyed};
use crate::store::StoreError;

/// Bytes of sessions that are held, as they are on disk.
const MAX_HELD: u64 = 32 << 20;
/// Bytes of sessions that a search reads which somebody asked for.
const MAX_READ: u64 = 256 << 20;
/// So many are read in front of a request, by itself: some tens of milliseconds.
const MAX_BY_ITSELF: u64 = 8 << 20;
/// Bytes that could be read in the time that it takes to open a session.
const OPENING: u64 = 64 << 10;
/// A session without an index of its words takes so many times as long to read.
const WITHOUT_INDEX: u64 = 40;

/// How much of the sessions is read, by who has it done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A person or a model, who waits for it and is told what was left out.
    Asked,
    /// A turn, before its request. What is too much now is read with a later turn or when somebody asks.
    ByItself,
}

/// Sessions that are not open.
#[derive(Debug)]
pub(super) struct PastSessions {
    past: Past,
    /// The folder with their indexes.
    indexes: PathBuf,
    held: BTreeMap<SessionName, Volume>,
}

/// One of them, ready to be searched.
#[derive(Debug)]
struct Volume {
    stamp: Stamp,
    session: Session,
    words: Words,
    keys: MessageKeys,
    /// What of it is near the question by meaning.
    nearest: Vec<(usize, f32)>,
}

/// What tells that a session is as it was: sizes and times of its snapshot and journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stamp {
    size: u64,
    times: Vec<(u64, Option<SystemTime>)>,
    newest: Option<SystemTime>,
}

impl PastSessions {
    pub(super) fn new(past: Past, indexes: PathBuf) -> Self {
        Self {
            past,
            indexes,
            held: BTreeMap::new(),
        }
    }

    pub(super) fn forget(&mut self) {
        self.held.clear();
    }

    /// Reads every session but the open one, newest first, and what of them is near by meaning; tells what could not be
    /// read.
    pub(super) async fn read(
        &mut self,
        (disk, lists): (Arc<dyn Disk>, Arc<Lists>),
        open: Option<&SessionName>,
        asked: Option<Asked>,
        effort: Effort,
    ) -> Vec<String> {
        let open = open.cloned();
        let mut reading = Self {
            past: self.past.clone(),
            indexes: self.indexes.clone(),
            held: std::mem::take(&mut self.held),
        };
        let work = tokio::task::spawn_blocking(move || {
            let troubles = reading.read_all((disk.as_ref(), &lists), open.as_ref(), effort);
            for volume in reading.held.values_mut() {
                volume.nearest = match &asked {
                    Some(asked) => volume.keys.near(&volume.session, asked),
                    None => Vec::new(),
                };
            }
            (reading.held, troubles)
        });
        match work.await {
            Ok((held, troubles)) => {
                self.held = held;
                troubles
            }
            Err(error) => {
                tracing::warn!("reading past sessions failed: {error}");
                Vec::new()
            }
        }
    }

    /// Those that were read.
    pub(super) fn talks(&self) -> Vec<Talk<'_>> {
        let talks = self.held.iter().map(|(name, volume)| Talk {
            name,
            session: &volume.session,
            words: &volume.words,
            nearest: volume.nearest.clone(),
        });
        talks.collect()
    }

    /// Lets go of the oldest ones where they are too many to be held.
    pub(super) fn thin_out(&mut self) {
        let mut newest: Vec<_> = self.held.iter().collect();
        newest.sort_by_key(|(_, volume)| std::cmp::Reverse(volume.stamp.newest));
        let mut size = 0;
        let kept: BTreeSet<SessionName> = newest
            .into_iter()
            .take_while(|(_, volume)| {
                size += volume.stamp.size;
                size <= MAX_HELD
            })
            .map(|(name, _)| name.clone())
            .collect();
        self.held.retain(|name, _| kept.contains(name));
    }

    fn read_all(
        &mut self,
        parts: (&dyn Disk, &Arc<Lists>),
        open: Option<&SessionName>,
        effort: Effort,
    ) -> Vec<String> {
        let mut troubles = Vec::new();
        let files = parts.0.survey(&self.past.history).unwrap_or_else(|error| {
            let folder = self.past.history.display();
            troubles.push(format!("cannot search {folder}: {error}"));
            Vec::new()
        });
        let mut sessions: Vec<(SessionName, Stamp)> = stamps(&files).into_iter().collect();
        sessions.retain(|(name, _)| Some(name) != open);
        self.held
            .retain(|name, volume| sessions.contains(&(name.clone(), volume.stamp.clone())));
        sessions.retain(|(name, _)| !self.held.contains_key(name));
        sessions.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.newest));
        let mut room = self.room(effort);
        let mut wanted = Vec::new();
        for (name, stamp) in sessions {
            let folder = self.indexes.join(name.as_str());
            let has_index = || session::is_current(parts.0, &folder);
            let cost = match effort {
                Effort::Asked => stamp.size,
                Effort::ByItself if has_index() => stamp.size.saturating_add(OPENING),
                Effort::ByItself => {
                    OPENING.saturating_add(stamp.size.saturating_mul(WITHOUT_INDEX))
                }
            };
            match (cost <= room, effort) {
                (true, _) => room -= cost,
                (false, Effort::ByItself) => continue,
                (false, Effort::Asked) => {
                    troubles.push("too many sessions; the oldest are not searched".to_owned());
                    break;
                }
            }
            wanted.push((name, stamp));
        }
        for ((name, _), read) in wanted.iter().zip(self.side_by_side(parts, &wanted)) {
            match read {
                Ok(volume) => {
                    self.held.insert(name.clone(), volume);
                }
                Err(error) => troubles.push(format!("skipped session {name} in search: {error}")),
            }
        }
        troubles
    }

    /// Reads sessions on all processors.
    fn side_by_side(
        &self,
        parts: (&dyn Disk, &Arc<Lists>),
        wanted: &[(SessionName, Stamp)],
    ) -> Vec<Result<Volume, StoreError>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let next = AtomicUsize::new(0);
        let work = || {
            let taken = iter::from_fn(|| {
                let at = next.fetch_add(1, Ordering::Relaxed);
                Some((at, self.volume(parts, wanted.get(at)?)))
            });
            taken.collect::<Vec<_>>()
        };
        let mut read = thread::scope(|scope| {
            let helpers = 1..threads.min(wanted.len());
            let helpers: Vec<_> = helpers.map(|_| scope.spawn(work)).collect();
            let mut read = work();
            for helper in helpers {
                read.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            read
        });
        read.sort_unstable_by_key(|(at, _)| *at);
        read.into_iter().map(|(_, volume)| volume).collect()
    }

    fn volume(
        &self,
        parts: (&dyn Disk, &Arc<Lists>),
        (name, stamp): &(SessionName, Stamp),
    ) -> Result<Volume, StoreError> {
        let session = self.past.store.read(name)?;
        let folder = self.indexes.join(name.as_str());
        Ok(Volume {
            stamp: stamp.clone(),
            words: session::read_only(parts, &folder, &session),
            session,
            keys: MessageKeys::default(),
            nearest: Vec::new(),
        })
    }

    /// Bytes of sessions that may be read. What would have to be let go of again is not worth the wait of a turn.
    fn room(&self, effort: Effort) -> u64 {
        let held: u64 = self.held.values().map(|volume| volume.stamp.size).sum();
        match effort {
            Effort::Asked => MAX_READ,
            Effort::ByItself => MAX_BY_ITSELF.min(MAX_HELD.saturating_sub(held)),
        }
    }
}

/// The sessions among the files of a folder.
fn stamps(files: &[Surveyed]) -> BTreeMap<SessionName, Stamp> {
    let mut stamps: BTreeMap<SessionName, Stamp> = BTreeMap::new();
    for file in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        // What is forgotten changes what is found.
        let name = name
            .strip_suffix("_forgotten.json")
            .or_else(|| name.strip_suffix(".journal.jsonl"))
            .or_else(|| name.strip_suffix(".json"));
        // Names of files beside a session are none of sessions.
        let Some(name) = name.and_then(|name| name.parse::<SessionName>().ok()) else {
            continue;
        };
        let stamp = stamps.entry(name).or_default();
        stamp.size += file.size;
        stamp.times.push((file.size, file.modified));
        stamp.newest = stamp.newest.max(file.modified);
    }
    stamps
}
