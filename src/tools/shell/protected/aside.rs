//! Moves away what a command made of protected files, and keeps the newest of it.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::children;

/// Folders that are kept, each of one command.
pub(super) const ASIDE_MAX: usize = 50;
/// Begins their names.
pub(super) const ASIDE: &str = "put-back-";

/// All rights of the owner of a folder.
pub(super) const OWNER: u32 = 0o700;

pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Makes a folder, and those above it, for this user alone.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(OWNER).create(folder)?;
    // It may be of a version that left it to the umask.
    set_mode(folder, OWNER)
}

/// The folder to move things to, made when it is needed.
pub(super) struct Aside<'a> {
    parent: Option<&'a Path>,
    folder: Option<PathBuf>,
    taken: usize,
}

impl<'a> Aside<'a> {
    pub(super) fn new(parent: Option<&'a Path>) -> Self {
        Self {
            parent,
            folder: None,
            taken: 0,
        }
    }

    /// Moves a path away, or removes it where it cannot be kept.
    pub(super) fn take(&mut self, path: &Path) -> Option<PathBuf> {
        open_up(path);
        let kept = self.copy_of(path).and_then(|copy| {
            move_to(path, &copy).ok()?;
            Some(copy)
        });
        if kept.is_none() {
            remove(path).ok();
        }
        kept
    }

    /// Returns a free path to move another to.
    fn copy_of(&mut self, path: &Path) -> Option<PathBuf> {
        if self.folder.is_none() {
            let parent = self.parent?;
            make_private(parent).ok()?;
            remove_oldest(parent);
            let made = tempfile::Builder::new().prefix(ASIDE).tempdir_in(parent);
            self.folder = Some(made.ok()?.keep());
        }
        self.taken += 1;
        let name = path.file_name()?.to_string_lossy();
        Some(self.folder.as_ref()?.join(format!("{}-{name}", self.taken)))
    }
}

/// Removes the oldest folders, so that there is room for one more.
fn remove_oldest(parent: &Path) {
    let is_aside = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(ASIDE)
    };
    let folders = children(parent).filter(is_aside);
    let mut folders: Vec<(SystemTime, PathBuf)> = folders
        .filter_map(|path| Some((fs::symlink_metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    folders.sort();
    let excess = (folders.len() + 1).saturating_sub(ASIDE_MAX);
    for (_, folder) in folders.iter().take(excess) {
        open_up(folder);
        remove(folder).ok();
    }
}

/// Makes a folder and those below it readable and writable: closed ones could be neither moved nor removed.
pub(super) fn open_up(path: &Path) {
    let Ok(found) = fs::symlink_metadata(path) else {
        return;
    };
    if found.is_dir() {
        set_mode(path, found.mode() & 0o7777 | OWNER).ok();
        children(path).for_each(|child| open_up(&child));
    }
}

/// Moves a file, link or folder, over file systems too.
pub(super) fn move_to(from: &Path, to: &Path) -> io::Result<()> {
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

pub(super) fn remove(path: &Path) -> io::Result<()> {
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
