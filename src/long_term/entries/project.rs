//! Which project a folder belongs to, and what that is called on disk (G6).

use std::path::{Path, PathBuf};

use crate::files::{Disk, digest};

/// What stands in the folder of a project: version control, or what builds it.
const MARKS: [&str; 18] = [
    ".git",
    ".hg",
    ".jj",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
    "meson.build",
    "mix.exs",
    "Gemfile",
    "composer.json",
    "deno.json",
];

/// The folder that names a project: the one set, or the nearest with a mark, or else the folder itself.
pub fn root(setting: &str, folder: &Path, disk: &dyn Disk) -> PathBuf {
    if setting != "auto" && !setting.is_empty() {
        return folder.join(setting);
    }
    let is_marked = |folder: &&Path| {
        let mut marks = MARKS.iter().map(|mark| folder.join(mark));
        marks.any(|mark| disk.size(&mark).is_ok())
    };
    let found = folder.ancestors().find(is_marked);
    found.unwrap_or(folder).to_owned()
}

/// 16 hexadecimal digits for a folder, whose path is as the system knows it.
pub fn hash(root: &Path) -> String {
    digest(root.as_os_str().as_encoded_bytes())[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    #[test]
    fn the_nearest_folder_with_a_mark_is_the_project() {
        let disk = MemoryDisk::with([
            ("/w/app/.git/HEAD", b"x" as &[u8]),
            ("/w/app/sub/package.json", b"{}"),
            ("/w/app/src/deep/a.rs", b""),
        ]);
        for (setting, folder, expected) in [
            ("auto", "/w/app/src/deep", "/w/app"),
            ("auto", "/w/app/sub/x", "/w/app/sub"),
            ("auto", "/w/other", "/w/other"),
            ("/elsewhere", "/w/app", "/elsewhere"),
            ("sub", "/w/app", "/w/app/sub"),
        ] {
            assert_eq!(root(setting, Path::new(folder), &disk), Path::new(expected));
        }
        assert_ne!(hash(Path::new("/a")), hash(Path::new("/b")));
        assert_eq!(hash(Path::new("/a")).len(), 16);
    }
}
