//! The sessions that are not open, ready to be searched by their own indexes of words and of vectors.
//!
//! Unit: a session. Invariant: nothing of a session is written, one that did not change is not read again while there is
//! room for it, no search reads more than [`MAX_READ`], and no text of a session is given to an embedder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::Past;
use super::find::Talk;
use crate::agent::shelf::stored::{self, Asked, NearMessage};
use crate::chat::{Session, SessionName};
use crate::files::{Disk, Surveyed, What};
use crate::memory::recall::Words;
use crate::search::Lists;

/// Bytes of sessions that are held, as they are on disk.
const MOST_HELD: u64 = 32 << 20;
/// Bytes of sessions, and of vectors, that a search reads which somebody asked for.
const MAX_READ: u64 = 256 << 20;
const MAX_VECTORS: u64 = 64 << 20;
/// Of either so many are read in front of a request, by itself: some tens of milliseconds.
const MAX_BY_ITSELF: u64 = 8 << 20;
/// A session without an index of its words takes so many times as long to read.
const WITHOUT_INDEX: u64 = 40;

/// How much of the sessions is read, by who has it done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// A person or a model, who waits for it and is told what was left out.
    Asked,
    /// A turn, before its request. What is too much now is read with a later turn or when somebody asks.
    ByItself,
}

/// Sessions that are not open.
#[derive(Debug)]
pub(super) struct Sessions {
    past: Past,
    held: BTreeMap<SessionName, Volume>,
}

/// What a search of all of them goes through.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// What of each session is near the question by meaning.
    pub(super) near: BTreeMap<SessionName, Vec<NearMessage>>,
    pub(super) troubles: Vec<String>,
}

/// One of them, ready to be searched.
#[derive(Debug)]
struct Volume {
    stamp: Stamp,
    session: Session,
    words: Words,
}

/// What tells that a session is as it was: sizes and times of its snapshot and journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stamp {
    size: u64,
    times: Vec<(u64, Option<SystemTime>)>,
    newest: Option<SystemTime>,
}

impl Sessions {
    pub(super) fn new(past: Past) -> Self {
        Self {
            past,
            held: BTreeMap::new(),
        }
    }

    pub(super) fn forget(&mut self) {
        self.held.clear();
    }

    /// Whether any session has vectors.
    pub(super) async fn has_vectors(&self, disk: Arc<dyn Disk>) -> bool {
        let indexes = self.past.indexes.clone();
        let looking = tokio::task::spawn_blocking(move || {
            let sessions = disk.survey(&indexes).unwrap_or_default();
            let mut folders = sessions.iter().filter(|it| it.what == What::Folder);
            folders.any(|folder| stored::is_any(disk.as_ref(), &folder.path))
        });
        looking.await.unwrap_or(false)
    }

    /// What of a session is near a question.
    pub(super) async fn near(
        &self,
        disk: Arc<dyn Disk>,
        name: &SessionName,
        asked: Option<Arc<Asked>>,
    ) -> Vec<NearMessage> {
        let Some(asked) = asked else {
            return Vec::new();
        };
        let folder = self.past.indexes.join(name.as_str());
        let looking =
            tokio::task::spawn_blocking(move || stored::near(disk.as_ref(), &folder, &asked));
        looking.await.unwrap_or_default()
    }

    /// Reads every session but the open one, newest first, and what of them is near by meaning.
    pub(super) async fn read(
        &mut self,
        (disk, lists): (Arc<dyn Disk>, Arc<Lists>),
        open: Option<&SessionName>,
        asked: Option<Arc<Asked>>,
        effort: Effort,
    ) -> Ready {
        let past = self.past.clone();
        let held = std::mem::take(&mut self.held);
        let open = open.cloned();
        let work = tokio::task::spawn_blocking(move || {
            let mut shelves = Shelves {
                past: &past,
                disk: disk.as_ref(),
                lists: &lists,
                asked: asked.as_deref(),
                effort,
                vectors: 0,
                held,
            };
            let ready = shelves.ready(open.as_ref());
            (shelves.held, ready)
        });
        match work.await {
            Ok((held, ready)) => {
                self.held = held;
                ready
            }
            Err(error) => {
                tracing::warn!("reading past sessions broke: {error}");
                Ready::default()
            }
        }
    }

    /// Those that were read.
    pub(super) fn talks<'a>(&'a self, ready: &Ready) -> Vec<Talk<'a>> {
        let talks = self.held.iter().map(|(name, volume)| Talk {
            name,
            session: &volume.session,
            words: &volume.words,
            nearest: match ready.near.get(name) {
                Some(near) => stored::in_session(&volume.session, near),
                None => Vec::new(),
            },
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
                size <= MOST_HELD
            })
            .map(|(name, _)| name.clone())
            .collect();
        self.held.retain(|name, _| kept.contains(name));
    }
}

/// One reading at work.
struct Shelves<'a> {
    past: &'a Past,
    disk: &'a dyn Disk,
    lists: &'a Arc<Lists>,
    asked: Option<&'a Asked>,
    effort: Effort,
    /// Bytes of vectors read so far.
    vectors: u64,
    held: BTreeMap<SessionName, Volume>,
}

impl Shelves<'_> {
    fn ready(&mut self, open: Option<&SessionName>) -> Ready {
        let mut ready = Ready::default();
        let files = self
            .disk
            .survey(&self.past.history)
            .unwrap_or_else(|error| {
                let folder = self.past.history.display();
                let trouble = format!("{folder} cannot be searched: {error}");
                ready.troubles.push(trouble);
                Vec::new()
            });
        let mut sessions: Vec<(SessionName, Stamp)> = stamps(&files).into_iter().collect();
        sessions.retain(|(name, _)| Some(name) != open);
        self.held
            .retain(|name, volume| sessions.contains(&(name.clone(), volume.stamp.clone())));
        sessions.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.newest));
        let mut room = self.room();
        for (name, stamp) in sessions {
            if !self.held.contains_key(&name) {
                let cost = self.cost(&name, &stamp);
                match (cost <= room, self.effort) {
                    (true, _) => room -= cost,
                    (false, Effort::ByItself) => continue,
                    (false, Effort::Asked) => {
                        let trouble = "the oldest sessions are not searched: there are too many";
                        ready.troubles.push(trouble.to_owned());
                        break;
                    }
                }
                match self.read(&name, stamp) {
                    Ok(volume) => {
                        self.held.insert(name.clone(), volume);
                    }
                    Err(trouble) => {
                        let trouble = format!("session {name} is not searched: {trouble}");
                        ready.troubles.push(trouble);
                        continue;
                    }
                }
            }
            let near = self.near(&name);
            ready.near.insert(name, near);
        }
        ready
    }

    /// Bytes of sessions that may be read. What would have to be let go of again is not worth the wait of a turn.
    fn room(&self) -> u64 {
        let held: u64 = self.held.values().map(|volume| volume.stamp.size).sum();
        match self.effort {
            Effort::Asked => MAX_READ,
            Effort::ByItself => MAX_BY_ITSELF.min(MOST_HELD.saturating_sub(held)),
        }
    }

    /// What reading a session takes of that.
    fn cost(&self, name: &SessionName, stamp: &Stamp) -> u64 {
        let has_index = || self.disk.size(&self.index(name)).is_ok();
        match self.effort {
            Effort::ByItself if !has_index() => stamp.size.saturating_mul(WITHOUT_INDEX),
            Effort::Asked | Effort::ByItself => stamp.size,
        }
    }

    fn index(&self, name: &SessionName) -> PathBuf {
        self.past.indexes.join(name.as_str()).join("words.idx")
    }

    /// What is near the question by vectors that were made before; of the oldest sessions none where there are too many.
    fn near(&mut self, name: &SessionName) -> Vec<NearMessage> {
        let Some(asked) = self.asked else {
            return Vec::new();
        };
        let folder = self.past.indexes.join(name.as_str());
        let files = self.disk.survey(&folder).unwrap_or_default();
        self.vectors += files.iter().map(|file| file.size).sum::<u64>();
        let max = match self.effort {
            Effort::Asked => MAX_VECTORS,
            Effort::ByItself => MAX_BY_ITSELF,
        };
        if self.vectors > max {
            return Vec::new();
        }
        stored::near(self.disk, &folder, asked)
    }

    fn read(&self, name: &SessionName, stamp: Stamp) -> Result<Volume, String> {
        let session = self.past.store.read(name);
        let session = session.map_err(|error| error.to_string())?;
        let bytes = self.disk.read(&self.index(name)).ok();
        let words = bytes.and_then(|bytes| Words::from_bytes(Arc::clone(self.lists), &bytes));
        let words = words.and_then(|mut words| words.is_of(&session).then_some(words));
        let mut words = words.unwrap_or_else(|| Words::new(Arc::clone(self.lists)));
        words.take_back_all(&session);
        words.follow(&session);
        Ok(Volume {
            stamp,
            session,
            words,
        })
    }
}

/// The sessions among the files of a folder.
fn stamps(files: &[Surveyed]) -> BTreeMap<SessionName, Stamp> {
    let mut stamps: BTreeMap<SessionName, Stamp> = BTreeMap::new();
    for file in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name
            .strip_suffix(".journal.jsonl")
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
