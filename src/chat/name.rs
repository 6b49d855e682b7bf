//! Session names: what a person types, safe as a file name everywhere (C84).

use std::fmt;
use std::str::FromStr;

use crate::hint::Hint;

/// Ends of file names that belong to a session's side files; a session called `a_hybrid` would
/// otherwise overwrite the summary of session `a`.
const RESERVED_ENDS: [&str; 8] = [
    "_forgotten",
    "_hybrid",
    "_mode_state",
    "_pins",
    "_scratchpad",
    "_outputs",
    ".journal",
    ".lock",
];
const DAMAGED_MARK: &str = ".damaged-";
const ALLOWED: &str =
    "a name has 1 to 64 letters, digits, spaces, or . _ - and does not start with a dot";
const MAX_CHARS: usize = 64;
const MAX_BYTES: usize = 200;

/// A valid session name.
///
/// Invariant: letters, digits, space, `.`, `_`, `-`; 1 to 64 characters, at most 200 bytes; no leading
/// dot, no blank at either end, no reserved ending.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a session name is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session name {name:?} {why}")]
pub struct BadName {
    pub name: String,
    pub why: String,
}

impl BadName {
    /// The refusal and the allowed form in one sentence, for where there is no place for a hint.
    pub fn explained(&self) -> String {
        format!("{self}; {ALLOWED}")
    }
}

impl Hint for BadName {
    fn hint(&self) -> Option<std::borrow::Cow<'_, str>> {
        Some(ALLOWED.into())
    }
}

impl FromStr for SessionName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let name = text.trim();
        let refuse = |why: String| {
            Err(BadName {
                name: text.chars().take(80).collect(),
                why,
            })
        };
        if name.is_empty() {
            return refuse("is empty".to_owned());
        }
        if name.chars().count() > MAX_CHARS || name.len() > MAX_BYTES {
            return refuse(format!(
                "is longer than {MAX_CHARS} characters or {MAX_BYTES} bytes"
            ));
        }
        if name.starts_with('.') {
            return refuse("starts with a dot".to_owned());
        }
        if let Some(odd) = name
            .chars()
            .find(|&c| !(c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-')))
        {
            return refuse(format!("contains {odd:?}"));
        }
        let lower = name.to_lowercase();
        if let Some(end) = RESERVED_ENDS.iter().find(|end| lower.ends_with(*end)) {
            return refuse(format!("ends in {end:?}, which is kept for side files"));
        }
        if lower.contains(DAMAGED_MARK) {
            return refuse(format!(
                "contains {DAMAGED_MARK:?}, which is kept for damaged files"
            ));
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_safe_as_files_pass() {
        for good in [
            "default",
            "my-project",
            "Año 2026",
            "日本",
            "a.b_c-d",
            &"x".repeat(64),
        ] {
            assert_eq!(
                good.parse::<SessionName>().map(|name| name.0).as_deref(),
                Ok(good)
            );
        }
        for bad in [
            "",
            "  ",
            "../../x",
            "a/b",
            "a\\b",
            ".hidden",
            "..",
            "a_hybrid",
            "A_HYBRID",
            "x_mode_state",
            "x.journal",
            "x.lock",
            "x.damaged-1",
            "nul\0",
            "tab\t!",
            "a:b",
            "🙂",
            &"x".repeat(65),
            &"日".repeat(67),
        ] {
            assert!(bad.parse::<SessionName>().is_err(), "{bad:?} was accepted");
        }
    }
}
