//! Going through a folder of the project, the way `.gitignore` files say.
//!
//! Every folder is opened from the handle of the one above it, and files are opened the same way, so a link that is
//! put in the place of a folder meanwhile leads nowhere outside. Links are named and not followed.

use std::ffi::OsString;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, DirEntry};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::project::{Project, ProjectError};

/// Folders inside of each other that are still looked into.
pub(super) const DEEPEST: usize = 64;
/// Longest file of patterns that is read.
const PATTERNS_MAX: u64 = 1 << 20;

/// What a walk looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// 1 for what lies directly in the folder.
    pub(super) depth: usize,
    pub(super) hidden: Hidden,
}

/// Names that begin with a dot; `.git` is never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    Shown,
    Skipped,
}

/// Something on the way.
#[derive(Debug)]
pub(super) struct Found<'a> {
    project: &'a Project,
    entry: &'a Entry,
    folder: &'a Dir,
    /// Relative to the project folder.
    pub(super) path: &'a Path,
    /// 1 for what lies directly in the folder where the walk began.
    pub(super) depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket, a device.
    Special,
}

#[derive(Debug)]
struct Entry {
    name: OsString,
    kind: Kind,
}

/// Goes through a folder, sorted, folders before files, until `visit` breaks. What cannot be read is passed over.
pub(super) fn walk<B>(
    project: &Project,
    start: &Path,
    scope: Scope,
    visit: impl FnMut(&Found<'_>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, ProjectError> {
    let folder = project.folder(start)?;
    let path = start.strip_prefix(".").unwrap_or(start);
    let mut walker = Walker {
        rules: rules_above(project, path),
        project,
        scope,
        visit,
    };
    Ok(walker.folder(&folder, path, 1))
}

struct Walker<'a, V> {
    /// The nearest last.
    rules: Vec<Gitignore>,
    project: &'a Project,
    scope: Scope,
    visit: V,
}

impl<B, V: FnMut(&Found<'_>) -> ControlFlow<B>> Walker<'_, V> {
    fn folder(&mut self, folder: &Dir, path: &Path, depth: usize) -> ControlFlow<B> {
        let own = rules_of(self.project, folder, path);
        let n_own = own.len();
        self.rules.extend(own);
        let walked = entries(folder)
            .iter()
            .try_for_each(|entry| self.entry(folder, path, entry, depth));
        self.rules.truncate(self.rules.len() - n_own);
        walked
    }

    fn entry(&mut self, folder: &Dir, path: &Path, entry: &Entry, depth: usize) -> ControlFlow<B> {
        let path = path.join(&entry.name);
        if self.is_left_out(entry, &path) || self.is_kept(folder, entry) {
            return ControlFlow::Continue(());
        }
        (self.visit)(&Found {
            project: self.project,
            entry,
            folder,
            path: &path,
            depth,
        })?;
        if entry.kind != Kind::Folder || depth >= self.scope.depth.min(DEEPEST) {
            return ControlFlow::Continue(());
        }
        match folder.open_dir(&entry.name) {
            // Looked at once more: what is open may be another folder by now.
            Ok(below)
                if below
                    .dir_metadata()
                    .is_ok_and(|metadata| !self.project.is_kept(&metadata)) =>
            {
                self.folder(&below, &path, depth + 1)
            }
            Ok(_) | Err(_) => ControlFlow::Continue(()),
        }
    }

    fn is_kept(&self, folder: &Dir, entry: &Entry) -> bool {
        entry.kind == Kind::Folder
            && folder
                .symlink_metadata(&entry.name)
                .is_ok_and(|metadata| self.project.is_kept(&metadata))
    }

    fn is_left_out(&self, entry: &Entry, path: &Path) -> bool {
        let is_dotted = entry.name.as_encoded_bytes().starts_with(b".");
        if entry.name == ".git" || (is_dotted && self.scope.hidden == Hidden::Skipped) {
            return true;
        }
        let whole = self.project.path().join(path);
        let is_folder = entry.kind == Kind::Folder;
        let said = self.rules.iter().rev().map(|rules| {
            let path = if rules.path().is_absolute() {
                &whole
            } else {
                path
            };
            rules.matched(path, is_folder)
        });
        said.into_iter()
            .find(|said| !said.is_none())
            .is_some_and(|said| matches!(said, Match::Ignore(_)))
    }
}

impl Found<'_> {
    pub(super) fn kind(&self) -> Kind {
        self.entry.kind
    }

    pub(super) fn name(&self) -> &Path {
        Path::new(&self.entry.name)
    }

    /// The file, if it is still a regular one.
    pub(super) fn open(&self) -> Result<std::fs::File, ProjectError> {
        self.project.open_in(self.folder, self.name(), self.path)
    }

    /// In bytes, of a file.
    pub(super) fn size(&self) -> Option<u64> {
        let metadata = self.folder.symlink_metadata(self.name()).ok()?;
        metadata.is_file().then(|| metadata.len())
    }

    /// Returns what a link says.
    pub(super) fn target(&self) -> Option<PathBuf> {
        self.folder.read_link_contents(self.name()).ok()
    }
}

fn entries(folder: &Dir) -> Vec<Entry> {
    let Ok(found) = folder.entries() else {
        return Vec::new();
    };
    let mut entries: Vec<Entry> = found.flatten().filter_map(|entry| read(&entry)).collect();
    entries.sort_by(|a, b| {
        let rank = |entry: &Entry| entry.kind != Kind::Folder;
        (rank(a), &a.name).cmp(&(rank(b), &b.name))
    });
    entries
}

fn read(entry: &DirEntry) -> Option<Entry> {
    let file_type = entry.file_type().ok()?;
    let kind = if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Folder
    } else if file_type.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    };
    Some(Entry {
        name: entry.file_name(),
        kind,
    })
}

/// The rules of all folders above `start`, of the repository that the project may be a part of too.
fn rules_above(project: &Project, start: &Path) -> Vec<Gitignore> {
    let mut rules = rules_outside(project.path());
    let exclude = project.open_file(Path::new(".git/info/exclude")).ok();
    rules.extend(exclude.and_then(|file| parsed(file, Path::new(""))));
    let above: Vec<&Path> = start.ancestors().skip(1).collect();
    for folder in above.into_iter().rev() {
        let name = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        if let Ok(open) = project.folder(name) {
            rules.extend(rules_of(project, &open, folder));
        }
    }
    rules
}

/// The person's own files above the project folder, up to the root of the repository. No model has a say in which.
fn rules_outside(root: &Path) -> Vec<Gitignore> {
    let is_repository = |folder: &&Path| folder.join(".git").exists();
    if is_repository(&root) {
        return Vec::new();
    }
    let above: Vec<&Path> = root.ancestors().skip(1).collect();
    let Some(top) = above.iter().position(is_repository) else {
        return Vec::new();
    };
    let files = above[..=top].iter().rev().map(|folder| {
        let (rules, _) = Gitignore::new(folder.join(".gitignore"));
        rules
    });
    files.filter(|rules| !rules.is_empty()).collect()
}

fn rules_of(project: &Project, folder: &Dir, path: &Path) -> Vec<Gitignore> {
    [".gitignore", ".ignore"]
        .into_iter()
        .filter_map(|name| project.open_in(folder, name, Path::new(name)).ok())
        .filter_map(|file| parsed(file, path))
        .collect()
}

/// A pattern that makes no sense is passed over, as git does.
fn parsed(file: std::fs::File, folder: &Path) -> Option<Gitignore> {
    let mut text = Vec::new();
    file.take(PATTERNS_MAX).read_to_end(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&text).lines() {
        builder.add_line(None, line).ok();
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
