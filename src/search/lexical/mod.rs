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
//! | `words` | the words of a question as written |
//! | `varint` | numbers as bytes |
//! | `persist` | index <-> bytes |

mod dates;
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
mod words;

pub use index::LexicalIndex;
pub use lists::{BadLists, Lists};
pub use passage::Asked;
pub use persist::BadBytes;
pub(super) use score::search;
pub use terms::is_spaceless;
