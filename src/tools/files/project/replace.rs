//! Writing in the project folder: a file is replaced whole or stays as it was.

use std::io::{self, Write};
use std::path::{Component, Path};

use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};

use super::{Place, Project, ProjectError, at_once, ensure_regular, is_same};

/// What becomes of folders of the path that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parents {
    Created,
    Needed,
}

impl Project {
    /// Puts a file there: a temporary one in the same folder, synced, renamed, the folder synced. A file that was
    /// there gives its mode; missing folders are created. A link is followed to the file that it names.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), ProjectError> {
        let place = self.place(path, Parents::Created)?;
        let old = self.existing(&place, path)?;
        let put = place.put(bytes, old.map(|metadata| metadata.permissions()));
        put.map_err(|source| ProjectError::of(path, source))
    }

    /// Removes a file.
    pub fn remove(&self, path: &Path) -> Result<(), ProjectError> {
        let place = self.place(path, Parents::Needed)?;
        if self.existing(&place, path)?.is_none() {
            return Err(ProjectError::Missing {
                path: path.to_owned(),
            });
        }
        let removed = place.folder.remove_file(&place.name);
        removed
            .and_then(|()| sync(&place.folder))
            .map_err(|source| ProjectError::of(path, source))
    }

    /// What a write would replace, if anything is there.
    fn existing(&self, place: &Place, path: &Path) -> Result<Option<Metadata>, ProjectError> {
        let existing = place.existing(path)?;
        if let Some(metadata) = &existing {
            self.ensure_not_kept(path, metadata)?;
        }
        Ok(existing)
    }

    fn place(&self, path: &Path, parents: Parents) -> Result<Place, ProjectError> {
        self.place_at(path, &self.resolve(path)?, parents)
    }

    /// One name after the other, none of them a link and none a folder that is kept from tools.
    pub(super) fn descend(
        &self,
        path: &Path,
        folder: &Path,
        parents: Parents,
    ) -> Result<Dir, ProjectError> {
        let of = |source| ProjectError::of(path, source);
        let mut at = self.root.try_clone().map_err(of)?;
        self.ensure_not_kept(path, &at.dir_metadata().map_err(of)?)?;
        for name in folder.components() {
            at = step(&at, name, parents).map_err(of)?;
            self.ensure_not_kept(path, &at.dir_metadata().map_err(of)?)?;
        }
        Ok(at)
    }
}

fn step(at: &Dir, name: Component<'_>, parents: Parents) -> io::Result<Dir> {
    let name = Path::new(name.as_os_str());
    let found = match at.open_dir(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && parents == Parents::Created => {
            match at.create_dir(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => sync(at)?,
            }
            at.open_dir(name)
        }
        found => found,
    }?;
    // Looked at after it was opened: what is open is the folder of this name, not what a link of this name led to.
    let named = at.symlink_metadata(name)?;
    if !is_same(&named, &found.dir_metadata()?) {
        return Err(io::Error::other(
            "a parent folder changed in the meantime; try again",
        ));
    }
    Ok(found)
}

impl Place {
    /// The file that is there, if one is and it may be written to, which a rename would get around.
    fn existing(&self, path: &Path) -> Result<Option<Metadata>, ProjectError> {
        let of = |source| ProjectError::of(path, source);
        match self.folder.symlink_metadata(&self.name) {
            Ok(metadata) => {
                ensure_regular(path, &metadata)?;
                let writing = self.folder.open_with(&self.name, at_once().write(true));
                drop(writing.map_err(of)?);
                Ok(Some(metadata))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(of(error)),
        }
    }

    fn put(&self, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
        let (temporary, mut file) = self.temporary()?;
        let put = (|| {
            // First, so that nobody reads in between what only some may.
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.write_all(bytes)?;
            file.sync_all()?;
            self.folder.rename(&temporary, &self.folder, &self.name)
        })();
        if put.is_err() {
            // What went wrong first is what counts.
            self.folder.remove_file(&temporary).ok();
        }
        put.and_then(|()| sync(&self.folder))
    }

    /// A new file beside the place, with the mode that any new file gets.
    fn temporary(&self) -> io::Result<(String, cap_std::fs::File)> {
        const TRIES: u32 = 100;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        for number in 0..TRIES {
            let name = format!(".cogtrix-{}-{number}.tmp", std::process::id());
            match self.folder.open_with(&name, &options) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return Ok((name, opened?)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Makes the names in a folder last.
#[cfg(unix)]
fn sync(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

#[cfg(not(unix))]
fn sync(_: &Dir) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::files::fixture::Fixture;

    /// What was a folder when the links were followed is a link by now.
    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_on_the_way_to_a_place() {
        let fixture = Fixture::with(&[("d/.git/config", ""), ("d/real/x", "")]);
        fixture.link("way", "d/.git");
        fixture.link("d/way", ".git");
        let descend = |folder| {
            let parents = [Parents::Needed, Parents::Created];
            parents.map(|parents| {
                let folder = Path::new(folder);
                fixture.project.descend(folder, folder, parents).is_ok()
            })
        };
        assert_eq!(descend("d/real"), [true, true]);
        assert_eq!(descend("d/way"), [false, false]);
        assert_eq!(descend("way"), [false, false]);
        assert_eq!(descend("d/new"), [false, true]);
    }
}
