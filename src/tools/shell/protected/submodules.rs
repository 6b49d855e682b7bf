//! Repositories that git enters by itself because an index names them. Unit: one look at the project.
//!
//! `git status` of the project runs what the configuration of each of them names. So it is protected like the project's
//! own; and a repository that a command named, or made where one is named, stays only while it names nothing to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::can_be_mounted;
use super::entry::text;
use super::index::gitlinks;
use super::repository::git_folder;
use crate::files::resolve_links;

/// How git gets from the path of a submodule to its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// A link in the place of the submodule's folder.
    FolderLink(PathBuf),
    /// `.git` is a folder, a link, or a file that names the folder.
    Folder,
    Link(PathBuf),
    File(String),
}

/// A submodule that git would enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Submodule {
    pub(super) lead: Lead,
    /// What makes git enter it: a link in the place of the folder, or its `.git`.
    pub(super) entrance: PathBuf,
    /// The real folder of git.
    pub(super) git: PathBuf,
    /// What names it.
    pub(super) index: PathBuf,
}

/// All submodules that git would enter in a project and in the repositories around it, and those of them in turn, by
/// path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Submodules {
    pub(super) entered: BTreeMap<PathBuf, Submodule>,
    /// Indexes that are too large to be read.
    pub(super) too_large: BTreeSet<PathBuf>,
}

impl Submodules {
    pub(super) fn of(project: &Path) -> Self {
        let mut found = Self::default();
        let mut seen = BTreeSet::new();
        let project = resolve_links(project);
        let mut next: Vec<PathBuf> = project.ancestors().map(Path::to_owned).collect();
        while let Some(root) = next.pop() {
            let Ok(root) = root.canonicalize() else {
                continue;
            };
            let Some(git) = git_folder(&root).filter(|_| seen.insert(root.clone())) else {
                continue;
            };
            let index = git.join("index");
            let Some(paths) = gitlinks(&git) else {
                found.too_large.insert(index);
                continue;
            };
            for path in paths.iter().map(|path| root.join(path)) {
                // Git follows a link in the place of a submodule, and none on the way to it.
                if path.parent().is_some_and(can_be_mounted)
                    && let Some(submodule) = Submodule::at(&path, &index)
                {
                    found.entered.insert(path.clone(), submodule);
                    next.push(path);
                }
            }
        }
        found
    }
}

impl Submodule {
    fn at(path: &Path, index: &Path) -> Option<Self> {
        let git = git_folder(path)?;
        let dot_git = path.join(".git");
        let found = fs::symlink_metadata(&dot_git).ok()?;
        let (lead, entrance) = if let Ok(target) = fs::read_link(path) {
            (Lead::FolderLink(target), path.to_owned())
        } else if let Ok(target) = fs::read_link(&dot_git) {
            (Lead::Link(target), dot_git)
        } else if found.is_dir() {
            (Lead::Folder, dot_git)
        } else {
            (Lead::File(text(&dot_git)?), dot_git)
        };
        Some(Self {
            lead,
            entrance,
            git,
            index: index.to_owned(),
        })
    }
}
