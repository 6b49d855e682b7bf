//! Moving all files of a session as one: to another name, to the trash, to the archive.
//!
//! ```text
//! write history/.{from}.moving -> move each file that is there -> remove it
//! ```
//! The note says where the files belong from the moment it is on disk. After a kill whoever meets it
//! moves the rest, so that a session is never found in two places. Invariant: nothing is written under a
//! name while a note stands for it; and who follows a note holds the lock of its `from`.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::StoreError;
use super::error::At;
use super::layout::Layout;
use crate::chat::SessionName;
use crate::files::{Disk, if_there};

/// Where the files go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Name(SessionName),
    /// A folder, relative to the data folder, in which they keep their places.
    Folder(String),
    /// Out of such a folder to their usual places.
    Back(String),
}

#[derive(Default, Serialize, Deserialize)]
struct Note {
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    back: Option<String>,
}

/// Moves everything of a session.
pub(super) fn begin(
    disk: &dyn Disk,
    layout: &Layout,
    from: &SessionName,
    to: &Destination,
) -> Result<(), StoreError> {
    let note = match to {
        Destination::Name(name) => Note {
            to: Some(name.as_str().to_owned()),
            ..Note::default()
        },
        Destination::Folder(folder) => Note {
            folder: Some(folder.clone()),
            ..Note::default()
        },
        Destination::Back(folder) => Note {
            back: Some(folder.clone()),
            ..Note::default()
        },
    };
    let path = layout.moving(from);
    let note = serde_json::to_vec(&note).map_err(Into::into);
    note.and_then(|note| disk.replace(&path, &note))
        .at("write", &path)?;
    carry_out(disk, layout, from, to)
}

/// Where the files of a session are on their way to, if they are.
pub(super) fn pending(
    disk: &dyn Disk,
    layout: &Layout,
    from: &SessionName,
) -> Result<Option<Destination>, StoreError> {
    let path = layout.moving(from);
    let Some(bytes) = if_there(disk.read(&path)).at("read", &path)? else {
        return Ok(None);
    };
    let note: Note = serde_json::from_slice(&bytes).unwrap_or_default();
    let name = note.to.and_then(|name| name.parse().ok());
    let folder = note.folder.filter(|folder| Layout::is_put_away(folder));
    let back = note.back.filter(|folder| Layout::is_put_away(folder));
    let destination = name
        .map(Destination::Name)
        .or_else(|| folder.map(Destination::Folder))
        .or_else(|| back.map(Destination::Back));
    if destination.is_none() {
        // It says nothing that could be followed.
        disk.remove(&path).at("remove", &path)?;
    }
    Ok(destination)
}

/// Moves what is still there and takes the note away. What stands in the way of a file stays, and so does the file.
pub(super) fn carry_out(
    disk: &dyn Disk,
    layout: &Layout,
    from: &SessionName,
    to: &Destination,
) -> Result<(), StoreError> {
    let history = match to {
        Destination::Name(_) | Destination::Folder(_) => list(disk, layout)?,
        Destination::Back(folder) => list(disk, &Layout::new(layout.inside(folder)))?,
    };
    for piece in Layout::pieces(from, &history) {
        let home = layout.path_of(&piece, from);
        let (source, target) = match to {
            Destination::Name(name) => (home, layout.path_of(&piece, name)),
            Destination::Folder(folder) => (home, piece.under(&layout.inside(folder), from)),
            Destination::Back(folder) => (piece.under(&layout.inside(folder), from), home),
        };
        if is_missing(disk, &source) {
            continue;
        }
        match disk.rename(&source, &target) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists
                ) => {}
            moved => moved.at("move", &source)?,
        }
    }
    let note = layout.moving(from);
    disk.remove(&note).at("remove", &note)
}

/// Whether nothing is there; a link that leads nowhere in the end is something.
fn is_missing(disk: &dyn Disk, path: &Path) -> bool {
    let size = disk.size(path);
    size.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

pub(super) fn list(disk: &dyn Disk, layout: &Layout) -> Result<Vec<PathBuf>, StoreError> {
    let folder = layout.history();
    disk.list(&folder).at("list", &folder)
}
