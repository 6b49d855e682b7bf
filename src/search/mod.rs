//! Finding what was said: an index of messages by their words, joined by vectors where there are any.
//!
//! A message is known here by its *place*, the number of messages pushed before it. Nothing here knows sessions,
//! roles or files: the caller maps places to messages, says what a message is with [`Document`], keeps the bytes
//! of an index and tells by a filter which places may come back.
//!
//! ```text
//!  Document --push--> LexicalIndex --to_bytes--> bytes on disk --from_bytes--> LexicalIndex
//!  question, indexes with nearest places? --search--> Vec<Hit>, best first
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

/// One of several indexes that are searched as one.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    pub index: &'a LexicalIndex,
    /// The places nearest to the question by meaning, with their cosines, each once; none where nothing is known.
    pub nearest: &'a [(u32, f32)],
}

/// The first `k` messages of all segments that the filter lets through, best first; it is asked with the number of the
/// segment and the place. What is rare, and what is best, is judged over all of them.
pub fn search(
    segments: &[Segment<'_>],
    question: &str,
    k: usize,
    filter: impl Fn(usize, u32) -> bool,
) -> Vec<Hit> {
    lexical::search(segments, question, k, &filter)
}

/// A message found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which of the segments it is in.
    pub segment: usize,
    /// The number of messages pushed before this one.
    pub place: u32,
    /// What the hits are ordered by. It is scaled by the best message of the question: two questions' scores do not
    /// compare.
    pub score: f32,
    /// How much of the question's words the message and its neighbours have, from 0 to 1; this does compare, and
    /// is what a floor can stand on.
    pub overlap: f32,
}
