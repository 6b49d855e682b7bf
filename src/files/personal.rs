//! Files at a person's own path. Unit: one file, written whole or left as it was; what is no regular file, such as a
//! device or a pipe, is written directly. A new one is for its owner alone, since it holds what was said.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::if_there;
use super::local::folder_of;
use super::place::sync;

/// What happens to a file that is already there when one is written at a person's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error: [`io::ErrorKind::AlreadyExists`].
    Stays,
    IsReplaced,
}

/// Opens a file to be read. Devices and pipes, which may have no end, are refused without a wait, and no terminal becomes
/// ours.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let flags = flags.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Writes a file that a person asked for. A link is followed to what it names. When it fails, an old file
/// has its old content and no new one is left behind.
pub fn write_for_person(path: &Path, bytes: &[u8], existing: Existing) -> io::Result<()> {
    match (if_there(std::fs::metadata(path))?, existing) {
        (Some(_), Existing::Stays) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the file already exists",
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
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK.bits();
        options.mode(0o600).custom_flags(flags.cast_signed());
    }
    let mut file = options.open(path).map_err(|error| unread(path, error))?;
    // Only the opening must not wait: a reader that is there may take its time.
    #[cfg(unix)]
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::empty())?;
    file.write_all(bytes)?;
    match file.sync_all() {
        // A pipe or a terminal has nothing to sync.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Says of a pipe why it could not be opened: [`io::ErrorKind::NotConnected`].
#[cfg(unix)]
fn unread(path: &Path, error: io::Error) -> io::Error {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = || std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) && is_pipe() {
        io::Error::new(io::ErrorKind::NotConnected, "nobody reads this pipe")
    } else {
        error
    }
}

#[cfg(not(unix))]
fn unread(_: &Path, error: io::Error) -> io::Error {
    error
}

/// Returns the error of a file whose folder is missing.
pub fn no_folder() -> io::Error {
    io::Error::new(io::ErrorKind::NotADirectory, "its folder does not exist")
}

/// The name of a temporary file tells nobody anything.
fn without_name(error: &io::Error, folder: &Path) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound if !folder.is_dir() => no_folder(),
        // As in `/proc`.
        kind @ io::ErrorKind::NotFound => io::Error::new(kind, "no file can be created there"),
        kind => kind.into(),
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
    // Readable by its owner alone.
    let mut file = tempfile::Builder::new()
        .prefix(".cogtrix.")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(|error| without_name(&error, folder))?;
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
    fn a_new_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        symlink(at("behind"), at("link")).unwrap();
        for (name, existing) in [
            ("one", Existing::Stays),
            ("two", Existing::IsReplaced),
            ("link", Existing::IsReplaced),
        ] {
            write_for_person(&at(name), b"x", existing).unwrap();
            let mode = at(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let again = write_for_person(&at("one"), b"y", Existing::Stays).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_pipe_without_a_reader_is_an_error_and_one_with_a_reader_gets_all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let (cwd, kind) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(cwd, &pipe, kind, 0o600.into(), 0).unwrap();
        let refused = write_for_person(&pipe, b"x", Existing::IsReplaced).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotConnected);
        assert_eq!(refused.to_string(), "nobody reads this pipe");
        // More than a pipe holds: the writing waits for the reader.
        let text = vec![b'x'; 1 << 20];
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut options = File::options();
        options.read(true);
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
        let mut reader = options.open(&pipe).unwrap();
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::empty()).unwrap();
        let bytes = text.clone();
        let writer =
            std::thread::spawn(move || write_for_person(&pipe, &bytes, Existing::IsReplaced));
        let mut read = Vec::new();
        loop {
            // Until a writer has opened it, a pipe is at its end.
            let is_over = writer.is_finished();
            io::Read::read_to_end(&mut reader, &mut read).unwrap();
            if is_over {
                break;
            }
        }
        writer.join().unwrap().unwrap();
        assert!(read == text, "{} bytes", read.len());
    }

    #[test]
    fn only_an_ordinary_file_is_opened_and_a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        write_for_person(&file, b"x", Existing::Stays).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(open_regular(&file).is_ok());
        for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
            let refused = open_regular(path).unwrap_err().to_string();
            assert_eq!(refused, "it is not a regular file", "{path:?}");
        }
    }

    #[test]
    fn a_device_is_written_and_stays_one() {
        let device = Path::new("/dev/null");
        write_for_person(device, b"x", Existing::IsReplaced).unwrap();
        assert!(!device.metadata().unwrap().is_file());
    }
}
