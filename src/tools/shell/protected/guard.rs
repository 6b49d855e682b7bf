//! Compares protected files before and after a command, and puts them back.
//!
//! Invariant: nothing runs between the end of the last process of a command and [`Guard::put_back`]; and no link is
//! followed, because folders are put back before what they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::aside::{Aside, OWNER, open_up, set_mode};
use super::baseline::Baseline;
use super::entry::{Entry, restore, snapshot};
use super::git_config::settings;
use super::put_back::{Change, PutBack};
use super::repository::{git_folders_around, of_git};
use super::submodules::{Lead, Submodules};
use super::{by_its_names, can_be_mounted, is_below, is_inside, named_files};
use crate::tools::shell::order::{Namespaces, Order};

/// Begins a message; the reason follows.
pub(in crate::tools::shell) const UNKNOWN: &str =
    "cannot tell apart changes to protected files by other sessions' commands";

/// Protected files as they were before a command.
#[derive(Debug)]
pub(in crate::tools::shell) struct Guard {
    pub(in crate::tools::shell) order: Order,
    protected: Vec<PathBuf>,
    /// Those that are read-only for the command where there are namespaces, as long as they are the same: a mount goes
    /// with what it covers, and anybody can make another at its path.
    mounted: BTreeMap<PathBuf, Inode>,
    before: BTreeMap<PathBuf, Entry>,
    /// Those of `before` that somebody had made or changed since the first of the running commands began.
    changed: BTreeSet<PathBuf>,
    /// What links among them led to, by way of which others: files of the project like any other.
    led_to: BTreeSet<PathBuf>,
    baseline: Option<Baseline>,
    /// Why commands that run at the same time do not know of each other.
    pub(in crate::tools::shell) lacks: Option<String>,
    /// Files with another name, under which no mount covers them.
    linked: BTreeSet<PathBuf>,
    submodules: Submodules,
}

impl Guard {
    /// Reads the protected paths that the command can write. May wait for some seconds.
    pub(in crate::tools::shell) fn new(order: Order) -> Self {
        let protected = order.protected.iter();
        let protected = protected.filter(|path| is_inside(path, &order.writable));
        let protected: Vec<PathBuf> = protected.cloned().collect();
        let mut baseline = Baseline::lock(&order);
        let before = snapshot(&protected, &order);
        let changed = match &mut baseline {
            Ok(Some(baseline)) => baseline.apply(&order, &before),
            Ok(None) | Err(_) => Ok(BTreeSet::new()),
        };
        let error = baseline.as_ref().err().or(changed.as_ref().err());
        let lacks = error.map(|error| format!("{UNKNOWN}: {error}"));
        let changed = changed.unwrap_or_default();
        let links = changed.iter().filter(|path| path.is_symlink());
        let linked = before.keys().filter(|path| has_other_names(path));
        let mounted = protected.iter().filter(|path| can_be_mounted(path));
        // What another command made is taken away at its end.
        let mounted = mounted.filter(|path| !changed.contains(*path));
        let mounted = mounted.filter_map(|path| Some((path.clone(), Inode::at(path)?)));
        Self {
            mounted: mounted.collect(),
            linked: linked.cloned().collect(),
            submodules: submodules(&order),
            led_to: links.flat_map(|link| led_to(link)).collect(),
            changed,
            baseline: baseline.ok().flatten(),
            lacks,
            before,
            protected,
            order,
        }
    }

    /// Puts back all that changed, top down, and returns it.
    pub(in crate::tools::shell) fn put_back(&self, namespaces: Namespaces) -> Vec<PutBack> {
        let mut changes = Vec::new();
        let modes = self.unlock(namespaces, &mut changes);
        let mut protected = self.protected.clone();
        // Those told by their names that were made meanwhile.
        let project = self.order.writable.first();
        let own = project.filter(|_| !protected.is_empty()).into_iter();
        protected.extend(own.flat_map(|project| named_files(project)));
        let mut after = snapshot(&protected, &self.order);
        let paths: BTreeSet<PathBuf> = self.before.keys().chain(after.keys()).cloned().collect();
        let mut aside = Aside::new(self.order.aside.as_deref());
        for path in paths {
            if self.is_read_only(&path, namespaces)
                || self.was_closed(&path)
                || self.is_others(&path, after.get(&path))
            {
                continue;
            }
            let (before, now) = (self.before.get(&path), after.get(&path));
            // What somebody else had made of it by then is not to come back, but what was there before that.
            let known: Vec<(&Path, &Entry)> = match &self.baseline {
                Some(baseline) if self.changed.contains(&path) => baseline.entries(&path).collect(),
                _ => before
                    .map(|before| (path.as_path(), before))
                    .into_iter()
                    .collect(),
            };
            let first = known.first().filter(|(top, _)| *top == path);
            let before = first.map(|(_, before)| *before);
            let change = match (before, now) {
                (Some(before), Some(now)) if before.is_same(now) => continue,
                _ if leads_nowhere(&path, before, now, &protected) => continue,
                (None, Some(now)) if is_harmless(&path, now, &protected) => continue,
                (Some(_), Some(_)) => Change::Changed,
                (None, Some(_)) => Change::Made,
                (Some(_), None) => Change::Removed,
                (None, None) => continue,
            };
            if before.is_some_and(|before| !before.can_be_restored()) {
                // Without a copy, so that nobody reads that it was put back.
                let (change, copy) = (Change::Changed, None);
                changes.push(PutBack { change, path, copy });
                continue;
            }
            let copy = now.and_then(|_| aside.take(&path));
            // All below went with it.
            after.retain(|other, _| !other.starts_with(&path));
            if before.is_some() {
                let known = known.iter().filter(|(_, entry)| entry.can_be_restored());
                for (path, entry) in known {
                    restore(path, entry).ok();
                }
            }
            changes.push(PutBack { change, path, copy });
        }
        // What leads to a submodule is as it was by now, so nothing else is entered.
        self.close_new_submodules(&mut aside, &mut changes);
        // Bottom up: the folder above may be closed.
        for (folder, mode) in modes.into_iter().rev() {
            if mode_of(folder).is_some_and(|now| now != mode) {
                set_mode(folder, mode).ok();
            }
        }
        changes
    }

    /// Returns whether it is again what it was before the first of the running commands began, or somebody else changed
    /// it since and nobody since this one began. What is gone went with the end of that one, unless it was there before.
    fn is_others(&self, path: &Path, now: Option<&Entry>) -> bool {
        let baseline = self.baseline.as_ref();
        let is_again = now.zip(baseline).is_some_and(|(now, it)| it.has(path, now));
        let is_as_begun = || match now {
            Some(now) => self.before.get(path) == Some(now),
            None => baseline.is_none_or(|it| !it.knows(path)),
        };
        is_again || self.changed.contains(path) && (self.led_to.contains(path) || is_as_begun())
    }

    /// Returns whether the command could not write there.
    fn is_read_only(&self, path: &Path, namespaces: Namespaces) -> bool {
        let mut mounted = self.mounted.iter();
        let mut is_covered =
            || mounted.any(|(root, it)| path.starts_with(root) && Inode::at(root) == Some(*it));
        namespaces != Namespaces::Missing && !self.linked.contains(path) && is_covered()
    }

    /// Returns whether a path lies below a folder that could not be read before: its content is not known.
    fn was_closed(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|folder| {
            let before = self.before.get(folder);
            matches!(before, Some(Entry::Folder { is_open: false, .. }))
        })
    }

    /// Makes folders readable and writable while they are compared, or a command could hide files in a closed one.
    /// Returns the modes they get afterwards: protected ones the earlier mode, those that lead there the present one.
    fn unlock(&self, namespaces: Namespaces, changes: &mut Vec<PutBack>) -> BTreeMap<&Path, u32> {
        let parents = self.protected.iter().flat_map(|path| path.ancestors());
        let parents = parents.filter(|folder| is_inside(folder, &self.order.writable));
        let known = self.before.keys().map(PathBuf::as_path);
        // Top down: a closed one hides those below.
        let all: BTreeSet<&Path> = known.chain(parents).collect();
        let mut modes = BTreeMap::new();
        for folder in all {
            if self.is_read_only(folder, namespaces) || self.was_closed(folder) {
                continue;
            }
            let Some(now) = mode_of(folder) else { continue };
            let mut was_open = true;
            if let Some(Entry::Folder { mode, is_open }) = self.before.get(folder) {
                was_open = *is_open;
                let is_protected = is_below(folder, &self.protected);
                modes.insert(folder, if is_protected { *mode } else { now });
                if is_protected && now != *mode {
                    changes.push(PutBack {
                        change: Change::Changed,
                        path: folder.to_owned(),
                        copy: None,
                    });
                }
            }
            if was_open && now & OWNER != OWNER {
                set_mode(folder, now | OWNER).ok();
            }
        }
        modes
    }

    /// Moves away what makes git run something in a submodule that it would not have entered before the command.
    fn close_new_submodules(&self, aside: &mut Aside<'_>, changes: &mut Vec<PutBack>) {
        let now = submodules(&self.order);
        let mut evil: Vec<PathBuf> = now
            .too_large
            .difference(&self.submodules.too_large)
            .cloned()
            .collect();
        let project = self.order.writable.first();
        let modules = project.map(|project| git_folders_around(project));
        let modules = modules.unwrap_or_default().into_iter();
        let modules: Vec<PathBuf> = modules.map(|git| git.join("modules")).collect();
        // What a command cannot write it did not make: there the index is its work, which names it.
        let made = |path: PathBuf, index: &Path| {
            if is_inside(&path, &self.order.writable) {
                path
            } else {
                index.to_owned()
            }
        };
        for (path, submodule) in now.entered {
            if self.submodules.entered.get(&path) == Some(&submodule) {
                continue;
            }
            if submodule.lead != Lead::Folder && !is_below(&submodule.git, &modules) {
                evil.push(made(submodule.entrance, &submodule.index));
                continue;
            }
            if is_inside(&submodule.git, &self.order.writable) {
                open_up(&submodule.git);
            }
            let files = of_git(&submodule.git);
            let files: Vec<PathBuf> = files
                .into_iter()
                .filter(|path| !self.protected.contains(path))
                .collect();
            let config = submodule.git.join("config");
            let there = Order {
                writable: vec![submodule.git.clone()],
                ..Order::default()
            };
            for (path, now) in snapshot(&files, &there) {
                let is_harmless = match &now {
                    Entry::File { content, .. } if path == config => content
                        .as_ref()
                        .is_some_and(|content| is_plain_config(content, &OF_SUBMODULE)),
                    _ => is_harmless(&path, &now, &files),
                };
                if is_below(&path, &files) && !is_harmless && !is_below(&path, &evil) {
                    evil.push(made(path, &submodule.index));
                }
            }
        }
        let evil: BTreeSet<PathBuf> = evil.into_iter().collect();
        let evil = evil.into_iter();
        for path in evil.filter(|path| is_inside(path, &self.order.writable)) {
            let copy = aside.take(&path);
            let change = Change::Made;
            changes.push(PutBack { change, path, copy });
        }
    }
}

/// Tells a file or folder from another at the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inode {
    device: u64,
    number: u64,
    /// A number may be given again.
    made: Option<SystemTime>,
}

impl Inode {
    fn at(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            device: found.dev(),
            number: found.ino(),
            made: found.created().ok(),
        })
    }
}

/// Returns the submodules of the project that a command runs in.
fn submodules(order: &Order) -> Submodules {
    let project = order.writable.first().filter(|_| order.is_confined);
    project.map_or_else(Submodules::default, |project| Submodules::of(project))
}

/// Returns whether a new file may stay: folders that lead to protected files, and all that `git init` makes.
fn is_harmless(path: &Path, now: &Entry, protected: &[PathBuf]) -> bool {
    let is_inside = is_below(path, protected);
    let parent = path.parent().and_then(Path::file_name);
    match now {
        Entry::Folder { .. } => !is_inside || path.ends_with("hooks"),
        // Never run.
        Entry::File { .. } if parent.is_some_and(|parent| parent == "hooks") => path
            .extension()
            .is_some_and(|extension| extension == "sample"),
        Entry::File {
            content: Some(content),
            ..
        } if path.ends_with(".git/config") => is_plain_config(content, &[]),
        Entry::File { .. } | Entry::Link { .. } | Entry::Other(_) => false,
    }
}

/// Returns whether there was and is no more than a plain file where a folder could lead to protected files, so that what
/// becomes of it is the command's business. A `.git` leads to a repository as a file, too.
fn leads_nowhere(
    path: &Path,
    before: Option<&Entry>,
    now: Option<&Entry>,
    protected: &[PathBuf],
) -> bool {
    let is_plain = matches!(before, None | Some(Entry::File { .. }))
        && matches!(now, None | Some(Entry::File { .. } | Entry::Folder { .. }));
    is_plain && !is_below(path, protected) && !path.ends_with(".git")
}

/// Returns where a link leads, and each other link on the way.
fn led_to(link: &Path) -> impl Iterator<Item = PathBuf> {
    let names = by_its_names(link).into_iter();
    names.filter(move |name| name != link)
}

/// Returns whether a file can be written under another name, too.
fn has_other_names(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

/// Keys of a config of git that describe the file system.
const PLAIN: [&str; 7] = [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
];

/// More that `git submodule` and `git clone` write: where it is, and where it came from.
const OF_SUBMODULE: [&str; 5] = ["worktree", "url", "fetch", "remote", "merge"];

/// Returns whether a config of git says nothing but what is plain, and `more`.
fn is_plain_config(content: &[u8], more: &[&str]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else {
        return false;
    };
    let is_word = |value: &str| value.chars().all(|c| c.is_ascii_alphanumeric());
    // No helper that talks to where it came from (`ext::`).
    let is_path = |value: &str| {
        let mut chars = value.chars();
        !value.contains("::") && chars.all(|c| c.is_alphanumeric() || " -._~/:@+*".contains(c))
    };
    settings(text).iter().all(|it| {
        let (key, is_core) = (it.key.as_str(), it.section == "core");
        let is_told = is_core || matches!(it.section.as_str(), "remote" | "branch");
        is_core && PLAIN.contains(&key) && is_word(&it.value)
            || is_told && more.contains(&key) && is_path(&it.value)
    })
}

/// Returns the mode of a folder; `None` for all else, and where a link leads there.
fn mode_of(folder: &Path) -> Option<u32> {
    let found = fs::symlink_metadata(folder).ok()?;
    let is_real = found.is_dir() && can_be_mounted(folder);
    is_real.then(|| found.mode() & 0o7777)
}

#[cfg(test)]
mod tests;
