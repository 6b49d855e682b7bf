//! What outlives a session: files that a person edits too, and short texts with a key.

pub mod entries;
pub mod notes;
