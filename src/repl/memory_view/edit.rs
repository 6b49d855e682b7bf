//! The file that a person wants to edit: one of the workspace, and nothing outside of it.

use std::path::PathBuf;

use super::name::unknown;
use super::{MemoryView, MemoryViewError};
use crate::long_term::notes::{Draft, Source};

impl MemoryView<'_> {
    /// A file that is there or may be begun, as an editor is to have it.
    pub fn draft(&self, name: &str) -> Result<Draft, MemoryViewError> {
        let source = self.source(name)?;
        let draft = self.captures.workspace.draft(&source)?;
        draft.ok_or_else(|| MemoryViewError::NoFile {
            name: source.as_str().to_owned(),
        })
    }

    pub fn path(&self, name: &str) -> Result<PathBuf, MemoryViewError> {
        Ok(self.captures.workspace.path(&self.source(name)?))
    }

    fn source(&self, name: &str) -> Result<Source, MemoryViewError> {
        let source = self.captures.workspace.named(name, self.session);
        source.ok_or_else(|| unknown(name))
    }
}
