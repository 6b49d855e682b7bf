//! Files, links and folders as they were before a command, so that they can be compared and made again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

use super::aside::remove;
use super::{children, is_below};
use crate::files::{digest, open_regular, resolve_links};
use crate::tools::shell::order::Order;

/// A larger file is compared, and cannot be put back; the same for all files together.
const CONTENT_MAX: u64 = 4 << 20;
const ALL_CONTENT_MAX: u64 = 32 << 20;

/// A file, link or folder at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Entry {
    File {
        stamp: Stamp,
        mode: u32,
        /// `None` of a file that is too large.
        #[serde(with = "base64_text")]
        content: Option<Vec<u8>>,
    },
    Link {
        target: OsString,
        stamp: Stamp,
    },
    Folder {
        mode: u32,
        /// It can be listed.
        is_open: bool,
    },
    /// A pipe, a socket.
    Other(Stamp),
}

/// Changes whenever a file does: no command can set the time of the last change of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// The content of a file where it is written down.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(
        content: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = content.as_ref().map(|content| STANDARD.encode(content));
        text.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        let content = text.map(|text| STANDARD.decode(text)).transpose();
        content.map_err(Error::custom)
    }
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl Entry {
    /// Returns what two of them have in common that are the same, in this process or in another.
    pub(super) fn identity(&self) -> String {
        match self {
            // One that was put back is another file with the same content.
            Self::File {
                mode,
                content: Some(content),
                ..
            } => format!("{mode} {}", digest(content)),
            Self::File { stamp, mode, .. } => format!("{stamp:?} {mode}"),
            Self::Folder { .. } => "folder".to_owned(),
            Self::Link { target, .. } => format!("link {}", target.display()),
            Self::Other(_) => format!("{self:?}"),
        }
    }

    /// Returns whether enough of it is known to make it again.
    pub(super) fn can_be_restored(&self) -> bool {
        match self {
            Self::File { content, .. } => content.is_some(),
            Self::Link { .. } | Self::Folder { .. } => true,
            Self::Other(_) => false,
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File {
                    stamp,
                    mode,
                    content,
                },
                Self::File {
                    stamp: other_stamp,
                    mode: other_mode,
                    content: other_content,
                },
            ) => {
                stamp == other_stamp
                    || (mode == other_mode && content.is_some() && content == other_content)
            }
            // Their modes are looked after by `unlock`.
            (Self::Folder { .. }, Self::Folder { .. }) => true,
            (Self::Link { target, .. }, Self::Link { target: other, .. }) => target == other,
            _ => self == other,
        }
    }
}

/// Reads the protected paths, all below them, and the folders that lead there from the writable one. It leaves out what
/// no command can write: sessions change while commands run.
pub(super) fn snapshot(protected: &[PathBuf], order: &Order) -> BTreeMap<PathBuf, Entry> {
    let mut entries = BTreeMap::new();
    let mut left = ALL_CONTENT_MAX;
    let kept: Vec<PathBuf> = order.kept.iter().map(|path| resolve_links(path)).collect();
    for path in protected {
        let roots = order.writable.iter().filter(|root| path.starts_with(root));
        let Some(root) = roots.max_by_key(|root| root.as_os_str().len()) else {
            continue;
        };
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.retain(|folder| folder.starts_with(root) && *folder != root);
        let is_real = above.iter().rev().all(|folder| {
            let found = fs::symlink_metadata(folder);
            let is_folder = found.as_ref().is_ok_and(Metadata::is_dir);
            if let Some(entry) = entry(folder, found, &mut left) {
                entries.insert((*folder).to_owned(), entry);
            }
            is_folder
        });
        if is_real {
            collect(path, &kept, &mut entries, &mut left);
        }
    }
    entries
}

fn collect(path: &Path, kept: &[PathBuf], entries: &mut BTreeMap<PathBuf, Entry>, left: &mut u64) {
    if is_below(path, kept) {
        return;
    }
    let Some(entry) = entry(path, fs::symlink_metadata(path), left) else {
        return;
    };
    let is_folder = matches!(entry, Entry::Folder { .. });
    entries.insert(path.to_owned(), entry);
    if is_folder {
        for child in children(path) {
            collect(&child, kept, entries, left);
        }
    }
}

fn entry(path: &Path, found: io::Result<Metadata>, left: &mut u64) -> Option<Entry> {
    let found = found.ok()?;
    let kind = found.file_type();
    Some(if kind.is_dir() {
        Entry::Folder {
            mode: found.mode() & 0o7777,
            is_open: access(path, Access::READ_OK | Access::EXEC_OK).is_ok(),
        }
    } else if kind.is_symlink() {
        Entry::Link {
            target: fs::read_link(path).unwrap_or_default().into(),
            stamp: Stamp::of(&found),
        }
    } else if kind.is_file() {
        Entry::File {
            stamp: Stamp::of(&found),
            mode: found.mode() & 0o777,
            content: content(path, found.size(), left),
        }
    } else {
        Entry::Other(Stamp::of(&found))
    })
}

/// Returns the content of a file, and takes its size from `room`; `None` where it is too large.
pub(super) fn content(path: &Path, size: u64, room: &mut u64) -> Option<Vec<u8>> {
    if size > CONTENT_MAX.min(*room) {
        return None;
    }
    let content = read(path, size)?;
    *room -= size;
    Some(content)
}

/// Returns at most `max` bytes of a regular file; `None` of anything else, which may have no end, or never begin.
pub(super) fn read(path: &Path, max: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let file = open_regular(path).ok()?;
    file.take(max).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Returns the beginning of a small file of git as text.
pub(super) fn text(path: &Path) -> Option<String> {
    let bytes = read(path, CONTENT_MAX)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes an entry again at a path whose folders are as they were.
pub(super) fn restore(path: &Path, before: &Entry) -> io::Result<()> {
    remove(path)?;
    match before {
        Entry::Folder { .. } => fs::create_dir_all(path),
        Entry::Link { target, .. } => symlink(target, path),
        Entry::File {
            mode,
            content: Some(content),
            ..
        } => {
            let mut file = File::create_new(path)?;
            file.write_all(content)?;
            file.set_permissions(Permissions::from_mode(*mode))
        }
        Entry::File { content: None, .. } | Entry::Other(_) => Err(ErrorKind::Unsupported.into()),
    }
}
