//! The index: one entry a message, one list of places a term.
//!
//! Invariant: what is kept of a message beside its entry (window, reach) follows from the entries and where sittings
//! begin; a place withdrawn is in no list.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::exact::words;
use super::lists::Lists;
use super::postings::Postings;
use super::terms::{Purpose, Stems, terms};
use super::{dates, names, score};
use crate::index::words::{Document, Match, Segment, Voice};

/// Messages further apart than this, in seconds, are of two sittings.
const SITTING_GAP: u64 = 30 * 60;

/// So many speakers are told apart; a conversation of more is a crowd.
const MAX_SPEAKERS: usize = 64;

/// How much the words of a message count for one two before it, just before it, itself, and so on.
const SPREAD: [f32; 5] = [0.2, 0.4, 1.0, 0.5, 0.2];
pub(super) const REACH: usize = SPREAD.len() / 2;
/// How much they count for the one just after it if it asks a question, which that one answers.
const ANSWERED: f32 = 0.65;

/// Messages by their words; see the [module](super).
#[derive(Clone, Debug)]
pub struct LexicalIndex {
    pub(super) lists: Arc<Lists>,
    pub(super) entries: Vec<Entry>,
    /// Of each message the length of itself and those around, at their discounts.
    pub(super) windows: Vec<f32>,
    pub(super) reaches: Vec<Reach>,
    /// The first place of each sitting, and its length in terms.
    pub(super) sittings: Vec<u32>,
    pub(super) sitting_lengths: Vec<f32>,
    /// In order of their letters, so that the bytes of an index follow from its messages.
    pub(super) terms: BTreeMap<Box<str>, Postings>,
    pub(super) speakers: Vec<String>,
    /// Messages not withdrawn.
    pub(super) n_messages: u32,
    /// Of the windows of messages not withdrawn.
    pub(super) length: f64,
    /// In which messages were said.
    pub(super) years: BTreeSet<i32>,
    /// Whether the next message has nothing to do with the last.
    parted: bool,
    /// Messages that are thought to be there besides, when the rarity of a term is judged.
    pub(super) others: u32,
    stems: Stems,
}

/// What is kept of a message besides its words.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent signs of a message"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) at: Option<i64>,
    /// In terms.
    pub(super) length: u32,
    /// One more than the place in the list of speakers, or 0.
    pub(super) speaker: u32,
    pub(super) voice: Option<Voice>,
    pub(super) says_when: bool,
    pub(super) is_question: bool,
    /// A reply that says it does not know.
    pub(super) is_no_answer: bool,
    pub(super) is_withdrawn: bool,
    pub(super) persons: Persons,
}

/// A longer reply says something, whatever it begins with.
const MAX_NO_ANSWER: usize = 250;

/// How often a message speaks of who says it and of who is spoken to, each counted up to [`Persons::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Persons {
    pub(super) first: u8,
    pub(super) second: u8,
}

impl Persons {
    pub(super) const MAX: u8 = 3;

    fn of(lists: &Lists, text: &str) -> Self {
        let mut persons = Self::default();
        for word in words(text) {
            let word = word.beginning().to_lowercase();
            persons.first += u8::from(persons.first < Self::MAX && lists.user.contains(&word));
            persons.second +=
                u8::from(persons.second < Self::MAX && lists.assistant.contains(&word));
        }
        persons
    }
}

/// How many messages before and after one are of its sitting, as far as words count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    before: u8,
    after: u8,
    is_question: bool,
}

impl Reach {
    /// The places a message's words count for.
    pub(super) fn around(self, place: usize) -> RangeInclusive<usize> {
        place - usize::from(self.before)..=place + usize::from(self.after)
    }

    /// How much the words of the message of this reach, at `place`, count for the one at `at`.
    pub(super) fn share(self, place: usize, at: usize) -> f32 {
        if self.is_question && at == place + 1 {
            ANSWERED
        } else {
            SPREAD[at + REACH - place]
        }
    }
}

impl LexicalIndex {
    /// An index of no messages.
    pub fn new(lists: impl Into<Arc<Lists>>) -> Self {
        Self {
            lists: lists.into(),
            entries: Vec::new(),
            windows: Vec::new(),
            reaches: Vec::new(),
            sittings: Vec::new(),
            sitting_lengths: Vec::new(),
            terms: BTreeMap::new(),
            speakers: Vec::new(),
            n_messages: 0,
            length: 0.0,
            years: BTreeSet::new(),
            parted: false,
            others: 0,
            stems: Stems::default(),
        }
    }

    /// How many messages were pushed; the place of the next.
    pub fn len(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// Whether no message was pushed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Judges how rare terms are as if so many more messages were there that have none of them: of a few messages
    /// alone nothing can be told. Bytes do not hold this.
    #[must_use]
    pub fn among(self, others: u32) -> Self {
        Self { others, ..self }
    }

    /// What is pushed next begins a sitting of its own, whenever it was said. What is left by
    /// [`truncate`](Self::truncate) does not hold this.
    pub fn part(&mut self) {
        self.parted = true;
    }

    /// Adds a message at place [`len`](Self::len).
    pub fn push(&mut self, document: Document<'_>) {
        let place = self.len();
        let mut counted = Counted::default();
        for text in document.speaker.into_iter().chain([document.text]) {
            let lists = (&*self.lists, &mut self.stems);
            terms(lists, text, Purpose::Index, |term| counted.add(term));
        }
        let length = counted.for_each(|term, count| {
            if let Some(postings) = self.terms.get_mut(term) {
                postings.push(place, count);
            } else {
                self.terms.insert(term.into(), Postings::of(place, count));
            }
        });
        let speaker = document.speaker.map_or(0, |speaker| self.speaker(speaker));
        // Who has a name is a person, whose not knowing says something.
        let is_program = document.voice == Some(Voice::Assistant) && document.speaker.is_none();
        let is_short = document.text.len() <= MAX_NO_ANSWER;
        self.enter(Entry {
            at: document.at,
            length,
            speaker,
            voice: document.voice,
            says_when: self.lists.says_when.is_match(document.text),
            is_question: document.text.trim_end().ends_with(['?', '？', '؟']),
            is_no_answer: is_program && is_short && self.lists.no_answer.is_match(document.text),
            is_withdrawn: false,
            persons: Persons::of(&self.lists, document.text),
        });
    }

    /// Appends an entry and what follows from it and those before.
    pub(super) fn enter(&mut self, entry: Entry) {
        let place = self.entries.len();
        let last_at = self.entries.last().and_then(|last| last.at);
        let is_apart = match (last_at, entry.at) {
            (Some(last_at), Some(at)) => at.abs_diff(last_at) > SITTING_GAP,
            _ => false,
        };
        let is_apart = std::mem::take(&mut self.parted) || is_apart;
        if is_apart || self.entries.is_empty() {
            self.sittings.push(self.len());
            self.sitting_lengths.push(0.0);
        }
        if let Some(length) = self.sitting_lengths.last_mut() {
            *length += approximate(entry.length);
        }
        let since = place - self.sittings.last().map_or(0, |start| *start as usize);
        let mut before = 0;
        for distance in (1..=REACH).take(since) {
            before += 1;
            self.reaches[place - distance].after = before;
        }
        self.years.extend(entry.at.and_then(dates::year_of));
        self.entries.push(entry);
        self.windows.push(0.0);
        self.reaches.push(Reach {
            before,
            after: 0,
            is_question: entry.is_question,
        });
        self.n_messages += u32::from(!entry.is_withdrawn);
        self.measure_around(place);
    }

    /// Takes a message out: it is not found any more, and its words count for nobody. Its place stays taken.
    pub fn withdraw(&mut self, place: u32) {
        self.withdraw_all(place..place.saturating_add(1));
    }

    /// As [`withdraw`](Self::withdraw), for each of these places, and no slower than for one.
    pub fn withdraw_all(&mut self, places: Range<u32>) {
        let end = places.end.min(self.len());
        let live = places.start as usize..end as usize;
        let live: Vec<usize> = live.filter(|at| !self.entries[*at].is_withdrawn).collect();
        if live.is_empty() {
            return;
        }
        for at in &live {
            let entry = &mut self.entries[*at];
            entry.is_withdrawn = true;
            let sitting = self
                .sittings
                .partition_point(|start| *start as usize <= *at);
            self.sitting_lengths[sitting - 1] -= approximate(entry.length);
            entry.length = 0;
            self.length -= f64::from(self.windows[*at]);
            self.n_messages -= 1;
        }
        self.terms.retain(|_, postings| {
            postings.withdraw(&places);
            postings.messages() > 0
        });
        for at in live {
            self.measure_around(at);
        }
    }

    /// Forgets the messages from this place on, as if they had not been pushed: what undoing does to a conversation.
    pub fn truncate(&mut self, len: u32) {
        if len >= self.len() {
            return;
        }
        self.terms.retain(|_, postings| {
            postings.truncate(len);
            postings.messages() > 0
        });
        let entries = std::mem::take(&mut self.entries);
        *self = Self {
            terms: std::mem::take(&mut self.terms),
            speakers: std::mem::take(&mut self.speakers),
            others: self.others,
            ..Self::new(self.lists.clone())
        };
        for entry in entries.into_iter().take(len as usize) {
            self.enter(entry);
        }
    }

    /// Whether the message was taken out.
    pub fn is_withdrawn(&self, place: u32) -> bool {
        let entry = self.entries.get(place as usize);
        entry.is_some_and(|entry| entry.is_withdrawn)
    }

    /// The first `k` messages for the question that the filter lets through, best first: by words alone, or by words
    /// and meaning where `nearest` has the places nearest to it with their cosines, each once.
    pub fn search(
        &self,
        question: &str,
        nearest: &[(u32, f32)],
        k: usize,
        filter: impl Fn(u32) -> bool,
    ) -> Vec<Match> {
        let whole = Segment {
            index: self,
            nearest,
        };
        score::search(&[whole], question, k, &|_, place| filter(place))
    }

    /// The question as a sentence encoder should get it: each speaker's name replaced by "I", since the name pulls
    /// towards messages that mention it, which are the others'.
    pub fn in_first_person(&self, question: &str) -> String {
        names::in_first_person(&self.lists, &self.speakers, question)
    }

    /// The number of the speaker, one more than its place in the list; 0 of those who come after too many.
    fn speaker(&mut self, name: &str) -> u32 {
        let known = self.speakers.iter().position(|speaker| speaker == name);
        let at = known.unwrap_or(self.speakers.len());
        if at == self.speakers.len() && at < MAX_SPEAKERS {
            self.speakers.push(name.to_owned());
        }
        match self.speakers.len() {
            n if at < n => u32::try_from(at + 1).unwrap_or(0),
            _ => 0,
        }
    }

    /// Brings the windows of the messages around a place up to its length.
    fn measure_around(&mut self, place: usize) {
        for at in self.reaches[place].around(place) {
            let around = self.reaches[at].around(at);
            let window = around
                .map(|from| {
                    self.reaches[from].share(from, at) * approximate(self.entries[from].length)
                })
                .sum();
            let before = std::mem::replace(&mut self.windows[at], window);
            if !self.entries[at].is_withdrawn {
                self.length += f64::from(window) - f64::from(before);
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a length is weighed, not counted"
)]
pub(super) fn approximate(length: u32) -> f32 {
    length as f32
}

/// The terms of one message.
#[derive(Default)]
struct Counted {
    text: String,
    ends: Vec<usize>,
}

impl Counted {
    fn add(&mut self, term: &str) {
        self.text.push_str(term);
        self.ends.push(self.text.len());
    }

    /// Hands over each term with its count and gives the sum of the counts.
    fn for_each(&self, mut take: impl FnMut(&str, u32)) -> u32 {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut all: Vec<&str> = starts
            .zip(&self.ends)
            .map(|(start, end)| &self.text[start..*end])
            .collect();
        all.sort_unstable();
        for same in all.chunk_by(|a, b| a == b) {
            take(same[0], u32::try_from(same.len()).unwrap_or(u32::MAX));
        }
        u32::try_from(all.len()).unwrap_or(u32::MAX)
    }
}
