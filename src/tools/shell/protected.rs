//! Files that run later: hooks, configuration of editors and agents, CI. Unit: one command.
//!
//! They are read-only where a mount namespace works. What did not exist, or could not be mounted, is compared before and
//! after the command ([`Guard`]): what was made or changed is moved aside, and what was there is put back.
//!
//! Invariant: nothing runs between the end of the last process of a command and [`Guard::put_back`]; and no link is
//! followed, because folders are put back before what they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Access, access};

use super::grants::resolved;
use super::order::{Namespaces, Order};
use crate::tools::files::difference;

/// Paths of a project that some program acts upon later, outside of any sandbox.
const PROTECTED: [&str; 19] = [
    ".cogtrix",
    ".vscode",
    ".idea",
    ".envrc",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursor",
    ".cursorrules",
    ".claude",
    ".github/workflows",
    ".github/copilot-instructions.md",
    ".gitlab-ci.yml",
    ".circleci",
    ".travis.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    ".husky",
];

/// Of a folder that git keeps: what names programs, and what would name another such folder.
const OF_GIT: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];

/// Of each of its worktrees: what names the folder that counts for it.
const OF_WORKTREE: [&str; 3] = ["commondir", "config.worktree", "gitdir"];

/// More than this is compared, and cannot be put back.
const CONTENT_MAX: u64 = 4 << 20;
const ALL_CONTENT_MAX: u64 = 32 << 20;
/// More than this is not shown to a person.
const SHOWN_MAX: u64 = 256 << 10;

/// So many folders of what was moved aside are kept.
const ASIDE_MAX: usize = 50;
/// Begins their names.
const ASIDE: &str = "put-back-";

/// Where submodules of submodules end.
const DEPTH_MAX: usize = 4;

/// Returns the protected paths of a project, config files among them. They may not exist: none may be made either.
pub(super) fn paths(project: &Path, config_files: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: BTreeSet<PathBuf> = PROTECTED.iter().map(|name| project.join(name)).collect();
    for file in config_files {
        paths.insert(file.clone());
        // A link on the way counts, and so does where it leads; the file itself may be a link, too.
        if let (Some(parent), Some(name)) = (file.parent(), file.file_name()) {
            paths.insert(resolved(parent).join(name));
        }
    }
    let git = project.join(".git");
    match fs::symlink_metadata(&git) {
        // Of a worktree or a submodule: the file itself names the folder that counts.
        Ok(found) if found.is_file() => {
            paths.insert(git.clone());
            let (own, common) = linked_folders(&git);
            paths.extend([own, common].iter().flatten().flat_map(|git| of_git(git)));
        }
        Ok(found) if found.is_symlink() => {
            paths.insert(git.clone());
            paths.extend(git.canonicalize().iter().flat_map(|git| of_git(git)));
        }
        _ => {
            let modules = submodules(&git.join("modules"), DEPTH_MAX);
            paths.extend(modules.iter().chain([&git]).flat_map(|git| of_git(git)));
        }
    }
    // A folder of hooks of one's own, unless git needs to write there.
    let real = resolved(project);
    let hooks: Vec<PathBuf> = paths
        .iter()
        .filter(|path| path.ends_with("config") || path.ends_with("config.worktree"))
        .filter_map(|config| fs::read_to_string(config).ok())
        .flat_map(|config| hook_folders(&config))
        .map(|folder| resolved(&real.join(folder)))
        .filter_map(|folder| Some(project.join(folder.strip_prefix(&real).ok()?)))
        .filter(|folder| !git.starts_with(folder))
        .collect();
    paths.extend(hooks);
    // What a link leads to counts as much as the link.
    let targets: Vec<PathBuf> = paths
        .iter()
        .filter(|path| path.is_symlink())
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    paths.extend(targets);
    paths.into_iter().collect()
}

fn of_git(folder: &Path) -> Vec<PathBuf> {
    let worktrees = fs::read_dir(folder.join("worktrees"));
    let worktrees = worktrees.into_iter().flatten().flatten();
    let of_worktrees = worktrees.flat_map(|entry| OF_WORKTREE.map(|name| entry.path().join(name)));
    let own = OF_GIT.iter().map(|name| folder.join(name));
    own.chain(of_worktrees).collect()
}

/// Returns every folder that a config of git names for hooks.
fn hook_folders(config: &str) -> Vec<String> {
    let settings = config.lines().filter_map(|line| {
        // The section may stand in the same line.
        let line = line.rsplit_once(']').map_or(line, |(_, rest)| rest);
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        let folder = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => value.split(['#', ';']).next()?.trim_end(),
        };
        let is_wanted = key.trim().eq_ignore_ascii_case("hookspath") && !folder.is_empty();
        is_wanted.then(|| folder.to_owned())
    });
    settings.collect()
}

/// The folder that a `.git` file names, and the one that this one shares with others.
fn linked_folders(file: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let named = |file: &Path, prefix: &str| {
        let text = fs::read_to_string(file).ok()?;
        let path = text.strip_prefix(prefix)?.trim_end();
        file.parent()?.join(path).canonicalize().ok()
    };
    let own = named(file, "gitdir: ");
    let common = own
        .as_ref()
        .and_then(|own| named(&own.join("commondir"), ""));
    (own, common)
}

/// Folders of submodules: those with a `HEAD`, however deep their names lead.
fn submodules(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found = Vec::new();
    for path in folders.map(|entry| entry.path()) {
        if path.join("HEAD").exists() {
            found.extend(submodules(&path.join("modules"), depth.saturating_sub(1)));
            found.push(path);
        } else if depth > 0 {
            found.extend(submodules(&path, depth - 1));
        }
    }
    found
}

/// What a command did to a protected file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Made,
    Changed,
    Removed,
}

impl Change {
    const ALL: [(&'static str, Self); 3] = [
        ("made", Self::Made),
        ("changed", Self::Changed),
        ("removed", Self::Removed),
    ];

    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, change)| *change == self);
        found.map_or("", |(name, _)| name)
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, change)| *change)
    }
}

/// A protected file that is as it was before the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutBack {
    pub change: Change,
    pub path: PathBuf,
    /// What the command made of it; `None` where it removed it, or where this could not be kept. A change without a copy was
    /// not put back: there was too much of it.
    pub copy: Option<PathBuf>,
}

impl PutBack {
    /// Returns what the command made of it, as a diff; of links and large files only that they differ.
    pub fn difference(&self) -> String {
        let name = self.path.display().to_string();
        let (mut of_before, mut of_after) = (SHOWN_MAX, SHOWN_MAX);
        let before = shown(&self.path, &mut of_before);
        let after = self.copy.as_deref();
        let after = after.and_then(|copy| shown(copy, &mut of_after));
        difference(&name, before.as_deref(), after.as_deref()).text
    }

    /// Returns whether [`Self::keep`] can do again what the command did.
    pub fn can_be_kept(&self) -> bool {
        self.copy.is_some() || self.change == Change::Removed
    }

    /// Does again what the command did, because a person wants it so. Nothing may be running in the project.
    pub fn keep(&self) -> io::Result<()> {
        match &self.copy {
            Some(copy) => {
                let parent = self.path.parent().ok_or(ErrorKind::InvalidInput)?;
                fs::create_dir_all(parent)?;
                remove(&self.path)?;
                move_to(copy, &self.path)
            }
            None if self.change == Change::Removed => remove(&self.path),
            None => Err(ErrorKind::NotFound.into()),
        }
    }
}

/// What a person is shown of a path: a link by where it leads, a folder by what it holds; never more than `room` bytes.
fn shown(path: &Path, room: &mut u64) -> Option<Vec<u8>> {
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_symlink() {
        let target = fs::read_link(path).ok()?;
        return Some(format!("a link to {}\n", target.display()).into_bytes());
    }
    if found.is_dir() {
        let children = fs::read_dir(path).ok()?.flatten();
        let mut children: Vec<PathBuf> = children.map(|child| child.path()).collect();
        children.sort();
        let mut text = Vec::new();
        for child in children {
            *room = room.saturating_sub(child.as_os_str().len() as u64);
            if *room == 0 {
                text.extend(b"and more\n");
                break;
            }
            text.extend(format!("== {}\n", child.file_name()?.display()).bytes());
            text.extend(shown(&child, room)?);
        }
        return Some(text);
    }
    if !found.is_file() {
        return Some(b"no regular file\n".to_vec());
    }
    Some(content(path, found.size(), room).unwrap_or_else(|| b"a large file\n".to_vec()))
}

/// Protected files as they were before a command.
#[derive(Debug)]
pub(super) struct Guard<'a> {
    order: &'a Order,
    protected: Vec<PathBuf>,
    /// What is read-only for the command where there are namespaces: if it changes, somebody else changed it.
    mounted: Vec<PathBuf>,
    before: BTreeMap<PathBuf, Entry>,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    File {
        stamp: Stamp,
        mode: u32,
        /// `None` where there is too much of it.
        content: Option<Vec<u8>>,
    },
    Link(PathBuf),
    Folder {
        mode: u32,
        /// Whether what it holds could be looked at.
        is_open: bool,
    },
    /// A pipe, a socket.
    Other(Stamp),
}

/// What changes whenever a file does: no command can set the time of the last change of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl Entry {
    /// Returns whether enough of it is known to make it again.
    fn can_be_restored(&self) -> bool {
        match self {
            Self::File { content, .. } => content.is_some(),
            Self::Link(_) | Self::Folder { .. } => true,
            Self::Other(_) => false,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File {
                    stamp,
                    mode,
                    content,
                },
                Self::File {
                    stamp: other_stamp,
                    mode: other_mode,
                    content: other_content,
                },
            ) => {
                stamp == other_stamp
                    || (mode == other_mode && content.is_some() && content == other_content)
            }
            // Their modes are looked after by `unlock`.
            (Self::Folder { .. }, Self::Folder { .. }) => true,
            _ => self == other,
        }
    }
}

impl<'a> Guard<'a> {
    /// Reads what is protected and could be written; nothing else can change.
    pub(super) fn new(order: &'a Order) -> Self {
        let is_writable = |path: &Path| {
            let mut roots = order.writable.iter();
            roots.any(|root| path.starts_with(root) && path != root)
        };
        let protected = order.protected.iter().filter(|path| is_writable(path));
        let protected: Vec<PathBuf> = protected.cloned().collect();
        let mounted = protected.iter().filter(|path| can_be_mounted(path));
        Self {
            mounted: mounted.cloned().collect(),
            before: snapshot(&protected, order),
            protected,
            order,
        }
    }

    /// Puts back what is not as it was, top down, and says what.
    pub(super) fn put_back(&self, namespaces: Namespaces) -> Vec<PutBack> {
        let mut changes = Vec::new();
        let modes = self.unlock(namespaces, &mut changes);
        let mut after = snapshot(&self.protected, self.order);
        let paths: BTreeSet<PathBuf> = self.before.keys().chain(after.keys()).cloned().collect();
        let mut aside = Aside::new(self.order.aside.as_deref());
        for path in paths {
            if self.is_read_only(&path, namespaces) || self.was_closed(&path) {
                continue;
            }
            let (before, now) = (self.before.get(&path), after.get(&path));
            let change = match (before, now) {
                (Some(before), Some(now)) if before.is_same(now) => continue,
                (None, Some(now)) if self.may_be_made(&path, now) => continue,
                (Some(_), Some(_)) => Change::Changed,
                (None, Some(_)) => Change::Made,
                (Some(_), None) => Change::Removed,
                (None, None) => continue,
            };
            if before.is_some_and(|before| !before.can_be_restored()) {
                let copy = None;
                changes.push(PutBack { change, path, copy });
                continue;
            }
            let copy = now.and_then(|_| aside.take(&path));
            // What lay below went with it.
            after.retain(|other, _| !other.starts_with(&path));
            if let Some(before) = before {
                restore(&path, before).ok();
            }
            changes.push(PutBack { change, path, copy });
        }
        // What lies below first: the one above may be closed.
        for (folder, mode) in modes.into_iter().rev() {
            if mode_of(folder).is_some_and(|now| now != mode) {
                set_mode(folder, mode).ok();
            }
        }
        changes
    }

    /// Returns whether the command could not write there.
    fn is_read_only(&self, path: &Path, namespaces: Namespaces) -> bool {
        namespaces != Namespaces::Missing && is_below(path, &self.mounted)
    }

    /// Returns whether a path lies below a folder that could not be read before: what it held is not known.
    fn was_closed(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|folder| {
            let before = self.before.get(folder);
            matches!(before, Some(Entry::Folder { is_open: false, .. }))
        })
    }

    /// Makes folders readable and writable for as long as it takes to compare them, or a command could close one over what
    /// it made. Returns the modes they get afterwards: protected ones that of before, those on the way the one they had.
    fn unlock(&self, namespaces: Namespaces, changes: &mut Vec<PutBack>) -> BTreeMap<&Path, u32> {
        let on_the_way = self.protected.iter().flat_map(|path| path.ancestors());
        let on_the_way = on_the_way.filter(|folder| {
            let mut roots = self.order.writable.iter();
            roots.any(|root| folder.starts_with(root) && folder != root)
        });
        let known = self.before.keys().map(PathBuf::as_path);
        // What lies above first: a closed one hides those below.
        let all: BTreeSet<&Path> = known.chain(on_the_way).collect();
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

    /// Folders on the way to protected files may come to be, and so may what `git init` makes.
    fn may_be_made(&self, path: &Path, now: &Entry) -> bool {
        let is_inside = self
            .protected
            .iter()
            .any(|protected| path.starts_with(protected));
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
            } if path.ends_with(".git/config") => is_plain_config(content),
            Entry::File { .. } | Entry::Link(_) | Entry::Other(_) => false,
        }
    }
}

/// Whether a config of git says nothing but what kind of file system there is.
fn is_plain_config(content: &[u8]) -> bool {
    const PLAIN: [&str; 7] = [
        "repositoryformatversion",
        "filemode",
        "bare",
        "logallrefupdates",
        "ignorecase",
        "precomposeunicode",
        "symlinks",
    ];
    let Ok(text) = std::str::from_utf8(content) else {
        return false;
    };
    text.lines().map(str::trim).all(|line| {
        let setting = line
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()));
        match setting {
            None => line.is_empty() || line == "[core]",
            Some((key, value)) => {
                let is_word = value.chars().all(|c| c.is_ascii_alphanumeric());
                PLAIN.contains(&key) && is_word
            }
        }
    })
}

/// What its owner may do with a folder.
const OWNER: u32 = 0o700;

/// The mode of a folder; `None` for all else, and where a link leads there.
fn mode_of(folder: &Path) -> Option<u32> {
    let found = fs::symlink_metadata(folder).ok()?;
    let is_real = found.is_dir() && can_be_mounted(folder);
    is_real.then(|| found.mode() & 0o7777)
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Returns whether a mount can cover a path: there is something, and no link leads there.
pub(super) fn can_be_mounted(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real == path)
}

fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// What stands at the protected paths, below them, and on the way from the writable folder to them. What no command can
/// write is left out: sessions change while commands run.
fn snapshot(protected: &[PathBuf], order: &Order) -> BTreeMap<PathBuf, Entry> {
    let mut entries = BTreeMap::new();
    let mut left = ALL_CONTENT_MAX;
    let kept: Vec<PathBuf> = order.kept.iter().map(|path| resolved(path)).collect();
    for path in protected {
        let roots = order.writable.iter().filter(|root| path.starts_with(root));
        let Some(root) = roots.max_by_key(|root| root.as_os_str().len()) else {
            continue;
        };
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.retain(|folder| folder.starts_with(root) && *folder != root);
        let is_real = above.iter().rev().all(|folder| {
            let found = fs::symlink_metadata(folder);
            let is_folder = found.as_ref().is_ok_and(Metadata::is_dir);
            if let Some(entry) = entry(folder, found, &mut left) {
                entries.insert((*folder).to_owned(), entry);
            }
            is_folder
        });
        if is_real {
            collect(path, &kept, &mut entries, &mut left);
        }
    }
    entries
}

fn collect(path: &Path, kept: &[PathBuf], entries: &mut BTreeMap<PathBuf, Entry>, left: &mut u64) {
    if is_below(path, kept) {
        return;
    }
    let Some(entry) = entry(path, fs::symlink_metadata(path), left) else {
        return;
    };
    let is_folder = matches!(entry, Entry::Folder { .. });
    entries.insert(path.to_owned(), entry);
    if is_folder {
        for child in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&child.path(), kept, entries, left);
        }
    }
}

fn entry(path: &Path, found: io::Result<Metadata>, left: &mut u64) -> Option<Entry> {
    let found = found.ok()?;
    let kind = found.file_type();
    Some(if kind.is_dir() {
        Entry::Folder {
            mode: found.mode() & 0o7777,
            is_open: access(path, Access::READ_OK | Access::EXEC_OK).is_ok(),
        }
    } else if kind.is_symlink() {
        Entry::Link(fs::read_link(path).unwrap_or_default())
    } else if kind.is_file() {
        Entry::File {
            stamp: Stamp::of(&found),
            mode: found.mode() & 0o777,
            content: content(path, found.size(), left),
        }
    } else {
        Entry::Other(Stamp::of(&found))
    })
}

fn content(path: &Path, size: u64, room: &mut u64) -> Option<Vec<u8>> {
    if size > CONTENT_MAX.min(*room) {
        return None;
    }
    let mut content = Vec::new();
    let file = File::open(path).ok()?;
    file.take(size).read_to_end(&mut content).ok()?;
    *room -= size;
    Some(content)
}

/// Makes an entry again at a path whose folders are as they were.
fn restore(path: &Path, before: &Entry) -> io::Result<()> {
    remove(path)?;
    match before {
        Entry::Folder { .. } => fs::create_dir_all(path),
        Entry::Link(target) => symlink(target, path),
        Entry::File {
            mode,
            content: Some(content),
            ..
        } => {
            let mut file = File::create_new(path)?;
            file.write_all(content)?;
            file.set_permissions(Permissions::from_mode(*mode))
        }
        Entry::File { content: None, .. } | Entry::Other(_) => Err(ErrorKind::Unsupported.into()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The folder that takes what is moved aside, made when it is needed.
struct Aside<'a> {
    parent: Option<&'a Path>,
    folder: Option<PathBuf>,
    taken: usize,
}

impl<'a> Aside<'a> {
    fn new(parent: Option<&'a Path>) -> Self {
        Self {
            parent,
            folder: None,
            taken: 0,
        }
    }

    /// Takes what stands at a path away; it is lost where it cannot be kept.
    fn take(&mut self, path: &Path) -> Option<PathBuf> {
        open_up(path);
        let kept = self.place(path).and_then(|copy| {
            move_to(path, &copy).ok()?;
            Some(copy)
        });
        if kept.is_none() {
            remove(path).ok();
        }
        kept
    }

    fn place(&mut self, path: &Path) -> Option<PathBuf> {
        if self.folder.is_none() {
            let parent = self.parent?;
            fs::create_dir_all(parent).ok()?;
            remove_oldest(parent);
            let made = tempfile::Builder::new().prefix(ASIDE).tempdir_in(parent);
            self.folder = Some(made.ok()?.keep());
        }
        self.taken += 1;
        let name = path.file_name()?.to_string_lossy();
        Some(self.folder.as_ref()?.join(format!("{}-{name}", self.taken)))
    }
}

/// Removes the oldest folders of what was moved aside, so that there is room for one more.
fn remove_oldest(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut folders: Vec<(SystemTime, PathBuf)> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(ASIDE))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    folders.sort();
    let excess = (folders.len() + 1).saturating_sub(ASIDE_MAX);
    for (_, folder) in folders.iter().take(excess) {
        open_up(folder);
        remove(folder).ok();
    }
}

/// Makes a folder and those below it readable and writable: closed ones could be neither moved nor removed.
fn open_up(path: &Path) {
    let Ok(found) = fs::symlink_metadata(path) else {
        return;
    };
    if found.is_dir() {
        set_mode(path, found.mode() & 0o7777 | OWNER).ok();
        for child in fs::read_dir(path).into_iter().flatten().flatten() {
            open_up(&child.path());
        }
    }
}

/// Moves a file, link or folder, over file systems too.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            copy(from, to)?;
            remove(from)
        }
        other => other,
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        symlink(fs::read_link(from)?, to)
    } else if found.is_dir() {
        fs::create_dir(to)?;
        for child in fs::read_dir(from)? {
            let child = child?;
            copy(&child.path(), &to.join(child.file_name()))?;
        }
        Ok(())
    } else if found.is_file() {
        fs::copy(from, to).map(|_| ())
    } else {
        Err(ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project with rules for agents, an editor's folder and sessions below a protected folder.
    fn project() -> (tempfile::TempDir, Order) {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        for folder in [".vscode", ".cogtrix/data"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        for file in ["AGENTS.md", ".vscode/tasks.json", ".cogtrix/data/s.json"] {
            written(&project.join(file), "before");
        }
        let order = Order {
            protected: paths(&project, &[]),
            kept: vec![project.join(".cogtrix/data")],
            aside: Some(project.join(".cogtrix/data/aside")),
            writable: vec![project],
            ..Order::default()
        };
        (root, order)
    }

    fn written(path: &Path, text: &str) {
        let mut file = File::create(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn what_a_command_did_is_put_back_and_can_be_kept() {
        let (root, order) = project();
        let project = root.path().canonicalize().unwrap();
        let guard = Guard::new(&order);
        written(&project.join("AGENTS.md"), "after");
        written(&project.join(".envrc"), "made");
        fs::remove_dir_all(project.join(".vscode")).unwrap();
        let back = guard.put_back(Namespaces::Missing);
        let changes: Vec<(Change, &Path)> = back
            .iter()
            .map(|file| (file.change, file.path.strip_prefix(&project).unwrap()))
            .collect();
        let expected = [
            (Change::Made, ".envrc"),
            (Change::Removed, ".vscode"),
            (Change::Removed, ".vscode/tasks.json"),
            (Change::Changed, "AGENTS.md"),
        ];
        assert_eq!(
            changes,
            expected.map(|(change, path)| (change, Path::new(path)))
        );
        assert_eq!(text(&project.join("AGENTS.md")), "before");
        assert_eq!(text(&project.join(".vscode/tasks.json")), "before");
        assert!(!project.join(".envrc").exists());
        assert_eq!(guard.put_back(Namespaces::Missing), []);
        for file in &back {
            file.keep().unwrap();
        }
        assert_eq!(text(&project.join("AGENTS.md")), "after");
        assert_eq!(text(&project.join(".envrc")), "made");
        assert!(!project.join(".vscode").exists());
    }

    #[test]
    fn of_what_was_put_back_the_newest_are_kept() {
        let (root, order) = project();
        let project = root.path().canonicalize().unwrap();
        let aside = order.aside.clone().unwrap();
        let folder = |n: usize| aside.join(format!("{ASIDE}{n}"));
        for n in 0..ASIDE_MAX + 5 {
            fs::create_dir_all(folder(n).join("closed")).unwrap();
            symlink(&project, folder(n).join("link")).unwrap();
            set_mode(&folder(n).join("closed"), 0).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n as u64);
            File::open(folder(n)).unwrap().set_modified(time).unwrap();
        }
        fs::create_dir(aside.join("another")).unwrap();
        let guard = Guard::new(&order);
        written(&project.join(".envrc"), "made");
        let back = guard.put_back(Namespaces::Missing);
        assert_eq!(text(back[0].copy.as_ref().unwrap()), "made");
        let left: Vec<usize> = (0..ASIDE_MAX + 5).filter(|n| folder(*n).exists()).collect();
        assert_eq!(left, (6..ASIDE_MAX + 5).collect::<Vec<usize>>());
        assert!(aside.join("another").exists());
        assert_eq!(text(&project.join("AGENTS.md")), "before");
    }

    #[test]
    fn a_folder_that_could_not_be_read_is_closed_again_and_keeps_what_it_holds() {
        let (root, order) = project();
        let folder = root.path().canonicalize().unwrap().join(".vscode");
        set_mode(&folder, 0).unwrap();
        let guard = Guard::new(&order);
        set_mode(&folder, 0o755).unwrap();
        let back = guard.put_back(Namespaces::Missing);
        let changed = PutBack {
            change: Change::Changed,
            path: folder.clone(),
            copy: None,
        };
        assert_eq!(back, [changed]);
        assert_eq!(mode_of(&folder), Some(0));
        set_mode(&folder, 0o755).unwrap();
        assert_eq!(text(&folder.join("tasks.json")), "before");
    }

    #[test]
    fn a_folder_that_a_command_closes_hides_nothing() {
        let (root, order) = project();
        let project = root.path().canonicalize().unwrap();
        let old = project.join(".vscode");
        let made = project.join(".github/workflows");
        let before = mode_of(&old);
        let guard = Guard::new(&order);
        written(&old.join("evil"), "after");
        fs::create_dir_all(&made).unwrap();
        written(&made.join("evil"), "after");
        for folder in [&old, &made, &project.join(".github")] {
            set_mode(folder, 0).unwrap();
        }
        guard.put_back(Namespaces::Missing);
        assert_eq!(mode_of(&old), before);
        assert!(!old.join("evil").exists());
        assert_eq!(text(&old.join("tasks.json")), "before");
        assert!(!made.exists());
    }

    #[test]
    fn worktrees_and_a_folder_of_hooks_of_ones_own_are_protected() {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        let config = project.join(".git/config");
        fs::create_dir_all(project.join(".git/worktrees/w")).unwrap();
        for (value, expected) in [
            ("tools/hooks", Some("tools/hooks")),
            ("\"tools/my hooks\" # mine", Some("tools/my hooks")),
            ("hooks ; mine", Some("hooks")),
            ("../hooks", None),
            (".", None),
        ] {
            written(&config, &format!("[Core]\n\thooksPath = {value}\n"));
            let usual = paths(&root.path().join("missing"), &[]).len();
            let found = paths(&project, &[]);
            let more = expected.map_or(0, |_| 1);
            assert_eq!(found.len(), usual + OF_WORKTREE.len() + more, "{value}");
            for path in expected.into_iter().chain([
                ".git/worktrees/w/commondir",
                ".git/worktrees/w/config.worktree",
                ".git/worktrees/w/gitdir",
            ]) {
                assert!(found.contains(&project.join(path)), "{value}: {path}");
            }
        }
    }

    #[test]
    fn what_commands_could_not_change_is_left_to_whoever_did() {
        let (root, order) = project();
        let project = root.path().canonicalize().unwrap();
        let guard = Guard::new(&order);
        written(&project.join("AGENTS.md"), "after");
        written(&project.join(".vscode/new"), "after");
        written(&project.join(".cogtrix/data/s.json"), "after");
        assert_eq!(guard.put_back(Namespaces::Own), []);
        assert_eq!(text(&project.join("AGENTS.md")), "after");
        let back = guard.put_back(Namespaces::Missing);
        assert_eq!(back.len(), 2, "{back:?}");
        assert_eq!(text(&project.join(".cogtrix/data/s.json")), "after");
    }

    #[test]
    fn a_config_that_only_tells_of_the_file_system_is_plain() {
        for (config, expected) in [
            (
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
                true,
            ),
            ("", true),
            ("[core]\n\tfsmonitor = evil\n", false),
            ("[core]\n\thooksPath = evil\n", false),
            ("[alias]\n", false),
            ("[core] fsmonitor = evil\n", false),
            ("[core]\n\tbare = false ; x\n", false),
            ("[include]\n\tpath = x\n", false),
        ] {
            assert_eq!(is_plain_config(config.as_bytes()), expected, "{config}");
        }
    }

    #[test]
    fn a_worktree_protects_the_folders_that_its_file_names() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["main/.git/worktrees/w", "w", "main/.git/modules/a/b/hooks"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let own = root.join("main/.git/worktrees/w");
        written(
            &root.join("w/.git"),
            &format!("gitdir: {}\n", own.display()),
        );
        written(&own.join("commondir"), "../..\n");
        written(&root.join("main/.git/modules/a/b/HEAD"), "x");
        let of_worktree = paths(&root.join("w"), &[]);
        for path in [
            "w/.git",
            "main/.git/worktrees/w/config.worktree",
            "main/.git/hooks",
        ] {
            assert!(of_worktree.contains(&root.join(path)), "{path}");
        }
        let of_main = paths(&root.join("main"), &[]);
        assert!(of_main.contains(&root.join("main/.git/modules/a/b/hooks")));
    }
}
