//! Folders that are cogtrix's own: where sessions, approvals and settings are. No tool goes there, wherever the project is.
//!
//! A folder is known by where it really lies and by its identity (device and number), so that no spelling and no
//! link makes another of it. One that is not there yet is known by its place, and by its identity once it is made.

use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;

/// The folders that nothing is read from or written to.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<Folder>);

#[derive(Debug)]
struct Folder {
    /// Absolute, without links as far as it was there.
    path: PathBuf,
    /// Relative to the project; `None` where it lies outside.
    inside: Option<PathBuf>,
    /// As it was when the project was opened.
    identity: Option<Identity>,
}

/// Device and number of a folder.
type Identity = (u64, u64);

impl Kept {
    pub(super) fn new(folders: &[PathBuf], project: &Path) -> Self {
        let folders = folders.iter().map(|folder| {
            let path = real(folder);
            let inside = if project.starts_with(&path) {
                // The project is a part of it.
                Some(PathBuf::new())
            } else {
                path.strip_prefix(project).ok().map(Path::to_owned)
            };
            Folder {
                inside,
                identity: identity_of(&path),
                path,
            }
        });
        Self(folders.collect())
    }

    /// Whether a path of the project without links lies in one of them.
    pub(super) fn has(&self, real: &Path) -> bool {
        let mut places = self.0.iter().filter_map(|folder| folder.inside.as_ref());
        places.any(|inside| real.starts_with(inside))
    }

    /// Whether a folder is one of them.
    pub(super) fn is_one(&self, metadata: &Metadata) -> bool {
        let found = identity(metadata);
        found.is_some()
            && self
                .0
                .iter()
                .any(|folder| folder.identity == found || identity_of(&folder.path) == found)
    }
}

/// Without links, as far as it is there.
fn real(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut ancestors = folder.ancestors();
    let found = ancestors.find_map(|there| {
        let real = there.canonicalize().ok()?;
        let rest = folder.strip_prefix(there).ok()?;
        // Without a `/` at the end where nothing is missing.
        Some(real.components().chain(rest.components()).collect())
    });
    found.unwrap_or(folder)
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<Identity> {
    use cap_std::fs::MetadataExt;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn identity_of(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<Identity> {
    None
}

#[cfg(not(unix))]
fn identity_of(_: &Path) -> Option<Identity> {
    None
}
