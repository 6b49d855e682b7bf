//! Whether a config file that merely lies in the working folder may set what can do harm: other servers,
//! keys, places outside the folder. Asked once a folder, remembered in the person's config folder with a
//! digest of those very values, so that a later change asks again.
//!
//! `trusted.json`: `{"version": 1, "files": {"/path/cogtrix.yaml": "sha256 of the path and the values"}}`.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::ConfigError;
use super::paths::{Folders, Written, expand, is_inside, real};
use super::show::shown_value;
use super::tree::{KeyPath, Tree};
use crate::files::Disk;

const VERSION: u64 = 1;
const MOST_BYTES: usize = 1024 * 1024;

/// A key that needs trust, unless its value is harmless.
struct Row {
    key: &'static str,
    harmless: fn(&Tree, &Place<'_>) -> bool,
}

const NEEDS_TRUST: [Row; 22] = [
    Row {
        key: "tools.shell.sandbox",
        harmless: |value, _| matches!(text(value), Some("on" | "landlock")),
    },
    Row {
        key: "tools.shell.pass_env",
        harmless: |value, _| *value == Tree::List(Vec::new()),
    },
    Row {
        key: "tools.shell.env",
        harmless: |value, _| *value == Tree::List(Vec::new()),
    },
    // A list takes the place of one's own, and a bound may be none.
    Row {
        key: "tools.shell.hide",
        harmless: |_, _| false,
    },
    Row {
        key: "tools.shell.max_memory",
        harmless: |_, _| false,
    },
    Row {
        key: "tools.shell.max_processes",
        harmless: |_, _| false,
    },
    Row {
        key: "tools.shell.max_file_size",
        harmless: |_, _| false,
    },
    Row {
        key: "tools.fetch.allow_private",
        harmless: |value, _| *value == Tree::Bool(false),
    },
    Row {
        key: "tools.confirm",
        harmless: |value, _| *value == Tree::Bool(true),
    },
    Row {
        key: "providers.*.type",
        harmless: |value, _| text(value) == Some("offline"),
    },
    Row {
        key: "providers.*.base_url",
        harmless: |value, _| is_empty(value),
    },
    Row {
        key: "providers.*.api_key",
        harmless: |value, _| is_empty(value),
    },
    Row {
        key: "providers.*.api_key_env",
        harmless: |value, _| is_empty(value),
    },
    Row {
        key: "data_dir",
        harmless: |value, place| matches!(text(value), Some("" | "auto")) || place.holds(value),
    },
    Row {
        key: "system_prompt_file",
        harmless: |value, place| is_empty(value) || place.holds(value),
    },
    Row {
        key: "memory.path",
        harmless: |value, place| is_empty(value) || place.holds(value),
    },
    Row {
        key: "memory.mem0.base_url",
        harmless: |value, _| is_empty(value),
    },
    Row {
        key: "memory.mem0.api_key_env",
        harmless: |value, _| is_empty(value),
    },
    Row {
        key: "memory.mem0.user_id",
        harmless: |value, _| is_empty(value),
    },
    Row {
        key: "embedding.path",
        harmless: |value, place| is_empty(value) || place.holds(value),
    },
    Row {
        key: "rag.docs_dir",
        harmless: |value, place| is_empty(value) || place.holds(value),
    },
    Row {
        key: "embedding.source",
        harmless: |value, _| is_empty(value),
    },
];

/// Blocks of which every value needs trust, whatever it is: they start programs.
const NEED_TRUST_WHOLE: [&str; 1] = ["mcp_servers"];

fn text(value: &Tree) -> Option<&str> {
    match value {
        Tree::Text(text) | Tree::Word(text) => Some(text),
        Tree::Null
        | Tree::Bool(_)
        | Tree::Whole(_)
        | Tree::Real(_)
        | Tree::List(_)
        | Tree::Block(_) => None,
    }
}

fn is_empty(value: &Tree) -> bool {
    text(value) == Some("")
}

/// A file found in the working folder.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a Path,
    pub(super) working_dir: &'a Path,
    pub(super) folders: &'a Folders,
}

impl Place<'_> {
    /// Whether a value is a path that stays in the working folder.
    fn holds(&self, value: &Tree) -> bool {
        let Some(text) = text(value) else {
            return false;
        };
        let base = self.file.parent().unwrap_or(self.working_dir);
        expand(Written { text, base }, self.folders)
            .is_ok_and(|path| is_inside(&path, self.working_dir))
    }
}

/// What a file sets that needs trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    pub file: PathBuf,
    /// The folder the question is about.
    pub folder: PathBuf,
    /// Each key with its value, secrets masked; at least one.
    pub keys: Vec<DemandedKey>,
    digest: String,
}

/// One key of a [`Demand`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemandedKey {
    pub key: String,
    pub value: String,
}

/// What `tree` asks for, if anything.
pub(super) fn demand(tree: &Tree, place: Place<'_>) -> Option<Demand> {
    let mut found: Vec<_> = tree
        .leaves()
        .into_iter()
        .filter(|(path, value)| needs_trust(path, value, &place))
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    if found.is_empty() {
        return None;
    }
    let file = real(place.file);
    Some(Demand {
        digest: digest(&file, &found),
        folder: place.working_dir.to_owned(),
        keys: found
            .iter()
            .map(|(path, value)| DemandedKey {
                key: path.to_string(),
                value: shown_value(path, value),
            })
            .collect(),
        file,
    })
}

fn needs_trust(path: &KeyPath, value: &Tree, place: &Place<'_>) -> bool {
    let mut whole = NEED_TRUST_WHOLE.iter();
    let mut rows = NEEDS_TRUST.iter();
    whole.any(|block| path.is_below(block))
        || rows.any(|row| path.matches(row.key) && !(row.harmless)(value, place))
}

/// Binds path, keys and values; every part is preceded by its length, so that none runs into the next.
fn digest(file: &Path, found: &[(KeyPath, &Tree)]) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(file.as_os_str().as_encoded_bytes());
    for (path, value) in found {
        add(&(path.0.len() as u64).to_le_bytes());
        path.0.iter().for_each(|name| add(name.as_bytes()));
        add(value.kind().as_bytes());
        match value {
            Tree::Text(text) | Tree::Word(text) => add(text.as_bytes()),
            other => add(other.shown().as_bytes()),
        }
    }
    hash.finalize()
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    version: u64,
    files: BTreeMap<String, String>,
}

/// What a file of any version has.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            version: VERSION,
            files: BTreeMap::new(),
        }
    }
}

/// What `trusted.json` was found to be.
enum Memory {
    Read(Remembered),
    /// Nothing of it can be used.
    Damaged,
    /// Of a newer program, with another version; not to be touched.
    Newer(u64),
}

/// Whether this very demand was granted before.
pub(super) fn is_remembered(disk: &dyn Disk, folders: &Folders, demand: &Demand) -> Answer {
    let Some(path) = memory_path(folders) else {
        return Answer::No;
    };
    match recall(disk, &path) {
        Ok(Memory::Read(remembered)) => {
            let granted = remembered.files.get(&name_of(demand)) == Some(&demand.digest);
            if granted { Answer::Yes } else { Answer::No }
        }
        Ok(Memory::Damaged) => Answer::Unreadable {
            path,
            why: "it does not parse".to_owned(),
        },
        Ok(Memory::Newer(version)) => Answer::Unreadable {
            path,
            why: format!("it is of version {version}"),
        },
        Err(error) => Answer::Unreadable {
            path,
            why: error.to_string(),
        },
    }
}

/// What is remembered about a demand.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// As good as no, and worth a warning.
    Unreadable {
        path: PathBuf,
        why: String,
    },
}

/// Remembers that a demand was granted. A damaged file is set aside first.
pub(super) fn remember(
    disk: &dyn Disk,
    folders: &Folders,
    demand: &Demand,
) -> Result<(), ConfigError> {
    let Some(path) = memory_path(folders) else {
        return Err(failed(
            "write",
            Path::new("trusted.json"),
            io::Error::new(ErrorKind::NotFound, "there is no config folder"),
        ));
    };
    let mut remembered = match recall(disk, &path).map_err(|error| failed("read", &path, error))? {
        Memory::Read(remembered) => remembered,
        Memory::Damaged => {
            set_aside(disk, &path).map_err(|error| failed("set aside", &path, error))?;
            Remembered::default()
        }
        Memory::Newer(version) => {
            let why = format!("it is of version {version}, and this program knows {VERSION}");
            return Err(failed("write", &path, io::Error::other(why)));
        }
    };
    remembered
        .files
        .insert(name_of(demand), demand.digest.clone());
    serde_json::to_vec_pretty(&remembered)
        .map_err(io::Error::from)
        .and_then(|bytes| disk.replace(&path, &bytes))
        .map_err(|error| failed("write", &path, error))
}

fn memory_path(folders: &Folders) -> Option<PathBuf> {
    Some(folders.config.as_ref()?.join("trusted.json"))
}

/// The name is for people and for finding; the digest holds the exact path.
fn name_of(demand: &Demand) -> String {
    demand.file.to_string_lossy().into_owned()
}

fn recall(disk: &dyn Disk, path: &Path) -> io::Result<Memory> {
    let bytes = match disk.read_head(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Memory::Read(Remembered::default()));
        }
        Err(error) => return Err(error),
    };
    Ok(match serde_json::from_slice::<Head>(&bytes) {
        Ok(Head { version }) if version > VERSION => Memory::Newer(version),
        Ok(_) => serde_json::from_slice(&bytes).map_or(Memory::Damaged, Memory::Read),
        Err(_) => Memory::Damaged,
    })
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
