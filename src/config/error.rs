//! What can be wrong with the configuration, said so that the person finds the place. No message quotes a
//! value that may be a secret.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use super::layers::Source;
use super::overrides::TextError;
use super::trust::SERVERS_MAX;
use crate::hint::Hint;

/// A place in a file, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why there are no settings. All of these are mistakes of usage: exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Asked for by name, and not there. `asked` is the flag or variable.
    #[error("config file {} does not exist (set by {asked})", path.display())]
    Missing { path: PathBuf, asked: Source },

    #[error("cannot read the config file {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },

    /// A folder, a device, binary data, or too much of it.
    #[error("{} is not a config file: it {why}", path.display())]
    NotConfig { path: PathBuf, why: String },

    /// Not YAML.
    #[error("{}{}: {message}", path.display(), position.map(|at| format!(":{at}")).unwrap_or_default())]
    Malformed {
        path: PathBuf,
        position: Option<Position>,
        message: String,
    },

    /// Every mistake that was found, in the order of the file; at least one.
    #[error("{}", lines(.0))]
    Mistakes(Vec<Mistake>),

    #[error("cannot determine the data folder (is HOME set?)")]
    NoDataFolder,

    #[error("cannot determine where your config file would be (is HOME set?)")]
    NoConfigFile,

    /// Refused, because nobody could be asked or somebody said no.
    #[error("{} sets {}, but its folder is not trusted", file.display(), keys.join(", "))]
    Untrusted { file: PathBuf, keys: Vec<String> },

    /// Nobody could be shown all that they would trust.
    #[error(
        "{}: mcp_servers is too long to review: {chars} characters, at most {SERVERS_MAX} allowed",
        file.display()
    )]
    TooLongToTrust { file: PathBuf, chars: usize },

    /// What is remembered about trust cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    TrustFile {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },

    #[error(transparent)]
    Text(#[from] TextError),
}

fn lines(mistakes: &[Mistake]) -> String {
    let lines: Vec<_> = mistakes.iter().map(Mistake::to_string).collect();
    lines.join("\n")
}

impl ConfigError {
    /// The error of several mistakes, as they follow each other in their files.
    pub fn of(mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| match &mistake.source {
            Source::File { path, at } => (0, Some(path.clone()), *at),
            Source::Default | Source::Environment(_) | Source::Flag(_) | Source::Preset(_) => {
                (1, None, None)
            }
        });
        Self::Mistakes(mistakes)
    }
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Missing { .. } => {
                "without -c and COGTRIX_CONFIG_FILE the usual places are searched; a config file is optional"
            }
            Self::Unreadable { .. } | Self::NotConfig { .. } => {
                "choose another file with -c, or move this one away"
            }
            Self::Malformed { .. } => "indent with spaces, and quote text that holds `: ` or ` #`",
            Self::Mistakes(mistakes) => return mistakes_hint(mistakes),
            Self::NoDataFolder => "set one with --data-dir or COGTRIX_DATA_DIR",
            Self::NoConfigFile => "choose one with -c or COGTRIX_CONFIG_FILE",
            Self::Untrusted { .. } => {
                "review the file, then pass --trust-folder for this run, or answer yes when asked at a terminal"
            }
            Self::TooLongToTrust { .. } => {
                "review it with `cogtrix config show`, then pass --trust-folder for this run, or shorten it"
            }
            Self::TrustFile { .. } => "--trust-folder trusts the folder for this run only",
            Self::Text(error) => return error.hint(),
        };
        Some(hint.into())
    }
}

fn mistakes_hint(mistakes: &[Mistake]) -> Option<Cow<'_, str>> {
    let (unknown, others): (Vec<_>, Vec<_>) = mistakes
        .iter()
        .map(|mistake| (&mistake.source, &mistake.problem))
        .partition(|(_, problem)| matches!(problem, Problem::Unknown { .. }));
    if others
        .iter()
        .any(|(source, _)| matches!(source, Source::File { .. }))
    {
        return Some("`cogtrix -c /dev/null config show` lists every key with its default".into());
    }
    unknown.iter().find_map(|(_, problem)| match problem {
        Problem::Unknown { hint, .. } => Some(hint.into()),
        _ => None,
    })
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    pub source: Source,
    /// The key path, such as `memory.mode`; empty for the file as a whole.
    pub key: String,
    pub problem: Problem,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.source)?;
        let is_named = match (&self.source, &self.problem) {
            // A flag says what it sets.
            (Source::Flag(_), _) => false,
            (_, Problem::Unknown { .. }) => true,
            (source, _) => matches!(source, Source::File { .. }),
        };
        if is_named && !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}", self.problem)
    }
}

/// What is wrong with a key or its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// `nearest` is a whole key path; without one, `valid` lists what may stand here.
    UnknownKey {
        nearest: Option<String>,
        valid: Vec<String>,
    },
    MissingKey {
        key: String,
    },
    /// Both in words; `nearest` where the key was probably meant to be another one.
    WrongType {
        wanted: String,
        found: String,
        nearest: Option<String>,
    },
    BadValue {
        wanted: String,
        found: String,
    },
    NotOneOf {
        found: String,
        known: Vec<String>,
        nearest: Option<String>,
    },
    /// A rule of its own, in words that begin with a verb.
    Refused(String),
    /// The right form, and the name of nothing there is.
    Unknown {
        what: String,
        hint: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => write!(f, "unknown key; did you mean {nearest}?"),
            Self::UnknownKey { valid, .. } => {
                write!(f, "unknown key; valid keys: {}", valid.join(", "))
            }
            Self::MissingKey { key } => write!(f, "missing key {key}"),
            Self::WrongType {
                wanted,
                found,
                nearest,
            } => {
                write!(f, "expected {wanted}, found {found}")?;
                nearest
                    .iter()
                    .try_for_each(|nearest| write!(f, "; did you mean the key {nearest}?"))
            }
            Self::BadValue { wanted, found } => write!(f, "expected {wanted}, found {found}"),
            Self::NotOneOf {
                found,
                known,
                nearest,
            } => {
                write!(f, "{found:?} is not one of {}", known.join(", "))?;
                nearest
                    .iter()
                    .try_for_each(|nearest| write!(f, "; did you mean {nearest}?"))
            }
            Self::Refused(why) | Self::Unknown { what: why, .. } => f.write_str(why),
        }
    }
}
