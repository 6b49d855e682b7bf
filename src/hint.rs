//! What to do about an error, kept beside the error that knows the remedy; and an error in words.

use std::borrow::Cow;
use std::error::Error;

/// The remedy for an error, in one sentence; shown below the message, never part of it.
pub trait Hint {
    fn hint(&self) -> Option<Cow<'_, str>>;
}

/// An error with its causes in one line, each said once.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}
