//! The half of recall that is always there: words, counted with those of the messages around.
//!
//! | file | what |
//! |---|---|
//! | `lists` | what is known of a language, read from a file |
//! | `terms` | text -> terms |
//! | `dates` | the time a question speaks of |
//! | `names` | the speakers a question names |
//! | `postings` | where a term stands, packed |
//! | `index` | messages and terms; push, withdraw |
//! | `question` | a question -> terms with weights, names, dates |
//! | `score` | question -> hits |
//! | `first` | the best few of many |
//! | `exact` | the words of a question as written |
//! | `varint` | numbers as bytes |
//! | `persist` | index <-> bytes |

mod dates;
mod exact;
mod first;
mod index;
mod lists;
mod names;
mod passage;
mod persist;
mod postings;
mod question;
mod score;
mod terms;
#[cfg(test)]
mod tests;
mod varint;

pub use index::LexicalIndex;
#[cfg(any(test, feature = "testing"))]
pub use lists::embedded_related;
pub use lists::{BadLists, Lists, SharedLists};
pub use passage::Asked;
pub use persist::BadBytes;
pub use score::{ECHO_SCORE, search};
pub use terms::is_spaceless;

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

/// A message found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
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
