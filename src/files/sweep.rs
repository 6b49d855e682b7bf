//! What a killed process left of replacing files: unfinished copies, which nobody needs.
//!
//! To be called where nobody else can be writing: under the lock of the folder, or of the file.

use std::path::Path;

use super::{Disk, temporary_for};

/// Removes the unfinished copies in a folder of files that `is_ours` knows by name. Total: what cannot be removed
/// stays.
pub fn sweep(disk: &dyn Disk, folder: &Path, is_ours: impl Fn(&str) -> bool) {
    for file in disk.list(folder).unwrap_or_default() {
        let name = file.file_name().and_then(std::ffi::OsStr::to_str);
        let target = name.and_then(temporary_for);
        if target.is_some_and(&is_ours)
            && let Err(error) = disk.remove(&file)
        {
            tracing::debug!("cannot remove {}: {error}", file.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    #[test]
    fn unfinished_copies_of_our_files_go_and_nothing_else() {
        let disk = MemoryDisk::default();
        for name in [
            ".a.md.x7Yz01.tmp",
            ".b.md.x7Yz01.tmp",
            "a.md",
            ".a.md.tmp",
            "x.tmp",
        ] {
            disk.put(format!("/w/{name}"), b"x");
        }
        sweep(&disk, Path::new("/w"), |name| name == "a.md");
        let left: Vec<_> = disk.files().into_keys().collect();
        let expected = [".a.md.tmp", ".b.md.x7Yz01.tmp", "a.md", "x.tmp"];
        assert_eq!(left, expected.map(|name| Path::new("/w").join(name)));
    }
}
