//! What to do about an error, kept beside the error that knows the remedy.

use std::borrow::Cow;

/// The remedy for an error, in one sentence; shown below the message, never part of it.
pub trait Hint {
    fn hint(&self) -> Option<Cow<'_, str>>;
}
