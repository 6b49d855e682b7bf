//! Which config file is read: the first that is there (A2). Unit: one file; what counts of it is decided in `load`.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::layers::{CONFIG_FILE, Flags, Source};
use super::paths::{Folders, Written, expand, is_inside, real};
use crate::provider::Environment;

/// More than this is not a config file, and would be read in vain at every start.
const MAX_BYTES: u64 = 256 * 1024;

/// A file and whether it may set everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) standing: Standing,
}

/// How a file came to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Named by the person, or in a folder that is theirs alone.
    Own,
    /// It merely lies where cogtrix was started.
    WorkingFolder,
    /// It does so, and without trust only what is harmless of it counts, over the person's own file.
    Harmless,
}

/// The file to read, if there is one.
pub(super) fn find(
    flags: &Flags,
    environment: &Environment,
    working_dir: &Path,
    folders: &Folders,
) -> Result<Option<Found>, ConfigError> {
    if let Some((path, asked)) = named(flags, environment, working_dir, folders) {
        return match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(ConfigError::Missing { path, asked })
            }
            Ok(_) | Err(_) => Ok(Some(Found {
                path,
                standing: Standing::Own,
            })),
        };
    }
    Ok(candidates(working_dir, folders)
        .into_iter()
        .find(|found| fs::symlink_metadata(&found.path).is_ok()))
}

/// The person's own file, for when another one does not count.
pub(super) fn find_own(folders: &Folders) -> Option<Found> {
    let path = own_config_paths(folders).find(|path| fs::symlink_metadata(path).is_ok())?;
    Some(Found {
        path,
        standing: Standing::Own,
    })
}

fn named(
    flags: &Flags,
    environment: &Environment,
    working_dir: &Path,
    folders: &Folders,
) -> Option<(PathBuf, Source)> {
    let (text, asked) = match &flags.config_file {
        // A path need not be text; only one that begins with ~ is looked at as such.
        Some(path) if !path.starts_with("~") => {
            return Some((working_dir.join(path), Source::Flag("--config-file")));
        }
        Some(path) => (
            path.to_string_lossy().into_owned(),
            Source::Flag("--config-file"),
        ),
        None => (
            environment.get(CONFIG_FILE)?.to_owned(),
            Source::Environment(CONFIG_FILE),
        ),
    };
    let written = Written {
        text: &text,
        base: working_dir,
    };
    let path = expand(written, folders).unwrap_or_else(|_| working_dir.join(&text));
    Some((path, asked))
}

/// Names under which a config file is looked for in the working folder.
const NAMES: [&str; 4] = [
    "cogtrix.yaml",
    ".cogtrix.yaml",
    ".cogtrix.yml",
    "config/cogtrix.yaml",
];

/// Every path at which a config file would be found, now or in a later run started in `folder`.
pub fn config_paths(folder: &Path, folders: &Folders) -> impl Iterator<Item = PathBuf> {
    let here = NAMES.map(|name| folder.join(name));
    here.into_iter().chain(own_config_paths(folders))
}

/// Paths of the person's own config file, which needs no trust; the first that is there counts.
pub fn own_config_paths(folders: &Folders) -> impl Iterator<Item = PathBuf> {
    let config = folders.config.as_ref().map(|at| at.join("cogtrix.yaml"));
    let home = folders.home.as_ref().map(|at| at.join(".cogtrix.yaml"));
    [config, home].into_iter().flatten()
}

/// Returns whether a folder is the home folder or the root of the file system: no project, so nothing that lies there
/// acts.
pub(super) fn is_personal_root(folder: &Path, folders: &Folders) -> bool {
    let folder = real(folder);
    let home = folders.home.as_deref().map(real);
    folder.parent().is_none() || home.is_some_and(|home| home == folder)
}

/// Returns where a file is looked for, first first. One that is the person's own is that wherever the program was
/// started; a link to it counts as the file itself, so that paths in it begin where the person meant.
fn candidates(working_dir: &Path, folders: &Folders) -> Vec<Found> {
    let own: Vec<PathBuf> = own_config_paths(folders).collect();
    let own_file = |path: &Path| own.iter().find(|own| real(own) == real(path));
    let here = NAMES
        .into_iter()
        .filter(|_| !is_personal_root(working_dir, folders));
    let here = here.map(|name| working_dir.join(name));
    let here = here.map(|path| match own_file(&path) {
        Some(own) => Found {
            path: own.clone(),
            standing: Standing::Own,
        },
        None => Found {
            path,
            standing: Standing::WorkingFolder,
        },
    });
    let own = own.iter().map(|path| Found {
        path: path.clone(),
        standing: Standing::Own,
    });
    here.chain(own).collect()
}

/// The text of a file. A pipe is read where it was named (`-c <(…)`), not where it merely lies there.
pub(super) fn read(found: &Found, working_dir: &Path) -> Result<String, ConfigError> {
    let path = &found.path;
    let unreadable = |source| ConfigError::Unreadable {
        path: path.clone(),
        source,
    };
    let not_config = |why: &str| ConfigError::NotConfig {
        path: path.clone(),
        why: why.to_owned(),
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(not_config("is a folder"));
    }
    if found.standing != Standing::Own {
        if !metadata.is_file() {
            return Err(not_config("is not a regular file"));
        }
        if !is_inside(path, working_dir) {
            return Err(not_config("is a link that points outside the folder"));
        }
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(not_config(&format!(
            "is larger than {} KB",
            MAX_BYTES / 1024
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| not_config("is not UTF-8 text"))?;
    if text.contains('\0') {
        return Err(not_config("contains binary data"));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
