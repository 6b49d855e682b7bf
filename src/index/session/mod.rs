//! The index of one session: the words of its messages, and which of them have vectors. Invariant: everything here can
//! be thrown away and is made again from the history; nothing here makes a turn fail.
//!
//! ```text
//!  open -> a thread reads words.idx ─┐
//!                                    ├─> words(session): caught up with it
//!  nothing on disk, much to read ────┘      (a long history is read in a thread too)
//! ```

mod catalogue;
mod exchange;
mod reading;
#[cfg(test)]
mod tests;
mod words;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalogue::Catalogue;
use reading::Reading;

pub use catalogue::{Meta, exchanges, meta};
pub use exchange::{Exchange, clipped, ends, found_by, name, said, turn_of};
pub(super) use reading::{is_current, read_only};
pub use words::{HEAD, Words};

use super::Parts;
use super::meaning::{Asked, Keyed, Meaning, News, Wanted};
use super::vectors::Key;
use crate::chat::{Session, SessionName, TurnId};
use crate::files::Disk;
use crate::text::secrets::Known;

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// This process is the session's one writer.
    Kept,
    /// Another one may be.
    ReadOnly,
}

/// New messages from which on writing the index again is worth it: reading them takes a few milliseconds.
const WORTH_WRITING: usize = 512;
/// Nor is it written before it grew by a part in so many, so that a turn costs the same in any session.
const GROWTH: usize = 16;
/// From so many exchanges on the person hears of the work.
const WORTH_TELLING: usize = 200;

/// What is kept of a session.
#[derive(Debug)]
pub struct SessionIndex {
    parts: Parts,
    folder: PathBuf,
    words: Reading,
    keys: MessageKeys,
    catalogue: Option<Catalogue>,
    /// Whether it was looked for a catalogue.
    looked: bool,
    /// The person was told that a long way to go has begun, and not yet that it is over.
    owes_end: bool,
}

/// What was found by meaning for a question.
#[derive(Debug)]
pub struct Lookup {
    /// Messages whose vectors are near the question's, with their cosines.
    pub nearest: Vec<(usize, f32)>,
    pub news: Option<News>,
}

/// The keys of the messages of a session that have vectors or are to have some.
pub fn keys_of(session: &Session) -> Vec<Key> {
    let mut keys = MessageKeys::default();
    keys.follow(session);
    keys.keys().to_vec()
}

/// Drops the words that are kept of a session that is not open here.
pub fn drop_words(disk: &dyn Disk, folder: &Path, name: &SessionName) -> io::Result<()> {
    let files = disk.list(&folder.join("sessions").join(name.as_str()))?;
    files.iter().try_for_each(|file| disk.remove(file))
}

impl SessionIndex {
    /// For the session of this name; reads nothing yet.
    pub fn new(parts: &Parts, name: &SessionName) -> Self {
        Self {
            folder: parts.sessions().join(name.as_str()),
            parts: parts.clone(),
            words: Reading::NotYet,
            keys: MessageKeys::default(),
            catalogue: None,
            looked: false,
            owes_end: false,
        }
    }

    /// Goes on with another session, or with the same one under another name.
    pub fn open(&mut self, name: &SessionName) {
        *self = Self::new(&self.parts, name);
    }

    /// Begins to read what is on disk, so that it is there when it is asked for.
    pub(super) fn begin(&mut self, session: &Session) {
        self.words.begin(&self.parts, &self.folder, session);
    }

    /// Brings the index of words up to the session, and asks for the vectors near a question. `None`: the index cannot
    /// be had just now.
    pub async fn look_up(
        &mut self,
        session: &Session,
        question: &str,
        meaning: &mut Meaning,
    ) -> Option<Lookup> {
        self.begin(session);
        let ready = self.words.ready(&self.parts, &self.folder, session);
        let question = ready.await?.in_first_person(&clipped(question));
        let (asked, news) = meaning.ask(&question).await;
        let nearest = asked.map_or_else(Vec::new, |asked| self.keys.near(session, &asked));
        Some(Lookup { nearest, news })
    }

    /// The index of words, up to the session; asks nobody.
    pub async fn catch_up(&mut self, session: &Session) -> Option<&Words> {
        self.words.begin(&self.parts, &self.folder, session);
        let ready = self.words.ready(&self.parts, &self.folder, session);
        ready.await
    }

    /// What of the session is near a question.
    pub(super) fn near(&mut self, session: &Session, asked: &Asked) -> Vec<(usize, f32)> {
        self.keys.near(session, asked)
    }

    /// Begins to make vectors of the exchanges before a message that have none yet, and lists those that have theirs.
    /// `known`: the secrets that were said.
    pub fn embed(
        &mut self,
        session: &Session,
        before: usize,
        known: impl FnOnce() -> Known,
        meaning: &mut Meaning,
    ) -> Option<News> {
        if self.parts.keeping == Keeping::ReadOnly || meaning.embedder().is_off() {
            return None;
        }
        self.keys.follow(session);
        // What an edited history no longer has leaves the list, whether or not there is anything to embed.
        let is_first = !std::mem::replace(&mut self.looked, true);
        if is_first && Catalogue::is_there(self.parts.disk.as_ref(), &self.folder) {
            self.open_catalogue(session);
        }
        let is_any = || {
            session
                .turns()
                .iter()
                .any(|turn| turn.messages.end <= before)
        };
        if self.keys.keys().is_empty() || !is_any() || !meaning.is_ready() {
            return None;
        }
        let (missing, exchanges) = self.keys.missing(session, before, meaning);
        if missing.is_empty() {
            self.list(session, before, known, meaning);
            let exchanges = self.kept_exchanges();
            return std::mem::take(&mut self.owes_end).then_some(News::Indexed { exchanges });
        }
        let mut known = known();
        let wanted = missing.into_iter().filter_map(|(index, key)| {
            let said = said(&session.messages()[index])?;
            let text = known.take_in(&clipped(&said)).into_owned();
            Some(Wanted { key, text })
        });
        meaning.begin(wanted.collect());
        let is_news = exchanges >= WORTH_TELLING && !self.owes_end;
        self.owes_end |= is_news;
        is_news.then_some(News::Indexing { exchanges })
    }

    fn open_catalogue(&mut self, session: &Session) {
        let opened = Catalogue::open(Arc::clone(&self.parts.disk), &self.folder, session);
        self.catalogue = self.noted(opened);
    }

    /// Lists the exchanges before a message, which have their vectors by now. Nothing is found the less where that
    /// fails.
    fn list(
        &mut self,
        session: &Session,
        before: usize,
        known: impl FnOnce() -> Known,
        meaning: &Meaning,
    ) {
        if self.catalogue.is_none() {
            self.open_catalogue(session);
        }
        let Some((catalogue, made)) = self.catalogue.as_mut().zip(meaning.made()) else {
            return;
        };
        let listed = catalogue.bring_up_to(session, before, known, &made);
        self.noted(listed);
    }

    fn noted<T>(&self, result: io::Result<T>) -> Option<T> {
        result
            .inspect_err(|error| tracing::warn!("{}: {error}", self.folder.display()))
            .ok()
    }

    /// Drops everything that is kept of the session, so that it is made anew.
    pub fn drop_all(&mut self, name: &SessionName) -> io::Result<()> {
        for file in self.parts.disk.list(&self.folder)? {
            self.parts.disk.remove(&file)?;
        }
        self.open(name);
        Ok(())
    }

    /// Puts the index on disk however little is new.
    pub fn keep_all(&mut self) {
        if self.parts.keeping == Keeping::Kept {
            self.words.keep_all(&self.parts, &self.folder);
        }
    }

    /// The keys of the messages that have vectors or are to have some.
    pub fn keys(&mut self, session: &Session) -> &[Key] {
        self.keys.follow(session);
        self.keys.keys()
    }

    /// Exchanges that are listed with vectors.
    pub fn kept_exchanges(&self) -> usize {
        let counted = || exchanges(self.parts.disk.as_ref(), &self.folder);
        self.catalogue.as_ref().map_or_else(counted, Catalogue::len)
    }

    /// The index as it is.
    pub fn words(&self) -> Option<&Words> {
        self.words.words()
    }

    /// Lets a turn be found no more.
    pub fn take_back(&mut self, session: &Session, turn: TurnId) {
        if let Some(words) = self.words.words_mut() {
            words.take_back(session, turn);
        }
    }

    /// Puts the index on disk where that is worth it. A failure is logged: the index is made again.
    pub fn keep(&mut self) {
        if self.parts.keeping == Keeping::Kept {
            self.words.keep(&self.parts, &self.folder);
        }
    }
}

/// The nearest messages that take part in a search.
const NEAREST: usize = 100;
/// Exchanges that are embedded together, so that their texts do not fill the memory.
const AT_ONCE: usize = 4_096;

/// Messages by the digests of their texts.
#[derive(Clone, Debug, Default)]
pub(in crate::index) struct MessageKeys {
    /// Turns that were read.
    turns: usize,
    /// Indices into the session's messages.
    messages: Vec<usize>,
    keyed: Keyed,
    /// How many of them, from the first on, are known to have vectors, in which opening of the store.
    done: usize,
    opening: u32,
}

impl MessageKeys {
    /// Reads the turns that were finished since.
    pub(in crate::index) fn follow(&mut self, session: &Session) {
        for turn in &session.turns()[self.turns.min(session.turns().len())..] {
            if turn.outcome.is_none() {
                break;
            }
            self.turns += 1;
            for (index, message) in Exchange::messages_of(session, turn) {
                if let Some(said) = said(message) {
                    self.messages.push(index);
                    self.keyed.push(Key::of(&clipped(&said)));
                }
            }
        }
    }

    /// The messages nearest to a question, with their cosines.
    pub(in crate::index) fn near(&mut self, session: &Session, asked: &Asked) -> Vec<(usize, f32)> {
        self.follow(session);
        let near = asked.near(&mut self.keyed, NEAREST).into_iter();
        let near = near.map(|(position, cosine)| (self.messages[position], cosine));
        near.filter(|(message, _)| turn_of(session, *message).is_some())
            .collect()
    }

    /// Messages without vectors of the exchanges before a message, the oldest first, with the keys of their texts; and
    /// of how many exchanges they are.
    pub(super) fn missing(
        &mut self,
        session: &Session,
        before: usize,
        meaning: &Meaning,
    ) -> (Vec<(usize, Key)>, usize) {
        self.follow(session);
        if self.opening != meaning.openings() {
            (self.opening, self.done) = (meaning.openings(), 0);
        }
        let all = self
            .messages
            .iter()
            .copied()
            .zip(self.keyed.keys().iter().copied());
        let mut turns: Vec<TurnId> = Vec::new();
        let mut missing = Vec::new();
        let mut done = self.done;
        for (index, key) in all.skip(self.done).take_while(|(index, _)| *index < before) {
            let turn = turn_of(session, index);
            let Some(turn) = turn.filter(|turn| turn.messages.end <= before && !meaning.has(key))
            else {
                done += usize::from(
                    missing.is_empty() && turn.is_none_or(|turn| turn.messages.end <= before),
                );
                continue;
            };
            if turns.last() != Some(&turn.id) {
                turns.push(turn.id);
            }
            if turns.len() <= AT_ONCE {
                missing.push((index, key));
            }
        }
        self.done = done;
        (missing, turns.len())
    }

    pub(in crate::index) fn keys(&self) -> &[Key] {
        self.keyed.keys()
    }
}
