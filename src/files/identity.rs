//! The identity of a folder beside its path: another folder in its place, or a clone, has another one.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// Inode and time of creation, which no archive and no clone can set. The device stands in where the file system
/// keeps no such time; elsewhere it is left out, because its number may change when the machine starts again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FolderId(String);

impl FolderId {
    /// `None` where nothing is, or the system has no inodes.
    #[cfg(unix)]
    pub fn of(folder: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(folder).ok()?;
        let created = found.created().ok();
        let created = created.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let inode = found.ino();
        Some(Self(match created {
            Some(created) => format!("{inode}-{}", created.as_nanos()),
            None => format!("{inode}@{}", found.dev()),
        }))
    }

    #[cfg(not(unix))]
    pub fn of(folder: &Path) -> Option<Self> {
        let created = std::fs::metadata(folder).ok()?.created().ok()?;
        let created = created.duration_since(UNIX_EPOCH).ok()?;
        Some(Self(created.as_nanos().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_moved_keeps_its_identity_and_one_made_anew_has_another() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        let first = FolderId::of(&at("a")).unwrap();
        std::fs::rename(at("a"), at("b")).unwrap();
        assert_eq!(FolderId::of(&at("b")), Some(first.clone()));
        std::fs::remove_dir(at("b")).unwrap();
        std::fs::create_dir(at("a")).unwrap();
        assert_ne!(FolderId::of(&at("a")), Some(first));
        assert_eq!(FolderId::of(&at("b")), None);
    }
}
