//! Which config file is read: the first that is there (A2). Unit: one file; nothing is combined from several.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::layers::{CONFIG_FILE, Flags, Source};
use super::paths::{Folders, Written, expand, real};
use crate::provider::Environment;

/// More than this is not a config file, and would be read in vain at every start.
const MOST_BYTES: u64 = 256 * 1024;

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
        .find(|found| fs::symlink_metadata(&found.path).is_ok())
        .map(|found| own_if_theirs(found, folders)))
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

/// Where a file is looked for, first first.
fn candidates(working_dir: &Path, folders: &Folders) -> Vec<Found> {
    let here = [
        "cogtrix.yaml",
        ".cogtrix.yaml",
        ".cogtrix.yml",
        "config/cogtrix.yaml",
    ]
    .map(|name| Found {
        path: working_dir.join(name),
        standing: Standing::WorkingFolder,
    });
    let own = [
        folders.config.as_ref().map(|at| at.join("cogtrix.yaml")),
        folders.home.as_ref().map(|at| at.join(".cogtrix.yaml")),
    ]
    .into_iter()
    .flatten()
    .map(|path| Found {
        path,
        standing: Standing::Own,
    });
    here.into_iter().chain(own).collect()
}

/// Started in the home or the config folder, the file there is the person's own.
fn own_if_theirs(found: Found, folders: &Folders) -> Found {
    let theirs = found.path.parent().is_some_and(|parent| {
        [&folders.home, &folders.config]
            .into_iter()
            .flatten()
            .any(|folder| real(folder) == real(parent))
    });
    Found {
        standing: if theirs {
            Standing::Own
        } else {
            found.standing
        },
        ..found
    }
}

/// The text of a file. A pipe is read where it was named (`-c <(…)`), not where it merely lies there.
pub(super) fn read(found: &Found) -> Result<String, ConfigError> {
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
    if !metadata.is_file() && found.standing == Standing::WorkingFolder {
        return Err(not_config("is not an ordinary file"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(not_config(&format!(
            "is larger than {} KB",
            MOST_BYTES / 1024
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| not_config("is not UTF-8 text"))?;
    if text.contains('\0') {
        return Err(not_config("holds binary data"));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
