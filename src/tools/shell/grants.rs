//! Which paths a confined command may write to, or read. Unit: the paths of one run.
//!
//! Landlock only grants, and what it grants of a folder holds for all beneath it. So a folder that holds something that
//! must be kept (the data folder: sessions, approvals) is not granted; its other entries are, one by one. In such a
//! folder nothing new can be made at the top. Links are not followed: they would grant what they point to.
//!
//! Invariant: no granted path holds a kept one, or lies in it.

use std::fs;
use std::path::PathBuf;

use crate::files::resolve_links;

/// Paths that may be written to, folders with all beneath them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grants(Vec<PathBuf>);

impl Grants {
    /// Of folders that may be written to, without what is kept. What does not exist is not granted, and neither is a
    /// path with a link in it: the paths were resolved when the program began, and a command may have put a link in
    /// the place of a folder since.
    pub(super) fn new(writable: &[PathBuf], kept: &[PathBuf]) -> Self {
        let kept: Vec<PathBuf> = kept.iter().map(|path| resolve_links(path)).collect();
        let mut granted = Vec::new();
        let is_itself = |path: &&PathBuf| path.canonicalize().is_ok_and(|real| real == **path);
        for folder in writable.iter().filter(is_itself) {
            grant(folder.clone(), &kept, &mut granted);
        }
        granted.sort();
        granted.dedup();
        Self(granted)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter()
    }
}

fn grant(path: PathBuf, kept: &[PathBuf], granted: &mut Vec<PathBuf>) {
    if kept.iter().any(|kept| path.starts_with(kept)) {
        return;
    }
    if !kept.iter().any(|kept| kept.starts_with(&path)) {
        granted.push(path);
        return;
    }
    for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            grant(entry.path(), kept, granted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders and a link in a new folder; the names that are granted of it.
    fn granted(writable: &[&str], kept: &[&str]) -> Vec<String> {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["project/src", "project/.cogtrix/history", "elsewhere"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::File::create(root.join("project/file")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join("project/link")).unwrap();
        let below =
            |paths: &[&str]| -> Vec<PathBuf> { paths.iter().map(|path| root.join(path)).collect() };
        let grants = Grants::new(&below(writable), &below(kept));
        let shown = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
        grants.paths().map(shown).collect()
    }

    #[test]
    fn what_is_kept_is_never_granted_and_neither_is_what_holds_it() {
        for (writable, kept, expected) in [
            (&["project"][..], &[][..], &["project"][..]),
            (&["project"], &["elsewhere"], &["project"]),
            (&["project"], &["project"], &[]),
            (&["project/src"], &["project"], &[]),
            (
                &["project"],
                &["project/.cogtrix"],
                &["project/file", "project/src"],
            ),
            // Not there yet, and not to be made.
            (
                &["project"],
                &["project/data/deep"],
                &["project/.cogtrix", "project/file", "project/src"],
            ),
            (
                &["project"],
                &["project/.cogtrix/history"],
                &["project/file", "project/src"],
            ),
            // By another name.
            (&["project/link"], &["elsewhere"], &[]),
            (&["elsewhere"], &["project/link"], &[]),
            // What was a folder when the program began is a link now.
            (&["project/link"], &[], &[]),
            (&["missing", "project/src"], &[], &["project/src"]),
        ] {
            assert_eq!(granted(writable, kept), expected, "{writable:?} {kept:?}");
        }
    }
}
