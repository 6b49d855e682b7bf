//! A change of a protected file as a person sees it, who may want it after all.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::aside::{move_to, remove};
use super::children;
use super::entry::content;
use crate::declare::named;
use crate::tools::files::difference;

/// More than this is not shown to a person.
const SHOWN_MAX: u64 = 256 << 10;

named! {
    /// The kind of a change of a protected file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Change {
        Made = "made",
        Changed = "changed",
        Removed = "removed",
    }
}

/// A protected file that is as it was before the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct PutBack {
    pub change: Change,
    pub path: PathBuf,
    /// The command's version; `None` where it removed the file, or where this could not be kept. A file that was
    /// changed and has no copy was not put back: it is too large.
    pub copy: Option<PathBuf>,
}

/// As it is told to another process.
type Written = (Change, String, Option<String>);

impl From<Written> for PutBack {
    fn from((change, path, copy): Written) -> Self {
        let (path, copy) = (path.into(), copy.map(PathBuf::from));
        Self { change, path, copy }
    }
}

impl From<PutBack> for Written {
    fn from(PutBack { change, path, copy }: PutBack) -> Self {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        (change, text(path), copy.map(text))
    }
}

impl PutBack {
    /// Returns the command's version as a diff; of links and large files only that they differ.
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

/// Returns at most `room` bytes that show a path: the target of a link, all files of a folder.
fn shown(path: &Path, room: &mut u64) -> Option<Vec<u8>> {
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_symlink() {
        let target = fs::read_link(path).ok()?;
        return Some(format!("a link to {}\n", target.display()).into_bytes());
    }
    if found.is_dir() {
        let mut children: Vec<PathBuf> = children(path).collect();
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
