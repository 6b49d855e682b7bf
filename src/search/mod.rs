//! Finding what was said: an index of messages by their words, joined by vectors where there are any.
//!
//! A message is known here by its *place*, the number of messages pushed before it. Nothing here knows sessions,
//! roles or files: the caller maps places to messages, says what a message is with [`Document`], keeps the bytes
//! of an index and tells by a filter which places may come back.
//!
//! ```text
//!  Document --push--> LexicalIndex --to_bytes--> bytes on disk --from_bytes--> LexicalIndex
//!  question, cosines? --search--> Vec<Hit>, best first
//! ```

pub mod lexical;
pub mod vectors;

pub use lexical::{Asked, BadBytes, BadLists, LexicalIndex, Lists, is_spaceless};

/// A message as the index reads it. What is not known is left out and does no harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Document<'a> {
    /// What was said.
    pub text: &'a str,
    /// The name of who said it, as a question would use it; `None` rather than a role such as `user`.
    pub speaker: Option<&'a str>,
    /// Which side of the conversation said it.
    pub voice: Option<Voice>,
    /// When, in seconds since 1970 UTC.
    pub at: Option<i64>,
}

/// A side of a conversation: "I" of a question is one, "you" the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Who asks.
    User,
    /// Who is asked.
    Assistant,
}

/// A message found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number of messages pushed before this one.
    pub place: u32,
    /// What the hits are ordered by. It is scaled by the best message of the question: two questions' scores do not
    /// compare.
    pub score: f32,
    /// How much of the question's words the message and its neighbours have, from 0 to 1; this does compare, and
    /// is what a floor can stand on.
    pub overlap: f32,
}

/// How near messages are to the question by meaning: cosines of whatever vectors the caller has.
#[derive(Clone, Copy)]
pub enum Cosines<'a> {
    /// Of every place that has a vector; the scale runs from the least of them to the greatest.
    Every(&'a dyn Fn(u32) -> Option<f32>),
    /// Of the nearest places only, in any order, each once; the scale runs from the least of them to the greatest,
    /// and the rest count as the least.
    Nearest(&'a [(u32, f32)]),
}

impl std::fmt::Debug for Cosines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Every(_) => f.write_str("Every(..)"),
            Self::Nearest(nearest) => f.debug_tuple("Nearest").field(nearest).finish(),
        }
    }
}

/// What each sign that a message is the one asked for adds to its score, where the words of the best message count 1.
/// None is below 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Nearness by meaning, from 0 to 1.
    pub meaning: f32,
    /// The question names who said it, or says "I" of a message of the user or "you" of the assistant's; taken away
    /// where it names somebody else.
    pub speaker: f32,
    /// It was said at the date in the question.
    pub date: f32,
    /// The question wants a time and the message tells one.
    pub time: f32,
    /// The message is itself a question; taken away.
    pub question: f32,
    /// Words and meaning of the best message of its sitting.
    pub sitting: f32,
    /// It has enough words of its own to say something.
    pub substance: f32,
}

impl Weights {
    /// For words alone.
    pub const LEXICAL: Self = Self {
        meaning: 0.0,
        speaker: 0.3,
        date: 0.5,
        time: 0.3,
        question: 0.2,
        sitting: 0.4,
        substance: 0.2,
    };
    /// For words and the cosines of every message.
    pub const FUSED: Self = Self {
        meaning: 1.4,
        speaker: 0.5,
        date: 0.5,
        time: 0.3,
        question: 0.2,
        sitting: 0.2,
        substance: 0.2,
    };
    /// For words and the cosines of the nearest messages only.
    pub const NEAREST: Self = Self {
        meaning: 0.8,
        ..Self::FUSED
    };
}
