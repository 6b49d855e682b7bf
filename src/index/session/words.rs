//! The words of a session, ready to be searched: which message stands at which places of the index.
//!
//! Unit: messages with something said in them, of turns that are finished and were not taken back when they were
//! read. A long message stands at several places, part by part: what it says in an aside would otherwise weigh
//! nothing beside the rest of it. Invariant: follows the session; what a file of it says is used only where the session
//! still begins so.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::exchange;
use crate::chat::{Message, Role, Session, TurnId};
use crate::index::{Asked, Document, LexicalIndex, Lists, Match, Voice};
use crate::text::secrets::Known;

/// Of an enormous message so many bytes at its beginning and end can be found by their words.
pub const HEAD: usize = 192 << 10;
const TAIL: usize = 64 << 10;

/// A message of so many bytes stands at one place.
const LONG: usize = 900;
/// About so many bytes of a longer one at each.
const PART: usize = 300;

/// Of what a tool returned so many bytes at its beginning and end can be found.
const TOOL_HEAD: usize = 4 << 10;
const TOOL_TAIL: usize = 1 << 10;
/// Bytes of the arguments of its call.
const TITLE: usize = 300;

const PRINT: usize = 32;

/// The index of one session.
#[derive(Clone, Debug)]
pub struct Words {
    index: LexicalIndex,
    /// The index into the session's messages of each place.
    messages: Vec<u32>,
    /// Messages of the session read so far, also those with nothing said.
    read: usize,
    /// Over those messages.
    hash: Sha256,
    /// What a file says of them; held against the session once.
    print: Option<[u8; PRINT]>,
    /// The secrets that were said: their words are not in the index, which is kept.
    known: Known,
}

/// What was said in a session since an index read it; owned, so that it can be indexed elsewhere.
#[derive(Clone, Debug)]
pub struct Backlog {
    said: Vec<Said<'static>>,
    read: usize,
    hash: Sha256,
}

impl Backlog {
    /// All that was said in a session.
    pub fn of(session: &Session) -> Self {
        Self::since(session, 0, Sha256::new())
    }

    /// What was said since so many messages, over which the hash is.
    fn since(session: &Session, read: usize, mut hash: Sha256) -> Self {
        let (said, upto) = said_since(session, read);
        feed(&mut hash, session, read..upto);
        Self {
            said: said.map(Said::into_owned).collect(),
            read: upto,
            hash,
        }
    }

    /// Messages to be indexed.
    pub fn len(&self) -> usize {
        self.said.len()
    }

    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }
}

/// A message as the index reads it.
#[derive(Clone, Debug)]
struct Said<'a> {
    message: u32,
    text: Cow<'a, str>,
    speaker: Option<Cow<'a, str>>,
    /// Of a tool nobody's.
    voice: Option<Voice>,
    at: Option<i64>,
}

impl Said<'_> {
    fn into_owned(self) -> Said<'static> {
        Said {
            text: Cow::Owned(self.text.into_owned()),
            speaker: self.speaker.map(|speaker| Cow::Owned(speaker.into_owned())),
            ..self
        }
    }
}

impl Words {
    /// Begins the bytes of an index.
    pub(super) const MAGIC: &[u8] = b"cogtrix words 4\n";

    pub fn new(lists: impl Into<Arc<Lists>>) -> Self {
        Self {
            index: LexicalIndex::new(lists),
            messages: Vec::new(),
            read: 0,
            hash: Sha256::new(),
            print: None,
            known: Known::default(),
        }
    }

    /// Messages of the session read so far.
    pub fn read(&self) -> usize {
        self.read
    }

    /// Messages that can be found.
    pub fn len(&self) -> usize {
        self.messages.chunk_by(|a, b| a == b).count()
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// What was said since the last reading.
    pub fn backlog(&self, session: &Session) -> Backlog {
        Backlog::since(session, self.read, self.hash.clone())
    }

    /// Reads what [`backlog`](Self::backlog) told.
    pub fn take(&mut self, backlog: Backlog) {
        for said in &backlog.said {
            self.push(said);
        }
        self.read = backlog.read;
        self.hash = backlog.hash;
    }

    /// Reads what was said since the last reading, up to the last finished turn.
    pub fn follow(&mut self, session: &Session) {
        let (said, read) = said_since(session, self.read);
        for said in said {
            self.push(&said);
        }
        feed(&mut self.hash, session, self.read..read);
        self.read = read;
    }

    fn push(&mut self, said: &Said<'_>) {
        // Only what people say teaches what is secret.
        let masked = match said.voice {
            Some(_) => self.known.take_in(&said.text),
            None => self.known.masked_after("", &said.text),
        };
        for text in parts(&masked) {
            self.index.push(Document {
                text,
                speaker: said.speaker.as_deref(),
                voice: said.voice,
                at: said.at,
            });
            self.messages.push(said.message);
        }
    }

    /// Lets the messages of a turn be found no more: it was taken back.
    pub fn take_back(&mut self, session: &Session, turn: TurnId) {
        let turns = session.turns();
        let Ok(at) = turns.binary_search_by_key(&turn, |turn| turn.id) else {
            return;
        };
        for message in turns[at].messages.clone() {
            self.index.withdraw_all(self.places(message));
        }
    }

    /// Takes back what was taken back while nobody told.
    pub fn take_back_all(&mut self, session: &Session) {
        let turns = session.turns().iter();
        for turn in turns.filter(|turn| turn.withdrawn.is_some()) {
            self.take_back(session, turn.id);
        }
    }

    /// The places of a message.
    fn places(&self, message: usize) -> Range<u32> {
        let first = |message: usize| {
            let before = self
                .messages
                .partition_point(|other| (*other as usize) < message);
            u32::try_from(before).unwrap_or(u32::MAX)
        };
        first(message)..first(message.saturating_add(1))
    }

    pub fn index(&self) -> &LexicalIndex {
        &self.index
    }

    /// Where messages stand that are near by meaning, with their cosines.
    pub fn near(&self, messages: &[(usize, f32)]) -> Vec<(u32, f32)> {
        let places = messages
            .iter()
            .flat_map(|(message, cosine)| self.places(*message).map(|place| (place, *cosine)));
        places.collect()
    }

    /// The index into the session's messages of what stands at a place.
    pub fn message(&self, place: u32) -> usize {
        self.messages
            .get(place as usize)
            .map_or(usize::MAX, |message| *message as usize)
    }

    /// Whether recall can bring a message: it, or another one of its turn, can be found.
    pub fn brings(&self, session: &Session, message: usize) -> bool {
        exchange::turn_of(session, message).is_some_and(|turn| {
            let messages = turn.messages.clone();
            let mut places = messages.flat_map(|message| self.places(message));
            places.any(|place| !self.index.is_withdrawn(place))
        })
    }

    /// The question as a sentence encoder should get it.
    pub fn in_first_person(&self, question: &str) -> String {
        self.index.in_first_person(question)
    }

    /// The words of a question, to be looked for in what was said.
    pub fn asked(&self, question: &str) -> Asked<'_> {
        self.index.asked(question)
    }

    /// The first `k` messages for a question that the filter lets through, best first, by words and by what is near
    /// by meaning: indices of messages with their cosines. A message is there once, with its best part.
    pub fn search(
        &self,
        question: &str,
        nearest: &[(usize, f32)],
        k: usize,
        filter: impl Fn(usize) -> bool,
    ) -> Vec<Match> {
        let filter = |place: u32| filter(self.message(place));
        let near = self.near(nearest);
        let mut wanted = k;
        loop {
            let mut hits = self.index.search(question, &near, wanted, filter);
            let is_all = hits.len() < wanted;
            let mut seen = HashSet::new();
            hits.retain(|hit| seen.insert(self.message(hit.place)));
            if is_all || hits.len() >= k {
                hits.truncate(k);
                return hits;
            }
            // Parts of one message took the places of others.
            wanted = wanted.saturating_mul(4);
        }
    }

    /// The index as bytes, for [`from_bytes`](Self::from_bytes).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Self::MAGIC.to_vec();
        bytes.extend(to_u64(self.read).to_le_bytes());
        bytes.extend(print(&self.hash, &self.messages));
        bytes.extend(to_u64(self.messages.len()).to_le_bytes());
        for message in &self.messages {
            bytes.extend(message.to_le_bytes());
        }
        bytes.extend(self.index.to_bytes());
        bytes
    }

    /// The index that was made into these bytes; `None` where they are of another version, damaged or made with
    /// other lists. Whether it is of a session, [`is_of`](Self::is_of) tells.
    pub fn from_bytes(lists: Arc<Lists>, bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(Self::MAGIC)?;
        let mut take = |n: usize| rest.split_off(..n);
        let read = u64::from_le_bytes(*take(8)?.first_chunk()?);
        let print = *take(PRINT)?.first_chunk()?;
        let count = usize::try_from(u64::from_le_bytes(*take(8)?.first_chunk()?)).ok()?;
        let messages = take(count.checked_mul(4)?)?.as_chunks().0.iter();
        let messages: Vec<u32> = messages.map(|four| u32::from_le_bytes(*four)).collect();
        let index = LexicalIndex::from_bytes(lists, rest).ok()?;
        (index.len() as usize == messages.len()).then_some(Self {
            index,
            messages,
            read: usize::try_from(read).ok()?,
            hash: Sha256::new(),
            print: Some(print),
            known: Known::default(),
        })
    }

    /// Whether an index from a file speaks of this session: its messages are still the first ones there. To be asked
    /// once, before anything else.
    pub fn is_of(&mut self, session: &Session) -> bool {
        let Some(known) = self.print.take() else {
            return true;
        };
        if self.read > session.messages().len() {
            return false;
        }
        let mut hash = Sha256::new();
        feed(&mut hash, session, 0..self.read);
        let is_same = known == print(&hash, &self.messages);
        self.hash = hash;
        is_same
    }
}

/// What was said since so many messages, of finished turns, and how many messages were looked at then.
fn said_since(session: &Session, read: usize) -> (impl Iterator<Item = Said<'_>>, usize) {
    let turns = session.turns();
    let first = turns.partition_point(|turn| turn.messages.end <= read);
    let open = turns[first..]
        .iter()
        .position(|turn| turn.outcome.is_none());
    let turns = &turns[first..open.map_or(turns.len(), |open| first + open)];
    let read = turns.last().map_or(read, |turn| turn.messages.end);
    let live = turns.iter().filter(|turn| turn.withdrawn.is_none());
    let said = live.flat_map(move |turn| {
        let messages = turn.messages.clone().zip(session.messages_of(turn));
        messages.filter_map(|(at, message)| said(at, message, session.messages_of(turn)))
    });
    (said, read)
}

/// What a message says, or what a tool returned, with its call as the title.
fn said<'a>(at: usize, message: &'a Message, turn: &'a [Message]) -> Option<Said<'a>> {
    let (voice, text) = match message.role {
        Role::User => (
            Some(Voice::User),
            exchange::ends(exchange::said(message)?, HEAD, TAIL),
        ),
        Role::Assistant => (
            Some(Voice::Assistant),
            exchange::ends(exchange::said(message)?, HEAD, TAIL),
        ),
        Role::Tool => {
            let output = exchange::ends(exchange::output(message)?, TOOL_HEAD, TOOL_TAIL);
            let mut calls = turn.iter().flat_map(Message::calls);
            let call = calls.find(|call| message.answers().any(|id| *id == call.id));
            let title = call.map_or(String::new(), |call| {
                let end = call.arguments.floor_char_boundary(TITLE);
                format!("{} {}\n", call.name, &call.arguments[..end])
            });
            (None, Cow::Owned(title + &output))
        }
    };
    Some(Said {
        message: u32::try_from(at).ok()?,
        text,
        speaker: exchange::name(message).map(Cow::Borrowed),
        voice,
        at: message.at.map(crate::chat::Timestamp::unix),
    })
}

/// The text, or the parts of a long one, which they tile; cut behind lines and sentences where there are any.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = if text.len() <= LONG {
            rest.len()
        } else {
            end_of_part(rest)
        };
        let (part, behind) = rest.split_at(end);
        rest = behind;
        Some(part)
    })
}

/// Where the first part of a text ends.
fn end_of_part(text: &str) -> usize {
    if text.len() <= PART + PART / 2 {
        return text.len();
    }
    let head = &text[..text.floor_char_boundary(PART)];
    let half = head.ceil_char_boundary(PART / 2);
    let behind = |end: &str| Some(half + head[half..].rfind(end)? + end.len());
    let sentences = ["\n", ". ", "! ", "? ", "。", "！", "？"].into_iter();
    let sentence = sentences.filter_map(behind).max();
    sentence.or_else(|| behind(" ")).unwrap_or(head.len())
}

/// Tells messages of one session from those of another.
fn feed(hash: &mut Sha256, session: &Session, messages: Range<usize>) {
    for message in &session.messages()[messages] {
        let said = exchange::output(message).unwrap_or_else(|| message.said());
        hash.update(message.id.as_str());
        hash.update(to_u64(said.len()).to_le_bytes());
        hash.update(said.as_bytes());
    }
}

/// Of the messages read, and of where they stand in the index.
fn print(hash: &Sha256, places: &[u32]) -> [u8; PRINT] {
    let mut print = Sha256::new();
    print.update(hash.clone().finalize());
    for place in places {
        print.update(place.to_le_bytes());
    }
    print.finalize().into()
}

fn to_u64(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
