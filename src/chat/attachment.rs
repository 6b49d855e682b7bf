//! What a person attaches to a message: lines of a file as they were when the message was sent, and pictures.
//!
//! Unit: one file. The words of the message stay as they were typed; this stands behind them. Of a picture only name
//! and digest are here: its bytes are a file beside the session.

use std::fmt;

use super::Tokens;

/// The text of a file, or of some of its lines; what is in a folder; what a command printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Relative to the project; a folder's ends with `/`. Of a command: [`Attached::COMMAND`] and its first words.
    pub name: String,
    /// `None`: all of it.
    pub lines: Option<Lines>,
    pub text: String,
}

/// Lines of a file, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    pub first: u64,
    pub last: u64,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub name: String,
    /// Such as `image/png`.
    pub media_type: String,
    /// Of its bytes, in hexadecimal: what they are kept under.
    pub sha256: String,
}

impl Attached {
    /// What the name of a command begins with.
    pub const COMMAND: &str = "! ";

    /// What a model reads: a heading, and the text between fences longer than any in it.
    pub fn rendered(&self) -> String {
        let longest = self.text.split(|c| c != '`').map(str::len).max();
        let fence = "`".repeat((longest.unwrap_or(0) + 1).max(3));
        let kind = if self.name.starts_with(Self::COMMAND) {
            "the person ran"
        } else if self.name.ends_with('/') {
            "folder"
        } else {
            "file"
        };
        let text = self.text.trim_end_matches('\n');
        format!("[{kind} {self}]\n{fence}\n{text}\n{fence}")
    }

    pub(super) fn cost(&self) -> Tokens {
        /// Brackets and fences.
        const AROUND: Tokens = Tokens(8);
        Tokens::estimate(&self.name) + AROUND + Tokens::estimate(&self.text)
    }
}

/// `src/main.rs, lines 10-40`.
impl fmt::Display for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.lines {
            None => Ok(()),
            Some(Lines { first, last }) if first == last => write!(f, ", line {first}"),
            Some(Lines { first, last }) => write!(f, ", lines {first}-{last}"),
        }
    }
}

impl Image {
    /// What a picture costs about, whatever its size: servers scale it.
    pub const COST: Tokens = Tokens(1_500);

    /// What stands for it among texts.
    pub fn mark(&self) -> String {
        format!("[image {}]", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_under_its_name_and_cannot_close_its_fence() {
        for (name, lines, text, expected) in [
            ("a.rs", None, "x\n", "[file a.rs]\n```\nx\n```"),
            ("src/", None, "a.rs", "[folder src/]\n```\na.rs\n```"),
            (
                "a.md",
                Some((2, 4)),
                "```\nx\n```",
                "[file a.md, lines 2-4]\n````\n```\nx\n```\n````",
            ),
            ("a", Some((7, 7)), "", "[file a, line 7]\n```\n\n```"),
        ] {
            let attached = Attached {
                name: name.to_owned(),
                lines: lines.map(|(first, last)| Lines { first, last }),
                text: text.to_owned(),
            };
            assert_eq!(attached.rendered(), expected);
        }
    }
}
