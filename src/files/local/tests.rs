use super::*;

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
    let replace = |seen: Option<&[u8]>, bytes: &[u8]| LocalDisk.replace_seen(&path, seen, bytes);
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
