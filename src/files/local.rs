//! The disk of this machine. Files are 0600 and folders 0700 where the system has such modes; whatever
//! a call promises is synced, names of new files included.
//!
//! A process killed inside [`Disk::replace`] leaves its temporary file behind, beside the old content.
//! Such files are named `.{target}.{six letters}.tmp`, so that the owner of the target can tell and
//! remove them: see [`temporary_for`].

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::{Disk, Lock, LockError, Replaced, Surveyed, What, holds};

const TEMPORARY_END: &str = ".tmp";
const TEMPORARY_LETTERS: usize = 6;

/// How long to wait before a lock is tried again. Systems have no lock call with a time limit.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// The file that a leftover temporary file was meant to become, if the name is one of those.
pub fn temporary_for(file_name: &str) -> Option<&str> {
    let inner = file_name.strip_prefix('.')?.strip_suffix(TEMPORARY_END)?;
    let (target, letters) = inner.rsplit_once('.')?;
    let random = letters.len() == TEMPORARY_LETTERS
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (random && !target.is_empty()).then_some(target)
}

/// The real thing.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalDisk;

impl Disk for LocalDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_regular(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        open_regular(path)?
            .take(limit as u64)
            .read_to_end(&mut head)?;
        Ok(head)
    }

    fn read_at(&self, path: &Path, at: u64, limit: usize) -> io::Result<Vec<u8>> {
        let mut file = open_regular(path)?;
        file.seek(io::SeekFrom::Start(at))?;
        let mut part = Vec::new();
        file.take(limit as u64).read_to_end(&mut part)?;
        Ok(part)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(std::fs::metadata(path)?.len())
    }

    fn append_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        refuse_read_only(path)?;
        let existing = OpenOptions::new().append(true).open(path);
        let (mut file, created) = match existing {
            Ok(file) => (file, false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_folder(folder_of(path))?;
                (private().append(true).create(true).open(path)?, true)
            }
            Err(error) => return Err(error),
        };
        file.write_all(bytes)?;
        file.sync_data()?;
        if created {
            sync_folder(folder_of(path))?;
        }
        Ok(())
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        refuse_read_only(path)?;
        OpenOptions::new().append(true).open(path)?.write_all(bytes)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        put(unfinished(path, bytes)?, path)
    }

    fn replace_seen(&self, path: &Path, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<Replaced> {
        refuse_read_only(path)?;
        // The slow part comes before the look.
        let file = unfinished(path, bytes)?;
        if !holds(self, path, seen)? {
            return Ok(Replaced::Changed);
        }
        put(file, path).map(|()| Replaced::Done)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        create_folder(folder_of(to))?;
        rename_without_overwriting(from, to)?;
        sync_folder(folder_of(to))?;
        if folder_of(from) == folder_of(to) {
            Ok(())
        } else {
            sync_folder(folder_of(from))
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                files.push(entry.path());
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn survey(&self, folder: &Path) -> io::Result<Vec<Surveyed>> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            found.push(surveyed(entry.path(), entry.file_type()?));
        }
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn lock(&self, path: &Path, wait: Duration) -> Result<Lock, LockError> {
        let tries = wait.as_millis().div_ceil(LOCK_POLL.as_millis());
        create_folder(folder_of(path)).map_err(LockError::Io)?;
        for _ in 0..tries {
            if let Some(held) = try_lock(path)? {
                return Ok(Lock::new(held));
            }
            thread::park_timeout(LOCK_POLL);
        }
        match try_lock(path)? {
            Some(held) => Ok(Lock::new(held)),
            None => Err(LockError::Held { pid: holder(path) }),
        }
    }
}

/// The bytes in a file of their own beside the one they are for, synced; gone again when it is dropped.
fn unfinished(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    create_folder(folder)?;
    let target = path.file_name().unwrap_or_default().to_string_lossy();
    let file = tempfile::Builder::new()
        .prefix(&format!(".{target}."))
        .suffix(TEMPORARY_END)
        .rand_bytes(TEMPORARY_LETTERS)
        .tempfile_in(folder)
        .map_err(|error| nameless(&error))?;
    file.as_file().write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Puts a finished file in its place.
fn put(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// An error without the name of a temporary file, which is another each time: what is the same is to read the same.
fn nameless(error: &io::Error) -> io::Error {
    error.kind().into()
}

/// Who takes the right to write from a file of theirs means it, also where the folder would let us replace it.
fn refuse_read_only(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.permissions().readonly() => {
            let words = "the file is read-only, so it stays as it is";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A locked file, removed when it is let go of: one that is found without a holder tells of a process
/// that did not end by itself.
#[derive(Debug)]
struct HeldLock {
    path: PathBuf,
    #[expect(dead_code, reason = "the lock lasts as long as the open file")]
    file: File,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Safe while the lock is held: whoever waits for this very file finds its name gone and opens
        // a new one. Where an open file cannot be removed it stays, which costs nothing but tidiness.
        std::fs::remove_file(&self.path).ok();
    }
}

/// `None` while another holder has it.
fn try_lock(path: &Path) -> Result<Option<HeldLock>, LockError> {
    loop {
        let open = private()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let mut file = open.map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
        }
        if !is_still_at(&file, path) {
            continue;
        }
        // The id is a courtesy to the next in line; a full disk must not keep a session from opening.
        write_holder(&mut file).ok();
        return Ok(Some(HeldLock {
            path: path.to_owned(),
            file,
        }));
    }
}

/// Something in a folder; what went meanwhile, or leads nowhere, is nothing that can be read.
fn surveyed(path: PathBuf, kind: std::fs::FileType) -> Surveyed {
    let metadata = std::fs::metadata(&path).ok();
    let leads_to_file = metadata.as_ref().is_some_and(std::fs::Metadata::is_file);
    Surveyed {
        what: match (kind.is_dir(), kind.is_symlink(), leads_to_file) {
            (true, ..) => What::Folder,
            (false, true, true) => What::Link,
            (false, false, true) => What::File,
            (false, _, false) => What::Other,
        },
        size: metadata.as_ref().map_or(0, std::fs::Metadata::len),
        modified: metadata.and_then(|metadata| metadata.modified().ok()),
        path,
    }
}

fn write_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(std::process::id().to_string().as_bytes())
}

fn holder(path: &Path) -> Option<u32> {
    const LONGEST: usize = 32;
    let bytes = LocalDisk.read_head(path, LONGEST).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}

/// Opens what has an end: a pipe would keep its reader waiting, a device may never stop.
fn open_regular(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() {
        File::open(path)
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        let words = "this is a pipe, a socket or a device, not a file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, words))
    }
}

/// Whether the path still leads to this open file, and not to nothing or to a newer one.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => ours.dev() == theirs.dev() && ours.ino() == theirs.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> bool {
    true
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates what is missing of a folder's path, private and synced.
fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let missing = folder
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .count();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    for created in folder.ancestors().take(missing) {
        sync_folder(folder_of(created))?;
    }
    Ok(())
}

/// Makes the names in a folder last.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn rename_without_overwriting(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // File systems without that flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_after_a_look(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_without_overwriting(from: &Path, to: &Path) -> io::Result<()> {
    rename_after_a_look(from, to)
}

fn rename_after_a_look(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_temporary_names_are_recognised() {
        for (name, expected) in [
            (".a.json.x7Yz01.tmp", Some("a.json")),
            (".a.json.json.x7Yz01.tmp", Some("a.json.json")),
            (".a.json.x7Yz0.tmp", None),
            ("a.json.x7Yz01.tmp", None),
            (".a.json.x7Yz01", None),
            ("..x7Yz01.tmp", None),
        ] {
            assert_eq!(temporary_for(name), expected, "{name}");
        }
    }

    #[test]
    fn a_replaced_file_is_whole_private_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history/a.json");
        LocalDisk.replace(&path, b"one").unwrap();
        LocalDisk.replace(&path, b"two").unwrap();
        LocalDisk.append_synced(&path, b"!").unwrap();
        assert_eq!(LocalDisk.read(&path).unwrap(), b"two!");
        assert_eq!(LocalDisk.read_head(&path, 2).unwrap(), b"tw");
        for (at, limit, expected) in [(1, 2, &b"wo"[..]), (3, 9, b"!"), (9, 1, b"")] {
            assert_eq!(LocalDisk.read_at(&path, at, limit).unwrap(), expected);
        }
        assert_eq!(
            LocalDisk.list(path.parent().unwrap()).unwrap(),
            std::slice::from_ref(&path)
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(path.parent().unwrap()), 0o700);
        }
    }

    #[cfg(unix)]
    #[test]
    fn devices_pipes_and_folders_are_not_read_but_links_to_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        LocalDisk.replace(&path("file"), b"x").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        for (name, kind) in [
            ("zero", io::ErrorKind::InvalidInput),
            ("pipe", io::ErrorKind::InvalidInput),
            ("", io::ErrorKind::IsADirectory),
            ("none", io::ErrorKind::NotFound),
        ] {
            assert_eq!(LocalDisk.read(&path(name)).unwrap_err().kind(), kind);
            let head = LocalDisk.read_head(&path(name), 9);
            assert_eq!(head.unwrap_err().kind(), kind, "{name}");
        }
        assert_eq!(LocalDisk.read(&path("link")).unwrap(), b"x");
    }

    #[test]
    fn a_file_is_replaced_if_it_is_as_it_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let replace =
            |seen: Option<&[u8]>, bytes: &[u8]| LocalDisk.replace_seen(&path, seen, bytes);
        assert_eq!(replace(Some(b"x"), b"no").unwrap(), Replaced::Changed);
        assert_eq!(replace(None, b"one").unwrap(), Replaced::Done);
        assert_eq!(replace(None, b"no").unwrap(), Replaced::Changed);
        assert_eq!(replace(Some(b"two"), b"no").unwrap(), Replaced::Changed);
        assert_eq!(LocalDisk.read(&path).unwrap(), b"one");
        assert_eq!(replace(Some(b"one"), b"two").unwrap(), Replaced::Done);
        assert_eq!(LocalDisk.read(&path).unwrap(), b"two");
        assert_eq!(
            LocalDisk.list(folder.path()).unwrap(),
            std::slice::from_ref(&path)
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_its_owner_protects_stays_and_so_does_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        LocalDisk.replace(&path, b"mine").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
        let replaced = LocalDisk.replace_seen(&path, Some(b"mine"), b"yours");
        for error in [
            replaced.unwrap_err(),
            LocalDisk.append_synced(&path, b"!").unwrap_err(),
        ] {
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("read-only"), "{error}");
        }
        assert_eq!(LocalDisk.read(&path).unwrap(), b"mine");
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o444);
    }

    #[cfg(unix)]
    #[test]
    fn the_same_failure_reads_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        // No temporary file can have a name as long as that.
        let path = folder.path().join("a".repeat(250));
        let fail = || LocalDisk.replace(&path, b"x").unwrap_err().to_string();
        let error = fail();
        assert_eq!(error, fail());
        assert!(!error.contains(".tmp"), "{error}");
    }

    #[test]
    fn a_rename_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        LocalDisk.replace(&a, b"a").unwrap();
        LocalDisk.replace(&b, b"b").unwrap();
        let error = LocalDisk.rename(&a, &b).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(LocalDisk.read(&b).unwrap(), b"b");
        LocalDisk
            .rename(&a, &folder.path().join("new/folder/a"))
            .unwrap();
        assert_eq!(
            LocalDisk.size(&a).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_lock_is_had_once_names_its_holder_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = LocalDisk.lock(&path, Duration::ZERO).unwrap();
        let refused = LocalDisk.lock(&path, Duration::ZERO).unwrap_err();
        assert!(
            matches!(refused, LockError::Held { pid } if pid == Some(std::process::id())),
            "{refused:?}"
        );
        drop(held);
        assert!(!path.exists());
        drop(LocalDisk.lock(&path, Duration::ZERO).unwrap());
    }

    #[test]
    fn a_lock_that_is_let_go_of_in_time_is_had() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = LocalDisk.lock(&path, Duration::ZERO).unwrap();
        let waiting = thread::spawn(move || LocalDisk.lock(&path, Duration::from_mins(1)).is_ok());
        drop(held);
        assert!(waiting.join().unwrap());
    }
}
