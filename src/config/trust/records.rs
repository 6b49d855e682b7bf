//! `trust.json` in the state folder: which folders a person has trusted with what.
//!
//! A folder is known by its path and by its identity on disk, so that another folder in its place is another question.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::DemandedKey;
use crate::config::error::ConfigError;
use crate::config::paths::Folders;
use crate::files::{Disk, FolderId, if_there};

const VERSION: u64 = 2;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Everything that was trusted, by the folder's path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Records {
    version: u64,
    folders: BTreeMap<String, Record>,
}

/// What one folder was trusted with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    id: Option<FolderId>,
    pub(super) configuration: Option<GrantedConfiguration>,
    /// Rule files that go to the model, whatever they say. Another one may not be the person's: a command can write it.
    pub(super) rule_files: BTreeSet<String>,
    /// Its `data/` keeps the sessions.
    pub(super) data: bool,
}

impl Record {
    /// Returns whether the folder was trusted with anything.
    pub(super) fn is_granted(&self) -> bool {
        self.configuration.is_some() || self.data || !self.rule_files.is_empty()
    }
}

/// The keys of a config file as they were when the person said yes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GrantedConfiguration {
    pub(super) digest: String,
    /// With secrets masked: only for telling what has changed.
    pub(super) keys: Vec<DemandedKey>,
}

/// What `trust.json` was found to be.
pub(super) enum Found {
    Records(Records),
    Damaged,
    /// Written by a newer program; not to be touched.
    Newer(u64),
}

/// The version is read before the rest: a newer file may look different.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            version: VERSION,
            folders: BTreeMap::new(),
        }
    }
}

impl Records {
    /// Returns what a folder was trusted with, if it is still the same folder.
    pub(super) fn get(&self, folder: &Path) -> Record {
        let record = self.folders.get(&name(folder));
        record
            .filter(|record| record.id.is_some() && record.id == FolderId::of(folder))
            .cloned()
            .unwrap_or_default()
    }

    fn set(&mut self, folder: &Path, record: Record) {
        let id = FolderId::of(folder);
        self.folders.insert(name(folder), Record { id, ..record });
    }
}

pub(super) fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn path(folders: &Folders) -> Option<PathBuf> {
    Some(folders.state.as_ref()?.join("trust.json"))
}

pub(super) fn read(disk: &dyn Disk, path: &Path) -> io::Result<Found> {
    let Some(bytes) = if_there(disk.read_head(path, MAX_BYTES))? else {
        return Ok(Found::Records(Records::default()));
    };
    Ok(match serde_json::from_slice::<Head>(&bytes) {
        Ok(Head { version }) if version > VERSION => Found::Newer(version),
        Ok(_) => serde_json::from_slice(&bytes).map_or(Found::Damaged, Found::Records),
        Err(_) => Found::Damaged,
    })
}

/// Changes the record of a folder. A damaged file is set aside first.
pub(super) fn update(
    disk: &dyn Disk,
    folders: &Folders,
    folder: &Path,
    change: impl FnOnce(&mut Record),
) -> Result<(), ConfigError> {
    let Some(path) = path(folders) else {
        return Err(failed(
            "write",
            Path::new("trust.json"),
            io::Error::new(ErrorKind::NotFound, "no state folder found"),
        ));
    };
    let mut records = match read(disk, &path).map_err(|error| failed("read", &path, error))? {
        Found::Records(records) => records,
        Found::Damaged => {
            set_aside(disk, &path).map_err(|error| failed("set aside", &path, error))?;
            Records::default()
        }
        Found::Newer(version) => {
            let why = format!("it has version {version}, but this program supports {VERSION}");
            return Err(failed("write", &path, io::Error::other(why)));
        }
    };
    let mut record = records.get(folder);
    change(&mut record);
    records.set(folder, record);
    serde_json::to_vec_pretty(&records)
        .map_err(io::Error::from)
        .and_then(|bytes| disk.replace(&path, &bytes))
        .map_err(|error| failed("write", &path, error))
}

fn set_aside(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    for number in 1_u32.. {
        let aside = path.with_extension(format!("json.damaged-{number}"));
        match disk.rename(path, &aside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => return done,
        }
    }
    Ok(())
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> ConfigError {
    ConfigError::TrustFile {
        action,
        path: path.to_owned(),
        source,
    }
}
