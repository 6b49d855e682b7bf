//! What was there of protected files before the first of the commands that run in a project now.
//!
//! Another session's command may be running when one begins: what that one has made must not count as what was there.
//! Unit: one project. A file in the state folder, which all processes of a user share whatever their data folders are, is
//! locked by all who compare there; whoever is alone writes down what it found, the others read it, and the last one
//! removes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::aside::make_private;
use super::entry::Entry;
use crate::files::digest;
use crate::tools::shell::order::Order;

/// How often whoever was last may remove the file while it is opened.
const TRIES: usize = 100;

/// Ends what is written down whole.
const END: &str = "end\n";

/// Locked as long as this exists.
#[derive(Debug)]
pub(super) struct Baseline {
    file: File,
    path: PathBuf,
    is_first: bool,
    /// What the first found, as it wrote it down.
    known: BTreeSet<String>,
}

impl Baseline {
    /// Waits for nobody but one who is just writing. `None` where no file can be locked.
    pub(super) fn lock(order: &Order) -> Option<Self> {
        let project = order
            .writable
            .first()
            .filter(|_| !order.protected.is_empty())?;
        let folder = order.running.as_deref()?;
        make_private(folder).ok()?;
        let path = folder.join(digest(project.as_os_str().as_encoded_bytes()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        for _ in 0..TRIES {
            let file = options.open(&path).ok()?;
            let is_first = file.try_lock().is_ok();
            if !is_first {
                file.lock_shared().ok()?;
            }
            // Whoever was last may have removed it meanwhile.
            if !is_at(&file, &path) {
                continue;
            }
            if is_first {
                // What an earlier command found counts no more, even if this process ends now.
                file.set_len(0).ok()?;
            }
            return Some(Self {
                file,
                path,
                is_first,
                known: BTreeSet::new(),
            });
        }
        None
    }

    /// Returns the paths that were not there or held something else: what a command that was running has made of them is
    /// not put back, and what a person has made is not taken away.
    pub(super) fn apply(
        &mut self,
        before: &BTreeMap<PathBuf, Entry>,
    ) -> io::Result<BTreeSet<PathBuf>> {
        if self.is_first {
            let lines = before.iter().map(|(path, entry)| line(path, entry) + "\n");
            let text = lines.collect::<String>() + END;
            let written = self.file.write_all(text.as_bytes());
            self.file.lock_shared()?;
            return written.map(|()| BTreeSet::new());
        }
        let mut text = String::new();
        self.file.rewind()?;
        self.file.read_to_string(&mut text)?;
        let Some(text) = text.strip_suffix(END) else {
            // Whoever was first did not get to write it.
            return Ok(BTreeSet::new());
        };
        self.known = text.lines().map(str::to_owned).collect();
        let changed = before.iter().filter(|(path, entry)| !self.has(path, entry));
        Ok(changed.map(|(path, _)| path.clone()).collect())
    }

    /// Returns whether a path held this when the first of the running commands began.
    pub(super) fn has(&self, path: &Path, entry: &Entry) -> bool {
        // Whoever is first reads no record, and need not digest what files hold.
        !self.known.is_empty() && self.known.contains(&line(path, entry))
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        // With the lock of all: nobody else is there to read it.
        if self.file.try_lock().is_ok() && is_at(&self.file, &self.path) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Returns whether a file is still the one at its path.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    let (open, there) = (file.metadata().map(id), fs::symlink_metadata(path).map(id));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

fn line(path: &Path, entry: &Entry) -> String {
    let path = path.as_os_str().as_encoded_bytes();
    digest(&[path, b"\0", entry.identity().as_bytes()].concat())
}
