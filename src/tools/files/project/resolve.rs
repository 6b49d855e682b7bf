//! The name behind the links: where a path that is to be written to really lies, and whether it may be written to.
//!
//! The result is only what the links say now. Whoever opens it goes by its names one at a time and follows no link
//! any more, so that what was checked here is what is changed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Metadata;

use super::{Project, ProjectError};
use crate::files::if_there;

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

impl Project {
    /// Returns where a write to `path` would end, without links. Refused are what leads out and what belongs to `.git`:
    /// a hook or a setting there is a command that somebody will run.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, ProjectError> {
        let real = self.behind_links(path)?;
        if real.components().any(is_git) {
            return Err(ProjectError::Git {
                path: path.to_owned(),
            });
        }
        if real.as_os_str().is_empty() {
            return Err(ProjectError::Folder {
                path: path.to_owned(),
            });
        }
        Ok(real)
    }

    /// Returns where a path leads, without links, as long as that is no folder kept from tools.
    pub(super) fn behind_links(&self, path: &Path) -> Result<PathBuf, ProjectError> {
        let real = self.follow(path)?;
        if self.kept.has(&real) {
            return Err(ProjectError::Kept {
                path: path.to_owned(),
            });
        }
        Ok(real)
    }

    fn follow(&self, path: &Path) -> Result<PathBuf, ProjectError> {
        let outside = || ProjectError::Outside {
            path: path.to_owned(),
        };
        let mut real = PathBuf::new();
        let mut ahead = parts(path).ok_or_else(outside)?;
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if part == ".." {
                if !real.pop() {
                    return Err(outside());
                }
                continue;
            }
            real.push(&part);
            let Some(target) = self.link(path, &real)? else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                let source = io::Error::other("too many chained links");
                return Err(ProjectError::of(path, source));
            }
            real.pop();
            for part in parts(&target).ok_or_else(outside)?.into_iter().rev() {
                ahead.push_front(part);
            }
        }
        Ok(real)
    }

    /// Returns what a link says; `None` of whatever is no link or not there yet.
    fn link(&self, path: &Path, real: &Path) -> Result<Option<PathBuf>, ProjectError> {
        let of = |source| ProjectError::of(path, source);
        let found = if_there(self.root.symlink_metadata(real)).map_err(of)?;
        let link = found.filter(Metadata::is_symlink);
        let link = link.map(|_| self.root.read_link_contents(real));
        link.transpose().map_err(of)
    }
}

/// The names of a relative path and its `..`; `None` of an absolute one.
fn parts(path: &Path) -> Option<VecDeque<OsString>> {
    path.components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| match component {
            Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
            Component::CurDir | Component::Prefix(_) | Component::RootDir => None,
        })
        .collect()
}

/// Whatever the case: some file systems know no difference.
fn is_git(component: Component<'_>) -> bool {
    component.as_os_str().eq_ignore_ascii_case(".git")
}
