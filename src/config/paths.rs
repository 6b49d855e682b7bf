//! Folders: the person's, the platform's, and the data root (A6). Nothing is created here.

use std::path::{Component, Path, PathBuf};

use directories::BaseDirs;

use crate::files;

/// The folders of the person who runs this. Each is missing where the platform does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    pub home: Option<PathBuf>,
    /// Our own folder in the platform's config folder.
    pub config: Option<PathBuf>,
    /// Our own folder in the platform's data folder.
    pub data: Option<PathBuf>,
    /// Our own folder in the platform's state folder: what was trusted and allowed on this machine.
    pub state: Option<PathBuf>,
}

impl Folders {
    /// Asks the platform; honours `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `XDG_STATE_HOME`.
    pub fn from_platform() -> Self {
        let Some(found) = BaseDirs::new() else {
            return Self::default();
        };
        Self {
            home: Some(found.home_dir().to_owned()),
            config: Some(found.config_dir().join("cogtrix")),
            data: Some(found.data_local_dir().join("cogtrix")),
            state: Some(match found.state_dir() {
                Some(state) => state.join("cogtrix"),
                None => found.data_local_dir().join("cogtrix/state"),
            }),
        }
    }

    /// The history of typed lines.
    pub fn line_history(&self) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("line_history"))
    }
}

/// A path as it was written, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    /// What a relative path starts from: the file's folder, or the working folder for flags and variables.
    pub(super) base: &'a Path,
}

/// The absolute path: `~` is the home folder, `.` and `..` are resolved by name.
pub(super) fn expand(written: Written<'_>, folders: &Folders) -> Result<PathBuf, String> {
    if written.text.contains('\0') {
        return Err("is not a path: it contains a NUL character".to_owned());
    }
    let home = || {
        folders
            .home
            .as_deref()
            .ok_or_else(|| "needs a home folder, but none was found".to_owned())
    };
    let path = match written.text.strip_prefix('~') {
        None => written.base.join(written.text),
        Some("") => home()?.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => home()?.join(&rest[1..]),
        Some(_) => {
            return Err(
                "supports ~ for your own home folder only; write other home folders in full"
                    .to_owned(),
            );
        }
    };
    Ok(plain(&path))
}

/// Takes `.` and `..` out of a path, by name alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Returns whether a path leads into a folder, symbolic links followed as far as they exist.
pub(super) fn is_inside(path: &Path, folder: &Path) -> bool {
    plain(path).starts_with(plain(folder)) && real(path).starts_with(real(folder))
}

/// The path with the links of its existing part followed.
pub(super) fn real(path: &Path) -> PathBuf {
    files::resolve_links(&plain(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_from_config_starts_at_its_file_or_at_home() {
        let folders = Folders {
            home: Some("/home/ann".into()),
            ..Folders::default()
        };
        for (text, expected) in [
            ("notes", Ok("/etc/app/notes")),
            ("./notes/../other", Ok("/etc/app/other")),
            ("../../../../x", Ok("/x")),
            ("/abs/./x", Ok("/abs/x")),
            ("~", Ok("/home/ann")),
            ("~/notes", Ok("/home/ann/notes")),
            ("~bob/notes", Err(())),
            ("a~b", Ok("/etc/app/a~b")),
        ] {
            let written = Written {
                text,
                base: Path::new("/etc/app"),
            };
            let found = expand(written, &folders).map_err(drop);
            assert_eq!(found, expected.map(PathBuf::from), "{text}");
        }
    }

    #[test]
    fn without_a_home_only_paths_that_need_it_are_refused() {
        let at = |text| Written {
            text,
            base: Path::new("/w"),
        };
        assert!(expand(at("~/x"), &Folders::default()).is_err());
        assert!(expand(at("x"), &Folders::default()).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_outside() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("project");
        std::fs::create_dir(&inside).unwrap();
        std::os::unix::fs::symlink("/", inside.join("out")).unwrap();
        assert!(is_inside(&inside.join("data/new"), &inside));
        assert!(!is_inside(&inside.join("../x"), &inside));
        assert!(!is_inside(&inside.join("out/etc"), &inside));
        assert!(!is_inside(Path::new("/etc"), &inside));
    }
}
