//! What to do about an error, kept beside the error that knows the remedy; and an error in words.

use std::borrow::Cow;
use std::error::Error;

/// The remedy for an error, in one sentence; shown below the message, never part of it.
pub trait Hint {
    fn hint(&self) -> Option<Cow<'_, str>>;
}

/// An error with its causes in one line, each said once.
pub fn chain(error: &dyn Error) -> String {
    let mut text = plain(&error.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        let words = plain(&cause.to_string());
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}

/// The same with what to do about it.
pub fn advised(error: &(impl Error + Hint)) -> String {
    match error.hint() {
        Some(hint) => format!("{}; {hint}", chain(error)),
        None => chain(error),
    }
}

/// Returns "permission denied" for the system's "Permission denied (os error 13)": the number helps nobody.
pub fn plain(words: &str) -> String {
    let number = words.split_once(" (os error ");
    let Some((before, (_, after))) =
        number.and_then(|(before, it)| Some((before, it.split_once(')')?)))
    else {
        return words.to_owned();
    };
    let begin = before.rfind(": ").map_or(0, |at| at + 2);
    let (subject, reason) = before.split_at(begin);
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let first = first.map_or_else(String::new, String::from);
    format!("{subject}{first}{}{after}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_error_is_left_out() {
        for (words, expected) in [
            ("Permission denied (os error 13)", "permission denied"),
            (
                "cannot read /x: No such file or directory (os error 2) at line 3",
                "cannot read /x: no such file or directory at line 3",
            ),
            ("the model said (os error", "the model said (os error"),
            ("", ""),
        ] {
            assert_eq!(plain(words), expected);
        }
    }
}
