//! A file that is read and written at positions, without a cursor that readers would share. Private to its
//! owner where the system has such modes. No name of a file is a link: what it leads to would be cut and overwritten.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::error::VectorError;

/// An open file and its name, for errors.
#[derive(Debug)]
pub(super) struct Positioned {
    path: PathBuf,
    file: File,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Created empty if there is none.
    Written,
    /// Somebody else may be writing it.
    Read,
}

impl Positioned {
    pub(super) fn open(path: PathBuf, access: Access) -> Result<Self, VectorError> {
        let is_written = access == Access::Written;
        let mut options = OpenOptions::new();
        options.read(true).write(is_written).create(is_written);
        options.truncate(false);
        match open(&path, &mut options) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(VectorError::io(&path, error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> Result<u64, VectorError> {
        let metadata = self.file.metadata().map_err(|error| self.error(error))?;
        Ok(metadata.len())
    }

    pub(super) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), VectorError> {
        read_at(&self.file, bytes, at).map_err(|error| self.error(error))
    }

    pub(super) fn write(&self, bytes: &[u8], at: u64) -> Result<(), VectorError> {
        write_at(&self.file, bytes, at).map_err(|error| self.error(error))
    }

    pub(super) fn cut(&self, len: u64) -> Result<(), VectorError> {
        self.file.set_len(len).map_err(|error| self.error(error))
    }

    pub(super) fn sync(&self) -> Result<(), VectorError> {
        self.file.sync_data().map_err(|error| self.error(error))
    }

    fn error(&self, error: io::Error) -> VectorError {
        VectorError::io(&self.path, error)
    }
}

/// Opens a file of its owner's alone, not behind a link; anything else in its place, such as a pipe that nobody writes to, is an
/// error.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let is_file = match fs::symlink_metadata(path) {
        Ok(found) => found.is_file(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_file {
        options.open(path)
    } else {
        let words = "is a link or no ordinary file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, words))
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => {
                bytes = &bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}

/// Creates what is missing of a folder's path.
pub(super) fn create_folder(folder: &Path) -> Result<(), VectorError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let created = builder.create(folder);
    created.map_err(|error| VectorError::io(folder, error))
}

/// Replaces a small file whole or leaves it as it was.
pub(super) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), VectorError> {
    let path = folder.join(name);
    let replaced = || -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".tmp")
            .tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        Ok(())
    };
    replaced().map_err(|error| VectorError::io(&path, error))
}

/// Removes a file; a missing one is fine.
pub(super) fn remove(path: &Path) -> Result<(), VectorError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(VectorError::io(path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A whole file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}
