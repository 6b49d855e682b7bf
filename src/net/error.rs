//! Settings that cannot lead anywhere.

use std::borrow::Cow;

use crate::hint::Hint;

/// Nothing was sent: the address or the key cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NetError {
    pub what: String,
    pub hint: String,
}

impl Hint for NetError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.hint))
    }
}
