//! What a person says that is worth keeping, found by patterns before a model is asked (Q2). Unit: one sentence.
//!
//! ```text
//!  message -> own words -> masked -> sentences -> cues -> [Capture]
//!  lines of MEMORY.md, Capture -> Verdict
//! ```
//! Pure: it names what is to be kept, the notes write it. Precision comes before recall: what is missed is still in
//! history, what is wrong is told to the model for ever.

mod category;
#[cfg(test)]
mod corpus;
mod extractor;
pub(super) mod own;
mod same;
mod settings;
mod sheet;
mod slots;
mod snippet;

pub use category::{Capture, Category};
pub use extractor::Extractor;
pub use same::Verdict;
pub use settings::{Capturing, Learning, WalSettings};
