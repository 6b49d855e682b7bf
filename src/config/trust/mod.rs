//! What lies in the working folder or the project does nothing until the person trusts the folder: a config file,
//! rule files for the model, a `data/` with sessions. Asked once and remembered in the
//! state folder; a configuration whose values changed is asked about again.
//!
//! ```text
//!   records       trust.json: which folder was trusted with what
//!   data_folder   whose `./data` it is
//! ```

mod data_folder;
mod records;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::paths::{Folders, real};
use super::show::demanded_value;
use super::tree::{KeyPath, Tree};
use super::warnings::Warning;
use crate::files::{self, Disk};
use crate::long_term::notes::RuleFiles;

pub(super) use data_folder::{claim, described, in_working_folder, is_own};
use records::{Found, GrantedConfiguration, Record};

/// What a folder would get if it were trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    pub configuration: Option<Configuration>,
    /// Files that would go to the model with every request; at least one.
    pub rules: Option<RuleFiles>,
    pub data: Option<DataFolder>,
    /// Set where the person trusted each of these folders with something before.
    pub was_trusted: bool,
}

/// A config file that sets keys which need trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Where cogtrix was started.
    pub folder: PathBuf,
    pub file: PathBuf,
    /// Each key with its value, secrets masked; at least one.
    pub keys: Vec<DemandedKey>,
    /// The keys that were trusted before; empty for a new folder.
    pub before: Vec<DemandedKey>,
    /// The person's own file, which does not count where this one does.
    pub instead_of: Option<PathBuf>,
    digest: String,
}

/// One key of a [`Configuration`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemandedKey {
    pub key: String,
    /// With secrets masked.
    pub value: String,
    /// Tells two values apart that are masked alike; empty where nothing is masked, and in records of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// Characters that all servers together may have: a person is shown all of them.
pub(super) const SERVERS_MAX: usize = 8_000;

impl DemandedKey {
    /// Returns whether it is about a server, which would run as a program.
    pub fn is_of_server(&self) -> bool {
        self.key.starts_with("mcp_servers.")
    }

    /// Returns whether this is what the other one says, as far as it is shown.
    pub fn is_shown_as(&self, other: &Self) -> bool {
        (&self.key, &self.value) == (&other.key, &other.value)
    }

    /// Returns whether the part that is masked is another one than in `others`.
    pub fn is_masked_anew(&self, others: &[Self]) -> bool {
        let other = others.iter().find(|other| self.is_shown_as(other));
        other.is_some_and(|other| {
            let digests = [&self.digest, &other.digest];
            digests.iter().all(|it| !it.is_empty()) && digests[0] != digests[1]
        })
    }
}

/// A `data/` that would keep the sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    /// The folder that holds it.
    pub folder: PathBuf,
    /// Files of sessions in it.
    pub sessions: usize,
}

impl Configuration {
    /// One that was never trusted, for tests.
    #[cfg(test)]
    pub fn new(folder: &str, file: &str, keys: Vec<DemandedKey>) -> Self {
        Self {
            folder: folder.into(),
            file: file.into(),
            keys,
            before: Vec::new(),
            instead_of: None,
            digest: String::new(),
        }
    }

    /// Returns the error of a file whose servers are more than a person can be shown before they say yes.
    pub(super) fn too_long(&self) -> Option<ConfigError> {
        let servers = self.keys.iter().filter(|key| key.is_of_server());
        let chars: usize = servers
            .map(|key| key.key.chars().count() + key.value.chars().count())
            .sum();
        (chars > SERVERS_MAX).then(|| ConfigError::TooLongToTrust {
            file: self.file.clone(),
            chars,
        })
    }

    /// Returns whether it was trusted as it is now.
    pub(super) fn is_granted(&self, disk: &dyn Disk, folders: &Folders) -> bool {
        let granted = granted(&self.folder, disk, folders);
        granted.is_some_and(|granted| granted.digest == self.digest)
    }

    /// Digest of the configuration.
    #[cfg(test)]
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl Demand {
    pub fn is_empty(&self) -> bool {
        self.configuration.is_none() && self.rules.is_none() && self.data.is_none()
    }

    /// The folders the question is about, without repetition.
    pub fn folders(&self) -> Vec<&Path> {
        let configuration = self.configuration.as_ref().map(|it| it.folder.as_path());
        let rules = self.rules.as_ref().map(|it| it.root.as_path());
        let data = self.data.as_ref().map(|it| it.folder.as_path());
        let mut folders: Vec<&Path> = Vec::new();
        for folder in [configuration, rules, data].into_iter().flatten() {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Leaves out what was trusted before. What cannot be read of that counts as no, and is a warning.
    pub(super) fn without_granted(
        mut self,
        disk: &dyn Disk,
        folders: &Folders,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let Some(path) = records::path(folders).filter(|_| !self.is_empty()) else {
            return self;
        };
        let unreadable = |why| Warning::TrustUnreadable {
            path: path.clone(),
            why,
        };
        let records = match records::read(disk, &path) {
            Ok(Found::Records(records)) => records,
            Ok(Found::Damaged) => {
                warnings.push(unreadable("it cannot be parsed".to_owned()));
                return self;
            }
            Ok(Found::Newer(version)) => {
                warnings.push(unreadable(format!(
                    "it has version {version}, which this program does not support"
                )));
                return self;
            }
            Err(error) => {
                warnings.push(unreadable(error.to_string()));
                return self;
            }
        };
        self.rules = self.rules.and_then(|mut rules| {
            let granted = records.get(&rules.root).rule_files;
            let name = |file: &Path| records::name(file);
            rules.files.retain(|file| !granted.contains(&name(file)));
            (!rules.files.is_empty()).then_some(rules)
        });
        self.data = self.data.filter(|data| !records.get(&data.folder).data);
        self.configuration = self.configuration.and_then(|demanded| {
            let granted = records.get(&demanded.folder).configuration;
            match granted {
                Some(granted) if granted.digest == demanded.digest => None,
                Some(GrantedConfiguration { keys: before, .. }) => {
                    Some(Configuration { before, ..demanded })
                }
                None => Some(demanded),
            }
        });
        let asked = self.folders();
        self.was_trusted = asked.iter().all(|folder| records.get(folder).is_granted());
        self
    }

    /// Remembers all of it as trusted.
    pub(super) fn remember(&self, disk: &dyn Disk, folders: &Folders) -> Result<(), ConfigError> {
        let update = |folder: &Path, change: &dyn Fn(&mut Record)| {
            records::update(disk, folders, folder, change)
        };
        if let Some(Configuration {
            folder,
            keys,
            digest,
            ..
        }) = &self.configuration
        {
            update(folder, &|record| {
                record.configuration = Some(GrantedConfiguration {
                    digest: digest.clone(),
                    keys: keys.clone(),
                });
            })?;
        }
        if let Some(rules) = &self.rules {
            let files = rules.files.iter().map(|file| records::name(file));
            update(&rules.root, &|record| {
                record.rule_files.extend(files.clone());
            })?;
        }
        if let Some(data) = &self.data {
            update(&data.folder, &|record| record.data = true)?;
        }
        Ok(())
    }
}

/// Returns whether a configuration of a folder was trusted, whatever it said then.
pub(super) fn was_granted(folder: &Path, disk: &dyn Disk, folders: &Folders) -> bool {
    granted(&real(folder), disk, folders).is_some()
}

fn granted(folder: &Path, disk: &dyn Disk, folders: &Folders) -> Option<GrantedConfiguration> {
    match records::read(disk, &records::path(folders)?) {
        Ok(Found::Records(records)) => records.get(folder).configuration,
        _ => None,
    }
}

/// The keys of a file that need trust, if it has any.
pub(super) fn configuration(tree: &Tree, file: &Path, folder: &Path) -> Option<Configuration> {
    let mut found: Vec<_> = tree
        .leaves()
        .into_iter()
        .filter(|(path, value)| !value.is_empty_block() && needs_trust(path))
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    if found.is_empty() {
        return None;
    }
    let file = real(file);
    Some(Configuration {
        digest: digest(&file, &found),
        folder: real(folder),
        keys: found.iter().map(demanded).collect(),
        before: Vec::new(),
        instead_of: None,
        file,
    })
}

fn demanded(leaf: &(KeyPath, &Tree)) -> DemandedKey {
    let (path, value) = leaf;
    let shown = demanded_value(path, value);
    DemandedKey {
        key: path.to_string(),
        digest: if shown == value.shown() {
            String::new()
        } else {
            digest(Path::new(""), std::slice::from_ref(leaf))
        },
        value: shown,
    }
}

/// Returns the part of a file that needs no trust.
pub(super) fn harmless(tree: &Tree) -> Tree {
    let mut rest = Tree::empty();
    let leaves = tree.leaves().into_iter();
    for (path, value) in leaves.filter(|(path, _)| !needs_trust(path)) {
        rest.set(&path, value.clone());
    }
    rest
}

/// The rule files between the project folder and the root of the project, the nearest first.
pub(super) fn rules(project: &Path, root: PathBuf, names: &[String]) -> RuleFiles {
    let folders = project.ancestors().take_while(|it| it.starts_with(&root));
    let files = folders
        .flat_map(|folder| names.iter().map(|name| folder.join(name)))
        .filter(|file| file.symlink_metadata().is_ok_and(|found| !found.is_dir()));
    RuleFiles {
        files: files.collect(),
        root,
    }
}

/// A config file of a folder may set nothing else before the folder is trusted: how things look. All other keys choose
/// what is read, kept, sent, asked or run, by whom, and for how long.
const HARMLESS: &str = "ui";

fn needs_trust(path: &KeyPath) -> bool {
    !path.is_below(HARMLESS)
}

/// Binds path, keys and values.
fn digest(file: &Path, found: &[(KeyPath, &Tree)]) -> String {
    let path = file.as_os_str().as_encoded_bytes();
    let mut bytes = (path.len() as u64).to_le_bytes().to_vec();
    bytes.extend(path);
    for (path, value) in found {
        let names = path.0.iter().cloned().map(Tree::Text);
        Tree::List(names.collect()).write_to(&mut bytes);
        value.write_to(&mut bytes);
    }
    files::digest(&bytes)
}
