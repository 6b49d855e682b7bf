//! What a person means by a word: the number of a capture, the id or key of an entry, or a file of the workspace.

use super::{MemoryView, MemoryViewError};
use crate::long_term::entries::{Entry, Scope};
use crate::long_term::notes::{Receipt, Source};

/// What is meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Named {
    Capture(Box<Receipt>),
    Entry(Scope, Box<Entry>),
    File(Source),
}

/// Characters of a name that are told back.
const TOLD: usize = 80;

/// The number of a capture, as it is typed: `12`, `#12`.
pub(super) fn number(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('#').unwrap_or(name);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(digits)
}

impl MemoryView<'_> {
    pub(super) fn named(&self, name: &str) -> Result<Named, MemoryViewError> {
        let name = name.trim();
        if let Some(digits) = number(name) {
            return self.capture(digits).map(Box::new).map(Named::Capture);
        }
        if let Some((scope, entry)) = self.entry(name) {
            return Ok(Named::Entry(scope, Box::new(entry.clone())));
        }
        let file = self.captures.workspace.named(name, self.session);
        file.map(Named::File).ok_or_else(|| unknown(name))
    }

    /// The capture of a number, however large that is.
    pub(super) fn capture(&self, digits: &str) -> Result<Receipt, MemoryViewError> {
        let none = || MemoryViewError::NoNumber {
            digits: digits.chars().take(TOLD).collect(),
        };
        let number: u64 = digits.parse().map_err(|_| none())?;
        let mut receipts = self.captures.all()?.into_iter();
        receipts
            .find(|receipt| receipt.number == number)
            .ok_or_else(none)
    }

    /// By its id, or else its key.
    fn entry(&self, name: &str) -> Option<(Scope, &Entry)> {
        let by_id = |(_, entry): &(Scope, &Entry)| entry.id.as_str() == name;
        let by_key = |(_, entry): &(Scope, &Entry)| entry.key.as_deref() == Some(name);
        let mut all = self.entries.all();
        all.find(by_id).or_else(|| self.entries.all().find(by_key))
    }
}

pub(super) fn unknown(name: &str) -> MemoryViewError {
    MemoryViewError::Unknown {
        name: name.chars().take(TOLD).collect(),
    }
}
