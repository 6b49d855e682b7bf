//! The file that a person wants to edit: one of the workspace, and nothing outside of it.

use std::path::PathBuf;

use super::name::unknown;
use super::{Holdings, HoldingsError};
use crate::notes::Source;

impl Holdings<'_> {
    /// The path of a file that is there or may be begun.
    pub fn begin(&self, name: &str) -> Result<PathBuf, HoldingsError> {
        let source = self.source(name)?;
        let begun = self.captures.workspace.begin(&source)?;
        begun.ok_or_else(|| HoldingsError::NoFile {
            name: source.as_str().to_owned(),
        })
    }

    pub fn path(&self, name: &str) -> Result<PathBuf, HoldingsError> {
        Ok(self.captures.workspace.path(&self.source(name)?))
    }

    fn source(&self, name: &str) -> Result<Source, HoldingsError> {
        let source = self.captures.workspace.named(name, self.session);
        source.ok_or_else(|| unknown(name))
    }
}
