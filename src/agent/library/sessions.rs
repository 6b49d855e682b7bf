//! What was said in sessions, found one session after the other by their own indexes of words and of vectors.
//!
//! Unit: a session. Invariant: nothing of a session is written, one that did not change is not read again while there is
//! room for it, no search reads more than [`MOST_READ`], and no text of a session is given to an embedder.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::find::Hit;
use super::sources::Kind;
use super::{Open, Past, source_of};
use crate::agent::shelf::stored::{self, Asked, NearMessage};
use crate::chat::{Session, SessionName};
use crate::files::{Disk, Surveyed, What};
use crate::memory::recall::{self, Searching, Words, find_messages};
use crate::search::Lists;

/// Bytes of sessions that are held, as they are on disk.
const MOST_HELD: u64 = 32 << 20;
/// Bytes of sessions that one search reads.
const MOST_READ: u64 = 256 << 20;
/// Bytes of vectors that one search reads.
const MOST_VECTORS: u64 = 64 << 20;
/// Messages looked at for each one wanted: some are there for those beside them.
const LOOKED_AT: usize = 4;
/// Characters of a hit.
const CONTENT: usize = 300;

/// What is looked for.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) text: String,
    /// Its vector, where there is one.
    pub(super) asked: Option<Arc<Asked>>,
    pub(super) k: usize,
    /// The cosine from which on a message is found without any word of the question.
    pub(super) min_similarity: f32,
}

/// Sessions that are not open.
#[derive(Debug)]
pub(super) struct Sessions {
    past: Past,
    held: BTreeMap<SessionName, Volume>,
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

/// What a search of all of them found.
#[derive(Debug, Default)]
pub(super) struct InPast {
    pub(super) hits: Vec<Hit>,
    /// Sessions looked through.
    pub(super) count: usize,
    pub(super) troubles: Vec<String>,
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
        question: &Question,
    ) -> Vec<NearMessage> {
        let Some(asked) = question.asked.clone() else {
            return Vec::new();
        };
        let folder = self.past.indexes.join(name.as_str());
        let looking =
            tokio::task::spawn_blocking(move || stored::near(disk.as_ref(), &folder, &asked));
        looking.await.unwrap_or_default()
    }

    /// Searches every session but the open one, newest first.
    pub(super) async fn search(
        &mut self,
        (disk, lists): (Arc<dyn Disk>, Arc<Lists>),
        open: Option<&SessionName>,
        question: Question,
    ) -> InPast {
        let past = self.past.clone();
        let held = std::mem::take(&mut self.held);
        let open = open.cloned();
        let searching = tokio::task::spawn_blocking(move || {
            let mut shelves = Shelves {
                past: &past,
                disk: disk.as_ref(),
                lists: &lists,
                question: &question,
                vectors: 0,
                held,
            };
            let found = shelves.search(open.as_ref());
            (shelves.held, found)
        });
        match searching.await {
            Ok((held, found)) => {
                self.held = held;
                found
            }
            Err(error) => {
                tracing::warn!("searching past sessions broke: {error}");
                InPast::default()
            }
        }
    }
}

/// One search at work.
struct Shelves<'a> {
    past: &'a Past,
    disk: &'a dyn Disk,
    lists: &'a Arc<Lists>,
    question: &'a Question,
    /// Bytes of vectors read so far.
    vectors: u64,
    held: BTreeMap<SessionName, Volume>,
}

impl Shelves<'_> {
    fn search(&mut self, open: Option<&SessionName>) -> InPast {
        let mut found = InPast::default();
        let files = self
            .disk
            .survey(&self.past.history)
            .unwrap_or_else(|error| {
                let folder = self.past.history.display();
                found
                    .troubles
                    .push(format!("{folder} cannot be searched: {error}"));
                Vec::new()
            });
        let mut sessions: Vec<(SessionName, Stamp)> = stamps(&files).into_iter().collect();
        sessions.retain(|(name, _)| Some(name) != open);
        self.held
            .retain(|name, volume| sessions.contains(&(name.clone(), volume.stamp.clone())));
        sessions.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.newest));
        let mut held: u64 = self.held.values().map(|volume| volume.stamp.size).sum();
        let mut read = 0;
        for (name, stamp) in sessions {
            let near = self.near(&name);
            if let Some(volume) = self.held.get(&name) {
                found
                    .hits
                    .extend(volume.search(&name, &near, self.question));
                found.count += 1;
                continue;
            }
            read += stamp.size;
            if read > MOST_READ {
                let trouble = "the oldest sessions are not searched: there are too many";
                found.troubles.push(trouble.to_owned());
                break;
            }
            match self.read(&name, stamp) {
                Ok(volume) => {
                    found
                        .hits
                        .extend(volume.search(&name, &near, self.question));
                    found.count += 1;
                    held += volume.stamp.size;
                    if held <= MOST_HELD {
                        self.held.insert(name, volume);
                    } else {
                        held -= volume.stamp.size;
                    }
                }
                Err(trouble) => found
                    .troubles
                    .push(format!("session {name} is not searched: {trouble}")),
            }
        }
        found
    }

    /// What is near the question by vectors that were made before; of the oldest sessions none where there are too many.
    fn near(&mut self, name: &SessionName) -> Vec<NearMessage> {
        let Some(asked) = &self.question.asked else {
            return Vec::new();
        };
        let folder = self.past.indexes.join(name.as_str());
        let files = self.disk.survey(&folder).unwrap_or_default();
        self.vectors += files.iter().map(|file| file.size).sum::<u64>();
        if self.vectors > MOST_VECTORS {
            return Vec::new();
        }
        stored::near(self.disk, &folder, asked)
    }

    fn read(&self, name: &SessionName, stamp: Stamp) -> Result<Volume, String> {
        let session = self.past.store.read(name);
        let session = session.map_err(|error| error.to_string())?;
        let index = self.past.indexes.join(name.as_str()).join("words.idx");
        let bytes = self.disk.read(&index).ok();
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

impl Volume {
    fn search(&self, name: &SessionName, near: &[NearMessage], question: &Question) -> Vec<Hit> {
        let nearest = stored::in_session(&self.session, near);
        let searching = Searching {
            words: &self.words,
            nearest: &nearest,
        };
        search_one(&self.session, searching, name, question)
    }
}

/// What was said in the open session.
pub(super) fn search_open(open: Open<'_>, near: &[NearMessage], question: &Question) -> Vec<Hit> {
    let Some(words) = open.words else {
        return Vec::new();
    };
    let nearest = stored::in_session(open.session, near);
    let searching = Searching {
        words,
        nearest: &nearest,
    };
    search_one(open.session, searching, open.session.name(), question)
}

/// Messages that have a word of the question or are near it; one that merely stands beside such a message is none.
fn search_one(
    session: &Session,
    searching: Searching<'_>,
    name: &SessionName,
    question: &Question,
) -> Vec<Hit> {
    let sought = recall::Question {
        text: &question.text,
        k: question.k.saturating_mul(LOOKED_AT),
        before: usize::MAX,
        min_similarity: question.min_similarity,
    };
    let found = find_messages(searching, sought);
    // Scores are scaled by the best message of a session: how well that one fits tells sessions apart.
    let fits = found.iter().map(|hit| match hit.similarity {
        Some(near) => near.max(hit.overlap),
        None => hit.overlap,
    });
    let best = fits.fold(0.0, f32::max);
    let asked = searching.words.asked(&question.text);
    let hits = found.into_iter().filter_map(|hit| {
        let message = session.messages().get(hit.message)?;
        let said = message.said();
        let part = asked.passage(&said, CONTENT);
        let is_near = hit
            .similarity
            .is_some_and(|near| near >= question.min_similarity);
        if part.is_none() && !is_near {
            return None;
        }
        let part = part.map_or(&*said, |part| &said[part]);
        let part: String = part.trim().chars().take(CONTENT).collect();
        Some(Hit {
            source: source_of(name),
            line: hit.message + 1,
            content: format!(
                "{}: {part}",
                message.speaker().unwrap_or(message.role.as_str())
            ),
            score: hit.score * best,
            kind: Kind::Said,
            at: message.at,
            also: Vec::new(),
        })
    });
    hits.take(question.k).collect()
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
