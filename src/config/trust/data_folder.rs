//! Whose `./data` it is. One that holds nothing yet is taken and marked; one that holds something counts only with a
//! mark that this person's cogtrix wrote, or with trust.
//!
//! The mark, `data/.cogtrix`, is a digest of the folder's path, its identity and a secret in the state folder: nobody
//! can bring it along.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::DataFolder;
use crate::config::paths::Folders;
use crate::files::{Disk, FolderId, digest};

const MARK: &str = ".cogtrix";
const SECRET_BYTES: usize = 32;
const MAX_BYTES: usize = 256;
/// A folder with more in it is not empty, however empty its parts are.
const MAX_ENTRIES: usize = 1_000;

/// The `data/` of the working folder, if it looks like one of cogtrix: no link, and `history/` in it.
pub(in crate::config) fn in_working_folder(working_dir: &Path) -> Option<PathBuf> {
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let data = working_dir.join("data");
    (is_folder(&data) && is_folder(&data.join("history"))).then_some(data)
}

/// Returns whether this person's cogtrix made it, or nobody has put anything into it yet.
pub(in crate::config) fn is_own(disk: &dyn Disk, data: &Path, folders: &Folders) -> bool {
    is_marked(disk, data, folders) || is_empty(data, &mut 0)
}

/// Marks an empty one as this person's own. A marked one stays as it is.
pub(in crate::config) fn claim(disk: &dyn Disk, data: &Path, folders: &Folders) -> io::Result<()> {
    if is_marked(disk, data, folders) || !is_empty(data, &mut 0) {
        return Ok(());
    }
    let file = secret_file(folders).ok_or(ErrorKind::NotFound)?;
    let secret = match secret(disk, &file) {
        Ok(secret) => secret,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut secret = [0; SECRET_BYTES];
            getrandom::fill(&mut secret).map_err(io::Error::other)?;
            disk.replace(&file, &secret)?;
            secret.to_vec()
        }
        Err(error) => return Err(error),
    };
    disk.replace(&data.join(MARK), mark(&secret, data)?.as_bytes())
}

/// For the question.
pub(in crate::config) fn described(folder: &Path, data: &Path) -> DataFolder {
    let files = fs::read_dir(data.join("history")).into_iter().flatten();
    let is_snapshot = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    DataFolder {
        folder: folder.to_owned(),
        sessions: files
            .flatten()
            .filter(|entry| is_snapshot(&entry.path()))
            .count(),
    }
}

fn is_marked(disk: &dyn Disk, data: &Path, folders: &Folders) -> bool {
    let wanted = secret_file(folders)
        .ok_or_else(|| ErrorKind::NotFound.into())
        .and_then(|file| secret(disk, &file))
        .and_then(|secret| mark(&secret, data));
    let found = disk.read_head(&data.join(MARK), MAX_BYTES);
    matches!((wanted, found), (Ok(wanted), Ok(found)) if found == wanted.as_bytes())
}

fn secret_file(folders: &Folders) -> Option<PathBuf> {
    Some(folders.state.as_ref()?.join("secret"))
}

fn secret(disk: &dyn Disk, file: &Path) -> io::Result<Vec<u8>> {
    let secret = disk.read_head(file, MAX_BYTES)?;
    if secret.len() == SECRET_BYTES {
        Ok(secret)
    } else {
        // Cut short by whatever: nothing that was marked with it can be told from a forgery.
        Err(ErrorKind::NotFound.into())
    }
}

fn mark(secret: &[u8], data: &Path) -> io::Result<String> {
    let path = data.canonicalize()?;
    let id = serde_json::to_vec(&FolderId::of(data))?;
    let path = path.as_os_str().as_encoded_bytes();
    Ok(digest(&[secret, path, &id].concat()))
}

/// Returns whether there are only folders, and the empty files that make version control keep them.
fn is_empty(folder: &Path, seen: &mut usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.into_iter().all(|entry| {
        *seen += 1;
        let Ok(entry) = entry else { return false };
        let Ok(found) = entry.metadata() else {
            return false;
        };
        *seen <= MAX_ENTRIES
            && if found.is_dir() {
                is_empty(&entry.path(), seen)
            } else {
                found.is_file() && found.len() == 0 && entry.file_name() == ".gitkeep"
            }
    })
}
