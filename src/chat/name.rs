//! Session names: what a person types, safe as a file name everywhere (C84).

use std::fmt;
use std::str::FromStr;

use super::Timestamp;
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
const ALLOWED: &str = "use 1 to 64 letters, digits, spaces, or . _ - and do not start with a dot";
const MAX_CHARS: usize = 64;
const MAX_BYTES: usize = 200;

/// A valid session name.
///
/// Invariant: letters, digits, space, `.`, `_`, `-`; 1 to 64 characters, at most 200 bytes; no leading
/// dot, no blank at either end, no reserved ending.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    /// Words and characters of a question that the name of its session has at most.
    const WORDS: usize = 5;
    const WORDS_CHARS: usize = 40;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Names the session of a single question by time and first words: `2026-02-14-1523-what-is-rust`.
    pub fn of_question(at: Timestamp, question: &str) -> Self {
        let time = at.time_of_day().replace(':', "");
        let mut name = format!("{}-{time}", at.date());
        let words = question.split(|c: char| !c.is_alphanumeric());
        let mut n_chars = 0;
        for word in words.filter(|word| !word.is_empty()).take(Self::WORDS) {
            n_chars += word.chars().count() + 1;
            if n_chars > Self::WORDS_CHARS || name.len() + word.len() >= MAX_BYTES / 2 {
                break;
            }
            name.push('-');
            name.push_str(&word.to_lowercase());
        }
        name.parse()
            .unwrap_or_else(|_| Self(format!("{}-{time}", at.date())))
    }

    /// Tells whether [`of_question`](Self::of_question) made the name.
    pub fn is_of_question(&self) -> bool {
        let form = "dddd-dd-dd-dddd";
        let begins = self.0.get(..form.len()).is_some_and(|start| {
            let mut pairs = start.chars().zip(form.chars());
            pairs.all(|(c, wanted)| match wanted {
                'd' => c.is_ascii_digit(),
                _ => c == wanted,
            })
        });
        let rest = self.0.get(form.len()..).unwrap_or_default();
        begins && (rest.is_empty() || rest.starts_with('-'))
    }

    /// Returns the name with a number behind it: `work-2`.
    pub fn numbered(&self, n: usize) -> Result<Self, BadName> {
        self.with_end(&format!("-{n}"))
    }

    /// Returns the name with this behind it, cut where it would be too long.
    pub fn with_end(&self, end: &str) -> Result<Self, BadName> {
        let max_chars = MAX_CHARS.saturating_sub(end.chars().count());
        let cut: String = self.0.chars().take(max_chars).collect();
        let bytes = cut.floor_char_boundary(MAX_BYTES.saturating_sub(end.len()));
        format!("{}{end}", &cut[..bytes]).parse()
    }

    /// Finds the name that this one is most likely a slip of the keyboard for: an edit away, or two of a long name, and
    /// not another number of the same series.
    pub fn slip_of<'a>(&self, others: impl Iterator<Item = &'a Self>) -> Option<&'a Self> {
        let without_digits = |name: &Self| {
            let series = name.0.replace(|c: char| c.is_numeric(), "");
            series.trim_end_matches(['-', '_', '.', ' ']).to_owned()
        };
        let max = match self.0.chars().count() {
            0..3 => return None,
            3..7 => 1,
            _ => 2,
        };
        let near = others.filter_map(|other| {
            let distance = strsim::osa_distance(&self.0.to_lowercase(), &other.0.to_lowercase());
            let is_other_number = distance > 0 && without_digits(self) == without_digits(other);
            (distance <= max && !is_other_number).then_some((distance, other))
        });
        near.min_by_key(|(distance, _)| *distance)
            .map(|(_, other)| other)
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
            return refuse(format!("ends in {end:?}, which is reserved for side files"));
        }
        if lower.contains(DAMAGED_MARK) {
            return refuse(format!(
                "contains {DAMAGED_MARK:?}, which is reserved for damaged files"
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
    fn a_question_names_its_session_by_time_and_first_words() {
        let at = Timestamp::parse("2026-02-14T15:23:05Z").unwrap();
        for (question, name) in [
            ("What is Rust?", "2026-02-14-1523-what-is-rust"),
            ("!?", "2026-02-14-1523"),
            ("", "2026-02-14-1523"),
            ("why a_hybrid", "2026-02-14-1523-why-a-hybrid"),
            ("这是什么意思", "2026-02-14-1523-这是什么意思"),
            (
                "one two three four five six seven",
                "2026-02-14-1523-one-two-three-four-five",
            ),
            (&"x".repeat(900), "2026-02-14-1523"),
            (&"日".repeat(39), "2026-02-14-1523"),
        ] {
            let made = SessionName::of_question(at, question);
            assert_eq!(made.as_str(), name);
            assert!(made.is_of_question());
            assert_eq!(made, name.parse().unwrap());
        }
        for own in [
            "default",
            "2026-02-14",
            "2026-02-14-standup",
            "2026-02-14-15231",
            "日本",
        ] {
            assert!(
                !own.parse::<SessionName>().unwrap().is_of_question(),
                "{own}"
            );
        }
    }

    #[test]
    fn a_slip_of_the_keyboard_is_told_from_another_name() {
        let names = ["first", "trip", "default-2", "Café"].map(|name| name.parse().unwrap());
        for (typed, meant) in [
            ("frist", Some("first")),
            ("fist", Some("first")),
            ("First", Some("first")),
            ("tirp", Some("trip")),
            ("strip", Some("trip")),
            ("tap", None),
            ("fisrts", None),
            ("default-3", None),
            ("first-2", None),
            ("cafe", Some("Café")),
            ("second", None),
        ] {
            let typed: SessionName = typed.parse().unwrap();
            let found = typed.slip_of(names.iter()).map(SessionName::as_str);
            assert_eq!(found, meant, "{typed}");
        }
    }

    #[test]
    fn a_long_name_is_cut_for_what_goes_behind_it() {
        for long in ["x".repeat(64), "日".repeat(64)] {
            let name: SessionName = long.parse().unwrap();
            let fork = name.with_end("-fork").unwrap();
            assert!(fork.as_str().ends_with("-fork"), "{fork}");
            assert!(fork.numbered(12).unwrap().as_str().ends_with("-12"));
        }
    }

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
