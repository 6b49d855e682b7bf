//! Why something is not printed, or not copied.

use std::borrow::Cow;
use std::io;

use crate::hint::Hint;
use crate::term::text::thousands;

/// Why stdout takes nothing more.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Whoever read it has enough, as `head` does: the end, not a failure.
    #[error("stdout was closed by its reader")]
    Closed,
    #[error("cannot write to stdout: {0}")]
    Failed(#[source] io::Error),
}

impl Hint for OutputError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Failed(error) if error.kind() == io::ErrorKind::StorageFull => {
                Some("the disk that stdout writes to is full; the session is saved".into())
            }
            Self::Closed | Self::Failed(_) => None,
        }
    }
}

/// Bytes that terminals take at once, as base64 100 KB.
pub(super) const CLIPBOARD: usize = 74_994;

/// Why nothing was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotCopy {
    #[error("stdout is not a terminal, so there is no clipboard")]
    NoTerminal,
    #[error("it has {} bytes, and terminals take at most {}", thousands(*bytes), thousands(CLIPBOARD))]
    TooLong { bytes: usize },
}

impl Hint for CannotCopy {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("`/save FILE` writes the last reply to a file".into())
    }
}
