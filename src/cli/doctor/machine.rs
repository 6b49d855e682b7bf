//! What the machine has to offer: folders, the sandbox, the terminal. Unit: one of them. Nothing that is there is
//! changed; the data folder is tried with a file that is gone afterwards.

use std::io;
use std::path::Path;
use std::time::Duration;

use bytesize::ByteSize;
use rustix::fs::{Access, access, statvfs};

use super::finding::Finding;
use crate::cli::report::USABLE_FOLDER;
use crate::files::{Disk, LockError};
use crate::hint::chain;
use crate::provider::Environment;
use crate::store::creatable;
use crate::term::{Output, Paint};
use crate::tools::files::Project;
use crate::tools::shell::{self, Sandbox, Unavailable};

/// Less room than this, and a long session or the vectors of it may not fit.
const MIN_ROOM: u64 = 100_000_000;

const DATA: &str = "data folder";

pub(super) fn data_folder(root: &Path, disk: &dyn Disk) -> Finding {
    let shown = root.display();
    let ill = |error: &io::Error| {
        Finding::problem(
            DATA,
            format!("{shown} cannot be used: {}", chain(error)),
            USABLE_FOLDER,
        )
    };
    match std::fs::metadata(root) {
        Ok(found) if !found.is_dir() => ill(&io::ErrorKind::NotADirectory.into()),
        Ok(_) => match tried(root, disk) {
            Ok(()) => with_room(root, format!("{shown}, writable")),
            Err(error) => ill(&error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => match creatable(root) {
            Ok(folder) => with_room(folder, format!("{shown}, created by the first session")),
            Err(error) => ill(&error),
        },
        Err(error) => ill(&error),
    }
}

/// Writes, and locks as a session does.
fn tried(root: &Path, disk: &dyn Disk) -> io::Result<()> {
    let probe = root.join("doctor.probe");
    disk.replace(&probe, b"written by cogtrix doctor, and may be deleted\n")?;
    let locked = match disk.lock(&root.join("doctor.lock"), Duration::ZERO) {
        // Another doctor is at it, so locks work.
        Ok(_) | Err(LockError::Held { .. }) => Ok(()),
        Err(LockError::Io(error)) => Err(error),
    };
    disk.remove(&probe)?;
    locked
}

fn with_room(folder: &Path, what: String) -> Finding {
    let Ok(room) = statvfs(folder) else {
        return Finding::ok(DATA, what);
    };
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    let what = format!("{what}, {:.0} free", ByteSize::b(free).display().si());
    if free < MIN_ROOM {
        return Finding::problem(DATA, what, "free some disk space");
    }
    Finding::ok(DATA, what)
}

pub(super) fn project(folder: &Path) -> Finding {
    let shown = folder.display();
    if let Err(error) = Project::open(folder) {
        return Finding::problem(
            "project",
            format!("{shown} cannot be opened: {}", chain(&error)),
            "choose another folder with --project",
        );
    }
    let writable = access(folder, Access::WRITE_OK).is_ok();
    Finding::ok(
        "project",
        format!("{shown}{}", if writable { "" } else { ", read-only" }),
    )
}

pub(super) fn sandbox(wanted: Sandbox, running: Option<&Path>) -> Finding {
    const ABOUT: &str = "sandbox";
    let name = match wanted {
        Sandbox::Off => {
            return Finding::none(ABOUT, "off: shell commands can write anywhere you can");
        }
        Sandbox::On => "on",
        Sandbox::Net => "net",
    };
    let support = std::env::current_exe()
        .map_err(|error| Unavailable {
            why: error.to_string(),
        })
        .and_then(|program| shell::support(&program, running));
    match support {
        Ok(support) => match support.shortfall() {
            None => Finding::ok(
                ABOUT,
                format!("{name}: files, network, privileges, signals"),
            ),
            Some(shortfall) => Finding::none(ABOUT, format!("{name}, {shortfall}")),
        },
        Err(unavailable) => Finding::problem(
            ABOUT,
            unavailable.to_string(),
            "no commands are run; to run them unsandboxed, use `--sandbox off` or tools.shell.sandbox: off",
        ),
    }
}

/// The first of these that is set tells how characters are written.
const LOCALES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

const UNSET: &str = "not set";

pub(super) fn terminal(environment: &Environment, output: &Output) -> Finding {
    let paint = match output.policy().paint {
        Paint::Full => "colours",
        Paint::Colorless => "no colours (NO_COLOR)",
        Paint::Bare => "no colours (TERM is dumb)",
    };
    if !output.is_interactive() {
        return Finding::none("terminal", "stdout is not a terminal");
    }
    let locale = LOCALES.iter().find_map(|name| environment.get(name));
    let locale = locale.unwrap_or(UNSET);
    let what = format!("{} columns, {paint}, locale {locale}", output.columns());
    let letters = locale.to_lowercase().replace('-', "");
    // Where nobody says anything the terminal mostly knows.
    if letters.contains("utf8") || locale == UNSET {
        Finding::ok("terminal", what)
    } else {
        Finding::problem(
            "terminal",
            format!("{what}: non-English characters may display incorrectly"),
            "export LANG=C.UTF-8",
        )
    }
}
