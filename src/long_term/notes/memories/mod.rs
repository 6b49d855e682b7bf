//! `memories/`: files of the model's own, in six operations (Q35-Q37).
//!
//! Invariant: whatever a path says, nothing outside of `memories/` is read or changed, and no link is followed. Paths
//! are as the model writes them, `/memories/…`; what is said back is for the model.

mod path;
mod text;

use std::path::{Path, PathBuf};

use super::error::NotesError;
use super::workspace::{Change, Workspace, Written};
use crate::files::{self, EntryKind, Folder, FolderError};
use path::{located, shown};

/// What every path begins with.
pub const ROOT: &str = "/memories";
const FOLDER: &str = "memories";
/// Bytes of a file.
pub const FILE_MAX: u64 = 1 << 20;
/// Rows of a listing.
const MAX_LISTED: usize = 500;

/// What can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Lists a folder, or shows the lines of a file; a last line of -1 is the end.
    View {
        path: String,
        range: Option<(i64, i64)>,
    },
    Create {
        path: String,
        text: String,
    },
    StrReplace {
        path: String,
        old: String,
        new: String,
    },
    /// Behind so many lines.
    Insert {
        path: String,
        line: usize,
        text: String,
    },
    Delete {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
}

/// Why nothing was done, in a sentence a model can act on.
#[derive(Debug, thiserror::Error)]
pub enum MemoriesError {
    #[error("{path:?} {why}; paths are like /memories/notes.md")]
    Path { path: String, why: &'static str },
    #[error("{path} {source}{}", advice(.source))]
    Folder {
        path: String,
        #[source]
        source: FolderError,
    },
    #[error("{path} is not UTF-8 text, so it can only be renamed or deleted")]
    NotText { path: String },
    #[error("the text would be larger than 1 MiB; split it into several files")]
    TooLarge,
    #[error("/memories itself cannot be {0}")]
    Root(&'static str),
    #[error("a folder cannot be moved into itself")]
    IntoItself,
    #[error("{path}: {miss}")]
    Text { path: String, miss: text::Miss },
    #[error(transparent)]
    Notes(#[from] NotesError),
}

fn advice(error: &FolderError) -> &'static str {
    match error {
        FolderError::Exists => "; change it with str_replace or insert, or delete it first",
        FolderError::Missing => "; view /memories to see what exists",
        FolderError::IsFolder
        | FolderError::NotAFolder
        | FolderError::Other
        | FolderError::TooLarge { .. }
        | FolderError::Outside
        | FolderError::Io(_) => "",
    }
}

impl Operation {
    /// The path it is about, as the model wrote it.
    pub fn path(&self) -> &str {
        match self {
            Self::View { path, .. }
            | Self::Create { path, .. }
            | Self::StrReplace { path, .. }
            | Self::Insert { path, .. }
            | Self::Delete { path }
            | Self::Rename { from: path, .. } => path,
        }
    }

    /// Finds what is wrong with it by its letters alone.
    pub fn check(&self) -> Result<(), MemoriesError> {
        let path = located(self.path())?;
        let is_root = path.as_os_str().is_empty();
        match self {
            Self::Delete { .. } if is_root => Err(MemoriesError::Root("deleted")),
            Self::Rename { .. } if is_root => Err(MemoriesError::Root("renamed")),
            Self::Rename { to, .. } => {
                let to = located(to)?;
                if to.as_os_str().is_empty() {
                    Err(MemoriesError::Root("renamed"))
                } else if to.starts_with(&path) && to != path {
                    Err(MemoriesError::IntoItself)
                } else {
                    Ok(())
                }
            }
            Self::Create { .. } | Self::StrReplace { .. } | Self::Insert { .. } if is_root => {
                Err(MemoriesError::Root("written to: it is a folder"))
            }
            Self::View { .. }
            | Self::Create { .. }
            | Self::StrReplace { .. }
            | Self::Insert { .. }
            | Self::Delete { .. } => Ok(()),
        }
    }
}

impl Workspace {
    /// Does an operation of the model in `memories/`, and says what came of it.
    pub fn memories(&self, operation: &Operation) -> Result<String, MemoriesError> {
        operation.check()?;
        let path = located(operation.path())?;
        if let Operation::View { range, .. } = operation {
            return self.view(&path, *range);
        }
        let _held = self.desk().hold()?;
        let folder = self.memories_made()?;
        let of = |source| failed(&path, source);
        match operation {
            Operation::View { range, .. } => self.view(&path, *range),
            Operation::Create { text, .. } => {
                ensure_fits(text)?;
                folder.create(&path, text.as_bytes()).map_err(of)?;
                self.tell(&path, Change::Added(text.clone()));
                Ok(format!("created {}", shown(&path)))
            }
            Operation::StrReplace { old, new, .. } => {
                let changed = text::replaced(&read(&folder, &path)?, old, new);
                self.put(&folder, &path, changed)?;
                Ok(format!("changed {}", shown(&path)))
            }
            Operation::Insert { line, text, .. } => {
                let changed = text::inserted(&read(&folder, &path)?, *line, text);
                self.put(&folder, &path, changed)?;
                Ok(format!(
                    "changed {}: inserted after line {line}",
                    shown(&path)
                ))
            }
            Operation::Delete { .. } => {
                folder.remove(&path).map_err(of)?;
                self.tell(&path, Change::Removed);
                Ok(format!("deleted {}", shown(&path)))
            }
            Operation::Rename { to, .. } => {
                let to = located(to)?;
                rename(&folder, &path, &to)?;
                self.tell(&path, Change::Removed);
                self.tell(&to, Change::Replaced);
                Ok(format!("renamed {} to {}", shown(&path), shown(&to)))
            }
        }
    }

    /// Every file a search may read, relative to the workspace; links and larger files than 1 MiB are left out (Q36).
    pub fn memory_files(&self) -> Result<Vec<String>, MemoriesError> {
        let mut files = Vec::new();
        if let Some(folder) = self.memories_folder()? {
            let root = Path::new("");
            walk(&folder, root, usize::MAX, &mut |path, kind, size| {
                if kind == EntryKind::File && size <= FILE_MAX {
                    files.push(source(path));
                }
            })
            .map_err(|source| failed(root, source))?;
        }
        Ok(files)
    }

    /// The text of one of them.
    pub fn memory_text(&self, source: &str) -> Result<String, MemoriesError> {
        let path = located(&format!("/{source}"))?;
        let folder = self.memories_folder()?;
        let folder = folder.ok_or_else(|| failed(&path, FolderError::Missing))?;
        read(&folder, &path)
    }

    fn view(&self, path: &Path, range: Option<(i64, i64)>) -> Result<String, MemoriesError> {
        let of = |source| failed(path, source);
        let is_root = path.as_os_str().is_empty();
        let Some(folder) = self.memories_folder()? else {
            return if is_root {
                Ok(listing(path, &[]))
            } else {
                Err(of(FolderError::Missing))
            };
        };
        if !is_root && folder.kind(path).map_err(of)? != EntryKind::Folder {
            let text = read(&folder, path)?;
            return text::numbered(&text, range).map_err(|miss| missed(path, miss));
        }
        if range.is_some() {
            return Err(of(FolderError::IsFolder));
        }
        let mut rows = Vec::new();
        let inner = folder.inner(path).map_err(of)?;
        walk(&inner, path, 2, &mut |path, kind, size| {
            rows.push(row(path, kind, size));
        })
        .map_err(of)?;
        Ok(listing(path, &rows))
    }

    fn put(
        &self,
        folder: &Folder,
        path: &Path,
        changed: Result<String, text::Miss>,
    ) -> Result<(), MemoriesError> {
        let text = changed.map_err(|miss| missed(path, miss))?;
        ensure_fits(&text)?;
        folder
            .replace(path, text.as_bytes())
            .map_err(|source| failed(path, source))?;
        self.tell(path, Change::Replaced);
        Ok(())
    }

    /// Makes the folder, so that a person finds it and a search looks into it (Q36).
    pub fn make_memories(&self) -> Result<(), MemoriesError> {
        if self.memories_folder()?.is_none() {
            let _held = self.desk().hold()?;
            self.memories_made()?;
        }
        Ok(())
    }

    fn tell(&self, path: &Path, change: Change) {
        let source = source(path);
        self.desk().tell(&Written { source, change });
    }

    /// `None` where there is none yet.
    fn memories_folder(&self) -> Result<Option<Folder>, MemoriesError> {
        let root = files::if_there(self.desk().disk.folder(self.root()));
        let Some(root) = root.map_err(NotesError::io("open", self.root()))? else {
            return Ok(None);
        };
        match root.inner(Path::new(FOLDER)) {
            Ok(folder) => Ok(Some(folder)),
            Err(FolderError::Missing) => Ok(None),
            Err(source) => Err(failed(Path::new(""), source)),
        }
    }

    /// The workspace itself is there, since its lock is held.
    fn memories_made(&self) -> Result<Folder, MemoriesError> {
        let root = self.desk().disk.folder(self.root());
        let root = root.map_err(NotesError::io("open", self.root()))?;
        root.inner_made(Path::new(FOLDER))
            .map_err(|source| failed(Path::new(""), source))
    }
}

fn rename(folder: &Folder, from: &Path, to: &Path) -> Result<(), MemoriesError> {
    folder.rename(from, to).map_err(|source| {
        let about = if matches!(source, FolderError::Exists) {
            to
        } else {
            from
        };
        failed(about, source)
    })
}

fn read(folder: &Folder, path: &Path) -> Result<String, MemoriesError> {
    let bytes = folder
        .read(path, FILE_MAX)
        .map_err(|source| failed(path, source))?;
    String::from_utf8(bytes).map_err(|_| MemoriesError::NotText { path: shown(path) })
}

fn ensure_fits(text: &str) -> Result<(), MemoriesError> {
    if text.len() as u64 > FILE_MAX {
        return Err(MemoriesError::TooLarge);
    }
    Ok(())
}

fn failed(path: &Path, source: FolderError) -> MemoriesError {
    let path = shown(path);
    MemoriesError::Folder { path, source }
}

fn missed(path: &Path, miss: text::Miss) -> MemoriesError {
    let path = shown(path);
    MemoriesError::Text { path, miss }
}

/// Whether a name relative to the workspace is that of something in `memories/`.
pub(super) fn is_inside(source: &str) -> bool {
    located(&format!("/{source}")).is_ok_and(|path| !path.as_os_str().is_empty())
}

/// Relative to the workspace.
fn source(path: &Path) -> String {
    shown(path).trim_start_matches('/').to_owned()
}

/// What is in a folder and in those in it, `levels` deep; hidden names and links are left out.
fn walk(
    folder: &Folder,
    at: &Path,
    levels: usize,
    see: &mut impl FnMut(&Path, EntryKind, u64),
) -> Result<(), FolderError> {
    for entry in folder.entries()? {
        let path: PathBuf = at.join(&entry.name);
        if entry.kind == EntryKind::Other || entry.name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        see(&path, entry.kind, entry.size);
        if entry.kind == EntryKind::Folder && levels > 1 {
            walk(
                &folder.inner(Path::new(&entry.name))?,
                &path,
                levels - 1,
                see,
            )?;
        }
    }
    Ok(())
}

fn row(path: &Path, kind: EntryKind, size: u64) -> String {
    match kind {
        EntryKind::Folder => format!("-\t{}/", shown(path)),
        EntryKind::File | EntryKind::Other => format!("{size}\t{}", shown(path)),
    }
}

fn listing(path: &Path, rows: &[String]) -> String {
    let mut lines = vec![format!("{} with sizes in bytes:", shown(path))];
    lines.extend(rows.iter().take(MAX_LISTED).cloned());
    if rows.is_empty() {
        lines.push("(empty)".to_owned());
    }
    if rows.len() > MAX_LISTED {
        lines.push(format!("… and {} more", rows.len() - MAX_LISTED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
