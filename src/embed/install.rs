//! Brings the files of an encoder onto the disk, from whatever server the caller names. Invariant: a file that is in
//! place has the digest it is pinned to; an interrupted call leaves whole files only, and the next one fetches the
//! others.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "local-embeddings")]
use super::{EmbedError, local::is_made_of};
use crate::files::{Disk, digest};
use crate::hint::Hint;
use crate::net::{self, Endpoint, NetError, Patience};

/// Of a body that only explains a failure, this much is read.
const LONGEST_COMPLAINT: usize = 64 << 10;

const CONFIG: &str = "config.json";

/// A file whose content is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// Behind the server's base address, and in the folder.
    pub name: &'static str,
    pub bytes: u64,
    /// In hexadecimal digits.
    pub sha256: &'static str,
}

/// all-MiniLM-L6-v2: 384 dimensions, English, Apache-2.0.
pub const ALL_MINILM_L6_V2: [Pinned; 3] = [
    Pinned {
        name: CONFIG,
        bytes: 612,
        sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
    Pinned {
        name: "vocab.txt",
        bytes: 231_508,
        sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
    Pinned {
        name: "model.safetensors",
        bytes: 90_868_376,
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    },
];

/// Where its authors publish it, at the revision that has these files.
pub const PUBLIC_SOURCE: &str = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/\
                                 c9745ed1d9f207416be6d2e6f8de32d1f16199bf";

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    pub file: &'a str,
    /// Bytes of all files together.
    pub done: u64,
    pub total: u64,
}

/// Why a file did not come.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("cannot fetch {url}: {why}")]
    Unreachable { url: String, why: String },

    #[error("{url} sent nothing for {} s", idle.as_secs())]
    Silent { url: String, idle: Duration },

    #[error("{url} answered {status}: {message}")]
    Status {
        url: String,
        status: u16,
        message: String,
    },

    #[error("{url} is not the expected file: {what}")]
    Other { url: String, what: String },

    #[error("{} holds another model", folder.display())]
    Occupied { folder: PathBuf },

    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },

    #[error(transparent)]
    Setup(#[from] NetError),
}

impl Hint for InstallError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Unreachable { .. } | Self::Silent { .. } => {
                Some("use `--from` with another URL, or with a folder that has the files".into())
            }
            Self::Status { .. } => Some("does the URL point to the model's files?".into()),
            Self::Other { .. } => {
                Some("nothing was saved; try another server with `--from`".into())
            }
            Self::Occupied { .. } => Some(
                "it is used as it is; to install this one, set `embedding.path` to another folder"
                    .into(),
            ),
            Self::Setup(error) => error.hint(),
            Self::Io { .. } => None,
        }
    }
}

/// Puts `files` into `folder`, fetching from `source` those that are not there yet. Says how many came.
pub async fn install(
    source: &Endpoint,
    files: &[Pinned],
    folder: &Path,
    disk: &Arc<dyn Disk>,
    patience: Patience,
    progress: &mut (dyn FnMut(Progress<'_>) + Send),
) -> Result<usize, InstallError> {
    let client = net::fetching(source, patience)?;
    let total = files.iter().map(|file| file.bytes).sum();
    let (mut before, mut n_fetched) = (0, 0);
    for file in files {
        let path = folder.join(file.name);
        if !is_there(file, &path, disk).await? {
            let fetching = Fetching {
                client: &client,
                source,
                file,
                idle: patience.idle,
            };
            let mut tell = |done: u64| {
                progress(Progress {
                    file: file.name,
                    done: before + done,
                    total,
                });
            };
            let bytes = fetching.fetch(&mut tell).await?;
            let written = on_disk(disk, path, move |disk, path| disk.replace(path, &bytes));
            written.await?;
            n_fetched += 1;
        }
        before += file.bytes;
        progress(Progress {
            file: file.name,
            done: before,
            total,
        });
    }
    Ok(n_fetched)
}

/// Puts `files` into `folder`, copying from another folder those that are not there yet. Says how many were copied.
pub async fn copy(
    from: &Path,
    files: &[Pinned],
    folder: &Path,
    disk: &Arc<dyn Disk>,
) -> Result<usize, InstallError> {
    let missing = missing(files, folder, disk).await?;
    for file in &missing {
        let source = from.join(file.name);
        if !is_there(file, &source, disk).await? {
            return Err(InstallError::Other {
                url: source.display().to_string(),
                what: format!("expected {} bytes with SHA-256 {}", file.bytes, file.sha256),
            });
        }
        let copying = on_disk(disk, folder.join(file.name), move |disk, path| {
            disk.replace(path, &disk.read(&source)?)
        });
        copying.await?;
    }
    Ok(missing.len())
}

/// Those of `files` that are not in `folder` yet, or not as they are pinned.
pub async fn missing<'a>(
    files: &'a [Pinned],
    folder: &Path,
    disk: &Arc<dyn Disk>,
) -> Result<Vec<&'a Pinned>, InstallError> {
    let mut missing = Vec::new();
    for file in files {
        let path = folder.join(file.name);
        if !is_there(file, &path, disk).await? {
            // Whose config is another one's is another model: it is not ours to replace.
            if file.name == CONFIG && disk.size(&path).is_ok() {
                let folder = folder.to_owned();
                return Err(InstallError::Occupied { folder });
            }
            missing.push(file);
        }
    }
    Ok(missing)
}

/// Returns whether the file is in place already, as it is pinned or made smaller.
async fn is_there(file: &Pinned, path: &Path, disk: &Arc<dyn Disk>) -> Result<bool, InstallError> {
    let (wanted, bytes) = (file.sha256, file.bytes);
    let looked = on_disk(disk, path.to_owned(), move |disk, path| {
        match disk.size(path) {
            Ok(size) if size == bytes => Ok(digest(&disk.read(path)?) == wanted),
            Ok(size) if size < bytes => Ok(is_made_of(&disk.read(path)?, wanted)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(_) | Err(_) => Ok(false),
        }
    });
    looked.await
}

#[cfg(not(feature = "local-embeddings"))]
fn is_made_of(_: &[u8], _: &str) -> bool {
    false
}

/// Makes the weights in a folder a quarter as large, where they are not so yet; says how many bytes they took, and
/// take now.
#[cfg(feature = "local-embeddings")]
pub async fn make_smaller(
    folder: &Path,
    disk: &Arc<dyn Disk>,
) -> Result<Option<(u64, u64)>, EmbedError> {
    let (at, disk) = (folder.to_owned(), Arc::clone(disk));
    let making = tokio::task::spawn_blocking(move || super::local::make_smaller(&at, &disk)).await;
    making.map_err(|error| EmbedError::weights(folder, &error))?
}

/// Files are large: reading and writing them must not hold up anything else.
async fn on_disk<T: Send + 'static>(
    disk: &Arc<dyn Disk>,
    path: PathBuf,
    work: impl FnOnce(&dyn Disk, &Path) -> io::Result<T> + Send + 'static,
) -> Result<T, InstallError> {
    let (disk, at) = (Arc::clone(disk), path.clone());
    let done = tokio::task::spawn_blocking(move || work(&*disk, &at)).await;
    let done = done.unwrap_or_else(|error| Err(io::Error::other(error)));
    done.map_err(|source| InstallError::Io { path, source })
}

/// One file on its way.
struct Fetching<'a> {
    client: &'a reqwest::Client,
    source: &'a Endpoint,
    file: &'a Pinned,
    idle: Duration,
}

impl Fetching<'_> {
    fn url(&self) -> String {
        format!("{}/{}", self.source.shown(), self.file.name)
    }

    async fn fetch(&self, tell: &mut (dyn FnMut(u64) + Send)) -> Result<Vec<u8>, InstallError> {
        let url = self.source.url(&format!("/{}", self.file.name));
        let response = self.client.get(url).send().await;
        let mut response = response.map_err(|error| self.failed(error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
            bytes.extend_from_slice(&chunk);
            if !status.is_success() {
                if bytes.len() > LONGEST_COMPLAINT {
                    break;
                }
                continue;
            }
            if bytes.len() as u64 > self.file.bytes {
                return Err(self.other(format!("it is longer than {} bytes", self.file.bytes)));
            }
            tell(bytes.len() as u64);
        }
        if !status.is_success() {
            return Err(InstallError::Status {
                url: self.url(),
                status: status.as_u16(),
                message: net::complaint(&bytes, |text| self.source.mask(text)),
            });
        }
        match digest(&bytes) {
            found if found == self.file.sha256 => Ok(bytes),
            found => Err(self.other(format!(
                "{} bytes with SHA-256 {found}, not {}",
                bytes.len(),
                self.file.sha256
            ))),
        }
    }

    fn other(&self, what: String) -> InstallError {
        InstallError::Other {
            url: self.url(),
            what,
        }
    }

    fn failed(&self, error: reqwest::Error) -> InstallError {
        let (url, idle) = (self.url(), self.idle);
        match net::no_answer(self.source, error) {
            Some(why) => InstallError::Unreachable { url, why },
            None => InstallError::Silent { url, idle },
        }
    }
}
