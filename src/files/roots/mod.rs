//! The disk of this machine without the links that lead out of some folders: the data folder and the workspace, which
//! may be somebody else's work. Unit: one root.
//!
//! A root is opened once, wherever its own path leads, and everything below it is opened from that handle, each link
//! resolved beneath it by the system. So nothing can lead out between a look and an opening. Paths elsewhere are a
//! person's own choice, and their links are followed.

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::local::{LocalDisk, OpenPath, resolve_links};

/// The disk of this machine, with roots that no link below them leads out of.
#[derive(Debug)]
pub struct RootedDisk(Vec<Root>);

#[derive(Debug)]
struct Root {
    path: PathBuf,
    /// What a person sets to have it elsewhere.
    setting: &'static str,
    opened: OnceLock<Opened>,
}

#[derive(Debug)]
struct Opened {
    folder: Dir,
    /// Where it is, without links.
    real: PathBuf,
}

/// Why a path below a root is neither read nor written.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is a link that points outside {}; copy the file in, or point {setting} at its folder",
    .link.display(), .root.display()
)]
pub struct LeadsOut {
    /// Relative to the root.
    link: PathBuf,
    root: PathBuf,
    setting: &'static str,
}

/// A path below a root.
struct Below<'a> {
    root: &'a Root,
    opened: &'a Opened,
    /// Relative to the root.
    path: PathBuf,
    /// What a person sets to have it elsewhere.
    setting: &'static str,
}

impl RootedDisk {
    /// Roots are absolute, each with what a person sets to have it elsewhere. One inside of another is opened from
    /// there.
    pub fn new(roots: impl IntoIterator<Item = (PathBuf, &'static str)>) -> Self {
        let roots = roots.into_iter().map(|(path, setting)| Root {
            path,
            setting,
            opened: OnceLock::new(),
        });
        let mut roots: Vec<Root> = roots.collect();
        // The innermost root of a path is found first.
        roots.sort_by_key(|root| Reverse(root.path.components().count()));
        Self(roots)
    }
}

impl OpenPath for RootedDisk {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        match below(&self.0, path)? {
            Some(below) => below.open(|root, path| root.metadata(path)),
            None => LocalDisk.metadata(path),
        }
    }

    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        match below(&self.0, path)? {
            Some(below) => below.open(|root, path| root.open_with(path, options)),
            None => LocalDisk.open(path, options),
        }
    }

    fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        match below(&self.0, path)? {
            Some(below) => below.open(|root, path| root.open_dir(path)),
            None => LocalDisk.open_folder(path),
        }
    }

    fn without_links(&self, path: &Path) -> io::Result<PathBuf> {
        match below(&self.0, path)? {
            Some(below) => Ok(below.root.path.join(below.without_links()?)),
            None => LocalDisk.without_links(path),
        }
    }
}

/// Finds the innermost of the roots that a path is below, and opens it the first time.
fn below<'a>(roots: &'a [Root], path: &Path) -> io::Result<Option<Below<'a>>> {
    let inside = |root: &Root| root.inside(path);
    let mut found = roots.iter().enumerate();
    let found = found.find_map(|(index, root)| Some((index, root, inside(root)?)));
    let Some((index, root, inside)) = found else {
        return Ok(None);
    };
    let opened = if let Some(opened) = root.opened.get() {
        opened
    } else {
        let opened = root.open(&roots[index + 1..])?;
        root.opened.get_or_init(|| opened)
    };
    Ok(Some(Below {
        root,
        opened,
        path: inside,
        setting: root.setting,
    }))
}

impl Root {
    /// Returns what is left of a path below this root.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let real = || path.strip_prefix(&self.opened.get()?.real).ok();
        let inside = path.strip_prefix(&self.path).ok().or_else(real)?;
        Some(self_or_inside(inside))
    }

    fn open(&self, outer: &[Self]) -> io::Result<Opened> {
        let folder = match below(outer, &self.path)? {
            Some(mut below) => {
                below.setting = self.setting;
                below.open(|root, path| root.open_dir(path))?
            }
            None => LocalDisk.open_folder(&self.path)?,
        };
        Ok(Opened {
            folder,
            real: self.path.canonicalize()?,
        })
    }
}

impl Below<'_> {
    /// Opens the path from the handle of its root. An absolute link, or one that goes up and comes back, is refused by
    /// the system wherever it leads: one that leads inside is opened again by the path behind it.
    fn open<T>(&self, open: impl Fn(&Dir, &Path) -> io::Result<T>) -> io::Result<T> {
        match open(&self.opened.folder, &self.path) {
            Err(error) if leads_out(&error) => open(&self.opened.folder, &self.without_links()?)
                .map_err(|error| {
                    if leads_out(&error) {
                        self.refusal()
                    } else {
                        error
                    }
                }),
            opened => opened,
        }
    }

    /// The path as it is without links, as far as it is there, relative to the root.
    fn without_links(&self) -> io::Result<PathBuf> {
        let path = self.opened.real.join(&self.path);
        match resolve_links(&path).strip_prefix(&self.opened.real) {
            Ok(inside) => Ok(self_or_inside(inside)),
            Err(_) => Err(self.refusal()),
        }
    }

    fn refusal(&self) -> io::Error {
        let is_refused = |path: &&Path| {
            let found = self.opened.folder.metadata(path);
            found.is_err_and(|error| leads_out(&error))
        };
        let mut on_the_way: Vec<&Path> = self.path.ancestors().collect();
        on_the_way.reverse();
        let link = on_the_way.into_iter().find(is_refused);
        let refusal = LeadsOut {
            link: link.unwrap_or(&self.path).to_owned(),
            root: self.root.path.clone(),
            setting: self.setting,
        };
        io::Error::new(io::ErrorKind::PermissionDenied, refusal)
    }
}

/// The system has no number for it: it is the handle's own refusal.
fn leads_out(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// A path relative to a root; the root itself is `.`.
fn self_or_inside(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
