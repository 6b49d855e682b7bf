//! Files at a person's own path, with their usual permissions. Unit: one file, written whole or left as it
//! was; what is no regular file, such as a device or a pipe, is written directly.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::local::folder_of;
use super::place::sync;

/// What happens to a file that is already there when one is written at a person's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error: [`io::ErrorKind::AlreadyExists`].
    Stays,
    IsReplaced,
}

/// Writes a file that a person asked for. A link is followed to what it names. When it fails, an old file
/// has its old content and no new one is left behind.
pub fn write_for_person(path: &Path, bytes: &[u8], existing: Existing) -> io::Result<()> {
    let found = match std::fs::metadata(path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match (found, existing) {
        (Some(_), Existing::Stays) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is such a file",
        )),
        (Some(found), Existing::IsReplaced) if found.is_file() => {
            // Also refuses a file that may not be written, which a rename would get around.
            drop(File::options().write(true).open(path)?);
            match put(
                &path.canonicalize()?,
                bytes,
                Some(found.permissions()),
                existing,
            ) {
                // A folder that takes no new file may still hold one that can be written.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    write_directly(path, bytes)
                }
                result => result,
            }
        }
        (Some(_), Existing::IsReplaced) => write_directly(path, bytes),
        // A link to nothing yet: the name it gives is not known to be free of further links.
        (None, Existing::IsReplaced) if path.is_symlink() => write_directly(path, bytes),
        (None, _) => put(path, bytes, None, existing),
    }
}

fn write_directly(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    match file.sync_all() {
        // A pipe or a terminal has nothing to sync.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// By way of a temporary file in the same folder.
fn put(
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
    existing: Existing,
) -> io::Result<()> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    // The system takes the umask off.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder
        .prefix(".cogtrix.")
        .suffix(".tmp")
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    let persisted = match existing {
        Existing::Stays => file.persist_noclobber(path),
        Existing::IsReplaced => file.persist(path),
    };
    persisted.map_err(|error| error.error)?;
    // The file is whole by now; a folder that may not be read cannot be synced.
    let synced = Dir::open_ambient_dir(folder, ambient_authority()).and_then(|open| sync(&open));
    synced.or(Ok(()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_a_link_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_for_person(&file, b"old", Existing::Stays).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_for_person(&link, b"new", Existing::IsReplaced).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_new_file_has_the_usual_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
        write_for_person(&ours, b"x", Existing::Stays).unwrap();
        File::create(&usual).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
        let again = write_for_person(&ours, b"y", Existing::Stays).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_device_is_written_and_stays_one() {
        let device = Path::new("/dev/null");
        write_for_person(device, b"x", Existing::IsReplaced).unwrap();
        assert!(!device.metadata().unwrap().is_file());
    }
}
