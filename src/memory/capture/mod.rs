//! What a person says that is worth keeping, found by patterns before a model is asked (Q2). Unit: one sentence.
//!
//! Pure: it names what is to be kept, the notes write it.

mod settings;

pub use settings::{Capturing, WalSettings};
