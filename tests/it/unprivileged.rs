//! The attacks once more as an ordinary user, where the suite is run by root: modes of files and missing privileges
//! lead other ways through the program.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::shell::outside_of_temporary_folders;
use crate::support::{PROGRAM, program, told};

/// Modules of attacks; `sandbox` is not among them, it runs each of its own as both users.
const ATTACKS: [&str; 4] = ["bounds::", "hostile_clone::", "links::", "odd_files::"];
/// One that needs a folder outside of temporary ones.
const SHELL: &str = "shell::";

/// With less a module has another name now.
const TESTS_MIN: usize = 30;

const NOBODY: u32 = 65_534;

#[test]
fn attacks_fail_for_an_ordinary_user_too() {
    if !rustix::process::geteuid().is_root() {
        return told("is skipped: an ordinary user runs these tests already");
    }
    if !can_start_in(Path::new("/")) {
        return told("is skipped: root may not start processes of other users here");
    }
    let mut tests = ATTACKS.to_vec();
    let mut folder = TempDir::new_in(outside_of_temporary_folders()).unwrap();
    give(folder.path());
    if can_start_in(folder.path()) {
        tests.push(SHELL);
    } else {
        told("leaves out shell: the checkout lies in a closed folder");
        folder = TempDir::new().unwrap();
        give(folder.path());
    }
    let below = |name: &str| folder.path().join(name);
    for name in ["home", "tmp"] {
        fs::create_dir(below(name)).unwrap();
        give(&below(name));
    }
    let run = Command::new(copied(&std::env::current_exe().unwrap(), folder.path()))
        .args(tests)
        .current_dir(folder.path())
        .env(PROGRAM, copied(&program(), folder.path()))
        .env("HOME", below("home"))
        .env("TMPDIR", below("tmp"))
        .env("RUST_BACKTRACE", "0")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{printed}");
    let before = printed.rsplit_once(" passed;").unwrap().0;
    let passed: usize = before.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(passed >= TESTS_MIN, "{printed}");
    // What was left out.
    for line in String::from_utf8_lossy(&run.stderr).lines() {
        told(&format!("as an ordinary user: {line}"));
    }
}

fn give(folder: &Path) {
    chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
}

fn can_start_in(folder: &Path) -> bool {
    let started = Command::new("true")
        .current_dir(folder)
        .uid(NOBODY)
        .gid(NOBODY)
        .status();
    started.is_ok()
}

/// Returns a copy of a program that the ordinary user can reach.
fn copied(program: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join(program.file_name().unwrap());
    fs::copy(program, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    copy
}
