//! Folders and files that are cogtrix's own: where sessions, approvals and settings are. No tool goes there, wherever
//! the project is.
//!
//! Each is known by where it really lies and by its identity (device and number), so that no spelling and no
//! link makes another of it. What is not there yet is known by its place, and by its identity once it is made.
//! A folder that is moved stays kept. A file is whatever has its name by now: an editor puts a new one in its place,
//! and the number of the old one goes to the next file that anybody makes.

use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;

use crate::files::resolve_links;

/// What nothing is read from or written to.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<Own>);

/// A folder or a file.
#[derive(Debug)]
struct Own {
    /// Absolute, without links as far as it was there.
    path: PathBuf,
    /// Relative to the project; `None` where it lies outside.
    inside: Option<PathBuf>,
    /// Of a folder, as it was when the project was opened.
    folder: Option<Identity>,
}

/// Device and number.
type Identity = (u64, u64);

impl Kept {
    pub(super) fn new(own: &[PathBuf], project: &Path) -> Self {
        let own = own.iter().map(|own| {
            let path = resolve_links(&std::path::absolute(own).unwrap_or_else(|_| own.clone()));
            let inside = if project.starts_with(&path) {
                // The project is a part of it.
                Some(PathBuf::new())
            } else {
                path.strip_prefix(project).ok().map(Path::to_owned)
            };
            Own {
                inside,
                folder: path.is_dir().then(|| identity_of(&path)).flatten(),
                path,
            }
        });
        Self(own.collect())
    }

    /// Returns whether a path of the project without links is one of them or lies in one.
    pub(super) fn has(&self, real: &Path) -> bool {
        let mut places = self.0.iter().filter_map(|own| own.inside.as_ref());
        places.any(|inside| real.starts_with(inside))
    }

    /// Returns whether a folder or a file is one of them.
    pub(super) fn is_one(&self, metadata: &Metadata) -> bool {
        let found = identity(metadata);
        found.is_some()
            && self
                .0
                .iter()
                .any(|own| own.folder == found || identity_of(&own.path) == found)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems tell none")]
fn identity(metadata: &Metadata) -> Option<Identity> {
    use cap_std::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn identity_of(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<Identity> {
    None
}

#[cfg(not(unix))]
fn identity_of(_: &Path) -> Option<Identity> {
    None
}
