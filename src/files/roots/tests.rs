//! Every operation against every kind of link; what is outside stays as it is.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::files::{Disk, LockError, Replaced, Surveyed, What};

const PRIVATE: &[u8] = b"PRIVATE";

/// A root with links in it, and what is outside.
struct Fixture {
    folder: tempfile::TempDir,
    disk: RootedDisk,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("real")).unwrap();
        std::fs::create_dir_all(folder.path().join("outside")).unwrap();
        LocalDisk
            .replace(&folder.path().join("outside/secret"), PRIVATE)
            .unwrap();
        LocalDisk.replace(&root.join("real/file"), b"ours").unwrap();
        Self {
            disk: RootedDisk::new([(root, "memory.path")]),
            folder,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    fn link(&self, to: impl AsRef<Path>, name: &str) {
        symlink(to, self.at(name)).unwrap();
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join("outside").join(name)
    }

    fn assert_outside_is_as_it_was(&self, after: &str) {
        let names = LocalDisk.survey(&self.outside("")).unwrap();
        let names: Vec<PathBuf> = names.into_iter().map(|found| found.path).collect();
        assert_eq!(names, [self.outside("secret")], "{after}");
        let secret = LocalDisk.read(&self.outside("secret")).unwrap();
        assert_eq!(secret, PRIVATE, "{after}");
    }
}

type Operation = (&'static str, fn(&RootedDisk, &Path) -> io::Result<()>);

/// What goes through a path to what it leads to.
const THROUGH: [Operation; 9] = [
    ("read", |disk, path| disk.read(path).map(drop)),
    ("read_head", |disk, path| disk.read_head(path, 9).map(drop)),
    ("read_at", |disk, path| disk.read_at(path, 1, 9).map(drop)),
    ("size", |disk, path| disk.size(path).map(drop)),
    ("append_synced", |disk, path| disk.append_synced(path, b"!")),
    ("replace", |disk, path| disk.replace(path, b"new")),
    ("replace_seen", |disk, path| {
        let seen = disk.read(path).ok();
        match disk.replace_seen(path, seen.as_deref(), b"new")? {
            Replaced::Done => Ok(()),
            Replaced::Changed => Err(io::ErrorKind::ResourceBusy.into()),
        }
    }),
    ("truncate", |disk, path| disk.truncate(path, 0)),
    ("lock", |disk, path| match disk.lock(path, Duration::ZERO) {
        Ok(_) => Ok(()),
        Err(LockError::Io(error)) => Err(error),
        Err(LockError::Held { .. }) => Err(io::ErrorKind::ResourceBusy.into()),
    }),
];

/// What is done to the name itself, so that only a link on the way to it counts.
const TO_THE_NAME: [Operation; 3] = [
    ("rename from", |disk, path| {
        let folder = path.parent().unwrap().parent().unwrap();
        disk.rename(path, &folder.join("moved"))
    }),
    ("rename to", |disk, path| {
        let folder = path.parent().unwrap().parent().unwrap();
        disk.append_synced(&folder.join("mover"), b"x")?;
        disk.rename(&folder.join("mover"), path)
    }),
    ("remove", |disk, path| disk.remove(path)),
];

const OF_A_FOLDER: [Operation; 3] = [
    ("list", |disk, path| disk.list(path).map(drop)),
    ("survey", |disk, path| disk.survey(path).map(drop)),
    ("folder", |disk, path| disk.folder(path).map(drop)),
];

#[test]
fn no_operation_reaches_a_file_behind_a_link_that_leads_out() {
    for absolute in [true, false] {
        for (name, operation) in THROUGH {
            let fixture = Fixture::new();
            if absolute {
                fixture.link(fixture.outside("secret"), "file");
            } else {
                fixture.link("../outside/secret", "file");
            }
            let error = operation(&fixture.disk, &fixture.at("file")).unwrap_err();
            let words = error.to_string();
            if name != "lock" {
                let expected = format!(
                    "file is a link that points outside {}; copy the file in, or point memory.path at its folder",
                    fixture.at("").components().as_path().display()
                );
                assert_eq!(words, expected, "{name}");
            }
            assert!(words.contains("a link"), "{name}: {words}");
            assert!(fixture.at("file").is_symlink(), "{name}");
            fixture.assert_outside_is_as_it_was(name);
        }
    }
}

#[test]
fn no_operation_passes_a_folder_behind_a_link_that_leads_out() {
    let of_files = THROUGH.into_iter().chain(TO_THE_NAME);
    let of_files =
        of_files.map(|operation| (operation, vec!["way/secret", "way/new", "way/in/new"]));
    let of_folders = OF_A_FOLDER.map(|operation| (operation, vec!["way"]));
    for ((name, operation), paths) in of_files.chain(of_folders) {
        for path in paths {
            for absolute in [true, false] {
                let fixture = Fixture::new();
                if absolute {
                    fixture.link(fixture.outside(""), "way");
                } else {
                    fixture.link("real/../../outside", "way");
                }
                let error = operation(&fixture.disk, &fixture.at(path)).unwrap_err();
                let words = error.to_string();
                let expected = "way is a link that points outside ";
                assert!(words.starts_with(expected), "{name} {path}: {words}");
                fixture.assert_outside_is_as_it_was(name);
            }
        }
    }
}

#[test]
fn nothing_is_made_behind_a_link_to_nothing() {
    let cases = [
        ("missing", "file", "file"),
        ("../outside/missing", "file", "file"),
        ("missing", "way", "way/file"),
        ("../outside/missing", "way", "way/file"),
    ];
    for (to, link, path) in cases {
        for (name, operation) in THROUGH.into_iter().chain(TO_THE_NAME) {
            if link == "file" && TO_THE_NAME.iter().any(|(other, _)| *other == name) {
                continue;
            }
            let fixture = Fixture::new();
            fixture.link(to, link);
            let result = operation(&fixture.disk, &fixture.at(path));
            // What does not exist is gone already.
            let is_none = name == "remove" && to == "missing";
            assert_eq!(result.is_ok(), is_none, "{name} {path} -> {to}: {result:?}");
            assert!(!fixture.at("missing").exists(), "{name} {path}");
            assert!(fixture.at(link).is_symlink(), "{name} {path}");
            fixture.assert_outside_is_as_it_was(name);
        }
    }
}

#[test]
fn links_that_stay_inside_work_and_stay_links() {
    let fixture = Fixture::new();
    fixture.link("real/file", "relative");
    fixture.link(fixture.at("real/file"), "absolute");
    fixture.link("../root/real/file", "around");
    fixture.link(fixture.at("real"), "way");
    for name in [
        "relative",
        "absolute",
        "around",
        "way/file",
        "way/../relative",
    ] {
        for (operation, carry_out) in THROUGH {
            if operation == "lock" {
                continue;
            }
            fixture
                .disk
                .replace(&fixture.at("real/file"), b"ours")
                .unwrap();
            carry_out(&fixture.disk, &fixture.at(name)).unwrap_or_else(|error| {
                panic!("{operation} {name}: {error}");
            });
            let now = LocalDisk.read(&fixture.at("real/file")).unwrap();
            let expected: &[u8] = match operation {
                "append_synced" => b"ours!",
                "replace" | "replace_seen" => b"new",
                "truncate" => b"",
                _ => b"ours",
            };
            assert_eq!(now, expected, "{operation} {name}");
        }
    }
    for link in ["relative", "absolute", "around", "way"] {
        assert!(fixture.at(link).is_symlink(), "{link}");
    }
    let way = fixture.at("way");
    assert_eq!(fixture.disk.list(&way).unwrap(), [way.join("file")]);
    fixture
        .disk
        .append_synced(&way.join("new/deep"), b"x")
        .unwrap();
    fixture
        .disk
        .rename(&way.join("new/deep"), &fixture.at("moved"))
        .unwrap();
    fixture.disk.remove(&way.join("file")).unwrap();
    assert!(fixture.at("moved").is_file() && fixture.at("real/new").is_dir());
    assert!(!fixture.at("real/file").exists());
}

#[test]
fn names_of_links_are_listed_renamed_and_removed_without_what_they_lead_to() {
    let fixture = Fixture::new();
    for (to, name) in [
        ("../outside/secret", "a"),
        ("../outside", "b"),
        ("real/file", "c"),
    ] {
        fixture.link(to, name);
    }
    let root = fixture.at("").components().as_path().to_owned();
    let found = fixture.disk.survey(&root).unwrap();
    let what = |found: &Surveyed| (found.path.file_name().unwrap().to_owned(), found.what);
    let expected = [
        ("a", What::Other),
        ("b", What::Other),
        ("c", What::Link),
        ("real", What::Folder),
    ];
    let expected = expected.map(|(name, what)| (name.into(), what));
    assert_eq!(found.iter().map(what).collect::<Vec<_>>(), expected);
    assert_eq!(fixture.disk.list(&root).unwrap().len(), 3);
    fixture
        .disk
        .rename(&fixture.at("a"), &fixture.at("d"))
        .unwrap();
    assert!(fixture.at("d").is_symlink());
    for name in ["b", "c", "d"] {
        fixture.disk.remove(&fixture.at(name)).unwrap();
        assert!(!fixture.at(name).is_symlink(), "{name}");
    }
    assert!(fixture.at("real/file").is_file());
    fixture.assert_outside_is_as_it_was("remove");
}

#[test]
fn a_root_may_be_reached_by_a_link_and_one_inside_of_another_may_not_lead_out() {
    let fixture = Fixture::new();
    let chosen = fixture.folder.path().join("chosen");
    symlink(fixture.at(""), &chosen).unwrap();
    let disk = RootedDisk::new([
        (chosen.clone(), "data_dir"),
        (chosen.join("inner"), "memory.path"),
    ]);
    assert_eq!(disk.read(&chosen.join("real/file")).unwrap(), b"ours");
    // By its other name, too.
    fixture.link("../outside/secret", "file");
    for path in [
        chosen.join("file"),
        fixture.at("file").canonicalize().unwrap(),
    ] {
        let is_outside = path == fixture.outside("secret").canonicalize().unwrap();
        assert_eq!(disk.read(&path).is_ok(), is_outside, "{}", path.display());
    }
    assert!(
        disk.read(&fixture.at("").canonicalize().unwrap().join("file"))
            .is_err()
    );
    fixture.link(fixture.outside(""), "inner");
    let error = disk.read(&chosen.join("inner/secret")).unwrap_err();
    assert!(error.to_string().contains("point memory.path"), "{error}");
    disk.append_synced(&chosen.join("inner/new"), b"x")
        .unwrap_err();
    fixture.assert_outside_is_as_it_was("the inner root");
    disk.remove(&chosen.join("inner")).unwrap();
    // A link out of the inner root into the outer one leads out of the inner one.
    fixture
        .disk
        .append_synced(&fixture.at("inner/own"), b"x")
        .unwrap();
    fixture.link("../real/file", "inner/link");
    assert!(disk.read(&chosen.join("inner/own")).is_ok());
    assert!(disk.read(&chosen.join("inner/link")).is_err());
}

#[test]
fn a_root_that_is_not_there_is_made_with_the_first_write() {
    let fixture = Fixture::new();
    let root = fixture.folder.path().join("later/root");
    let disk = RootedDisk::new([(root.clone(), "data_dir")]);
    let missing = disk.read(&root.join("a")).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    assert!(disk.list(&root).unwrap().is_empty() && !root.exists());
    disk.append_synced(&root.join("in/a"), b"x").unwrap();
    assert_eq!(disk.read(&root.join("in/a")).unwrap(), b"x");
    let private = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        matches!(
            path.metadata().unwrap().permissions().mode() & 0o777,
            0o600 | 0o700
        )
    };
    assert!(private(&root.join("in/a")) && private(&root.join("in")) && private(&root));
}

#[test]
fn a_path_outside_of_every_root_follows_a_persons_links() {
    let fixture = Fixture::new();
    let link = fixture.folder.path().join("link");
    symlink(fixture.outside("secret"), &link).unwrap();
    assert_eq!(fixture.disk.read(&link).unwrap(), PRIVATE);
    fixture.disk.append_synced(&link, b"!").unwrap();
    assert_eq!(
        LocalDisk.read(&fixture.outside("secret")).unwrap(),
        b"PRIVATE!"
    );
}

#[test]
fn pipes_and_devices_below_a_root_are_refused_without_a_wait() {
    let fixture = Fixture::new();
    let pipe = fixture.at("pipe");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o600.into(), 0).unwrap();
    fixture.link("pipe", "link");
    for name in ["pipe", "link"] {
        for (operation, carry_out) in THROUGH {
            if matches!(operation, "size" | "replace" | "replace_seen") {
                continue;
            }
            let error = carry_out(&fixture.disk, &fixture.at(name)).unwrap_err();
            assert_eq!(
                error.kind(),
                io::ErrorKind::InvalidInput,
                "{operation} {name}"
            );
        }
    }
}

/// Ends the thread that swaps, also when a test fails.
struct Swapping(Arc<AtomicBool>);

impl Drop for Swapping {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_link_swapped_in_meanwhile_never_leads_out() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    const ROUNDS: usize = 3_000;
    let fixture = Fixture::new();
    fixture.link(fixture.outside(""), "real.other");
    fixture.link(fixture.outside("secret"), "real/file.other");
    let done = Arc::new(AtomicBool::new(false));
    let swapping = Swapping(Arc::clone(&done));
    let pairs = ["real", "real/file"].map(|name| {
        let other = format!("{name}.other");
        (fixture.at(name), fixture.at(&other))
    });
    let swapper = std::thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            for (one, other) in &pairs {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).ok();
            }
        }
    });
    // Always the same choices.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..ROUNDS {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let path =
            fixture.at(["real/file", "real/new", "real/in/new"][(random >> 40) as usize % 3]);
        let operations = THROUGH.len() + OF_A_FOLDER.len();
        match (random >> 20) as usize % operations {
            0 => {
                let read = fixture.disk.read(&path).unwrap_or_default();
                assert!(!read.starts_with(PRIVATE));
            }
            n if n < THROUGH.len() => {
                THROUGH[n].1(&fixture.disk, &path).ok();
            }
            n => {
                let folder = path.parent().unwrap();
                let found = fixture.disk.list(folder).unwrap_or_default();
                assert!(!found.iter().any(|file| file.ends_with("secret")));
                OF_A_FOLDER[n - THROUGH.len()].1(&fixture.disk, folder).ok();
            }
        }
    }
    drop(swapping);
    swapper.join().unwrap();
    fixture.assert_outside_is_as_it_was("swapping");
}
