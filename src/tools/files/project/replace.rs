//! Writing in the project folder: a file is replaced whole or stays as it was.

use std::io;
use std::path::{Component, Path};

use cap_std::fs::{Dir, Metadata};

use super::{Project, ProjectError, ensure_regular};
use crate::files::{Owner, Parents, Place, Unfinished, at_once, if_there, is_same, sync};

impl Project {
    /// Puts a file there: a temporary one in the same folder, synced, renamed, the folder synced. A file that was
    /// there gives its mode; missing folders are created. A link is followed to the file that it names.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), ProjectError> {
        let place = self.place(path, Parents::Created)?;
        let old = self.existing(&place, path)?;
        let owner = Owner::Person(old.map(|metadata| metadata.permissions()));
        let unfinished = place.unfinished(bytes, owner);
        unfinished
            .and_then(Unfinished::put)
            .map_err(|source| ProjectError::of(path, source))
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

    /// Returns what a write would replace, if anything is there.
    fn existing(&self, place: &Place, path: &Path) -> Result<Option<Metadata>, ProjectError> {
        let existing = writable(place, path)?;
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

/// The file at a place, if one is there and it may be written to, which a rename would get around.
fn writable(place: &Place, path: &Path) -> Result<Option<Metadata>, ProjectError> {
    let of = |source| ProjectError::of(path, source);
    let found = if_there(place.metadata()).map_err(of)?;
    if let Some(metadata) = &found {
        ensure_regular(path, metadata)?;
        let writing = place.folder.open_with(&place.name, at_once().write(true));
        drop(writing.map_err(of)?);
    }
    Ok(found)
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
